#include "cli/model/metric_fit.h"

typedef enum metric_kind {
    ANY_KIND,
    OF_CLASSES,       /* for labels in any form */
    OF_YES_OR_NO,     /* each number of a label is 0 or 1 */
    OF_ONE_HOT,       /* labels are one-hot rows */
    OF_CLASS_NUMBERS, /* labels are numbers of classes */
    OF_NUMBERS        /* labels are numbers; the metric measures how much outputs differ from them */
} metric_kind;

static const metric_kind kinds[MST_NUM_METRICS] = {
    [MST_METRIC_ACCURACY] = OF_CLASSES,
    [MST_METRIC_PRECISION] = OF_CLASSES,
    [MST_METRIC_RECALL] = OF_CLASSES,
    [MST_METRIC_F1] = OF_CLASSES,
    [MST_METRIC_AUC] = OF_CLASSES,
    [MST_METRIC_PR_AUC] = OF_CLASSES,
    [MST_METRIC_MACRO_PRECISION] = OF_CLASSES,
    [MST_METRIC_MACRO_RECALL] = OF_CLASSES,
    [MST_METRIC_MACRO_F1] = OF_CLASSES,
    [MST_METRIC_MEAN_IO_U] = OF_CLASSES,
    [MST_METRIC_BINARY_ACCURACY] = OF_YES_OR_NO,
    [MST_METRIC_CATEGORICAL_ACCURACY] = OF_ONE_HOT,
    [MST_METRIC_SPARSE_ACCURACY] = OF_CLASS_NUMBERS,
    [MST_METRIC_SPARSE_CATEGORICAL_ACCURACY] = OF_CLASS_NUMBERS,
    [MST_METRIC_TOP_K_ACCURACY] = OF_CLASS_NUMBERS,
    [MST_METRIC_SPARSE_TOP_K_CATEGORICAL_ACCURACY] = OF_CLASS_NUMBERS,
    [MST_METRIC_PERPLEXITY] = OF_CLASS_NUMBERS,
    [MST_METRIC_MEAN_SQUARED_ERROR] = OF_NUMBERS,
    [MST_METRIC_MEAN_ABSOLUTE_ERROR] = OF_NUMBERS,
    [MST_METRIC_RMSE] = OF_NUMBERS,
    [MST_METRIC_R2] = OF_NUMBERS,
};

static metric_kind kind_of_metric(mst_metric metric) {
    return (unsigned)metric < MST_NUM_METRICS ? kinds[metric] : ANY_KIND;
}

/* Whether the outputs are logits. They are in models that the command makes: these end without softmax or sigmoid. */
static bool has_logits(const objective *o) {
    return !o->output && objective_finish_of(o->loss) != MST_LINEAR;
}

/* Whether METRIC fits a last layer that gives probabilities, although the loss compares numbers. After a softmax,
 * precision and similar metrics do not fit: they need a positive class, which only a loss of classes gives. */
static bool fits_probabilities(mst_metric metric, metric_kind kind, const objective *o) {
    if (o->gives == MST_SIGMOID) return kind == OF_YES_OR_NO || kind == OF_CLASSES;
    return o->gives == MST_SOFTMAX && (kind == OF_ONE_HOT || metric == MST_METRIC_ACCURACY);
}

static bool fits_loss(mst_metric metric, const objective *o) {
    const metric_kind kind = kind_of_metric(metric);
    const bool is_row = o->outputs > 1;
    if (kind == ANY_KIND) return true;
    switch ((int)o->loss) {
        case MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY: return kind == OF_CLASSES || kind == OF_CLASS_NUMBERS;
        case MST_LOSS_BINARY_CROSSENTROPY:
        case MST_LOSS_CATEGORICAL_CROSSENTROPY:
        case MST_LOSS_KL_DIVERGENCE:
            if (kind == OF_NUMBERS) return !has_logits(o);
            return kind == OF_CLASSES || kind == OF_YES_OR_NO || (kind == OF_ONE_HOT && is_row);
        default: return kind == OF_NUMBERS || fits_probabilities(metric, kind, o);
    }
}

mst_status metric_fit_check(mst_metric metric, const objective *o) {
    const char *name = mst_metric_name(metric), *loss = mst_loss_name(o->loss);
    if (fits_loss(metric, o)) return MST_OK;
    if (kind_of_metric(metric) == OF_NUMBERS)
        return MST_FAIL(
            MST_INVALID,
            "--metrics %s: measures by how much numbers differ, and --loss %s has classes: take accuracy, or "
            "--loss mean_squared_error for labels that are numbers",
            name, loss);
    if (fits_loss(MST_METRIC_ACCURACY, o))
        return MST_FAIL(MST_INVALID, "--metrics %s: does not fit the labels that --loss %s takes, %s: take accuracy",
                        name, loss, objective_labels((int)o->loss));
    return MST_FAIL(MST_INVALID,
                    "--metrics %s: counts examples by their class, which --loss %s does not have: take "
                    "mean_absolute_error, mean_squared_error, rmse or r2, or for labels that are classes --loss "
                    "sparse_categorical_crossentropy",
                    name, loss);
}
