/* Losses and penalties against their formulas, written down again in double precision. */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "muster/loss.h"
#include "support/compute.h"
#include "support/expect.h"

enum { ROWS = 3, COLUMNS = 4 };

static const double classes[ROWS] = {2, 0, 3};
static const double one_hot[ROWS * COLUMNS] = {0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1};
static const double logits[ROWS * COLUMNS] = {1, -2, 0.5, 3, 0, 0, 0, 0, -30, 2, 1, 40};
static const double spread[ROWS * COLUMNS] = {0.1, 0.2, 0.3, 0.4, 0.25, 0.25, 0.25, 0.25, 0, 0, 0, 1};
static const double zeros_and_ones[ROWS * COLUMNS] = {0, 1, 1, 0, 1, 1, 0, 0, 0, 0, 1, 1};
static const double signs[ROWS * COLUMNS] = {-1, 1, 1, -1, 1, 1, -1, -1, -1, -1, 1, 1};
static const double reals[ROWS * COLUMNS] = {0.5, -1, 2.5, 3, 0, 0.1, -4, 0.9, 7, 0.3, 1, -0.5};

static double limited(double p, double high) {
    return fmin(fmax(p, 1e-7), high);
}

static double softmax_entropy(int row, const double *t) {
    double sum = 0, loss = 0;
    for (int k = 0; k < COLUMNS; k++) sum += exp(logits[row * COLUMNS + k]);
    for (int k = 0; k < COLUMNS; k++) loss -= t[row * COLUMNS + k] * (logits[row * COLUMNS + k] - log(sum));
    return loss;
}

/* One element's part of each loss that is a mean over the row. */
static double squared(double t, double p) {
    return (t - p) * (t - p);
}
static double absolute(double t, double p) {
    return fabs(t - p);
}
static double huber(double t, double p) {
    return fabs(t - p) <= 1 ? 0.5 * (t - p) * (t - p) : fabs(t - p) - 0.5;
}
static double hinge(double t, double p) {
    return fmax(1 - t * p, 0);
}
static double poisson(double t, double p) {
    return p - t * log(p + 1e-7);
}
static double binary(double t, double p) {
    return -t * log(limited(p, 1 - 1e-7)) - (1 - t) * log(1 - limited(p, 1 - 1e-7));
}
static double binary_logits(double t, double x) {
    return fmax(x, 0) - x * t + log1p(exp(-fabs(x)));
}

static void row_means(double (*part)(double, double), const double *t, const double *p, double *out) {
    for (int i = 0; i < ROWS; i++) {
        out[i] = 0;
        for (int k = 0; k < COLUMNS; k++) out[i] += part(t[i * COLUMNS + k], p[i * COLUMNS + k]) / COLUMNS;
    }
}

static void expect_values(mst_value value, int64_t count, const double *expected, double tolerance) {
    mst_tensor *tensor = compute(value);
    assert_int_equal(mst_tensor_count(tensor), count);
    for (int64_t i = 0; i < count; i++) {
        double got = mst_tensor_get(tensor, i);
        if (!(fabs(got - expected[i]) <= tolerance * fmax(1, fabs(expected[i]))))
            fail_msg("'%s', element %lld: %.17g, must be %.17g", mst_value_name(value), (long long)i, got, expected[i]);
    }
    mst_tensor_release(tensor);
}

/* In f32 and f64; labels of LABEL_DTYPE, MST_NO_DTYPE for that of the predictions. */
static void expect_loss(mst_loss loss, int rows, mst_dtype label_dtype, mst_shape label_shape, const double *labels,
                        mst_shape shape, const double *predictions, bool from_logits, const double *expected) {
    for (mst_dtype dtype = MST_F32; dtype <= MST_F64; dtype++) {
        mst_graph *graph;
        EXPECT_OK(mst_graph_create(&graph));
        mst_value t = compute_constant(graph, label_dtype ? label_dtype : dtype, label_shape, labels);
        mst_value p = compute_constant(graph, dtype, shape, predictions);
        mst_value value = mst_loss_per_example(loss, t, p, from_logits);
        EXPECT_OK(mst_graph_check(graph));
        assert_int_equal(mst_value_spec(value).dtype, dtype);
        /* 1 - 1e-7 has few digits in f32 */
        expect_values(value, rows, expected, dtype == MST_F32 ? 2e-2 * (predictions == spread) + 1e-5 : 1e-9);
        mst_graph_destroy(graph);
    }
}

#define TABLE MST_SHAPE(ROWS, COLUMNS)

static void cross_entropies_from_logits_follow_the_formula(void **state) {
    (void)state;
    double expected[ROWS];
    for (int i = 0; i < ROWS; i++) expected[i] = softmax_entropy(i, one_hot);
    const mst_dtype dtypes[] = {MST_I32, MST_I64, MST_U8, MST_F32};
    for (int d = 0; d < 4; d++) {
        expect_loss(MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY, ROWS, dtypes[d], MST_SHAPE(ROWS), classes, TABLE, logits,
                    true, expected);
        expect_loss(MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY, ROWS, dtypes[d], MST_SHAPE(ROWS, 1), classes, TABLE,
                    logits, true, expected);
    }
    expect_loss(MST_LOSS_CATEGORICAL_CROSSENTROPY, ROWS, MST_NO_DTYPE, TABLE, one_hot, TABLE, logits, true, expected);
    for (int i = 0; i < ROWS; i++) expected[i] = softmax_entropy(i, spread);
    expect_loss(MST_LOSS_CATEGORICAL_CROSSENTROPY, ROWS, MST_NO_DTYPE, TABLE, spread, TABLE, logits, true, expected);
    row_means(binary_logits, zeros_and_ones, logits, expected);
    expect_loss(MST_LOSS_BINARY_CROSSENTROPY, ROWS, MST_U8, TABLE, zeros_and_ones, TABLE, logits, true, expected);
}

static void cross_entropies_from_probabilities_limit_them_as_tensorflow_does(void **state) {
    (void)state;
    const double wrong[ROWS] = {2, 0, 1}; /* the last has probability 0 */
    const double wrong_one_hot[ROWS * COLUMNS] = {0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0};
    double sum = 3e-7 + (1 - 1e-7);
    const double sparse[ROWS] = {-log(0.3), -log(0.25), -log(1e-7 / sum)};
    expect_loss(MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY, ROWS, MST_I64, MST_SHAPE(ROWS), wrong, TABLE, spread, false,
                sparse);
    const double dense[ROWS] = {-log(0.3), -log(0.25), -log(1e-7)};
    expect_loss(MST_LOSS_CATEGORICAL_CROSSENTROPY, ROWS, MST_NO_DTYPE, TABLE, wrong_one_hot, TABLE, spread, false,
                dense);
    double expected[ROWS];
    row_means(binary, zeros_and_ones, spread, expected);
    expect_loss(MST_LOSS_BINARY_CROSSENTROPY, ROWS, MST_NO_DTYPE, TABLE, zeros_and_ones, TABLE, spread, false,
                expected);
}

static void losses_over_elements_follow_their_formulas(void **state) {
    (void)state;
    static const struct {
        mst_loss loss;
        double (*part)(double, double);
        const double *labels, *formula_labels, *predictions;
    } cases[] = {
        {MST_LOSS_MEAN_SQUARED_ERROR, squared, one_hot, one_hot, reals},
        {MST_LOSS_MEAN_ABSOLUTE_ERROR, absolute, one_hot, one_hot, reals},
        {MST_LOSS_HUBER, huber, one_hot, one_hot, reals},
        {MST_LOSS_HINGE, hinge, signs, signs, reals},
        {MST_LOSS_HINGE, hinge, zeros_and_ones, signs, reals},
        {MST_LOSS_POISSON, poisson, zeros_and_ones, zeros_and_ones, spread},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        double expected[ROWS];
        row_means(cases[c].part, cases[c].formula_labels, cases[c].predictions, expected);
        expect_loss(cases[c].loss, ROWS, MST_NO_DTYPE, TABLE, cases[c].labels, TABLE, cases[c].predictions, false,
                    expected);
    }
    double expected[ROWS] = {0};
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        double t = limited(one_hot[i], 1), p = limited(spread[i], 1);
        expected[i / COLUMNS] += t * log(t / p);
    }
    expect_loss(MST_LOSS_KL_DIVERGENCE, ROWS, MST_NO_DTYPE, TABLE, one_hot, TABLE, spread, false, expected);
}

static void probabilities_straight_from_softmax_or_sigmoid_use_their_logits(void **state) {
    (void)state;
    mst_graph *graph;
    EXPECT_OK(mst_graph_create(&graph));
    mst_value x = compute_constant(graph, MST_F64, TABLE, logits);
    mst_value t = compute_constant(graph, MST_I64, MST_SHAPE(ROWS), (const double[]){2, 0, 0});
    /* row 2: the probability of class 0 is below 1e-7, and would be limited */
    const double expected[ROWS] = {softmax_entropy(0, one_hot), log(4), 70};
    expect_values(mst_loss_per_example(MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY, t, mst_softmax(x), false), ROWS,
                  expected, 1e-9);
    mst_value bits = compute_constant(graph, MST_F64, TABLE, zeros_and_ones);
    double means[ROWS];
    row_means(binary_logits, zeros_and_ones, logits, means);
    expect_values(mst_loss_per_example(MST_LOSS_BINARY_CROSSENTROPY, bits, mst_sigmoid(x), false), ROWS, means, 1e-9);
    mst_graph_destroy(graph);
}

static void further_dimensions_of_an_example_are_averaged(void **state) {
    (void)state;
    const double steps[ROWS] = {
        (softmax_entropy(0, one_hot) + softmax_entropy(1, one_hot) + softmax_entropy(2, one_hot)) / 3};
    expect_loss(MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY, 1, MST_I32, MST_SHAPE(1, ROWS), classes,
                MST_SHAPE(1, ROWS, COLUMNS), logits, true, steps);
    double means[ROWS], mean = 0;
    row_means(squared, one_hot, reals, means);
    for (int i = 0; i < ROWS; i++) mean += means[i] / ROWS;
    expect_loss(MST_LOSS_MEAN_SQUARED_ERROR, 1, MST_NO_DTYPE, MST_SHAPE(1, ROWS, COLUMNS), one_hot,
                MST_SHAPE(1, ROWS, COLUMNS), reals, false, &mean);
}

static void a_column_and_a_row_of_examples_are_the_same(void **state) {
    (void)state;
    double expected[ROWS];
    for (int i = 0; i < ROWS; i++) expected[i] = squared(classes[i], reals[i]);
    expect_loss(MST_LOSS_MEAN_SQUARED_ERROR, ROWS, MST_I64, MST_SHAPE(ROWS), classes, MST_SHAPE(ROWS, 1), reals, false,
                expected);
    expect_loss(MST_LOSS_MEAN_SQUARED_ERROR, ROWS, MST_I64, MST_SHAPE(ROWS, 1), classes, MST_SHAPE(ROWS), reals, false,
                expected);
    expect_loss(MST_LOSS_MEAN_SQUARED_ERROR, ROWS, MST_I64, MST_SHAPE(ROWS), classes, MST_SHAPE(ROWS), reals, false,
                expected);
}

static void shapes_that_do_not_fit_are_named(void **state) {
    (void)state;
    static const struct {
        mst_loss loss;
        int t_ndim, p_ndim;
        int64_t t_dim[3], p_dim[3];
        const char *text;
    } cases[] = {
        {MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY,
         1,
         2,
         {3},
         {4, 10},
         "labels 'labels' f32[3], predictions 'outputs' f32[4, 10]"},
        {MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY, 2, 2, {4, 10}, {4, 10}, "labels must be class numbers"},
        {MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY, 1, 1, {4}, {4}, "predictions must be [n, classes]"},
        {MST_LOSS_CATEGORICAL_CROSSENTROPY, 1, 2, {4}, {4, 10}, "categorical_crossentropy: shapes differ"},
        {MST_LOSS_MEAN_SQUARED_ERROR, 2, 2, {-1, 1}, {-1, 3}, "mean_squared_error: shapes differ"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        mst_graph *graph;
        EXPECT_OK(mst_graph_create(&graph));
        mst_value t =
            mst_placeholder(.graph = graph, .name = "labels", .shape = mst_shape_make(cases[c].t_ndim, cases[c].t_dim));
        mst_value p = mst_placeholder(.graph = graph, .name = "outputs",
                                      .shape = mst_shape_make(cases[c].p_ndim, cases[c].p_dim));
        assert_true(mst_value_is_none(mst_loss_per_example(cases[c].loss, t, p, true)));
        EXPECT_ERROR(mst_graph_check(graph), MST_INVALID, cases[c].text);
        mst_graph_destroy(graph);
    }
}

static void reductions_weight_and_divide_as_keras_does(void **state) {
    (void)state;
    mst_graph *graph;
    EXPECT_OK(mst_graph_create(&graph));
    mst_value losses = compute_constant(graph, MST_F64, MST_SHAPE(3), (const double[]){1, 2, 6});
    mst_value weights = compute_constant(graph, MST_I32, MST_SHAPE(3), (const double[]){1, 0, 3});
    mst_value none = compute_constant(graph, MST_F64, MST_SHAPE(0), NULL);
    mst_value zeros = compute_constant(graph, MST_F64, MST_SHAPE(3), (const double[]){0, 0, 0});
    expect_values(mst_loss_reduce(losses, MST_NONE, MST_REDUCTION_MEAN), 1, (const double[]){3}, 1e-15);
    expect_values(mst_loss_reduce(losses, weights, MST_REDUCTION_MEAN), 1, (const double[]){19.0 / 3}, 1e-15);
    expect_values(mst_loss_reduce(losses, weights, MST_REDUCTION_WEIGHTED_MEAN), 1, (const double[]){19.0 / 4}, 1e-15);
    expect_values(mst_loss_reduce(losses, weights, MST_REDUCTION_SUM), 1, (const double[]){19}, 1e-15);
    expect_values(mst_loss_reduce(losses, weights, MST_REDUCTION_NONE), 3, (const double[]){1, 0, 18}, 1e-15);
    expect_values(mst_loss_reduce(none, MST_NONE, MST_REDUCTION_MEAN), 1, (const double[]){0}, 1e-15);
    expect_values(mst_loss_reduce(losses, zeros, MST_REDUCTION_WEIGHTED_MEAN), 1, (const double[]){0}, 1e-15);
    mst_graph_destroy(graph);
}

static void penalties_have_both_conventions(void **state) {
    (void)state;
    mst_graph *graph;
    EXPECT_OK(mst_graph_create(&graph));
    mst_value w = compute_constant(graph, MST_F64, MST_SHAPE(3), (const double[]){1, -2, 3});
    expect_values(mst_regularizer_value(&mst_l2_regularizer(0.1), w), 1, (const double[]){0.7}, 1e-14);
    expect_values(mst_regularizer_value(&mst_l1_regularizer(0.1), w), 1, (const double[]){0.6}, 1e-14);
    expect_values(mst_regularizer_value(&mst_keras_regularizer(.l2 = 0.1), w), 1, (const double[]){1.4}, 1e-14);
    expect_values(mst_regularizer_value(&mst_keras_regularizer(.l1 = 0.5, .l2 = 0.1), w), 1, (const double[]){4.4},
                  1e-14);
    assert_true(mst_value_is_none(mst_regularizer_value(&mst_keras_regularizer(), w)));
    EXPECT_OK(mst_graph_check(graph));
    EXPECT_ERROR(mst_regularizer_check(&mst_l2_regularizer(-1)), MST_INVALID, "l2 is -1");
    EXPECT_ERROR(mst_regularizer_check(&mst_l1_regularizer(NAN)), MST_INVALID, "l1 is nan");
    mst_graph_destroy(graph);
}

static void losses_are_found_by_name_and_misspelled_ones_get_a_suggestion(void **state) {
    (void)state;
    for (int i = 0; i < MST_NUM_LOSSES; i++) {
        mst_loss loss = MST_NUM_LOSSES;
        EXPECT_OK(mst_loss_from_name(mst_loss_name((mst_loss)i), &loss));
        assert_int_equal(loss, i);
    }
    assert_null(mst_loss_name(MST_NUM_LOSSES));
    mst_loss loss;
    EXPECT_ERROR(mst_loss_from_name("hubert", &loss), MST_INVALID, "did you mean 'huber'?");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cross_entropies_from_logits_follow_the_formula),
        cmocka_unit_test(cross_entropies_from_probabilities_limit_them_as_tensorflow_does),
        cmocka_unit_test(losses_over_elements_follow_their_formulas),
        cmocka_unit_test(probabilities_straight_from_softmax_or_sigmoid_use_their_logits),
        cmocka_unit_test(further_dimensions_of_an_example_are_averaged),
        cmocka_unit_test(a_column_and_a_row_of_examples_are_the_same),
        cmocka_unit_test(shapes_that_do_not_fit_are_named),
        cmocka_unit_test(reductions_weight_and_divide_as_keras_does),
        cmocka_unit_test(penalties_have_both_conventions),
        cmocka_unit_test(losses_are_found_by_name_and_misspelled_ones_get_a_suggestion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
