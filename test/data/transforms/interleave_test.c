/* Rows of several datasets in turn: the order of tf.data; every row once over epochs, shards and restarts; restored
 * and damaged positions; and datasets that cannot be combined. Part I has sizes[I] rows, whose numbers go on from
 * part to part. */
#include <stdio.h>

#include "support/folder.h"
#include "support/ledger.h"
#include "support/pipeline.h"
#include "support/records.h"
#include "support/test.h"
#include "support/varied_rows.h"

enum { MOST = 4096, PARTS = 5 };

static const int64_t sizes[PARTS] = {7, 1, 12, 4, 9};
enum { ROWS = 7 + 1 + 12 + 4 + 9 };

static mst_dataset *interleave(mst_dataset **parts, int n, int64_t cycle_length, int64_t block_length) {
    mst_dataset *dataset;
    const mst_interleave_options options = {.cycle_length = cycle_length, .block_length = block_length};
    EXPECT_OK(mst_dataset_interleave(parts, n, &options, &dataset));
    for (int i = 0; i < n; i++) mst_dataset_release(parts[i]);
    return dataset;
}

/* Rows FIRST to FIRST + COUNT - 1 of pipeline_numbers. */
static mst_dataset *range(int64_t first, int64_t count) {
    mst_dataset *dataset = pipeline_numbers(first + count);
    THEN(dataset, mst_dataset_skip(dataset, first, &made));
    return dataset;
}

/* Part i has sizes[i] rows, whose numbers go on from part to part. */
static mst_dataset *ranges(int64_t cycle_length, int64_t block_length) {
    mst_dataset *parts[PARTS];
    int64_t first = 0;
    for (int i = 0; i < PARTS; first += sizes[i++]) parts[i] = range(first, sizes[i]);
    return interleave(parts, PARTS, cycle_length, block_length);
}

/* Written down from tf.data: interleave of ranges 0-2, 10-14, 20, 30-33 with cycle 2 and block 2. */
static void order_is_that_of_tf_data(void **state) {
    (void)state;
    static const int64_t expected[] = {0, 1, 10, 11, 2, 12, 13, 20, 14, 30, 31, 32, 33};
    int64_t rows[MOST];
    mst_dataset *parts[] = {range(0, 3), range(10, 5), range(20, 1), range(30, 4)};
    mst_dataset *dataset = interleave(parts, 4, 2, 2);
    assert_int_equal(mst_dataset_num_rows(dataset), 13);
    assert_int_equal(pipeline_rows(dataset, 0, rows, MOST, NULL), 13);
    assert_memory_equal(rows, expected, sizeof expected);
    mst_dataset_release(dataset);
}

static void all_datasets_have_their_turn_unless_a_cycle_is_given(void **state) {
    (void)state;
    int64_t rows[MOST];
    mst_dataset *parts[] = {range(0, 2), range(10, 2), range(20, 2)}, *dataset;
    EXPECT_OK(mst_dataset_interleave(parts, 3, NULL, &dataset));
    assert_int_equal(pipeline_rows(dataset, 0, rows, MOST, NULL), 6);
    assert_memory_equal(rows, ((const int64_t[]){0, 10, 20, 1, 11, 21}), 6 * sizeof *rows);
    mst_dataset_release(dataset);
    dataset = interleave(parts, 3, 1, 0);
    assert_int_equal(pipeline_rows(dataset, 0, rows, MOST, NULL), 6);
    assert_memory_equal(rows, ((const int64_t[]){0, 1, 10, 11, 20, 21}), 6 * sizeof *rows);
    mst_dataset_release(dataset);
}

static void rows_of_any_length_come_in_turn(void **state) {
    (void)state;
    int64_t rows[MOST], expected[MOST], first = 0;
    mst_dataset *parts[PARTS], *numbers = ranges(3, 2);
    for (int i = 0; i < PARTS; first += sizes[i++]) parts[i] = varied_rows(range(first, sizes[i]));
    mst_dataset *varied = varied_rows_checked(interleave(parts, PARTS, 3, 2));
    for (int way = 0; way < 3; way++) {
        assert_int_equal(pipeline_rows(numbers, 0, expected, MOST, NULL), ROWS);
        assert_int_equal(pipeline_rows(varied, 0, rows, MOST, NULL), ROWS);
        assert_memory_equal(rows, expected, ROWS * sizeof *rows);
        THEN(numbers, mst_dataset_shuffle(numbers, &(mst_shuffle_options){.buffer_size = 4}, &made));
        THEN(varied, mst_dataset_shuffle(varied, &(mst_shuffle_options){.buffer_size = 4}, &made));
    }
    THEN(varied, mst_dataset_batch(varied, 6, false, &made));
    THEN(varied, mst_dataset_prefetch(varied, 2, &made));
    assert_int_equal(pipeline_rows(numbers, 1, expected, MOST, NULL), ROWS);
    assert_int_equal(pipeline_rows(varied, 1, rows, MOST, NULL), ROWS);
    assert_memory_equal(rows, expected, ROWS * sizeof *rows);
    mst_dataset_release(numbers);
    mst_dataset_release(varied);
}

static void records_of_datasets_are_parsed_behind_the_interleave(void **state) {
    (void)state;
    const mst_feature features[] = {{.name = "id", .dtype = MST_I64},
                                    {.name = "image", .dtype = MST_U8, .shape = MST_SHAPE(20)}};
    records_write(2, sizes, MST_TFRECORD_GZIP); /* of 7 and of 1 */
    mst_dataset *parts[2];
    for (int i = 0; i < 2; i++) {
        const char *path = folder_path(i ? "a-01" : "a-00");
        EXPECT_OK(mst_dataset_from_tfrecord(&path, 1, NULL, &parts[i]));
    }
    mst_dataset *d = interleave(parts, 2, 2, 1);
    mst_iterator *it;
    int64_t ids[MOST];
    THEN(d, mst_dataset_parse_example(d, features, 2, &made));
    EXPECT_OK(mst_iterator_create(d, 0, &it));
    assert_int_equal(records_ids(it, INT64_MAX, ids, MOST), 8);
    assert_memory_equal(ids, ((const int64_t[]){0, 7, 1, 2, 3, 4, 5, 6}), 8 * sizeof *ids);
    mst_iterator_destroy(it);
    mst_dataset_release(d);
}

static void files_that_are_datasets_come_as_files_of_one_source(void **state) {
    (void)state;
    records_write(PARTS, sizes, MST_TFRECORD_GZIP);
    for (int64_t cycle = 1; cycle <= PARTS; cycle++) {
        int64_t rows[MOST], ids[MOST];
        mst_dataset *of_files = records_open(&(mst_tfrecord_options){.cycle = cycle, .block = 3}, true);
        mst_dataset *of_datasets = ranges(cycle, 3);
        mst_iterator *it;
        EXPECT_OK(mst_iterator_create(of_files, 0, &it));
        assert_int_equal(records_ids(it, INT64_MAX, ids, MOST), ROWS);
        assert_int_equal(pipeline_rows(of_datasets, 0, rows, MOST, NULL), ROWS);
        assert_memory_equal(rows, ids, ROWS * sizeof *rows);
        mst_iterator_destroy(it);
        mst_dataset_release(of_files);
        mst_dataset_release(of_datasets);
    }
}

/* ---- the ledger ---- */

static mst_dataset *shuffled_part(int i, int64_t first) {
    mst_dataset *part = range(first, sizes[i]);
    const mst_shuffle_options options = {.seed = (uint64_t)i, .buffer_size = i % 2 ? 0 : 3};
    if (i) THEN(part, mst_dataset_shuffle(part, &options, &made));
    return part;
}

typedef struct settings {
    int64_t cycle_length, block_length, buffer, shards, batch, prefetch;
    bool repeat_first; /* before the shuffle, else after it */
} settings;

static const settings all_settings[] = {
    {1, 1, 0, 1, 0, 0, false}, {2, 3, 6, 1, 4, 0, false}, {3, 1, 20, 3, 5, 2, true},
    {5, 2, 8, 2, 3, 3, false}, {9, 4, 50, 1, 7, 1, true}, {2, 1, 10, 4, 0, 0, true},
};
enum { SETTINGS = sizeof all_settings / sizeof *all_settings, EPOCHS = 3 };

static mst_dataset *build(const void *context, int64_t shard) {
    const settings *s = context;
    mst_dataset *parts[PARTS];
    int64_t first = 0;
    for (int i = 0; i < PARTS; first += sizes[i++]) parts[i] = shuffled_part(i, first);
    mst_dataset *d = interleave(parts, PARTS, s->cycle_length, s->block_length);
    const mst_shuffle_options options = {.buffer_size = s->buffer, .seed = 3};
    if (s->shards > 1) THEN(d, mst_dataset_shard(d, s->shards, shard, &made));
    if (s->repeat_first) THEN(d, mst_dataset_repeat(d, EPOCHS, &made));
    if (s->buffer) THEN(d, mst_dataset_shuffle(d, &options, &made));
    if (!s->repeat_first) THEN(d, mst_dataset_repeat(d, EPOCHS, &made));
    if (s->batch) THEN(d, mst_dataset_batch(d, s->batch, false, &made));
    if (s->prefetch) THEN(d, mst_dataset_prefetch(d, s->prefetch, &made));
    return d;
}

static void check_all(void (*check)(const ledger *l)) {
    for (const settings *s = all_settings; s < all_settings + SETTINGS; s++)
        check(&(const ledger){.build = build,
                              .context = s,
                              .read = pipeline_read,
                              .num_rows = ROWS,
                              .num_shards = s->shards,
                              .num_epochs = EPOCHS});
}

static void every_row_comes_once_over_epochs_shards_and_restarts(void **state) {
    (void)state;
    check_all(ledger_expect_each_row_once);
}

static void restored_or_skipped_to_it_gives_what_would_have_followed(void **state) {
    (void)state;
    check_all(ledger_expect_same_after_restore);
}

static void damaged_positions_do_no_harm(void **state) {
    (void)state;
    check_all(ledger_expect_no_harm_by_positions);
}

static void records_that_come_forward_are_read_again_on_restore(void **state) {
    (void)state;
    records_write(2, (const int64_t[]){13, 12}, MST_TFRECORD_GZIP);
    const mst_tfrecord_options forward = {.forward = true};
    mst_dataset *parts[] = {records_open(&forward, true), records_open(&forward, true)};
    mst_dataset *dataset = interleave(parts, 2, 2, 4);
    const mst_shuffle_options options = {.buffer_size = 17};
    THEN(dataset, mst_dataset_repeat(dataset, 2, &made));
    THEN(dataset, mst_dataset_shuffle(dataset, &options, &made));
    for (int64_t at = 0; at <= 100; at += 9) {
        mst_iterator *it, *again;
        mst_tensor *position;
        int64_t ids[MOST], rest[MOST];
        EXPECT_OK(mst_iterator_create(dataset, 0, &it));
        assert_int_equal(records_ids(it, at, ids, MOST), at);
        EXPECT_OK(mst_iterator_save(it, &position));
        EXPECT_OK(mst_iterator_restore(dataset, position, &again));
        assert_int_equal(records_ids(it, INT64_MAX, ids, MOST), 100 - at);
        assert_int_equal(records_ids(again, INT64_MAX, rest, MOST), 100 - at);
        assert_memory_equal(ids, rest, (size_t)(100 - at) * sizeof *ids);
        mst_tensor_release(position);
        mst_iterator_destroy(again);
        mst_iterator_destroy(it);
    }
    mst_dataset_release(dataset);
}

/* ---- what is known of it, and what is refused ---- */

static mst_status keep_all(const mst_array *in, bool *keep, void *context) {
    (void)in;
    (void)context;
    *keep = true;
    return MST_OK;
}

static void the_number_of_rows_is_known_where_it_can_be(void **state) {
    (void)state;
    int64_t rows[MOST];
    mst_dataset *filtered = range(0, 3), *endless = range(0, 2);
    THEN(filtered, mst_dataset_filter(filtered, keep_all, NULL, &made));
    THEN(endless, mst_dataset_repeat(endless, -1, &made));
    mst_dataset *dataset = interleave((mst_dataset *[]){filtered, range(5, 2)}, 2, 2, 1);
    assert_int_equal(mst_dataset_num_rows(dataset), MST_UNKNOWN_CARDINALITY);
    assert_int_equal(pipeline_rows(dataset, 0, rows, MOST, NULL), 5);
    dataset = interleave((mst_dataset *[]){dataset, endless}, 2, 1, 1);
    assert_int_equal(mst_dataset_num_rows(dataset), MST_INFINITE);
    assert_int_equal(pipeline_rows(dataset, 0, rows, 9, NULL), 9);
    assert_true(rows[4] == 2 && rows[5] == 0 && rows[8] == 1);
    mst_dataset_release(dataset);
}

static void names_of_classes_are_those_that_all_parts_have(void **state) {
    (void)state;
    const char *const names[] = {"no", "yes", "perhaps"};
    mst_dataset *a = range(0, 2), *b = range(0, 3), *dataset;
    THEN(a, mst_dataset_name_classes(a, 1, names, 3, &made));
    THEN(b, mst_dataset_name_classes(b, 1, names, 3, &made));
    dataset = interleave((mst_dataset *[]){a, mst_dataset_retain(b)}, 2, 0, 0);
    assert_string_equal(mst_dataset_class_name(dataset, 1, 2), "perhaps");
    assert_int_equal(mst_dataset_num_classes(dataset, 0), 0);
    dataset = interleave((mst_dataset *[]){dataset, range(0, 2)}, 2, 0, 0);
    assert_int_equal(mst_dataset_num_classes(dataset, 1), 0);
    mst_dataset_release(dataset);
    mst_dataset_release(b);
}

static void datasets_that_do_not_go_together_are_named(void **state) {
    (void)state;
    mst_dataset *out, *batches, *scaled, *pairs, *rows = range(0, 3);
    EXPECT_OK(mst_dataset_batch(rows, 2, false, &batches));
    EXPECT_OK(mst_dataset_scale(rows, 0, MST_F32, 1, &scaled));
    EXPECT_OK(mst_dataset_zip(&rows, 1, &pairs));
    EXPECT_OK(mst_dataset_zip((mst_dataset *[]){rows, pairs}, 2, &out));
    mst_dataset_release(pairs);
    pairs = out;
    EXPECT_ERROR(mst_dataset_interleave(&rows, 0, NULL, &out), MST_INVALID, "interleave: 0 datasets");
    EXPECT_ERROR(mst_dataset_interleave((mst_dataset *[]){rows, NULL}, 2, NULL, &out), MST_INVALID,
                 "dataset 1 is NULL");
    EXPECT_ERROR(mst_dataset_interleave((mst_dataset *[]){rows, batches}, 2, NULL, &out), MST_INVALID,
                 "put interleave before batch");
    EXPECT_ERROR(mst_dataset_interleave((mst_dataset *[]){rows, scaled}, 2, NULL, &out), MST_INVALID,
                 "component 0 of dataset 1 is f32 [2], of dataset 0 i64 [2]");
    EXPECT_ERROR(mst_dataset_interleave((mst_dataset *[]){rows, pairs}, 2, NULL, &out), MST_INVALID,
                 "dataset 1 has 4 components, dataset 0 has 2");
    EXPECT_ERROR(mst_dataset_interleave(&rows, 1, &(mst_interleave_options){.cycle_length = -1}, &out), MST_INVALID,
                 "cycle_length is -1");
    EXPECT_ERROR(mst_dataset_interleave(&rows, 1, &(mst_interleave_options){.block_length = -2}, &out), MST_INVALID,
                 "block_length is -2");
    assert_null(out);
    mst_dataset_release(pairs);
    mst_dataset_release(scaled);
    mst_dataset_release(batches);
    mst_dataset_release(rows);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_that_of_tf_data),
        cmocka_unit_test(all_datasets_have_their_turn_unless_a_cycle_is_given),
        cmocka_unit_test(rows_of_any_length_come_in_turn),
        TEST_IN_FOLDER(records_of_datasets_are_parsed_behind_the_interleave),
        TEST_IN_FOLDER(files_that_are_datasets_come_as_files_of_one_source),
        cmocka_unit_test(every_row_comes_once_over_epochs_shards_and_restarts),
        cmocka_unit_test(restored_or_skipped_to_it_gives_what_would_have_followed),
        TEST_IN_FOLDER(records_that_come_forward_are_read_again_on_restore),
        cmocka_unit_test(damaged_positions_do_no_harm),
        cmocka_unit_test(the_number_of_rows_is_known_where_it_can_be),
        cmocka_unit_test(names_of_classes_are_those_that_all_parts_have),
        cmocka_unit_test(datasets_that_do_not_go_together_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
