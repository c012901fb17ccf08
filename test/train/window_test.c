/* Tasks that train together make each row of the data once, and end with the weights of one process. The tasks are
 * threads, each with a model, a store and a pipeline of its own. */
#include <stdatomic.h>

#include "run/session.h"
#include "support/pipeline.h"
#include "support/test.h"
#include "support/training.h"
#include "support/workers.h"

enum { ROWS = 90, BATCH = 20 /* the last batch has 10 rows */, HEIGHT = 6, WIDTH = 5, CLASSES = 7, EPOCHS = 2 };

/* What a pipeline of the program's own is like. */
typedef enum kind {
    ROWS_OF_THE_FIT, /* mst_fit shuffles and batches them, and reads ahead */
    BATCHES,
    BATCHES_MADE_AHEAD,
    NUM_KINDS
} kind;

typedef struct job {
    kind kind;
    int shards;
    int wrong_labels;       /* so many, in rows 3, 13, ... */
    atomic_int calls[ROWS]; /* how often the map was called for a row, by all tasks */
    mst_status status[WORKERS_MOST];
    char error[WORKERS_MOST][300];
    char hex[WORKERS_MOST][65];
} job;

/* Pictures to flat rows; component 2 of IN is the number of the row. */
static mst_status flatten(const mst_array *in, mst_array *out, void *context) {
    for (int i = 0; i < HEIGHT * WIDTH; i++) ((float *)out[0].data)[i] = ((const float *)in[0].data)[i] / 2;
    *(int32_t *)out[1].data = *(const int32_t *)in[1].data;
    atomic_fetch_add(&((job *)context)->calls[*(const int32_t *)in[2].data], 1);
    return MST_OK;
}

static mst_status open_pictures(const job *j, mst_dataset **out) {
    mst_tensor *flat[2], *tensor[3];
    training_tensors(ROWS, (int64_t)HEIGHT * WIDTH, CLASSES, 3, flat);
    tensor[0] = engine_tensor(MST_F32, MST_SHAPE(ROWS, HEIGHT, WIDTH), NULL);
    memcpy(mst_tensor_data(tensor[0]), mst_tensor_data(flat[0]), mst_tensor_bytes(flat[0]));
    tensor[1] = flat[1];
    tensor[2] = engine_tensor(MST_I32, MST_SHAPE(ROWS), NULL);
    for (int i = 0; i < ROWS; i++) mst_tensor_set(tensor[2], i, i);
    for (int i = 0; i < j->wrong_labels; i++) mst_tensor_set(tensor[1], 3 + 10 * i, CLASSES);
    const mst_status status = mst_dataset_from_tensors(tensor, 3, out);
    for (int i = 0; i < 3; i++) mst_tensor_release(tensor[i]);
    mst_tensor_release(flat[0]);
    return status;
}

/* Each of these replaces *D by what it makes of it. */
static mst_status change(mst_dataset **d, job *j) {
    mst_dataset *made;
    const mst_spec specs[] = {{MST_F32, MST_SHAPE(HEIGHT * WIDTH)}, {MST_I32, MST_SCALAR}};
    MST_TRY(pipeline_replace(d, mst_dataset_random_flip(*d, 0, MST_FLIP_BOTH, 1, &made), &made));
    MST_TRY(pipeline_replace(d, mst_dataset_random_crop(*d, 0, HEIGHT, WIDTH, 1, 2, &made), &made));
    MST_TRY(pipeline_replace(d, mst_dataset_random_brightness(*d, 0, 0.5, 3, &made), &made));
    return pipeline_replace(d, mst_dataset_map(*d, flatten, j, specs, 2, &made), &made);
}

static mst_status batch(mst_dataset **d, kind kind) {
    mst_dataset *made;
    if (kind == ROWS_OF_THE_FIT) return MST_OK;
    MST_TRY(pipeline_replace(d, mst_dataset_shuffle(*d, &(mst_shuffle_options){.buffer_size = 30}, &made), &made));
    MST_TRY(pipeline_replace(d, mst_dataset_batch(*d, BATCH, false, &made), &made));
    if (kind == BATCHES) return MST_OK;
    return pipeline_replace(d, mst_dataset_prefetch(*d, 2, &made), &made);
}

static mst_status open_data(job *j, mst_dataset **out) {
    MST_TRY(open_pictures(j, out));
    MST_TRY(change(out, j));
    return batch(out, j->kind);
}

/* A thread of the test cannot end it: the status is looked at afterwards. */
static void train(void *context, int number, mst_shards window, mst_task_group *group) {
    job *j = context;
    mst_dataset *data = NULL;
    mst_model *model = training_model(40, CLASSES, 0);
    mst_status status = open_data(j, &data);
    if (!status)
        status = mst_compile(model, .optimizer = mst_adam(.learning_rate = 0.01),
                             .strategy = {.kind = MST_STRATEGY_MIRRORED,
                                          .num_shards = j->shards,
                                          .first_shard = window.first,
                                          .num_shards_here = window.count},
                             .metric = {MST_METRIC_ACCURACY}, .session = {.devices = "cpu:1/1"}, .seed = 5);
    if (!status) mst_session_join(mst_model_session(model), group);
    if (!status)
        status = mst_fit(model, .data = data, .batch_size = j->kind == ROWS_OF_THE_FIT ? BATCH : 0, .epochs = EPOCHS,
                         .no_shuffle = j->wrong_labels > 0);
    if (!status) status = mst_model_sha256(model, j->hex[number]);
    j->status[number] = status;
    if (status) snprintf(j->error[number], sizeof j->error[number], "%s", mst_error()->message);
    mst_model_destroy(model);
    mst_dataset_release(data);
}

static void expect_rows_are_made_once(kind kind, int n, const int *count) {
    job one = {.kind = kind}, many = {.kind = kind};
    for (int i = 0; i < n; i++) one.shards += count[i];
    many.shards = one.shards;
    train(&one, 0, (mst_shards){0, one.shards}, NULL);
    if (one.status[0]) fail_msg("%s", one.error[0]);
    workers_run(n, count, train, &many);
    for (int i = 0; i < n; i++) {
        if (many.status[i]) fail_msg("task %d: %s", i, many.error[i]);
        if (strcmp(many.hex[i], one.hex[0]) != 0)
            fail_msg("pipeline %d: task %d of %d gives %s, one process %s", (int)kind, i, n, many.hex[i], one.hex[0]);
    }
    /* A step asks for one component after the other: what is not made ahead is made for each of them. */
    const int each = EPOCHS * (kind == BATCHES && !engine_compiles() ? 2 : 1);
    for (int i = 0; i < ROWS; i++)
        if (one.calls[i] != each || many.calls[i] != each)
            fail_msg("pipeline %d: row %d is made %d times, by %d tasks %d times", (int)kind, i, one.calls[i], n,
                     many.calls[i]);
}

static void tasks_make_each_row_once_and_give_the_weights_of_one_process(void **state) {
    (void)state;
    for (kind kind = ROWS_OF_THE_FIT; kind < NUM_KINDS; kind++) {
        expect_rows_are_made_once(kind, 2, (const int[]){1, 1});
        expect_rows_are_made_once(kind, 3, (const int[]){2, 1, 1});
        expect_rows_are_made_once(kind, 4, (const int[]){1, 5, 1, 4});
    }
}

static void a_wrong_label_is_named_by_its_row_in_the_whole_batch(void **state) {
    (void)state;
    job j = {.kind = ROWS_OF_THE_FIT, .shards = 2, .wrong_labels = 2};
    workers_run(2, (const int[]){1, 1}, train, &j);
    for (int i = 0; i < 2; i++) {
        char expected[80];
        snprintf(expected, sizeof expected, "label 7 of row %d of the batch is not one of the 7 classes", 3 + 10 * i);
        assert_int_equal(j.status[i], MST_INVALID);
        if (!strstr(j.error[i], expected)) fail_msg("task %d: %s", i, j.error[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tasks_make_each_row_once_and_give_the_weights_of_one_process),
        cmocka_unit_test(a_wrong_label_is_named_by_its_row_in_the_whole_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
