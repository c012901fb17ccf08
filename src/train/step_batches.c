/* Two batches in turn: the one whose step runs, and the one that is taken ahead.
 *
 *      caller   next    step 0      next    step 1      next    step 2
 *      thread   take 0 | take 1          | take 2          | take 3
 *      batch        0       1                 0                 1
 *
 * The thread begins to take a batch when the one before it is given to the caller. Its tensors are used again, unless a
 * step that has missed its deadline still holds them. */
#include "train/step_batches.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/denormal.h"
#include "base/failure.h"
#include "base/no_memory.h"
#include "base/process.h"
#include "base/thread.h"
#include "data/cancel.h"
#include "data/dataset.h"
#include "device/device.h"
#include "strategy/strategy.h"
#include "tensor/string.h"

enum { IN_TURN = 2 };

struct mst_step_batches {
    const mst_sharded_step *step;
    mst_iterator *iterator;
    mst_step_batch batch[IN_TURN]; /* without a thread only the first is used */
    int64_t capacity[IN_TURN];     /* capacity of `number` of each */
    void **room;                   /* [shards here][components]: where the thread copies rows to */
    int64_t room_capacity;
    bool has_thread;
    uint64_t process; /* number of the process in which the thread was started */
    pthread_t thread;
    pthread_mutex_t lock; /* guards all members after it */
    pthread_cond_t changed;
    int64_t taken, given; /* numbers of batches: taken by the thread, given to the caller */
    bool ended;           /* the thread takes no more batches */
    atomic_bool quit;     /* the thread must end */
    mst_failure failure;  /* the error that ended the thread */
};

int64_t mst_step_batch_row(const mst_sharded_step *step, const mst_step_batch *batch, int64_t i) {
    if (batch->rows) return mst_batch_row(batch->rows, i);
    return batch->number[i - mst_shard_window_rows(mst_trainer_window(step), batch->size).first];
}

/* ---- taking a batch ahead ---- */

/* The rows of one batch, which are copied shard by shard. */
typedef struct copying {
    const mst_sharded_step *step;
    const mst_batch *rows;
    mst_tensor **tensor;
    void **room;
} copying;

/* Copies the rows of a shard to its tensors. ROOM: [components]. Strings are first copied to a place in ROOM, since a
 * tensor must own its strings. */
static mst_status copy_shard(const copying *c, int32_t shard, void **room) {
    const int components = c->step->trainer->num_components;
    const mst_row_range rows = mst_trainer_rows(c->step, shard, mst_batch_size(c->rows));
    mst_tensor **tensor = c->tensor + (int64_t)components * shard;
    mst_status status = MST_OK;
    if (!rows.count) return MST_OK;
    for (int i = 0; i < components && !status; i++) {
        if (mst_tensor_dtype(tensor[i]) != MST_STRING)
            room[i] = mst_tensor_data(tensor[i]);
        else if (!(room[i] = calloc((size_t)mst_tensor_count(tensor[i]) + 1, sizeof(mst_string))))
            status = MST_NO_MEMORY("for the strings of a batch");
    }
    if (!status) status = mst_batch_copy_all(c->rows, rows.first, rows.count, room);
    for (int i = 0; i < components; i++) {
        if (mst_tensor_dtype(tensor[i]) != MST_STRING) continue;
        if (!status) status = mst_tensor_copy_strings(tensor[i], room[i]);
        free(room[i]);
    }
    return status;
}

static mst_status copy_shards(void *context, int64_t begin, int64_t end, int member) {
    const copying *c = context;
    (void)member;
    const int each = mst_batch_num_components(c->rows);
    for (int64_t s = begin; s < end; s++) MST_TRY(copy_shard(c, (int32_t)s, c->room + s * each));
    return MST_OK;
}

/* Makes *TENSOR a tensor of this dtype and shape that nobody else uses. */
static mst_status renew_tensor(mst_tensor **tensor, mst_dtype dtype, mst_shape shape) {
    if (*tensor && mst_tensor_references(*tensor) == 1 && mst_shape_equal(mst_tensor_shape(*tensor), shape))
        return MST_OK;
    mst_tensor_release(*tensor);
    *tensor = NULL;
    return mst_tensor_create(dtype, shape, tensor);
}

static mst_status renew_tensors(const copying *c, int64_t *bytes) {
    const mst_trainer *trainer = c->step->trainer;
    const int components = trainer->num_components;
    *bytes = 0;
    for (int i = 0; i < components * mst_trainer_window(c->step).shards.count; i++) {
        mst_shape shape = mst_batch_shape(c->rows, i % components);
        shape.dim[0] = mst_trainer_rows(c->step, i / components, mst_batch_size(c->rows)).count;
        MST_TRY(renew_tensor(&c->tensor[i], trainer->row[i % components].dtype, shape));
        *bytes += (int64_t)mst_tensor_bytes(c->tensor[i]);
    }
    return MST_OK;
}

/* Keeps the numbers of this task's rows, which the iterator forgets when it moves on. */
static mst_status keep_numbers(const mst_sharded_step *step, const mst_batch *rows, mst_step_batch *batch,
                               int64_t *capacity) {
    const mst_row_range range = mst_shard_window_rows(mst_trainer_window(step), batch->size);
    MST_TRY(mst_grow(&batch->number, sizeof *batch->number, range.count + 1, capacity));
    for (int64_t i = 0; i < range.count; i++) batch->number[i] = mst_batch_row(rows, range.first + i);
    return MST_OK;
}

/* Takes the next batch into BATCH; its size is 0 if there is none. */
static mst_status take_next(mst_step_batches *b, mst_step_batch *batch) {
    copying c = {.step = b->step, .tensor = batch->tensor};
    const int shards = mst_trainer_window(b->step).shards.count;
    int64_t bytes;
    batch->size = 0;
    MST_TRY(mst_iterator_next(b->iterator, &c.rows));
    if (!c.rows) return MST_OK;
    batch->size = mst_batch_size(c.rows);
    MST_TRY(renew_tensors(&c, &bytes));
    MST_TRY(keep_numbers(b->step, c.rows, batch, &b->capacity[batch - b->batch]));
    const int64_t places = (int64_t)shards * mst_batch_num_components(c.rows);
    MST_TRY(mst_grow(&b->room, sizeof *b->room, places, &b->room_capacity));
    c.room = b->room;
    memset(c.room, 0, (size_t)places * sizeof *c.room);
    return mst_copy_parallel(bytes, shards, copy_shards, &c);
}

static void *step_batches_run(void *context) {
    mst_step_batches *b = context;
    mst_unbind_thread(); /* the caller may be bound to the cores of a device */
    mst_flush_denormals();
    mst_cancel_watch(&b->quit);
    pthread_mutex_lock(&b->lock);
    while (!b->quit && !b->ended) {
        if (b->given < b->taken) {
            pthread_cond_wait(&b->changed, &b->lock);
            continue;
        }
        mst_step_batch *batch = &b->batch[b->taken % IN_TURN];
        pthread_mutex_unlock(&b->lock);
        const mst_status status = take_next(b, batch);
        pthread_mutex_lock(&b->lock);
        mst_failure_keep(&b->failure, status);
        if (status || !batch->size)
            b->ended = true;
        else
            b->taken++;
        pthread_cond_broadcast(&b->changed);
    }
    pthread_mutex_unlock(&b->lock);
    return NULL;
}

/* ---- for the caller ---- */

static mst_status start(mst_step_batches *b) {
    const size_t tensors = (size_t)b->step->trainer->num_components * (size_t)mst_trainer_window(b->step).shards.count;
    for (int i = 0; i < IN_TURN; i++)
        if (!(b->batch[i].tensor = calloc(tensors, sizeof *b->batch[i].tensor))) return MST_NO_MEMORY("for batches");
    const int error = mst_thread_start(&b->thread, step_batches_run, b);
    if (error) return MST_FAIL(MST_UNAVAILABLE, "cannot start a thread that takes batches: %s", strerror(error));
    b->has_thread = true;
    b->process = mst_process_number();
    return MST_OK;
}

mst_status mst_step_batches_create(const mst_sharded_step *step, mst_iterator *iterator, mst_step_batches **out) {
    mst_step_batches *b = *out = calloc(1, sizeof *b);
    if (!b) {
        mst_iterator_destroy(iterator);
        return MST_NO_MEMORY("for batches");
    }
    b->step = step;
    b->iterator = iterator;
    pthread_mutex_init(&b->lock, NULL);
    pthread_cond_init(&b->changed, NULL);
    const mst_status status = mst_strategy_compiles(&step->strategy) ? start(b) : MST_OK;
    if (!status) return MST_OK;
    mst_step_batches_destroy(b);
    *out = NULL;
    return status;
}

static mst_status wait_for_batch(mst_step_batches *b, const mst_step_batch **out) {
    MST_TRY(mst_process_check(b->process, "training"));
    pthread_mutex_lock(&b->lock);
    while (b->given == b->taken && !b->ended) pthread_cond_wait(&b->changed, &b->lock);
    const bool found = b->given < b->taken;
    if (found) *out = &b->batch[b->given++ % IN_TURN];
    pthread_cond_broadcast(&b->changed);
    const mst_status status = found ? MST_OK : mst_failure_restore(&b->failure);
    pthread_mutex_unlock(&b->lock);
    return status;
}

mst_status mst_step_batches_next(mst_step_batches *b, const mst_step_batch **out) {
    *out = NULL;
    if (b->has_thread) return wait_for_batch(b, out);
    mst_step_batch *batch = &b->batch[0];
    MST_TRY(mst_iterator_next(b->iterator, &batch->rows));
    if (!batch->rows) return MST_OK;
    batch->size = mst_batch_size(batch->rows);
    *out = batch;
    return MST_OK;
}

void mst_step_batches_destroy(mst_step_batches *b) {
    if (!b || (b->has_thread && b->process != mst_process_number())) return; /* a child of fork() has no such thread */
    if (b->has_thread) {
        pthread_mutex_lock(&b->lock);
        b->quit = true;
        pthread_cond_broadcast(&b->changed);
        pthread_mutex_unlock(&b->lock);
        mst_iterator_stop(b->iterator);
        pthread_join(b->thread, NULL);
    }
    const int tensors = b->step->trainer->num_components * mst_trainer_window(b->step).shards.count;
    for (int i = 0; i < IN_TURN; i++) {
        for (int k = 0; b->batch[i].tensor && k < tensors; k++) mst_tensor_release(b->batch[i].tensor[k]);
        free(b->batch[i].tensor);
        free(b->batch[i].number);
    }
    free(b->room);
    mst_iterator_destroy(b->iterator);
    pthread_cond_destroy(&b->changed);
    pthread_mutex_destroy(&b->lock);
    free(b);
}
