/* Buckets as TensorFlow counts them. */
#include "summary/histogram.h"

#include <float.h>
#include <math.h>

#include "support/test.h"

static mst_tensor *numbers(mst_dtype dtype, const double *x, int64_t count) {
    mst_tensor *tensor;
    EXPECT_OK(mst_tensor_create(dtype, MST_SHAPE(count), &tensor));
    for (int64_t i = 0; i < count; i++) mst_tensor_set(tensor, i, x[i]);
    return tensor;
}

/* The definition: the first limit that is larger. */
static int expected_bucket(double x) {
    int b = 0;
    while (!(mst_histogram_limits()[b] > x)) b++;
    return b;
}

static void limits_are_a_tenth_apart_on_both_sides_of_0(void **state) {
    (void)state;
    const double *limit = mst_histogram_limits();
    enum { ZERO = MST_HISTOGRAM_BUCKETS / 2 };
    assert_true(limit[ZERO] == 0);
    assert_true(limit[ZERO + 1] == 1e-12);
    assert_true(limit[ZERO + 2] == 1e-12 * 1.1);
    assert_true(limit[MST_HISTOGRAM_BUCKETS - 1] == DBL_MAX);
    assert_true(limit[MST_HISTOGRAM_BUCKETS - 2] < 1e20 && limit[MST_HISTOGRAM_BUCKETS - 2] * 1.1 >= 1e20);
    for (int i = 0; i < MST_HISTOGRAM_BUCKETS; i++) assert_true(limit[i] == -limit[MST_HISTOGRAM_BUCKETS - 1 - i]);
}

/* Numbers of every size, on limits and beside them, more than one chunk of the fast path. */
static void f32_numbers_are_in_the_bucket_of_the_definition(void **state) {
    (void)state;
    enum { COUNT = 8192 };
    static double x[COUNT];
    static mst_histogram h, expected;
    const double *limit = mst_histogram_limits();
    unsigned random = 1;
    for (int i = 0; i < COUNT; i++) {
        random = random * 1664525u + 1013904223u;
        float f = (float)ldexp((double)(random >> 8) / (1 << 24) - 0.5, (int)(random % 200) - 120);
        if (i % 3 == 0) f = (float)limit[(unsigned)i / 3 % (MST_HISTOGRAM_BUCKETS - 2) + 1];
        if (i % 6 == 3) f = nextafterf(f, i % 4 ? INFINITY : -INFINITY);
        x[i] = (double)f;
    }
    x[0] = -0.0;
    x[1] = (double)FLT_MAX;
    x[2] = -(double)FLT_MAX;
    x[3] = (double)FLT_TRUE_MIN;
    x[4] = -(double)FLT_TRUE_MIN;
    memset(&expected, 0, sizeof expected);
    for (int i = 0; i < COUNT; i++) expected.bucket[expected_bucket(x[i])]++;
    mst_tensor *f32 = numbers(MST_F32, x, COUNT), *f64 = numbers(MST_F64, x, COUNT);
    mst_histogram_count(f32, &h);
    assert_memory_equal(h.bucket, expected.bucket, sizeof h.bucket);
    assert_true(h.num == COUNT && h.max == (double)FLT_MAX && h.min == -(double)FLT_MAX);
    mst_histogram_count(f64, &h);
    assert_memory_equal(h.bucket, expected.bucket, sizeof h.bucket);
    mst_tensor_release(f32);
    mst_tensor_release(f64);
}

static void sums_count_every_number_once(void **state) {
    (void)state;
    enum { COUNT = 2500 };
    static double x[COUNT];
    static mst_histogram h;
    for (int i = 0; i < COUNT; i++) x[i] = i - 1000;
    static const mst_dtype dtypes[] = {MST_F32, MST_F64, MST_I32, MST_I64};
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        mst_tensor *tensor = numbers(dtypes[d], x, COUNT);
        double sum = 0, squares = 0;
        for (int i = 0; i < COUNT; i++) {
            sum += x[i];
            squares += x[i] * x[i];
        }
        mst_histogram_count(tensor, &h);
        assert_true(h.num == COUNT && h.min == -1000 && h.max == COUNT - 1001);
        assert_true(h.sum == sum && h.sum_squares == squares);
        mst_tensor_release(tensor);
    }
}

static void nan_and_infinity_are_left_out(void **state) {
    (void)state;
    enum { COUNT = 2048 };
    static double x[COUNT];
    static mst_histogram h;
    for (int i = 0; i < COUNT; i++) x[i] = 1;
    x[5] = NAN;
    x[6] = INFINITY;
    x[2000] = -INFINITY;
    mst_tensor *tensor = numbers(MST_F32, x, COUNT);
    mst_histogram_count(tensor, &h);
    assert_true(h.num == COUNT - 3 && h.min == 1 && h.max == 1 && h.sum == COUNT - 3);
    mst_tensor_release(tensor);
}

static void runs_of_empty_buckets_are_one(void **state) {
    (void)state;
    static mst_histogram h;
    double limit[MST_HISTOGRAM_BUCKETS], count[MST_HISTOGRAM_BUCKETS];
    const double x[] = {1, 1, 5};
    mst_tensor *tensor = numbers(MST_F32, x, 3), *none = numbers(MST_F32, x, 0);
    mst_histogram_count(tensor, &h);
    assert_int_equal(mst_histogram_compress(&h, limit, count), 5);
    const double expected[] = {0, 2, 0, 1, 0};
    assert_memory_equal(count, expected, sizeof expected);
    assert_true(limit[0] <= 1 && limit[1] > 1 && limit[2] <= 5 && limit[3] > 5 && limit[4] == DBL_MAX);
    mst_histogram_count(none, &h);
    assert_int_equal(mst_histogram_compress(&h, limit, count), 1);
    assert_true(limit[0] == DBL_MAX && count[0] == 0 && h.num == 0);
    mst_tensor_release(tensor);
    mst_tensor_release(none);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_a_tenth_apart_on_both_sides_of_0),
        cmocka_unit_test(f32_numbers_are_in_the_bucket_of_the_definition),
        cmocka_unit_test(sums_count_every_number_once),
        cmocka_unit_test(nan_and_infinity_are_left_out),
        cmocka_unit_test(runs_of_empty_buckets_are_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
