/* Metrics of one positive class, and means over classes, compared with scikit-learn, Keras and NumPy. */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "muster/metric.h"
#include "support/compute.h"
#include "support/expect.h"

enum { ROWS = 700, CLASSES = 5 };

/* Numbers of a fixed sequence, 0 to 1. */
static double draw(uint64_t *seed) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(*seed >> 11) / 9007199254740992.0;
}

/* The metric of the 3 batches that LABELS and PREDICTIONS are cut into; one of them is empty. */
static double measure(mst_metric_options options, mst_dtype label_dtype, int64_t label_columns, const double *labels,
                      int64_t columns, const double *predictions) {
    static const int64_t begin[] = {0, 200, 200, ROWS};
    mst_tensor *sum = NULL, *count = NULL;
    for (int b = 0; b < 3; b++) {
        const int64_t n = begin[b + 1] - begin[b];
        mst_graph *graph;
        EXPECT_OK(mst_graph_create(&graph));
        options.labels =
            compute_constant(graph, label_dtype, label_columns ? MST_SHAPE(n, label_columns) : MST_SHAPE(n),
                             labels + begin[b] * (label_columns ? label_columns : 1));
        options.predictions = compute_constant(graph, MST_F32, MST_SHAPE(n, columns), predictions + begin[b] * columns);
        const mst_metric_values values = mst_metric_batch_with(options);
        EXPECT_OK(mst_graph_check(graph));
        mst_tensor *part[2] = {compute(values.sum), compute(values.count)};
        mst_tensor **all[2] = {&sum, &count};
        for (int i = 0; i < 2; i++) {
            if (!*all[i]) {
                *all[i] = part[i];
                continue;
            }
            for (int64_t k = 0; k < mst_tensor_count(part[i]); k++)
                mst_tensor_set(*all[i], k, mst_tensor_get(*all[i], k) + mst_tensor_get(part[i], k));
            mst_tensor_release(part[i]);
        }
        mst_graph_destroy(graph);
    }
    const double result = mst_metric_value(options.metric, sum, count);
    mst_tensor_release(sum);
    mst_tensor_release(count);
    return result;
}

/* ---- two classes ---- */

typedef struct two_classes {
    double label[ROWS], one_hot[2 * ROWS], logits[2 * ROWS], probability[2 * ROWS], odds[ROWS];
} two_classes;

/* A class that is rare, RATE of the rows, whose odds are a little larger than those of the others; some are equal. */
static void make_rows(two_classes *d, double shift) {
    uint64_t seed = 5;
    for (int i = 0; i < ROWS; i++) {
        const double x = 6 * draw(&seed) - 3;
        d->label[i] = draw(&seed) < 1 / (1 + exp(-(x + shift)));
        const double odds = round((x + 2 * draw(&seed) + shift) * 20) / 20, base = draw(&seed);
        d->one_hot[2 * i] = 1 - d->label[i];
        d->one_hot[2 * i + 1] = d->label[i];
        d->logits[2 * i] = (float)base;
        d->logits[2 * i + 1] = (float)(base + odds);
        d->odds[i] = d->logits[2 * i + 1] - d->logits[2 * i];
        d->probability[2 * i + 1] = 1 / (1 + exp(-d->odds[i]));
        d->probability[2 * i] = 1 - d->probability[2 * i + 1];
    }
}

/* The part of the pairs of a positive and a negative row in which the positive one is above; equal ones count half:
 * scikit-learn's roc_auc_score. */
static double area_by_ranks(const two_classes *d, int positive) {
    double good = 0, pairs = 0;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++) {
            if ((int)d->label[i] != positive || (int)d->label[j] == positive) continue;
            const double a = positive ? d->odds[i] : -d->odds[i], b = positive ? d->odds[j] : -d->odds[j];
            good += fabs(a - b) < 1e-6 ? 0.5 : a > b;
            pairs++;
        }
    return good / pairs;
}

typedef struct scores {
    double precision, recall, f1;
} scores;

static scores scores_of(const double *label, const double *predicted, double class) {
    double right = 0, labels = 0, chosen = 0;
    for (int i = 0; i < ROWS; i++) {
        labels += label[i] == class;
        chosen += predicted[i] == class;
        right += label[i] == class && predicted[i] == class;
    }
    return (scores){chosen > 0 ? right / chosen : 0, labels > 0 ? right / labels : 0,
                    labels + chosen > 0 ? 2 * right / (labels + chosen) : 0};
}

static void expect_close(double value, double right, double most) {
    if (!(fabs(value - right) <= most)) fail_msg("%.9g is not %.9g", value, right);
}

static void expect_class(const two_classes *d, int class, const mst_metric_options *form, mst_dtype dtype,
                         int64_t label_columns, const double *labels, int64_t columns, const double *predictions) {
    double chosen[ROWS];
    for (int i = 0; i < ROWS; i++) chosen[i] = d->odds[i] > 0 ? 1 : 0;
    if (class == 0)
        for (int i = 0; i < ROWS; i++) chosen[i] = d->odds[i] < 0 ? 0 : 1;
    const scores right = scores_of(d->label, chosen, class);
    const struct {
        mst_metric metric;
        double value, most;
    } all[] = {{MST_METRIC_PRECISION, right.precision, 1e-12},
               {MST_METRIC_RECALL, right.recall, 1e-12},
               {MST_METRIC_F1, right.f1, 1e-12},
               {MST_METRIC_AUC, area_by_ranks(d, class), 1e-3}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        mst_metric_options o = *form;
        o.metric = all[i].metric;
        o.positive = MST_CLASS(class);
        expect_close(measure(o, dtype, label_columns, labels, columns, predictions), all[i].value, all[i].most);
    }
}

static void of_two_classes_the_positive_one_is_counted(void **state) {
    (void)state;
    static two_classes d;
    for (int rare = 0; rare < 2; rare++)
        for (int class = 0; class < 2; class ++) {
            make_rows(&d, rare ? -5 : 0.3);
            const mst_metric_options logits = {.from_logits = true, .exclusive = true}, plain = {.exclusive = true};
            double single[ROWS];
            expect_class(&d, class, &logits, MST_I64, 0, d.label, 2, d.logits);
            expect_class(&d, class, &logits, MST_I32, 1, d.label, 2, d.logits);
            expect_class(&d, class, &logits, MST_F32, 2, d.one_hot, 2, d.logits);
            expect_class(&d, class, &plain, MST_U8, 0, d.label, 2, d.probability);
            expect_class(&d, class, &plain, MST_F32, 2, d.one_hot, 2, d.probability);
            for (int i = 0; i < ROWS; i++) single[i] = d.probability[2 * i + 1];
            expect_class(&d, class, &(mst_metric_options){.zero_ = 0}, MST_I64, 0, d.label, 1, single);
            expect_class(&d, class, &(mst_metric_options){.from_logits = true}, MST_I64, 0, d.label, 1, d.odds);
        }
}

static void without_a_positive_class_all_columns_count_as_in_keras(void **state) {
    (void)state;
    static two_classes d;
    make_rows(&d, -5);
    mst_metric_options o = {.exclusive = true, .from_logits = true};
    double right = 0;
    for (int i = 0; i < ROWS; i++) right += (d.odds[i] > 0) == (d.label[i] > 0);
    const mst_metric all[] = {MST_METRIC_PRECISION, MST_METRIC_RECALL, MST_METRIC_F1};
    for (int i = 0; i < 3; i++) { /* each is the accuracy then */
        o.metric = all[i];
        expect_close(measure(o, MST_I64, 0, d.label, 2, d.logits), right / ROWS, 2e-3);
    }
    o.metric = MST_METRIC_AUC;
    assert_true(measure(o, MST_I64, 0, d.label, 2, d.logits) > area_by_ranks(&d, 1) + 0.05);
}

static void a_class_that_is_not_there_is_an_error(void **state) {
    (void)state;
    const mst_metric all[] = {MST_METRIC_PRECISION, MST_METRIC_RECALL, MST_METRIC_F1, MST_METRIC_AUC,
                              MST_METRIC_PR_AUC};
    const double labels[2] = {0, 1}, predictions[6] = {0};
    for (int i = 0; i < 5; i++)
        for (int columns = 1; columns <= 3; columns++) {
            mst_graph *graph;
            EXPECT_OK(mst_graph_create(&graph));
            (void)mst_metric_batch(.metric = all[i], .labels = compute_constant(graph, MST_I64, MST_SHAPE(2), labels),
                                   .predictions = compute_constant(graph, MST_F32, MST_SHAPE(2, columns), predictions),
                                   .positive = MST_CLASS(columns == 1 ? 2 : columns));
            EXPECT_ERROR(mst_graph_check(graph), MST_INVALID,
                         columns == 3 ? ".positive is class 3, there are 3 classes from 0 on"
                                      : ".positive is class 2, there are 2");
            mst_graph_destroy(graph);
        }
}

/* ---- several classes ---- */

static void macro_means_are_means_over_classes(void **state) {
    (void)state;
    static double label[ROWS], one_hot[ROWS * CLASSES], logits[ROWS * CLASSES], chosen[ROWS];
    uint64_t seed = 9;
    for (int i = 0; i < ROWS; i++) {
        const double u = draw(&seed);
        label[i] = u < 0.7 ? 0 : u < 0.9 ? 1 : 3; /* 2 is predicted only, 4 not at all */
        for (int c = 0; c < CLASSES; c++) {
            logits[i * CLASSES + c] = c == 4 ? -9 : (float)(draw(&seed) + 0.4 * (c == (int)label[i]));
            one_hot[i * CLASSES + c] = c == (int)label[i];
            if (logits[i * CLASSES + c] > logits[i * CLASSES + (int)chosen[i]]) chosen[i] = c;
        }
    }
    scores mean = {0};
    for (int c = 0; c < 4; c++) {
        const scores one = scores_of(label, chosen, c);
        mean.precision += one.precision / 4;
        mean.recall += one.recall / 4;
        mean.f1 += one.f1 / 4;
    }
    const mst_metric metric[] = {MST_METRIC_MACRO_PRECISION, MST_METRIC_MACRO_RECALL, MST_METRIC_MACRO_F1};
    const double right[] = {mean.precision, mean.recall, mean.f1};
    for (int i = 0; i < 3; i++) {
        const mst_metric_options o = {.metric = metric[i], .from_logits = true, .exclusive = true};
        expect_close(measure(o, MST_I64, 0, label, CLASSES, logits), right[i], 1e-12);
        expect_close(measure(o, MST_F32, CLASSES, one_hot, CLASSES, logits), right[i], 1e-12);
    }
    static two_classes d;
    make_rows(&d, -1);
    for (int i = 0; i < ROWS; i++) chosen[i] = d.odds[i] > 0;
    const scores a = scores_of(d.label, chosen, 0), b = scores_of(d.label, chosen, 1);
    const mst_metric_options o = {.metric = MST_METRIC_MACRO_F1, .from_logits = true};
    expect_close(measure(o, MST_I64, 0, d.label, 1, d.odds), (a.f1 + b.f1) / 2, 1e-12);
}

/* ---- perplexity ---- */

/* Predictions are logits, or the probabilities that they give; labels of -1 do not count. */
static void perplexity_is_e_to_the_mean_cross_entropy(void **state) {
    (void)state;
    static double label[ROWS], some[ROWS], logit[ROWS * CLASSES], probability[ROWS * CLASSES];
    uint64_t seed = 3;
    double all = 0, counted = 0;
    int num_counted = 0;
    for (int i = 0; i < ROWS; i++) {
        double sum = 0;
        label[i] = floor(draw(&seed) * CLASSES);
        some[i] = i % 3 ? label[i] : -1;
        for (int k = 0; k < CLASSES; k++) sum += exp(logit[i * CLASSES + k] = (float)(4 * draw(&seed) - 2));
        for (int k = 0; k < CLASSES; k++) probability[i * CLASSES + k] = (float)(exp(logit[i * CLASSES + k]) / sum);
        const double loss = log(sum) - logit[i * CLASSES + (int)label[i]];
        all += loss;
        if (i % 3) counted += loss, num_counted++;
    }
    mst_metric_options o = {.metric = MST_METRIC_PERPLEXITY, .from_logits = true};
    expect_close(measure(o, MST_I64, 0, label, CLASSES, logit), exp(all / ROWS), 1e-6);
    o.ignore_class = -1;
    expect_close(measure(o, MST_I64, 0, some, CLASSES, logit), exp(counted / num_counted), 1e-6);
    o = (mst_metric_options){.metric = MST_METRIC_PERPLEXITY};
    expect_close(measure(o, MST_I64, 0, label, CLASSES, probability), exp(all / ROWS), 1e-6);
}

/* ---- numbers ---- */

/* Of NumPy: y = 1000 + 3 * sin(arange(700)), p = y + cos(arange(700) * 2), rounded to f32;
 * of two columns the second is y / 7, p / 7.01. */
static void numbers_are_measured_as_numpy_does(void **state) {
    (void)state;
    static double y[2 * ROWS], p[2 * ROWS], first[ROWS], predicted[ROWS];
    for (int i = 0; i < ROWS; i++) {
        first[i] = y[2 * i] = (float)(1000 + 3 * sin(i));
        predicted[i] = p[2 * i] = (float)((float)(1000 + 3 * sin(i)) + cos(2 * i));
        y[2 * i + 1] = (float)(first[i] / 7);
        p[2 * i + 1] = (float)(predicted[i] / 7.01);
    }
    const mst_metric_options rmse = {.metric = MST_METRIC_RMSE}, r2 = {.metric = MST_METRIC_R2};
    expect_close(measure(rmse, MST_F32, 0, first, 1, predicted), 0.7076131318135825, 1e-6);
    expect_close(measure(rmse, MST_F32, 2, y, 2, p), 0.5255650282154753, 1e-6);
    expect_close(measure(r2, MST_F32, 0, first, 1, predicted), 0.8887282820051366, 1e-6);
    expect_close(measure(r2, MST_F32, 2, y, 2, p), 0.6627689795681915, 1e-6);
    for (int i = 0; i < ROWS; i++) first[i] = (float)0.1;
    expect_close(measure(r2, MST_F32, 0, first, 1, first), 1, 0);
    expect_close(measure(r2, MST_F32, 0, first, 1, predicted), 0, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_two_classes_the_positive_one_is_counted),
        cmocka_unit_test(without_a_positive_class_all_columns_count_as_in_keras),
        cmocka_unit_test(a_class_that_is_not_there_is_an_error),
        cmocka_unit_test(macro_means_are_means_over_classes),
        cmocka_unit_test(perplexity_is_e_to_the_mean_cross_entropy),
        cmocka_unit_test(numbers_are_measured_as_numpy_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
