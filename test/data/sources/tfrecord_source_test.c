/* Record files as a source of rows: their order, file by file or interleaved, with and without an index; every
 * record once over epochs, shards and restarts; transforms after the source; and errors that name file and byte.
 * Record I holds the number I (support/records.h), which shows the test which rows came. */
#include <stdio.h>

#include "support/archive.h"
#include "support/folder.h"
#include "support/ledger.h"
#include "support/pipeline.h"
#include "support/records.h"
#include "support/test.h"

enum { MOST = 4096 };

static const int64_t counts[] = {23, 0, 40, 1, 17};
enum { FILES = 5, ROWS = 23 + 40 + 1 + 17 };

static int64_t ids_of(mst_dataset *dataset, int64_t epoch, int64_t *ids) {
    mst_iterator *it;
    EXPECT_OK(mst_iterator_create(dataset, epoch, &it));
    const int64_t count = records_ids(it, INT64_MAX, ids, MOST);
    if (count < 0) fail_msg("%s", mst_error()->message);
    mst_iterator_destroy(it);
    return count;
}

static void rows_come_file_by_file(void **state) {
    (void)state;
    for (int compression = 0; compression < 3; compression++) {
        int64_t ids[MOST];
        records_write(FILES, counts, (mst_tfrecord_compression)compression);
        mst_dataset *dataset = records_open(NULL, true);
        assert_int_equal(mst_dataset_num_rows(dataset), compression ? MST_UNKNOWN_CARDINALITY : ROWS);
        assert_int_equal(ids_of(dataset, 0, ids), ROWS);
        for (int64_t i = 0; i < ROWS; i++) assert_int_equal(ids[i], i);
        mst_dataset_release(dataset);
    }
}

/* Written down from tf.data: interleave of ranges 0-2, 10-14, 20, 30-33 with cycle 2 and block 2. */
static void files_interleave_as_tf_data_does_it(void **state) {
    (void)state;
    static const int64_t sizes[] = {3, 5, 1, 4};
    static const int64_t expected[] = {0, 1, 3, 4, 2, 5, 6, 8, 7, 9, 10, 11, 12};
    for (int compression = 0; compression < 2; compression++) {
        int64_t ids[MOST];
        records_write(4, sizes, (mst_tfrecord_compression)compression);
        mst_dataset *dataset = records_open(&(mst_tfrecord_options){.cycle = 2, .block = 2}, true);
        assert_int_equal(ids_of(dataset, 0, ids), 13);
        assert_memory_equal(ids, expected, sizeof expected);
        mst_dataset_release(dataset);
    }
}

static void forward_reading_gives_what_the_index_gives(void **state) {
    (void)state;
    int64_t indexed[MOST], forward[MOST];
    records_write(FILES, counts, MST_TFRECORD_PLAIN);
    for (int64_t cycle = 1; cycle <= 6; cycle++) {
        mst_dataset *a = records_open(&(mst_tfrecord_options){.cycle = cycle, .block = 3}, true), *mixed_a, *mixed_b;
        mst_dataset *b = records_open(&(mst_tfrecord_options){.cycle = cycle, .block = 3, .forward = true}, true);
        const mst_shuffle_options options = {.buffer_size = 10, .seed = 3};
        EXPECT_OK(mst_dataset_shuffle(a, &options, &mixed_a));
        EXPECT_OK(mst_dataset_shuffle(b, &options, &mixed_b));
        assert_int_equal(ids_of(mixed_a, 2, indexed), ROWS);
        assert_int_equal(ids_of(mixed_b, 2, forward), ROWS);
        assert_memory_equal(indexed, forward, ROWS * sizeof *indexed);
        mst_dataset_release(a);
        mst_dataset_release(b);
        mst_dataset_release(mixed_a);
        mst_dataset_release(mixed_b);
    }
}

/* ---- the ledger: every record once ---- */

typedef struct pipeline_options {
    bool forward;
    int64_t cycle, buffer, batch, shards, prefetch;
    bool repeat_first; /* before the shuffle, else after the batches */
} pipeline_options;

static mst_dataset *build(const pipeline_options *o, int64_t shard, int64_t epochs) {
    mst_dataset *d = records_open(&(mst_tfrecord_options){.cycle = o->cycle, .block = 4, .forward = o->forward}, true);
    if (o->shards > 1) THEN(d, mst_dataset_shard(d, o->shards, shard, &made));
    if (o->repeat_first) THEN(d, mst_dataset_repeat(d, epochs, &made));
    if (o->buffer >= 0)
        THEN(d, mst_dataset_shuffle(d, &(mst_shuffle_options){.buffer_size = o->buffer, .seed = 5}, &made));
    if (o->batch) THEN(d, mst_dataset_batch(d, o->batch, false, &made));
    if (o->prefetch) THEN(d, mst_dataset_prefetch(d, o->prefetch, &made));
    if (!o->repeat_first) THEN(d, mst_dataset_repeat(d, epochs, &made));
    return d;
}

static const pipeline_options pipelines[] = {
    {false, 1, -1, 0, 1, 0, false}, {false, 3, 0, 7, 1, 0, false}, {false, 2, 9, 7, 3, 0, false},
    {true, 1, -1, 5, 2, 0, false},  {true, 3, 9, 7, 1, 0, false},  {true, 2, 1000, 4, 3, 0, true},
    {true, 1, 20, 7, 2, 2, false},  {false, 1, 0, 7, 4, 3, false}, {true, 4, 13, 0, 5, 0, true},
};
enum { PIPELINES = sizeof pipelines / sizeof *pipelines, EPOCHS = 3 };

static void expect_each_once(const int64_t *seen, int64_t times) {
    for (int64_t i = 0; i < ROWS; i++)
        if (seen[i] != times) fail_msg("record %d came %d times, not %d", (int)i, (int)seen[i], (int)times);
}

static mst_dataset *build_epochs(const void *options, int64_t shard) {
    return build(options, shard, EPOCHS);
}

static void check_pipelines(void (*check)(const ledger *l)) {
    for (int compression = 0; compression < 2; compression++) {
        records_write(FILES, counts, (mst_tfrecord_compression)compression);
        for (const pipeline_options *o = pipelines; o < pipelines + PIPELINES; o++)
            if (!compression || o->buffer) /* files that are read forward have no permutation */
                check(&(const ledger){.build = build_epochs,
                                      .context = o,
                                      .read = records_ids,
                                      .num_rows = ROWS,
                                      .num_shards = o->shards,
                                      .num_epochs = EPOCHS});
    }
}

static void every_record_comes_once_over_epochs_shards_and_restarts(void **state) {
    (void)state;
    check_pipelines(ledger_expect_each_row_once);
}

static void restored_or_skipped_to_it_gives_what_would_have_followed(void **state) {
    (void)state;
    check_pipelines(ledger_expect_same_after_restore);
}

static void damaged_positions_do_no_harm(void **state) {
    (void)state;
    check_pipelines(ledger_expect_no_harm_by_positions);
}

static void position_of_another_dataset_is_refused(void **state) {
    (void)state;
    records_write(FILES, counts, MST_TFRECORD_PLAIN);
    mst_dataset *a = build(&pipelines[1], 0, 1), *b = build(&pipelines[2], 0, 1);
    mst_iterator *it, *again;
    mst_tensor *position, *wrong;
    EXPECT_OK(mst_iterator_create(a, 0, &it));
    EXPECT_OK(mst_iterator_save(it, &position));
    EXPECT_ERROR(mst_iterator_restore(b, position, &again), MST_INVALID, "is of another dataset");
    assert_null(again);
    for (int64_t n = 0; n < mst_tensor_count(position); n++) {
        EXPECT_OK(mst_tensor_copy(MST_I64, MST_SHAPE(n), mst_tensor_data(position), &wrong));
        EXPECT_ERROR(mst_iterator_restore(a, wrong, &again), MST_CORRUPT, "saved position");
        mst_tensor_release(wrong);
    }
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(3), &wrong));
    EXPECT_ERROR(mst_iterator_restore(a, wrong, &again), MST_INVALID, "i64");
    mst_tensor_release(wrong);
    mst_tensor_set(position, 1, 1);
    EXPECT_ERROR(mst_iterator_restore(a, position, &again), MST_INVALID, "is of version 1");
    mst_tensor_release(position);
    mst_iterator_destroy(it);
    mst_dataset_release(a);
    mst_dataset_release(b);
}

/* ---- other transforms ---- */

static mst_status even_only(const mst_array *in, bool *keep, void *context) {
    ++*(int64_t *)context;
    *keep = *(const int64_t *)in[0].data % 2 == 0;
    return MST_OK;
}

static void filter_keeps_what_its_function_says(void **state) {
    (void)state;
    for (int compression = 0; compression < 2; compression++) {
        int64_t ids[MOST], calls = 0;
        records_write(FILES, counts, (mst_tfrecord_compression)compression);
        mst_dataset *d = records_open(NULL, true);
        THEN(d, mst_dataset_filter(d, even_only, &calls, &made));
        assert_int_equal(mst_dataset_num_rows(d), MST_UNKNOWN_CARDINALITY);
        THEN(d, mst_dataset_batch(d, 7, false, &made));
        assert_int_equal(ids_of(d, 0, ids), (ROWS + 1) / 2);
        for (int64_t i = 0; i < (ROWS + 1) / 2; i++) assert_int_equal(ids[i], 2 * i);
        assert_int_equal(calls, ROWS);
        mst_dataset_release(d);
    }
}

static void cached_rows_are_in_memory_in_any_order(void **state) {
    (void)state;
    int64_t ids[MOST], seen[ROWS] = {0};
    records_write(FILES, counts, MST_TFRECORD_ZLIB);
    mst_dataset *d = records_open(NULL, true);
    THEN(d, mst_dataset_cache(d, &made));
    assert_int_equal(mst_dataset_num_rows(d), ROWS);
    THEN(d, mst_dataset_shuffle(d, NULL, &made));
    assert_int_equal(ids_of(d, 0, ids), ROWS);
    for (int64_t i = 0; i < ROWS; i++) seen[ids[i]]++;
    expect_each_once(seen, 1);
    mst_dataset_release(d);
}

static void records_are_cached_before_they_are_parsed(void **state) {
    (void)state;
    const mst_feature features[] = {{.name = "id", .dtype = MST_I64},
                                    {.name = "image", .dtype = MST_U8, .shape = MST_SHAPE(20)}};
    records_write(FILES, counts, MST_TFRECORD_GZIP);
    for (int in_file = 0; in_file < 2; in_file++) {
        int64_t ids[MOST];
        mst_dataset *d = records_open(NULL, false);
        if (in_file)
            THEN(d, mst_dataset_cache_file(d, folder_path("cache"), &made));
        else
            THEN(d, mst_dataset_cache(d, &made));
        THEN(d, mst_dataset_parse_example(d, features, 2, &made));
        for (int pass = 0; pass < 2; pass++) {
            assert_int_equal(ids_of(d, pass, ids), ROWS);
            for (int64_t i = 0; i < ROWS; i++) assert_int_equal(ids[i], i);
        }
        mst_dataset_release(d);
    }
}

static void variable_features_come_with_lengths(void **state) {
    (void)state;
    const mst_feature features[] = {
        {.name = "list", .dtype = MST_I64, .shape = MST_SHAPE(4), .variable = true, .default_value = -1},
        {.name = "id", .dtype = MST_I64}};
    const mst_batch *batch;
    mst_iterator *it;
    int64_t list[ROWS][4], length[ROWS], id[ROWS];
    records_write(FILES, counts, MST_TFRECORD_PLAIN);
    mst_dataset *d = records_open(NULL, false);
    THEN(d, mst_dataset_parse_example(d, features, 2, &made));
    assert_int_equal(mst_dataset_num_components(d), 3);
    THEN(d, mst_dataset_batch(d, ROWS, false, &made));
    EXPECT_OK(mst_iterator_create(d, 0, &it));
    EXPECT_OK(mst_iterator_next(it, &batch));
    EXPECT_OK(mst_batch_copy_all(batch, 0, ROWS, (void *[]){list, length, id}));
    for (int64_t i = 0; i < ROWS; i++) {
        assert_int_equal(length[i], i % 5);
        for (int j = 0; j < 4; j++) assert_int_equal(list[i][j], j < i % 5 ? i : -1);
    }
    mst_iterator_destroy(it);
    mst_dataset_release(d);
}

static mst_status first_and_size(const mst_array *in, mst_array *out, void *context) {
    (void)context;
    *(int64_t *)out[0].data = in[0].count;
    return in[0].dtype == MST_U8 && in[0].shape.dim[0] == in[0].count ? MST_OK : MST_INVALID;
}

static void records_as_they_are_can_be_had_and_mapped(void **state) {
    (void)state;
    records_write(1, &counts[4], MST_TFRECORD_PLAIN);
    mst_dataset *d = records_open(NULL, false), *sizes;
    mst_iterator *it, *its;
    const mst_batch *batch, *mapped;
    mst_record record;
    int64_t size;
    char bytes[64];
    EXPECT_OK(mst_dataset_map(d, first_and_size, NULL, &(mst_spec){MST_I64, MST_SCALAR}, 1, &sizes));
    EXPECT_OK(mst_iterator_create(d, 0, &it));
    EXPECT_OK(mst_iterator_create(sizes, 0, &its));
    for (int64_t i = 0; i < counts[4]; i++) {
        EXPECT_OK(mst_iterator_next(it, &batch));
        EXPECT_OK(mst_iterator_next(its, &mapped));
        EXPECT_OK(mst_batch_record(batch, 0, &record));
        EXPECT_OK(mst_batch_copy(mapped, 0, 0, 1, &size));
        assert_int_equal(record.size, size);
    }
    EXPECT_ERROR(mst_batch_copy(batch, 0, 0, 1, bytes), MST_INVALID,
                 "component 0 has rows of different lengths: pad it");
    mst_tensor *tensor;
    EXPECT_OK(mst_batch_tensor(batch, 0, &tensor));
    assert_int_equal(mst_tensor_count(tensor), record.size);
    assert_memory_equal(mst_tensor_data(tensor), record.data, record.size);
    mst_tensor_release(tensor);
    mst_iterator_destroy(it);
    mst_iterator_destroy(its);
    mst_dataset_release(sizes);
    mst_dataset_release(d);
}

/* ---- errors ---- */

/* Changes a byte of file a-00. */
static void change_byte(long at) {
    FILE *file = fopen(folder_path("a-00"), "r+b");
    fseek(file, at, SEEK_SET);
    const int byte = fgetc(file);
    fseek(file, at, SEEK_SET);
    fputc(byte ^ 1, file);
    fclose(file);
}

static void damaged_record_is_named_by_file_and_byte_or_left_out(void **state) {
    (void)state;
    for (int forward = 0; forward < 2; forward++) {
        for (int prefetch = 0; prefetch < 2; prefetch++) {
            int64_t ids[MOST];
            records_write(2, &counts[3], MST_TFRECORD_PLAIN);
            change_byte(30);
            mst_dataset *d = records_open(&(mst_tfrecord_options){.forward = forward}, true);
            mst_iterator *it;
            THEN(d, mst_dataset_batch(d, 4, false, &made));
            if (prefetch) THEN(d, mst_dataset_prefetch(d, 2, &made));
            EXPECT_OK(mst_iterator_create(d, 0, &it));
            assert_int_equal(records_ids(it, INT64_MAX, ids, MOST), -1);
            assert_int_equal(mst_error()->code, MST_CORRUPT);
            assert_non_null(strstr(mst_error()->message, "a-00': record at byte 0"));
            mst_iterator_destroy(it);
            mst_dataset_release(d);
            d = records_open(&(mst_tfrecord_options){.forward = forward, .skip_corrupt = 1}, true);
            assert_int_equal(ids_of(d, 0, ids), counts[4]);
            assert_int_equal(ids[0], 1);
            if (forward) THEN(d, mst_dataset_cache(d, &made));
            THEN(d, mst_dataset_take(d, 3, &made));
            assert_int_equal(mst_dataset_num_corrupt(d), 1);
            mst_dataset_release(d);
        }
    }
}

static void bad_example_is_named_by_file_and_byte(void **state) {
    (void)state;
    const mst_feature missing = {.name = "weight", .dtype = MST_F32};
    for (int forward = 0; forward < 2; forward++) {
        records_write(1, &counts[4], MST_TFRECORD_PLAIN);
        mst_dataset *d = records_open(&(mst_tfrecord_options){.forward = forward}, false);
        THEN(d, mst_dataset_parse_example(d, &missing, 1, &made));
        mst_iterator *it;
        const mst_batch *batch;
        float weight;
        EXPECT_OK(mst_iterator_create(d, 0, &it));
        EXPECT_OK(mst_iterator_next(it, &batch));
        EXPECT_ERROR(mst_batch_copy(batch, 0, 0, 1, &weight), MST_NOT_FOUND,
                     "a-00': record at byte 0: feature 'weight'");
        mst_iterator_destroy(it);
        mst_dataset_release(d);
    }
}

static void files_that_cannot_be_read_are_named(void **state) {
    (void)state;
    mst_dataset *d;
    const char *nothing = folder_path("b-*"), *absent = folder_path("b"), *folder = folder_path("");
    EXPECT_ERROR(mst_dataset_from_tfrecord(&nothing, 1, NULL, &d), MST_NOT_FOUND, "no file matches");
    EXPECT_ERROR(mst_dataset_from_tfrecord(&absent, 1, NULL, &d), MST_NOT_FOUND, "no such file");
    EXPECT_ERROR(mst_dataset_from_tfrecord(&folder, 1, NULL, &d), MST_INVALID, "is a folder");
    EXPECT_ERROR(mst_dataset_from_tfrecord(&folder, 0, NULL, &d), MST_INVALID, "0 paths");
    assert_null(d);
    records_write(1, &counts[4], MST_TFRECORD_GZIP);
    d = records_open(NULL, true);
    mst_dataset *made;
    EXPECT_ERROR(mst_dataset_shuffle(d, NULL, &made), MST_INVALID, "buffer_size");
    mst_dataset_release(d);
}

static void pipeline_destroyed_in_the_middle_ends(void **state) {
    (void)state;
    records_write(FILES, counts, MST_TFRECORD_GZIP);
    for (int64_t stop = 0; stop < 8; stop++) {
        int64_t ids[MOST];
        mst_dataset *d = build(&pipelines[6], 0, -1);
        mst_iterator *it;
        EXPECT_OK(mst_iterator_create(d, 0, &it));
        assert_true(records_ids(it, stop, ids, MOST) >= 0);
        mst_iterator_destroy(it);
        mst_dataset_release(d);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(rows_come_file_by_file),
        TEST_IN_FOLDER(files_interleave_as_tf_data_does_it),
        TEST_IN_FOLDER(forward_reading_gives_what_the_index_gives),
        TEST_IN_FOLDER(every_record_comes_once_over_epochs_shards_and_restarts),
        TEST_IN_FOLDER(restored_or_skipped_to_it_gives_what_would_have_followed),
        TEST_IN_FOLDER(position_of_another_dataset_is_refused),
        TEST_IN_FOLDER(damaged_positions_do_no_harm),
        TEST_IN_FOLDER(filter_keeps_what_its_function_says),
        TEST_IN_FOLDER(cached_rows_are_in_memory_in_any_order),
        TEST_IN_FOLDER(records_are_cached_before_they_are_parsed),
        TEST_IN_FOLDER(variable_features_come_with_lengths),
        TEST_IN_FOLDER(records_as_they_are_can_be_had_and_mapped),
        TEST_IN_FOLDER(damaged_record_is_named_by_file_and_byte_or_left_out),
        TEST_IN_FOLDER(bad_example_is_named_by_file_and_byte),
        TEST_IN_FOLDER(files_that_cannot_be_read_are_named),
        TEST_IN_FOLDER(pipeline_destroyed_in_the_middle_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
