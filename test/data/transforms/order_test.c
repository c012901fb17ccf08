/* Batch, repeat, skip, take and shard: any chain of them does to a dataset what it does to a list. */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "support/expect.h"
#include "support/pipeline.h"

enum { MOST = 4096 };

static void expect_rows(mst_dataset *dataset, int64_t count, const int64_t *rows, int64_t num_elements) {
    int64_t got[MOST], elements;
    assert_int_equal(pipeline_rows(dataset, 0, got, MOST, &elements), count);
    if (count) assert_memory_equal(got, rows, (size_t)count * sizeof *rows);
    assert_int_equal(elements, num_elements);
    assert_int_equal(mst_dataset_num_rows(dataset), count);
    assert_int_equal(mst_dataset_cardinality(dataset), num_elements);
}

#define EXPECT_ROWS(dataset, elements, ...)                                                                         \
    expect_rows((dataset), (int64_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__}, \
                (elements))

static void last_batch_has_what_is_left_or_is_dropped(void **state) {
    (void)state;
    mst_dataset *all = pipeline_numbers(7), *kept, *dropped;
    EXPECT_OK(mst_dataset_batch(all, 3, false, &kept));
    EXPECT_OK(mst_dataset_batch(all, 3, true, &dropped));
    EXPECT_ROWS(kept, 3, 0, 1, 2, 3, 4, 5, 6);
    EXPECT_ROWS(dropped, 2, 0, 1, 2, 3, 4, 5);
    assert_true(mst_shape_equal(mst_dataset_spec(kept, 0).shape, MST_SHAPE(-1, 2)));
    assert_true(mst_shape_equal(mst_dataset_spec(dropped, 0).shape, MST_SHAPE(3, 2)));
    assert_true(mst_shape_equal(mst_dataset_spec(dropped, 1).shape, MST_SHAPE(3)));
    assert_true(mst_shape_equal(mst_dataset_spec(all, 1).shape, MST_SCALAR));
    mst_dataset_release(all);
    mst_dataset_release(kept);
    mst_dataset_release(dropped);
}

static void batch_larger_than_the_data_is_one_batch_of_all(void **state) {
    (void)state;
    mst_dataset *all = pipeline_numbers(3), *kept, *dropped;
    EXPECT_OK(mst_dataset_batch(all, INT64_MAX, false, &kept));
    EXPECT_OK(mst_dataset_batch(all, 4, true, &dropped));
    EXPECT_ROWS(kept, 1, 0, 1, 2);
    expect_rows(dropped, 0, NULL, 0);
    assert_true(mst_dataset_num_rows(all) < 4); /* which is how a caller refuses it */
    mst_dataset_release(all);
    mst_dataset_release(kept);
    mst_dataset_release(dropped);
}

static void batches_do_not_cross_repetitions_but_rows_repeated_before_do(void **state) {
    (void)state;
    mst_dataset *all = pipeline_numbers(3), *batches, *then, *rows, *later;
    EXPECT_OK(mst_dataset_batch(all, 2, false, &batches));
    EXPECT_OK(mst_dataset_repeat(batches, 2, &then));
    EXPECT_ROWS(then, 4, 0, 1, 2, 0, 1, 2);
    EXPECT_OK(mst_dataset_repeat(all, 2, &rows));
    EXPECT_OK(mst_dataset_batch(rows, 2, false, &later));
    EXPECT_ROWS(later, 3, 0, 1, 2, 0, 1, 2);
    mst_dataset_release(all);
    mst_dataset_release(batches);
    mst_dataset_release(then);
    mst_dataset_release(rows);
    mst_dataset_release(later);
}

static void each_repetition_is_the_next_epoch_of_the_shuffle(void **state) {
    (void)state;
    enum { ROWS = 50 };
    int64_t one[ROWS], repeated[3 * ROWS], endless[3 * ROWS];
    mst_dataset *all = pipeline_numbers(ROWS), *mixed, *thrice, *ever;
    EXPECT_OK(mst_dataset_shuffle(all, NULL, &mixed));
    EXPECT_OK(mst_dataset_repeat(mixed, 3, &thrice));
    EXPECT_OK(mst_dataset_repeat(mixed, -1, &ever));
    assert_int_equal(pipeline_rows(thrice, 1, repeated, 3 * ROWS, NULL), 3 * ROWS);
    assert_int_equal(pipeline_rows(ever, 3, endless, 3 * ROWS, NULL), 3 * ROWS);
    assert_memory_equal(repeated, endless, sizeof repeated);
    for (int64_t i = 0; i < 3; i++) {
        pipeline_rows(mixed, 3 + i, one, ROWS, NULL);
        assert_memory_equal(one, repeated + i * ROWS, sizeof one);
    }
    for (int64_t n = 0; n < 3 * ROWS; n += 7) {
        int64_t rest[3 * ROWS];
        pipeline_rows_after(thrice, 1, n, rest, 3 * ROWS);
        assert_memory_equal(rest, repeated + n, (size_t)(3 * ROWS - n) * sizeof *rest);
        pipeline_rows_after(ever, 3, n, rest, 3 * ROWS - n);
        assert_memory_equal(rest, repeated + n, (size_t)(3 * ROWS - n) * sizeof *rest);
    }
    mst_dataset_release(all);
    mst_dataset_release(mixed);
    mst_dataset_release(thrice);
    mst_dataset_release(ever);
}

static void skipping_far_in_an_endless_dataset_is_quick(void **state) {
    (void)state;
    enum { ROWS = 1000 };
    int64_t expected[ROWS], got[ROWS];
    const int64_t epoch = 1000000000;
    mst_dataset *all = pipeline_numbers(ROWS), *mixed, *ever, *batches;
    EXPECT_OK(mst_dataset_shuffle(all, NULL, &mixed));
    EXPECT_OK(mst_dataset_repeat(mixed, -1, &ever));
    EXPECT_OK(mst_dataset_batch(ever, 10, false, &batches));
    pipeline_rows(mixed, epoch, expected, ROWS, NULL);
    pipeline_rows_after(batches, 0, epoch * ROWS / 10, got, ROWS);
    assert_memory_equal(got, expected, sizeof got);
    mst_dataset_release(all);
    mst_dataset_release(mixed);
    mst_dataset_release(ever);
    mst_dataset_release(batches);
}

static void empty_dataset_repeated_for_ever_stays_empty(void **state) {
    (void)state;
    mst_dataset *all = pipeline_numbers(3), *none, *ever, *batches;
    EXPECT_OK(mst_dataset_take(all, 0, &none));
    EXPECT_OK(mst_dataset_repeat(none, -1, &ever));
    EXPECT_OK(mst_dataset_batch(ever, 2, false, &batches));
    expect_rows(ever, 0, NULL, 0);
    expect_rows(batches, 0, NULL, 0);
    mst_dataset_release(all);
    mst_dataset_release(none);
    mst_dataset_release(ever);
    mst_dataset_release(batches);
}

static void shards_together_are_every_row_once_for_any_number(void **state) {
    (void)state;
    enum { ROWS = 23 };
    mst_dataset *all = pipeline_numbers(ROWS), *mixed;
    EXPECT_OK(mst_dataset_shuffle(all, NULL, &mixed));
    int64_t order[ROWS];
    pipeline_rows(mixed, 0, order, ROWS, NULL);
    for (int64_t num = 1; num <= ROWS + 3; num++) {
        int64_t total = 0;
        for (int64_t index = 0; index < num; index++) {
            mst_dataset *part;
            int64_t rows[ROWS];
            EXPECT_OK(mst_dataset_shard(mixed, num, index, &part));
            int64_t count = pipeline_rows(part, 0, rows, ROWS, NULL);
            assert_int_equal(count, mst_dataset_num_rows(part));
            for (int64_t i = 0; i < count; i++) assert_int_equal(rows[i], order[index + i * num]);
            total += count;
            mst_dataset_release(part);
        }
        assert_int_equal(total, ROWS);
    }
    mst_dataset_release(all);
    mst_dataset_release(mixed);
}

/* ---- any chain of transforms against lists ------------------------------------------------------------ */

typedef struct list {
    int64_t num_elements;
    int64_t size[MOST]; /* rows of each element */
    int64_t num_rows;
    int64_t row[MOST];
} list;

static int64_t sum(const list *l, int64_t first, int64_t count) {
    int64_t total = 0;
    for (int64_t i = first; i < first + count; i++) total += l->size[i];
    return total;
}

static void list_slice(list *l, int64_t first, int64_t count) {
    if (first > l->num_elements) first = l->num_elements;
    if (count > l->num_elements - first) count = l->num_elements - first;
    int64_t before = sum(l, 0, first), rows = sum(l, first, count);
    memmove(l->row, l->row + before, (size_t)rows * sizeof *l->row);
    memmove(l->size, l->size + first, (size_t)count * sizeof *l->size);
    l->num_elements = count;
    l->num_rows = rows;
}

static void list_repeat(list *l, int64_t count) {
    int64_t n = l->num_elements, rows = l->num_rows;
    for (int64_t k = 1; k < count; k++) {
        memcpy(l->row + k * rows, l->row, (size_t)rows * sizeof *l->row);
        memcpy(l->size + k * n, l->size, (size_t)n * sizeof *l->size);
    }
    l->num_elements = n * count;
    l->num_rows = rows * count;
}

static void list_shard(list *l, int64_t num, int64_t index) {
    int64_t count = 0;
    for (int64_t i = index; i < l->num_rows; i += num) l->row[count++] = l->row[i];
    l->num_elements = l->num_rows = count;
}

static void list_batch(list *l, int64_t size, bool drop) {
    int64_t rows = l->num_rows;
    l->num_elements = 0;
    for (int64_t i = 0; i < rows; i += size) {
        if (drop && rows - i < size) break;
        l->size[l->num_elements++] = rows - i < size ? rows - i : size;
    }
    l->num_rows = sum(l, 0, l->num_elements);
}

static uint64_t random_state;

static int64_t pick(int64_t n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((random_state >> 33) % (uint64_t)n);
}

static mst_status random_transform(mst_dataset *dataset, bool *batched, list *l, mst_dataset **made) {
    int64_t n = pick(40);
    switch (pick(*batched ? 4 : 7)) {
        case 0: list_slice(l, 0, n); return mst_dataset_take(dataset, n, made);
        case 1:
            n /= 4;
            list_slice(l, n, MOST);
            return mst_dataset_skip(dataset, n, made);
        case 2:
            n = l->num_rows < MOST / 4 ? n % 3 + 1 : 1;
            list_repeat(l, n);
            return mst_dataset_repeat(dataset, n, made);
        case 3:
            if (*batched) return mst_dataset_prefetch(dataset, n % 3 + 1, made);
            return mst_dataset_shuffle(dataset, &(mst_shuffle_options){.buffer_size = 1}, made);
        case 4:
        case 5: {
            int64_t num = n % 4 + 1, index = pick(num);
            list_shard(l, num, index);
            return mst_dataset_shard(dataset, num, index, made);
        }
        default: {
            bool drop = pick(2);
            *batched = true;
            list_batch(l, n % 7 + 1, drop);
            return mst_dataset_batch(dataset, n % 7 + 1, drop, made);
        }
    }
}

/* The elements from FIRST on are those of the list. */
static void compare(mst_dataset *dataset, const list *l, int64_t first) {
    mst_iterator *it;
    const mst_batch *batch;
    int64_t element = first, row = sum(l, 0, first);
    EXPECT_OK(mst_iterator_create(dataset, 0, &it));
    EXPECT_OK(mst_iterator_skip(it, first));
    for (;; element++) {
        EXPECT_OK(mst_iterator_next(it, &batch));
        if (!batch) break;
        assert_true(element < l->num_elements);
        assert_int_equal(mst_batch_size(batch), l->size[element]);
        for (int64_t i = 0; i < l->size[element]; i++, row++) {
            int64_t value[2];
            EXPECT_OK(mst_batch_copy(batch, 0, i, 1, value));
            assert_int_equal(value[0], 10 * l->row[row]);
        }
    }
    assert_int_equal(element, l->num_elements);
    EXPECT_OK(mst_iterator_next(it, &batch));
    assert_null(batch);
    mst_iterator_destroy(it);
}

static void any_chain_of_transforms_does_what_it_does_to_lists(void **state) {
    (void)state;
    static list l;
    for (int trial = 0; trial < 1500; trial++) {
        random_state = (uint64_t)trial;
        int64_t num_rows = pick(100) + 1;
        int length = (int)pick(7);
        bool batched = false;
        mst_dataset *dataset = pipeline_numbers(num_rows);
        l.num_elements = l.num_rows = num_rows;
        for (int64_t i = 0; i < num_rows; i++) l.row[i] = i;
        for (int64_t i = 0; i < MOST; i++) l.size[i] = 1;
        for (int i = 0; i < length; i++) {
            THEN(dataset, random_transform(dataset, &batched, &l, &made));
        }
        assert_int_equal(mst_dataset_cardinality(dataset), l.num_elements);
        assert_int_equal(mst_dataset_num_rows(dataset), l.num_rows);
        compare(dataset, &l, 0);
        compare(dataset, &l, pick(l.num_elements + 1));
        mst_dataset_release(dataset);
    }
}

static void wrong_sizes_are_named(void **state) {
    (void)state;
    mst_dataset *all = pipeline_numbers(4), *batches, *out;
    EXPECT_OK(mst_dataset_batch(all, 2, false, &batches));
    EXPECT_ERROR(mst_dataset_batch(all, 0, false, &out), MST_INVALID, "batch: size is 0, it must be at least 1");
    assert_null(out);
    EXPECT_ERROR(mst_dataset_batch(all, -5, false, &out), MST_INVALID, "size is -5");
    EXPECT_ERROR(mst_dataset_batch(batches, 2, false, &out), MST_INVALID, "put batch before batch");
    EXPECT_ERROR(mst_dataset_repeat(all, 0, &out), MST_INVALID, "count is 0");
    EXPECT_ERROR(mst_dataset_repeat(all, -2, &out), MST_INVALID, "count is -2");
    EXPECT_ERROR(mst_dataset_repeat(all, INT64_MAX / 2, &out), MST_INVALID, "too many");
    EXPECT_ERROR(mst_dataset_take(all, -1, &out), MST_INVALID, "take: n is -1");
    EXPECT_ERROR(mst_dataset_skip(all, -1, &out), MST_INVALID, "skip: n is -1");
    EXPECT_ERROR(mst_dataset_shard(all, 0, 0, &out), MST_INVALID, "num is 0");
    EXPECT_ERROR(mst_dataset_shard(all, 2, 2, &out), MST_INVALID, "index is 2");
    EXPECT_ERROR(mst_dataset_shard(all, 2, -1, &out), MST_INVALID, "index is -1");
    EXPECT_ERROR(mst_dataset_shard(batches, 2, 0, &out), MST_INVALID, "put shard before batch");
    mst_dataset_release(all);
    mst_dataset_release(batches);
}

/* Under the sanitizers too, malloc returns NULL. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "allocator_may_return_null=1";
}

__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void) {
    return "allocator_may_return_null=1";
}

static void memory_that_cannot_be_had_is_an_error(void **state) {
    (void)state;
    mst_dataset *all = pipeline_numbers(4), *ever, *batches, *ahead;
    mst_iterator *it;
    EXPECT_OK(mst_dataset_repeat(all, -1, &ever));
    EXPECT_OK(mst_dataset_batch(ever, INT64_MAX / 16, false, &batches));
    EXPECT_ERROR(mst_iterator_create(batches, 0, &it), MST_OUT_OF_MEMORY, "choose a smaller batch");
    assert_null(it);
    EXPECT_OK(mst_dataset_prefetch(batches, 1, &ahead));
    EXPECT_ERROR(mst_iterator_create(ahead, 0, &it), MST_OUT_OF_MEMORY, "smaller batch");
    mst_dataset_release(all);
    mst_dataset_release(ever);
    mst_dataset_release(batches);
    mst_dataset_release(ahead);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_batch_has_what_is_left_or_is_dropped),
        cmocka_unit_test(batch_larger_than_the_data_is_one_batch_of_all),
        cmocka_unit_test(batches_do_not_cross_repetitions_but_rows_repeated_before_do),
        cmocka_unit_test(each_repetition_is_the_next_epoch_of_the_shuffle),
        cmocka_unit_test(skipping_far_in_an_endless_dataset_is_quick),
        cmocka_unit_test(empty_dataset_repeated_for_ever_stays_empty),
        cmocka_unit_test(shards_together_are_every_row_once_for_any_number),
        cmocka_unit_test(any_chain_of_transforms_does_what_it_does_to_lists),
        cmocka_unit_test(wrong_sizes_are_named),
        cmocka_unit_test(memory_that_cannot_be_had_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
