/* Metrics: their values against examples worked out by hand or given by Keras, sums over batches, and mistakes. */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "muster/metric.h"
#include "support/compute.h"
#include "support/expect.h"

static const double scores[4 * 3] = {0.1, 0.7, 0.2, /* 1 */
                                     0.4, 0.4, 0.2, /* 0: the first of equal ones */
                                     0.2, 0.3, 0.5, /* 2 */
                                     0.6, 0.3, 0.1 /* 0 */};

static double scalar(mst_value value) {
    mst_tensor *tensor = compute(value);
    assert_int_equal(mst_tensor_dtype(tensor), MST_F64);
    assert_int_equal(mst_tensor_count(tensor), 1);
    double x = mst_tensor_get(tensor, 0);
    mst_tensor_release(tensor);
    return x;
}

static void expect_metric(mst_metric_options options, mst_dtype label_dtype, mst_shape label_shape,
                          const double *labels, mst_shape shape, const double *predictions, double sum, double count) {
    for (mst_dtype dtype = MST_F32; dtype <= MST_F64; dtype++) {
        mst_graph *graph;
        EXPECT_OK(mst_graph_create(&graph));
        options.labels = compute_constant(graph, label_dtype, label_shape, labels);
        options.predictions = compute_constant(graph, dtype, shape, predictions);
        mst_metric_values values = mst_metric_batch_with(options);
        EXPECT_OK(mst_graph_check(graph));
        assert_true(fabs(scalar(values.sum) - sum) <= 1e-6 * fmax(1, sum));
        assert_true(scalar(values.count) == count);
        mst_graph_destroy(graph);
    }
}

#define METRIC(...) ((mst_metric_options){.zero_ = 0, .metric = __VA_ARGS__})

static void sparse_accuracy_counts_rows_whose_argmax_is_the_label(void **state) {
    (void)state;
    const double labels[4] = {1, 0, 1, 0};
    const mst_dtype dtypes[] = {MST_I32, MST_I64, MST_U8, MST_F32};
    for (int d = 0; d < 4; d++)
        for (int column = 0; column < 2; column++) {
            mst_shape shape = column ? MST_SHAPE(4, 1) : MST_SHAPE(4);
            expect_metric(METRIC(MST_METRIC_SPARSE_ACCURACY), dtypes[d], shape, labels, MST_SHAPE(4, 3), scores, 3, 4);
            expect_metric(METRIC(MST_METRIC_SPARSE_CATEGORICAL_ACCURACY), dtypes[d], shape, labels, MST_SHAPE(4, 3),
                          scores, 3, 4);
            expect_metric(METRIC(MST_METRIC_ACCURACY), dtypes[d], shape, labels, MST_SHAPE(4, 3), scores, 3, 4);
        }
    expect_metric(METRIC(MST_METRIC_ACCURACY), MST_I64, MST_SHAPE(2, 2), labels, MST_SHAPE(2, 2, 3), scores, 3, 4);
}

static void categorical_accuracy_compares_two_argmaxes(void **state) {
    (void)state;
    const double labels[4 * 3] = {0, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0};
    expect_metric(METRIC(MST_METRIC_CATEGORICAL_ACCURACY), MST_F32, MST_SHAPE(4, 3), labels, MST_SHAPE(4, 3), scores, 3,
                  4);
    expect_metric(METRIC(MST_METRIC_ACCURACY), MST_F32, MST_SHAPE(4, 3), labels, MST_SHAPE(4, 3), scores, 3, 4);
}

static void binary_accuracy_compares_with_the_threshold(void **state) {
    (void)state;
    const double labels[4] = {1, 0, 1, 0}, probabilities[4] = {0.9, 0.5, 0.4, 0.7}, logits[4] = {3, 0, -0.1, 0.2};
    for (int column = 0; column < 2; column++) {
        mst_shape shape = column ? MST_SHAPE(4, 1) : MST_SHAPE(4);
        expect_metric(METRIC(MST_METRIC_BINARY_ACCURACY), MST_U8, MST_SHAPE(4), labels, shape, probabilities, 2, 4);
        expect_metric(METRIC(MST_METRIC_ACCURACY), MST_U8, MST_SHAPE(4, 1), labels, shape, probabilities, 2, 4);
        expect_metric(METRIC(MST_METRIC_BINARY_ACCURACY, .threshold = 0.8), MST_F32, shape, labels, shape,
                      probabilities, 3, 4);
        expect_metric(METRIC(MST_METRIC_BINARY_ACCURACY, .from_logits = true), MST_I64, shape, labels, shape, logits, 2,
                      4);
    }
}

static void top_k_counts_ties_as_hits_and_what_is_not_finite_as_misses(void **state) {
    (void)state;
    const double labels[4] = {2, 1, 0, 2};
    expect_metric(METRIC(MST_METRIC_TOP_K_ACCURACY, .k = 1), MST_I64, MST_SHAPE(4), labels, MST_SHAPE(4, 3), scores, 1,
                  4);
    expect_metric(METRIC(MST_METRIC_TOP_K_ACCURACY, .k = 2), MST_I32, MST_SHAPE(4), labels, MST_SHAPE(4, 3), scores, 2,
                  4);
    expect_metric(METRIC(MST_METRIC_TOP_K_ACCURACY), MST_I64, MST_SHAPE(4), labels, MST_SHAPE(4, 3), scores, 4, 4);
    const double broken[3] = {0.1, NAN, 0.9};
    expect_metric(METRIC(MST_METRIC_TOP_K_ACCURACY), MST_I64, MST_SHAPE(1), labels, MST_SHAPE(1, 3), broken, 0, 1);
}

static void errors_are_summed_over_elements(void **state) {
    (void)state;
    const double labels[4] = {1, 2, 3, 4}, predictions[4] = {1.5, 2, 1, 5};
    expect_metric(METRIC(MST_METRIC_MEAN_SQUARED_ERROR), MST_I64, MST_SHAPE(2, 2), labels, MST_SHAPE(2, 2), predictions,
                  5.25, 4);
    expect_metric(METRIC(MST_METRIC_MEAN_ABSOLUTE_ERROR), MST_F32, MST_SHAPE(4), labels, MST_SHAPE(4, 1), predictions,
                  3.5, 4);
}

static double area(mst_metric metric, int32_t thresholds, bool logits, mst_dtype dtype, int64_t n, const double *labels,
                   const double *predictions) {
    mst_graph *graph;
    EXPECT_OK(mst_graph_create(&graph));
    const mst_metric_values values =
        mst_metric_batch(.metric = metric, .labels = compute_constant(graph, MST_I64, MST_SHAPE(n), labels),
                         .predictions = compute_constant(graph, dtype, MST_SHAPE(n, 1), predictions),
                         .from_logits = logits, .num_thresholds = thresholds);
    EXPECT_OK(mst_graph_check(graph));
    mst_tensor *sum = compute(values.sum), *count = compute(values.count);
    const double result = mst_metric_value(metric, sum, count);
    mst_tensor_release(sum);
    mst_tensor_release(count);
    mst_graph_destroy(graph);
    return result;
}

/* The first four rows are the example in Keras' documentation of AUC; the other numbers are of its formula. */
static void areas_under_curves_are_those_of_keras(void **state) {
    (void)state;
    const double few[4] = {0, 0, 1, 1}, scored[4] = {0, 0.5, 0.3, 0.9}, as_logits[4] = {-90, 0, -0.8472979, 2.1972246};
    const double labels[8] = {0, 1, 1, 0, 1, 0, 1, 1}, p[8] = {0.11, 0.83, 0.47, 0.62, 0.91, 0.47, 0.30, 1.0};
    const double all[2] = {1, 1};
    for (mst_dtype dtype = MST_F32; dtype <= MST_F64; dtype++) {
        assert_true(fabs(area(MST_METRIC_AUC, 3, false, dtype, 4, few, scored) - 0.75) < 1e-12);
        assert_true(fabs(area(MST_METRIC_AUC, 3, true, dtype, 4, few, as_logits) - 0.75) < 1e-12);
        assert_true(fabs(area(MST_METRIC_PR_AUC, 3, false, dtype, 4, few, scored) - 0.8206993734577657) < 1e-12);
        assert_true(fabs(area(MST_METRIC_AUC, 0, false, dtype, 8, labels, p) - 0.7666666666666666) < 1e-12);
        assert_true(fabs(area(MST_METRIC_PR_AUC, 0, false, dtype, 8, labels, p) - 0.878886238879913) < 1e-12);
        assert_true(area(MST_METRIC_AUC, 0, false, dtype, 2, all, p) == 0);
        assert_true(area(MST_METRIC_AUC, 0, false, dtype, 0, NULL, NULL) == 0);
        assert_true(area(MST_METRIC_PR_AUC, 0, false, dtype, 0, NULL, NULL) == 0);
    }
}

static void an_empty_batch_adds_nothing(void **state) {
    (void)state;
    expect_metric(METRIC(MST_METRIC_ACCURACY), MST_I64, MST_SHAPE(0), NULL, MST_SHAPE(0, 3), NULL, 0, 0);
    expect_metric(METRIC(MST_METRIC_MEAN_SQUARED_ERROR), MST_F32, MST_SHAPE(0, 2), NULL, MST_SHAPE(0, 2), NULL, 0, 0);
}

static void batches_add_up_to_the_whole_set(void **state) {
    (void)state;
    mst_metric_state total = {0};
    assert_true(mst_metric_result(&total) == 0);
    mst_metric_add(&total, 90, 100);
    mst_metric_add(&total, 7, 28);
    assert_true(mst_metric_result(&total) == 97.0 / 128);
    mst_metric_reset(&total);
    assert_true(total.sum == 0 && total.count == 0);
}

static void wrong_shapes_and_options_are_named(void **state) {
    (void)state;
    static const struct {
        mst_metric metric;
        int ndim;
        int64_t dim[2];
        const char *text;
    } cases[] = {
        {MST_METRIC_SPARSE_ACCURACY, 1, {5}, "labels 'labels' i64[5], predictions 'outputs' f32[4, 3]"},
        {MST_METRIC_CATEGORICAL_ACCURACY, 2, {4, 2}, "categorical_accuracy: shapes differ"},
        {MST_METRIC_TOP_K_ACCURACY, 2, {4, 3}, "labels must be class numbers"},
        {MST_METRIC_NONE, 1, {4}, "metric is 0"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        mst_graph *graph;
        EXPECT_OK(mst_graph_create(&graph));
        mst_value t = mst_placeholder(.graph = graph, .name = "labels", .dtype = MST_I64,
                                      .shape = mst_shape_make(cases[c].ndim, cases[c].dim));
        mst_value p = mst_placeholder(.graph = graph, .name = "outputs", .shape = MST_SHAPE(4, 3));
        mst_metric_values values = mst_metric_batch(.metric = cases[c].metric, .labels = t, .predictions = p);
        assert_true(mst_value_is_none(values.sum) && mst_value_is_none(values.count));
        EXPECT_ERROR(mst_graph_check(graph), MST_INVALID, cases[c].text);
        mst_graph_destroy(graph);
    }
}

static void metrics_are_found_by_name_and_misspelled_ones_get_a_suggestion(void **state) {
    (void)state;
    for (int i = 1; i < MST_NUM_METRICS; i++) {
        mst_metric metric = MST_METRIC_NONE;
        EXPECT_OK(mst_metric_from_name(mst_metric_name((mst_metric)i), &metric));
        assert_int_equal(metric, i);
    }
    assert_string_equal(mst_metric_name(MST_METRIC_NONE), "");
    assert_null(mst_metric_name(MST_NUM_METRICS));
    mst_metric metric;
    EXPECT_ERROR(mst_metric_from_name("acuracy", &metric), MST_INVALID, "did you mean 'accuracy'?");
}

static void confusion_matrix_counts_labels_by_predictions(void **state) {
    (void)state;
    mst_graph *graph;
    EXPECT_OK(mst_graph_create(&graph));
    mst_value labels = compute_constant(graph, MST_I64, MST_SHAPE(4), (const double[]){1, 0, 1, 0});
    mst_value p = compute_constant(graph, MST_F32, MST_SHAPE(4, 3), scores);
    mst_value matrix =
        mst_confusion_matrix(.labels = labels, .predictions = mst_argmax(.src = p, .axis = -1), .num_classes = 3);
    mst_tensor *counts = compute(matrix);
    const int64_t expected[9] = {2, 0, 0, 0, 1, 1, 0, 0, 0};
    assert_memory_equal(mst_tensor_data(counts), expected, sizeof expected);
    mst_tensor_release(counts);
    mst_value wrong = mst_confusion_matrix(.labels = labels, .predictions = labels, .num_classes = 1);
    assert_int_equal(compute_status(wrong), MST_INVALID);
    assert_non_null(strstr(mst_error()->message, "label 1 of row 0 is not in [0, 1)"));
    mst_graph_destroy(graph);
}

/* Counted by hand. */
static void precision_and_recall_count_positives_as_keras_does(void **state) {
    (void)state;
    const double labels[6] = {1, 1, 0, 0, 1, 0}, probabilities[6] = {0.9, 0.4, 0.6, 0.1, 0.8, 0.5};
    const double logits[6] = {3, -1, 0.1, -2, 1, 0}, none[6] = {0, 0, 0, 0, 0, 0};
    for (int column = 0; column < 2; column++) {
        mst_shape shape = column ? MST_SHAPE(6, 1) : MST_SHAPE(6);
        expect_metric(METRIC(MST_METRIC_PRECISION), MST_I64, MST_SHAPE(6), labels, shape, probabilities, 2, 3);
        expect_metric(METRIC(MST_METRIC_RECALL), MST_U8, MST_SHAPE(6), labels, shape, probabilities, 2, 3);
        expect_metric(METRIC(MST_METRIC_RECALL, .threshold = 0.3), MST_F32, shape, labels, shape, probabilities, 3, 3);
        expect_metric(METRIC(MST_METRIC_PRECISION, .threshold = 0.3), MST_F32, shape, labels, shape, probabilities, 3,
                      5);
        expect_metric(METRIC(MST_METRIC_PRECISION, .from_logits = true), MST_I64, shape, labels, shape, logits, 2, 3);
        expect_metric(METRIC(MST_METRIC_PRECISION), MST_I64, shape, labels, shape, none, 0, 0);
        expect_metric(METRIC(MST_METRIC_RECALL), MST_I64, shape, none, shape, probabilities, 0, 0);
    }
    const double classes[4] = {1, 0, 1, 0}, one_hot[4 * 3] = {0, 1, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0};
    double logarithms[4 * 3]; /* whose softmax are the scores; above 0.5: rows 0 and 3, both right, and none other */
    for (int i = 0; i < 12; i++) logarithms[i] = log(scores[i]) + 3;
    for (int rows = 0; rows < 2; rows++) {
        const double *t = rows ? one_hot : classes;
        const mst_shape shape = rows ? MST_SHAPE(4, 3) : MST_SHAPE(4);
        expect_metric(METRIC(MST_METRIC_PRECISION), MST_I64, shape, t, MST_SHAPE(4, 3), scores, 2, 2);
        expect_metric(METRIC(MST_METRIC_RECALL), MST_I64, shape, t, MST_SHAPE(4, 3), scores, 2, 4);
        expect_metric(METRIC(MST_METRIC_RECALL, .from_logits = true, .exclusive = true), MST_I64, shape, t,
                      MST_SHAPE(4, 3), logarithms, 2, 4);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(precision_and_recall_count_positives_as_keras_does),
        cmocka_unit_test(sparse_accuracy_counts_rows_whose_argmax_is_the_label),
        cmocka_unit_test(categorical_accuracy_compares_two_argmaxes),
        cmocka_unit_test(binary_accuracy_compares_with_the_threshold),
        cmocka_unit_test(top_k_counts_ties_as_hits_and_what_is_not_finite_as_misses),
        cmocka_unit_test(errors_are_summed_over_elements),
        cmocka_unit_test(areas_under_curves_are_those_of_keras),
        cmocka_unit_test(an_empty_batch_adds_nothing),
        cmocka_unit_test(batches_add_up_to_the_whole_set),
        cmocka_unit_test(wrong_shapes_and_options_are_named),
        cmocka_unit_test(metrics_are_found_by_name_and_misspelled_ones_get_a_suggestion),
        cmocka_unit_test(confusion_matrix_counts_labels_by_predictions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
