/* Iterators: who owns what, parts of a batch, copies by several threads, and no allocations after the first batches. */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "support/expect.h"
#include "support/pipeline.h"

enum { ROWS = 1000, SIZE = 64 };

/* Shuffled, repeated, batched rows. */
static mst_dataset *batches(int64_t count) {
    mst_dataset *all = pipeline_numbers(ROWS);
    THEN(all, mst_dataset_shuffle(all, NULL, &made));
    THEN(all, mst_dataset_repeat(all, count, &made));
    THEN(all, mst_dataset_batch(all, SIZE, false, &made));
    return all;
}

static void iterator_and_dataset_outlive_their_makers_references(void **state) {
    (void)state;
    mst_dataset *dataset = batches(1);
    mst_iterator *it;
    const mst_batch *batch;
    int64_t value[2 * SIZE];
    EXPECT_OK(mst_iterator_create(dataset, 0, &it));
    mst_dataset_release(dataset);
    EXPECT_OK(mst_iterator_next(it, &batch));
    assert_int_equal(mst_batch_size(batch), SIZE);
    EXPECT_OK(mst_batch_copy(batch, 0, 0, SIZE, value));
    mst_iterator_destroy(it);
}

static void parts_of_a_batch_are_the_batch(void **state) {
    (void)state;
    mst_dataset *dataset = batches(1);
    mst_iterator *it;
    const mst_batch *batch;
    int64_t whole[2 * SIZE], part[2 * SIZE];
    EXPECT_OK(mst_iterator_create(dataset, 0, &it));
    EXPECT_OK(mst_iterator_next(it, &batch));
    EXPECT_OK(mst_batch_copy(batch, 0, 0, SIZE, whole));
    for (int64_t first = 0; first <= SIZE; first += 5) {
        for (int64_t count = 0; first + count <= SIZE; count += 7) {
            EXPECT_OK(mst_batch_copy(batch, 0, first, count, part));
            if (count) assert_memory_equal(part, whole + 2 * first, (size_t)count * 16);
        }
    }
    mst_tensor *tensor;
    EXPECT_OK(mst_batch_tensor(batch, 0, &tensor));
    assert_true(mst_shape_equal(mst_tensor_shape(tensor), MST_SHAPE(SIZE, 2)));
    assert_memory_equal(mst_tensor_data(tensor), whole, sizeof whole);
    mst_tensor_release(tensor);
    mst_iterator_destroy(it);
    mst_dataset_release(dataset);
}

static void rows_without_batches_come_one_by_one(void **state) {
    (void)state;
    mst_dataset *all = pipeline_numbers(3);
    mst_iterator *it;
    const mst_batch *batch;
    mst_tensor *tensor;
    EXPECT_OK(mst_iterator_create(all, 0, &it));
    EXPECT_OK(mst_iterator_skip(it, 1));
    EXPECT_OK(mst_iterator_next(it, &batch));
    assert_int_equal(mst_batch_size(batch), 1);
    EXPECT_OK(mst_batch_tensor(batch, 0, &tensor));
    assert_true(mst_shape_equal(mst_tensor_shape(tensor), MST_SHAPE(2)));
    assert_true(mst_tensor_get(tensor, 0) == 10);
    mst_tensor_release(tensor);
    EXPECT_OK(mst_batch_tensor(batch, 1, &tensor));
    assert_int_equal(mst_tensor_shape(tensor).ndim, 0);
    mst_tensor_release(tensor);
    mst_iterator_destroy(it);
    mst_dataset_release(all);
}

static void missing_rows_and_components_of_a_batch_are_named(void **state) {
    (void)state;
    mst_dataset *dataset = batches(1);
    mst_iterator *it;
    const mst_batch *batch;
    int64_t value[2 * SIZE];
    mst_tensor *tensor;
    EXPECT_ERROR(mst_iterator_create(dataset, -1, &it), MST_INVALID, "epoch is -1");
    assert_null(it);
    EXPECT_OK(mst_iterator_create(dataset, 0, &it));
    EXPECT_OK(mst_iterator_next(it, &batch));
    EXPECT_ERROR(mst_batch_copy(batch, 2, 0, 1, value), MST_INVALID, "component 2, the dataset has 0 to 1");
    EXPECT_ERROR(mst_batch_copy(batch, -1, 0, 1, value), MST_INVALID, "component -1");
    EXPECT_ERROR(mst_batch_copy(batch, 0, 60, 5, value), MST_INVALID, "5 rows from row 60 on, the batch has 64");
    EXPECT_ERROR(mst_batch_copy(batch, 0, INT64_MAX, 1, value), MST_INVALID, "the batch has 64");
    EXPECT_ERROR(mst_batch_copy(batch, 0, 1, INT64_MAX, value), MST_INVALID, "the batch has 64");
    EXPECT_ERROR(mst_batch_copy(batch, 0, -1, 1, value), MST_INVALID, "the batch has 64");
    EXPECT_ERROR(mst_batch_copy(batch, 0, 0, -1, value), MST_INVALID, "the batch has 64");
    EXPECT_ERROR(mst_batch_tensor(batch, 5, &tensor), MST_INVALID, "component 5");
    EXPECT_ERROR(mst_iterator_skip(it, -1), MST_INVALID, "skip is -1");
    mst_iterator_destroy(it);
    mst_dataset_release(dataset);
}

static mst_status halve(const mst_array *in, mst_array *out, void *context) {
    (void)context;
    const int64_t *src = in[0].data;
    double *dst = out[0].data;
    for (int64_t i = 0; i < in[0].count; i++) dst[i] = (double)src[i] / 2;
    return MST_OK;
}

typedef struct part {
    const mst_batch *batch;
    int64_t first;
    double value[SIZE / 4 * 2];
    mst_status status;
} part;

static void *copy_part(void *argument) {
    part *p = argument;
    for (int i = 0; i < 50 && !p->status; i++) p->status = mst_batch_copy(p->batch, 0, p->first, SIZE / 4, p->value);
    return NULL;
}

static void threads_copy_their_parts_of_one_batch_at_once(void **state) {
    (void)state;
    mst_dataset *dataset = batches(1), *mapped;
    mst_iterator *it;
    const mst_batch *batch;
    double whole[2 * SIZE];
    EXPECT_OK(mst_dataset_map(dataset, halve, NULL, &(mst_spec){MST_F64, MST_SHAPE(2)}, 1, &mapped));
    EXPECT_OK(mst_iterator_create(mapped, 0, &it));
    for (int round = 0; round < 5; round++) {
        pthread_t thread[4];
        part parts[4];
        EXPECT_OK(mst_iterator_next(it, &batch));
        EXPECT_OK(mst_batch_copy(batch, 0, 0, SIZE, whole));
        for (int i = 0; i < 4; i++) {
            parts[i] = (part){.batch = batch, .first = i * SIZE / 4};
            assert_int_equal(pthread_create(&thread[i], NULL, copy_part, &parts[i]), 0);
        }
        for (int i = 0; i < 4; i++) {
            pthread_join(thread[i], NULL);
            assert_int_equal(parts[i].status, MST_OK);
            assert_memory_equal(parts[i].value, whole + i * SIZE / 2, sizeof parts[i].value);
        }
    }
    mst_iterator_destroy(it);
    mst_dataset_release(mapped);
    mst_dataset_release(dataset);
}

/* ---- allocations -------------------------------------------------------------------------------------- */

/* Sanitizers bring their own malloc; gcc and clang tell of them in different ways. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif

#if !defined(SANITIZED) && defined(__GLIBC__)
#define COUNTS_ALLOCATIONS 1

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static _Atomic int64_t num_allocations;

void *malloc(size_t size) {
    num_allocations++;
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    num_allocations++;
    return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    num_allocations++;
    return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    num_allocations++;
    return __libc_memalign(alignment, size);
}
#else
static int64_t num_allocations;
#endif

/* A pipeline with repetitions, a buffered shuffle, a shard, a map and a prefetch. The prefetch has one thread:
 * otherwise a slow row on a busy machine could start others, which allocate memory. */
static void iterating_takes_no_memory_after_the_first_batches(void **state) {
    (void)state;
    for (int buffered = 0; buffered < 2; buffered++) {
        double value[2 * SIZE];
        mst_iterator *it;
        const mst_batch *batch;
        mst_dataset *all = pipeline_numbers(ROWS);
        mst_shuffle_options options = {.buffer_size = buffered ? 100 : 0};
        THEN(all, mst_dataset_shuffle(all, &options, &made));
        THEN(all, mst_dataset_shard(all, 2, 1, &made));
        THEN(all, mst_dataset_repeat(all, 3, &made));
        THEN(all, mst_dataset_batch(all, SIZE, false, &made));
        mst_spec spec = {MST_F64, MST_SHAPE(2)};
        THEN(all, mst_dataset_map(all, halve, NULL, &spec, 1, &made));
        const mst_prefetch_options one = {.threads = 1};
        if (buffered) THEN(all, mst_dataset_prefetch_with(all, 2, &one, &made));
        THEN(all, mst_dataset_repeat(all, 2, &made));
        EXPECT_OK(mst_iterator_create(all, 0, &it));
        int64_t before = 0, count = 0;
        for (;; count++) {
            if (count == 5) before = num_allocations;
            EXPECT_OK(mst_iterator_next(it, &batch));
            if (!batch) break;
            EXPECT_OK(mst_batch_copy(batch, 0, 0, mst_batch_size(batch), value));
        }
        assert_true(count > 40);
        assert_int_equal(num_allocations, before);
        mst_iterator_destroy(it);
        mst_dataset_release(all);
    }
#ifdef COUNTS_ALLOCATIONS
    assert_true(num_allocations > 0);
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(iterator_and_dataset_outlive_their_makers_references),
        cmocka_unit_test(parts_of_a_batch_are_the_batch),
        cmocka_unit_test(rows_without_batches_come_one_by_one),
        cmocka_unit_test(missing_rows_and_components_of_a_batch_are_named),
        cmocka_unit_test(threads_copy_their_parts_of_one_batch_at_once),
        cmocka_unit_test(iterating_takes_no_memory_after_the_first_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
