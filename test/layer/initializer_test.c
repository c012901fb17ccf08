/* Initial values of weights: variances and fans as in Keras, seeds, and options that are refused. */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "muster/initializer.h"
#include "support/compute.h"
#include "support/expect.h"

static void fans_are_counted_as_keras_does(void **state) {
    (void)state;
    static const struct {
        int ndim;
        int64_t dim[4];
        double fan_in, fan_out;
    } cases[] = {{0, {0}, 1, 1},
                 {1, {7}, 7, 7},
                 {2, {784, 500}, 784, 500},
                 {3, {5, 8, 16}, 40, 80},
                 {4, {3, 3, 32, 64}, 288, 576},
                 {4, {3, 3, 32, 1}, 288, 9}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        double fan_in, fan_out;
        mst_shape_fans(mst_shape_make(cases[c].ndim, cases[c].dim), &fan_in, &fan_out);
        assert_true(fan_in == cases[c].fan_in && fan_out == cases[c].fan_out);
    }
}

typedef struct statistics {
    double mean, deviation, low, high;
} statistics;

static statistics measure(mst_initializer initializer, mst_dtype dtype, mst_shape shape) {
    mst_graph *graph;
    EXPECT_OK(mst_graph_create(&graph));
    mst_graph_set_seed(graph, 12);
    mst_tensor *tensor = compute(mst_initializer_value(graph, initializer, dtype, shape));
    assert_int_equal(mst_tensor_dtype(tensor), dtype);
    assert_true(mst_shape_equal(mst_tensor_shape(tensor), shape));
    statistics s = {.low = INFINITY, .high = -INFINITY};
    double count = (double)mst_tensor_count(tensor), squares = 0;
    for (int64_t i = 0; i < mst_tensor_count(tensor); i++) {
        double x = mst_tensor_get(tensor, i);
        s.mean += x / count;
        squares += x * x / count;
        s.low = fmin(s.low, x);
        s.high = fmax(s.high, x);
    }
    s.deviation = sqrt(fmax(0, squares - s.mean * s.mean));
    mst_tensor_release(tensor);
    mst_graph_destroy(graph);
    return s;
}

/* 120,000 numbers: the mean is known to about 0.003 deviations, the deviation to about 0.002 of itself */
#define SHAPE MST_SHAPE(300, 400)

static void expect_distribution(mst_initializer initializer, double mean, double deviation, double limit) {
    for (mst_dtype dtype = MST_F32; dtype <= MST_F64; dtype++) {
        statistics s = measure(initializer, dtype, SHAPE);
        if (fabs(s.mean - mean) > 0.015 * deviation || fabs(s.deviation / deviation - 1) > 0.01)
            fail_msg("%s: mean %g, deviation %g, must be %g, %g", mst_initializer_name(initializer.kind), s.mean,
                     s.deviation, mean, deviation);
        if (limit > 0) {
            assert_true(s.high - mean <= limit * (1 + 1e-6) && mean - s.low <= limit * (1 + 1e-6));
            assert_true(s.high - mean > 0.97 * limit && mean - s.low > 0.97 * limit);
        } else {
            assert_true(s.high - mean > 3.5 * deviation);
        }
    }
}

static void scaled_kinds_have_the_variance_of_their_fan(void **state) {
    (void)state;
    const double in = 300, out = 400, both = in + out;
    expect_distribution((mst_initializer){0}, 0, sqrt(2 / both), sqrt(6 / both));
    expect_distribution(mst_glorot_uniform_initializer(), 0, sqrt(2 / both), sqrt(6 / both));
    expect_distribution(mst_he_uniform_initializer(), 0, sqrt(2 / in), sqrt(6 / in));
    expect_distribution(mst_lecun_uniform_initializer(), 0, sqrt(1 / in), sqrt(3 / in));
    const double cut = 2 / 0.87962566103423978; /* of a truncated normal, in deviations after truncation */
    expect_distribution(mst_glorot_normal_initializer(), 0, sqrt(2 / both), cut * sqrt(2 / both));
    expect_distribution(mst_he_normal_initializer(), 0, sqrt(2 / in), cut * sqrt(2 / in));
    expect_distribution(mst_lecun_normal_initializer(), 0, sqrt(1 / in), cut * sqrt(1 / in));
    expect_distribution(mst_variance_scaling_initializer(.scale = 3, .fan = MST_FAN_OUT, .distribution = MST_UNIFORM),
                        0, sqrt(3 / out), sqrt(9 / out));
    expect_distribution(mst_variance_scaling_initializer(.distribution = MST_UNTRUNCATED_NORMAL), 0, sqrt(1 / in), 0);
}

static void random_kinds_have_their_parameters(void **state) {
    (void)state;
    expect_distribution(mst_random_uniform_initializer(), 0, 0.1 / sqrt(12), 0.05);
    expect_distribution(mst_random_uniform_initializer(.low = 1, .high = 3), 2, 2 / sqrt(12), 1);
    expect_distribution(mst_random_normal_initializer(), 0, 0.05, 0);
    expect_distribution(mst_random_normal_initializer(.mean = 5, .stddev = 2), 5, 2, 0);
    expect_distribution(mst_truncated_normal_initializer(.stddev = 0.1), 0, 0.1 * 0.87962566103423978, 0.2);
}

static void constant_initializers_fill_with_their_value(void **state) {
    (void)state;
    static const struct {
        mst_initializer initializer;
        double value;
    } cases[] = {{{.kind = MST_INITIALIZER_ZEROS}, 0},
                 {{.kind = MST_INITIALIZER_ONES}, 1},
                 {{.kind = MST_INITIALIZER_CONSTANT, .value = 7}, 7}};
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
        for (mst_dtype dtype = MST_F32; dtype <= MST_I64; dtype++) {
            statistics s = measure(cases[c].initializer, dtype, MST_SHAPE(3, 2));
            assert_true(s.low == cases[c].value && s.high == cases[c].value);
        }
    assert_true(mst_constant_initializer(0.5).value == 0.5);
    assert_int_equal(mst_zeros_initializer().kind, MST_INITIALIZER_ZEROS);
    assert_int_equal(mst_ones_initializer().kind, MST_INITIALIZER_ONES);
}

static mst_value first_weights(mst_graph *graph, uint64_t seed) {
    return mst_initializer_value(graph, mst_glorot_uniform_initializer(.seed = seed), MST_F32, MST_SHAPE(4, 4));
}

static void seeds_decide_the_numbers(void **state) {
    (void)state;
    mst_graph *graph;
    EXPECT_OK(mst_graph_create(&graph));
    mst_value differs = mst_not_equal(first_weights(graph, 1), first_weights(graph, 2));
    mst_value same = mst_equal(first_weights(graph, 3), first_weights(graph, 3));
    mst_value unseeded = mst_not_equal(first_weights(graph, 0), first_weights(graph, 0));
    mst_value all = mst_logical_and(mst_reduce_any(.src = differs),
                                    mst_logical_and(mst_reduce_all(.src = same), mst_reduce_any(.src = unseeded)));
    mst_tensor *tensor = compute(all);
    assert_true(mst_tensor_get(tensor, 0) == 1);
    mst_tensor_release(tensor);
    mst_graph_destroy(graph);
}

static void a_tensor_is_taken_as_it_is(void **state) {
    (void)state;
    mst_graph *graph;
    mst_tensor *weights;
    EXPECT_OK(mst_graph_create(&graph));
    EXPECT_OK(mst_tensor_copy(MST_F32, MST_SHAPE(2), (const float[]){3, 4}, &weights));
    mst_tensor *tensor = compute(mst_initializer_value(graph, mst_tensor_initializer(weights), MST_F32, MST_SHAPE(2)));
    assert_true(mst_tensor_get(tensor, 1) == 4);
    mst_initializer_value(graph, mst_tensor_initializer(weights), MST_F32, MST_SHAPE(3));
    EXPECT_ERROR(mst_graph_check(graph), MST_INVALID, "the tensor is f32[2], the variable f32[3]");
    mst_tensor_release(tensor);
    mst_tensor_release(weights);
    mst_graph_destroy(graph);
}

static void expect_refused(mst_initializer initializer, mst_dtype dtype, mst_shape shape, const char *text) {
    mst_graph *graph;
    EXPECT_OK(mst_graph_create(&graph));
    assert_true(mst_value_is_none(mst_initializer_value(graph, initializer, dtype, shape)));
    EXPECT_ERROR(mst_graph_check(graph), MST_INVALID, text);
    mst_graph_destroy(graph);
}

/* A graph may be built just to look at the shapes of a model, and a model's file may name shapes of any size. */
static void large_values_take_memory_when_they_are_set(void **state) {
    (void)state;
    mst_graph *graph;
    EXPECT_OK(mst_graph_create(&graph));
    const mst_shape shape = MST_SHAPE(INT64_C(1) << 40, 3);
    assert_false(mst_value_is_none(mst_initializer_value(graph, mst_zeros_initializer(), MST_F32, shape)));
    assert_false(mst_value_is_none(mst_initializer_value(graph, mst_ones_initializer(), MST_I64, shape)));
    assert_false(mst_value_is_none(mst_initializer_value(graph, mst_constant_initializer(0.5), MST_BF16, shape)));
    EXPECT_OK(mst_graph_check(graph));
    mst_graph_destroy(graph);
    const statistics s = measure(mst_constant_initializer(-2), MST_F32, MST_SHAPE(1100, 1000));
    assert_true(s.low == -2 && s.high == -2);
}

static void impossible_options_and_shapes_are_refused(void **state) {
    (void)state;
    expect_refused((mst_initializer){0}, MST_I32, SHAPE, "glorot_uniform initializer: makes f32 or f64, not i32");
    expect_refused((mst_initializer){0}, MST_F32, MST_SHAPE(-1, 3), "must have no unknown dimension");
    expect_refused(mst_random_normal_initializer(.stddev = -1), MST_F32, SHAPE, "stddev is -1");
    expect_refused(mst_random_uniform_initializer(.low = 1), MST_F32, SHAPE, "low is 1, must not be above high, 0");
    expect_refused(mst_tensor_initializer(NULL), MST_F32, SHAPE, "no tensor given");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fans_are_counted_as_keras_does),
        cmocka_unit_test(scaled_kinds_have_the_variance_of_their_fan),
        cmocka_unit_test(random_kinds_have_their_parameters),
        cmocka_unit_test(constant_initializers_fill_with_their_value),
        cmocka_unit_test(seeds_decide_the_numbers),
        cmocka_unit_test(a_tensor_is_taken_as_it_is),
        cmocka_unit_test(large_values_take_memory_when_they_are_set),
        cmocka_unit_test(impossible_options_and_shapes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
