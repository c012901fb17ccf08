/* Tasks that train on a part of each batch make only the rows of their parts. Over all tasks each row is made once,
 * with the values that it has in one process. */
#include <stdatomic.h>

#include "data/dataset.h"
#include "support/folder.h"
#include "support/pipeline.h"
#include "support/records.h"
#include "support/test.h"

enum { ROWS = 53, SIZE = 10 /* the last batch has 3 rows */, PIXELS = 6, MOST_COMPONENTS = 4, MOST_TASKS = 4 };

/* How often the row of each id was made. */
typedef struct counter {
    atomic_int calls[ROWS];
} counter;

/* ---- pipelines ---- */

static mst_status make_row(counter *c, int64_t id, mst_array *out) {
    atomic_fetch_add(&c->calls[id], 1);
    *(int64_t *)out[0].data = id;
    for (int i = 0; i < PIXELS; i++) ((float *)out[1].data)[i] = (float)(id * PIXELS + i);
    return MST_OK;
}

static mst_status row_of_number(const mst_array *in, mst_array *out, void *context) {
    return make_row(context, *(const int64_t *)in[0].data / 10, out);
}

static mst_status row_of_record(const mst_array *in, mst_array *out, void *context) {
    return make_row(context, *(const int64_t *)in[0].data, out);
}

/* Through the map that counts, and a random change. */
static mst_dataset *made_by(mst_dataset *d, mst_map_function function, counter *c) {
    const mst_spec spec[] = {{MST_I64, MST_SCALAR}, {MST_F32, MST_SHAPE(2, PIXELS / 2)}};
    THEN(d, mst_dataset_map(d, function, c, spec, 2, &made));
    THEN(d, mst_dataset_random_brightness(d, 1, 9, 4, &made));
    return d;
}

static mst_dataset *numbers(counter *c) {
    return made_by(pipeline_numbers(ROWS), row_of_number, c);
}

static mst_dataset *in_batches(mst_dataset *d, int64_t prefetch) {
    THEN(d, mst_dataset_batch(d, SIZE, false, &made));
    if (prefetch) THEN(d, mst_dataset_prefetch(d, prefetch, &made));
    return d;
}

static mst_dataset *shuffled(mst_dataset *d, int64_t buffer) {
    THEN(d, mst_dataset_shuffle(d, &(mst_shuffle_options){.buffer_size = buffer, .seed = 8}, &made));
    return d;
}

static mst_dataset *made_ahead(counter *c) {
    return in_batches(shuffled(numbers(c), 7), 2);
}

static mst_dataset *made_when_copied(counter *c) {
    return made_by(in_batches(shuffled(pipeline_numbers(ROWS), 0), 0), row_of_number, c);
}

static mst_dataset *whole_batches_only(counter *c) {
    mst_dataset *d = shuffled(numbers(c), 0);
    THEN(d, mst_dataset_batch(d, SIZE, true, &made));
    THEN(d, mst_dataset_prefetch(d, 1, &made));
    return d;
}

static mst_dataset *repeated_rows(counter *c) {
    mst_dataset *d = numbers(c);
    THEN(d, mst_dataset_repeat(d, 3, &made));
    return in_batches(shuffled(d, 20), 2);
}

static mst_dataset *repeated_batches(counter *c) {
    mst_dataset *d = made_ahead(c);
    THEN(d, mst_dataset_repeat(d, 2, &made));
    THEN(d, mst_dataset_scale(d, 1, MST_F64, 0.5, &made));
    THEN(d, mst_dataset_prefetch(d, 1, &made));
    return d;
}

static mst_dataset *skipped_and_taken(counter *c) {
    mst_dataset *d = made_ahead(c);
    THEN(d, mst_dataset_skip(d, 1, &made));
    THEN(d, mst_dataset_take(d, 3, &made));
    return d;
}

static mst_dataset *interleaved(counter *c) {
    mst_dataset *part[] = {numbers(c), made_by(pipeline_numbers(17), row_of_number, c)}, *d;
    EXPECT_OK(mst_dataset_interleave(part, 2, &(mst_interleave_options){.block_length = 3}, &d));
    for (int i = 0; i < 2; i++) mst_dataset_release(part[i]);
    return in_batches(shuffled(d, 5), 2);
}

static mst_dataset *zipped(counter *c) {
    mst_dataset *part[] = {numbers(c), shuffled(numbers(c), 0)}, *d;
    EXPECT_OK(mst_dataset_zip(part, 2, &d));
    for (int i = 0; i < 2; i++) mst_dataset_release(part[i]);
    return in_batches(d, 2);
}

static mst_dataset *cached(counter *c) {
    mst_dataset *d = pipeline_numbers(ROWS);
    THEN(d, mst_dataset_cache(d, &made));
    return in_batches(shuffled(made_by(d, row_of_number, c), 0), 2);
}

static mst_dataset *padded_to_a_shape(counter *c) {
    mst_dataset *d = shuffled(numbers(c), 0);
    const mst_padding padding[] = {{0}, {.shape = MST_SHAPE(3, 4), .value = -1}};
    THEN(d, mst_dataset_padded_batch(d, SIZE, false, padding, &made));
    THEN(d, mst_dataset_prefetch(d, 1, &made));
    return d;
}

static mst_dataset *compressed_records(counter *c) {
    return in_batches(shuffled(made_by(records_open(NULL, true), row_of_record, c), 12), 2);
}

/* ---- one process, and tasks ---- */

typedef mst_dataset *(*pipeline)(counter *c);

/* Rows FIRST to FIRST + COUNT - 1 of BATCH, one component after the other. */
static void copy(const mst_dataset *d, const mst_batch *batch, mst_row_range range, char *out[MOST_COMPONENTS]) {
    void *dst[MOST_COMPONENTS];
    for (int i = 0; i < mst_dataset_num_components(d); i++)
        dst[i] = out[i] = calloc((size_t)range.count + 1, mst_dataset_row_bytes(d, i));
    EXPECT_OK(mst_batch_copy_all(batch, range.first, range.count, dst));
}

static void expect_same(const mst_dataset *d, const mst_batch *whole, const mst_batch *part, mst_row_range range) {
    char *expected[MOST_COMPONENTS] = {NULL}, *got[MOST_COMPONENTS] = {NULL};
    copy(d, whole, (mst_row_range){0, mst_batch_size(whole)}, expected);
    copy(d, part, range, got);
    for (int i = 0; i < mst_dataset_num_components(d); i++) {
        const size_t bytes = mst_dataset_row_bytes(d, i);
        assert_memory_equal(expected[i] + (size_t)range.first * bytes, got[i], (size_t)range.count * bytes);
        free(expected[i]);
        free(got[i]);
    }
}

/* Compares the rows of WINDOW, made by a task of its own that counts in C, with those of one process. */
static int64_t run_task(pipeline build, counter *in_one, counter *c, mst_shard_window window, int64_t epoch) {
    mst_dataset *whole = build(in_one), *part = build(c);
    mst_iterator *one, *task;
    const mst_batch *expected, *batch;
    int64_t rows = 0;
    EXPECT_OK(mst_iterator_create(whole, epoch, &one));
    EXPECT_OK(mst_iterator_create_window(part, epoch, window, &task));
    for (;;) {
        EXPECT_OK(mst_iterator_next(one, &expected));
        EXPECT_OK(mst_iterator_next(task, &batch));
        assert_int_equal(batch != NULL, expected != NULL);
        if (!batch) break;
        assert_int_equal(mst_batch_size(batch), mst_batch_size(expected));
        expect_same(whole, expected, batch, mst_shard_window_rows(window, mst_batch_size(batch)));
        rows += mst_batch_size(batch);
    }
    mst_iterator_destroy(one);
    mst_iterator_destroy(task);
    mst_dataset_release(whole);
    mst_dataset_release(part);
    return rows;
}

/* Tasks with COUNT[i] shards each, up to the first 0. EACH: how many rows are made for each row of a batch. */
static void expect_rows_are_made_once(const char *name, pipeline build, const int count[MOST_TASKS], int64_t each) {
    for (int64_t epoch = 0; epoch < 2; epoch++) {
        counter in_one = {0}, in_tasks = {0};
        int64_t rows = 0, total = 0;
        int num_tasks = 0;
        mst_shard_window window = {0};
        for (int i = 0; i < MOST_TASKS; i++) window.num_shards += count[i];
        for (; num_tasks < MOST_TASKS && count[num_tasks]; num_tasks++) {
            window.shards.count = count[num_tasks];
            rows = run_task(build, &in_one, &in_tasks, window, epoch);
            window.shards.first += count[num_tasks];
        }
        for (int id = 0; id < ROWS; id++) {
            if (in_one.calls[id] != num_tasks * in_tasks.calls[id])
                fail_msg("%s: row %d is made %d times by %d tasks, %d times by one process", name, id,
                         in_tasks.calls[id], num_tasks, in_one.calls[id] / num_tasks);
            total += in_tasks.calls[id];
        }
        if (total != each * rows) fail_msg("%s: %d rows are made of %d", name, (int)total, (int)(each * rows));
    }
}

static void every_row_is_made_once_over_all_tasks(void **state) {
    (void)state;
    const int counts[][MOST_TASKS] = {{1, 1}, {2, 1, 1}, {1, 5, 1, 4}};
    const int64_t files[] = {20, 33};
    records_write(2, files, MST_TFRECORD_GZIP);
    for (int i = 0; i < 3; i++) {
        expect_rows_are_made_once("made ahead", made_ahead, counts[i], 1);
        expect_rows_are_made_once("made when they are copied", made_when_copied, counts[i], 1);
        expect_rows_are_made_once("whole batches only", whole_batches_only, counts[i], 1);
        expect_rows_are_made_once("repeated rows", repeated_rows, counts[i], 1);
        expect_rows_are_made_once("repeated batches", repeated_batches, counts[i], 1);
        expect_rows_are_made_once("interleaved", interleaved, counts[i], 1);
        expect_rows_are_made_once("zipped", zipped, counts[i], 2);
        expect_rows_are_made_once("after a cache", cached, counts[i], 1);
        expect_rows_are_made_once("padded to a shape", padded_to_a_shape, counts[i], 1);
        expect_rows_are_made_once("compressed records", compressed_records, counts[i], 1);
    }
}

/* A prefetch makes batches ahead that nobody takes. */
static void skipped_batches_are_those_of_one_process(void **state) {
    (void)state;
    counter in_one = {0}, in_task = {0};
    assert_int_equal(run_task(skipped_and_taken, &in_one, &in_task, (mst_shard_window){{1, 2}, 4}, 1), 3 * SIZE);
}

/* ---- rows that all tasks make ---- */

static mst_status list_of_number(const mst_array *in, mst_array *out, void *context) {
    const int64_t id = *(const int64_t *)in[0].data / 10, length = id * 7 % 11;
    atomic_fetch_add(&((counter *)context)->calls[id], 1);
    out[0].count = out[0].shape.dim[0] = length;
    out[0].data = mst_map_alloc((size_t)(length + 1) * sizeof id);
    for (int64_t i = 0; i < length; i++) ((int64_t *)out[0].data)[i] = id;
    return MST_OK;
}

static mst_dataset *lists(counter *c) {
    mst_dataset *d = pipeline_numbers(ROWS);
    THEN(d, mst_dataset_map(d, list_of_number, c, &(mst_spec){MST_I64, MST_SHAPE(-1)}, 1, &made));
    THEN(d, mst_dataset_padded_batch(d, SIZE, false, NULL, &made));
    return d;
}

/* The longest row may be another task's. */
static void lists_are_padded_to_the_longest_of_the_whole_batch(void **state) {
    (void)state;
    counter c = {0};
    mst_dataset *whole = lists(&c), *part = lists(&c);
    mst_iterator *one, *task;
    const mst_batch *expected, *batch;
    EXPECT_OK(mst_iterator_create(whole, 0, &one));
    EXPECT_OK(mst_iterator_create_window(part, 0, (mst_shard_window){{1, 1}, 3}, &task));
    for (;;) {
        int64_t a[SIZE * 11], b[SIZE * 11];
        EXPECT_OK(mst_iterator_next(one, &expected));
        EXPECT_OK(mst_iterator_next(task, &batch));
        if (!batch) break;
        const mst_shape shape = mst_batch_shape(batch, 0);
        const mst_row_range range = mst_shard_window_rows((mst_shard_window){{1, 1}, 3}, shape.dim[0]);
        assert_true(mst_shape_equal(shape, mst_batch_shape(expected, 0)));
        EXPECT_OK(mst_batch_copy(expected, 0, range.first, range.count, a));
        EXPECT_OK(mst_batch_copy(batch, 0, range.first, range.count, b));
        assert_memory_equal(a, b, (size_t)(range.count * shape.dim[1]) * sizeof *a);
    }
    for (int id = 0; id < ROWS; id++) assert_int_equal(c.calls[id], 2);
    mst_iterator_destroy(one);
    mst_iterator_destroy(task);
    mst_dataset_release(whole);
    mst_dataset_release(part);
}

/* ---- rows of other tasks ---- */

static void rows_of_other_tasks_cannot_be_copied(void **state) {
    (void)state;
    counter c = {0};
    mst_dataset *d = made_ahead(&c);
    mst_iterator *it;
    const mst_batch *batch;
    mst_tensor *tensor;
    int64_t id[SIZE];
    EXPECT_OK(mst_iterator_create_window(d, 0, (mst_shard_window){{1, 2}, 4}, &it));
    EXPECT_OK(mst_iterator_next(it, &batch));
    EXPECT_OK(mst_batch_copy(batch, 0, 3, 5, id)); /* shards 1 and 2 of 3, 3, 2 and 2 rows */
    EXPECT_ERROR(mst_batch_copy(batch, 0, 2, 2, id), MST_INVALID,
                 "batch: 2 rows from row 2 on, this task has the 5 from row 3 on of the batch's 10");
    EXPECT_ERROR(mst_batch_copy(batch, 0, 7, 2, id), MST_INVALID, "this task has the 5 from row 3 on");
    EXPECT_ERROR(mst_batch_tensor(batch, 0, &tensor), MST_INVALID, "this task has the 5 from row 3 on");
    mst_iterator_destroy(it);
    mst_dataset_release(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(every_row_is_made_once_over_all_tasks),
        cmocka_unit_test(skipped_batches_are_those_of_one_process),
        cmocka_unit_test(lists_are_padded_to_the_longest_of_the_whole_batch),
        cmocka_unit_test(rows_of_other_tasks_cannot_be_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
