/* The objective of a training: the loss of each output, its weight, and the reported metrics. When the model is
 * compiled, mst_objective_make checks the options. mst_objective_build adds losses and metrics to the graph of each
 * replica. They are sums and counts over the rows of the replica; a step adds them up over the shards. */
#include "train/trainer_objective.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/no_memory.h"
#include "graph/field.h"
#include "graph/graph.h"
#include "graph/spec.h"
#include "loss/loss.h"
#include "muster/ops.h"

static int output_named(const mst_trainer *trainer, const char *name) {
    for (int i = 0; i < trainer->num_outputs; i++)
        if (strcmp(mst_model_output_name(trainer->model, i), name) == 0) return i;
    return -1;
}

static bool is_all_zero(const mst_target *target) {
    return !target->output && !target->loss && !target->loss_function && !target->from_probabilities &&
           !mst_number_given(target->ignore_class) && target->weight == 0 && !target->metric[0] && !target->positive;
}

static mst_status make_targets(mst_trainer *trainer) {
    const mst_compile_options *o = &trainer->options;
    for (int i = 0; i < trainer->num_outputs; i++)
        trainer->target[i] = (mst_target){.loss = o->loss,
                                          .from_probabilities = o->from_probabilities,
                                          .ignore_class = o->ignore_class,
                                          .loss_function = o->loss_function,
                                          .positive = o->positive,
                                          .loss_context = o->loss_context};
    for (int i = 0; i < MST_MAX_TARGETS; i++) {
        if (is_all_zero(&o->target[i]) && !o->target[i].class_weight) continue;
        const char *name = o->target[i].output;
        const int output = name ? output_named(trainer, name) : i;
        if (output < 0 || output >= trainer->num_outputs)
            return MST_FAIL(MST_INVALID, "compile: target %d is for output '%s', which the model does not have", i,
                            name ? name : "of that place");
        /* an output without a loss of its own has the common loss */
        if (!is_all_zero(&o->target[i])) trainer->target[output] = o->target[i];
        trainer->target[output].class_weight = o->target[i].class_weight;
        trainer->target[output].num_class_weights = o->target[i].num_class_weights;
    }
    for (int i = 0; i < trainer->num_outputs; i++) {
        mst_target *target = &trainer->target[i];
        if (!mst_loss_name(target->loss))
            return MST_FAIL(MST_INVALID, "compile: there is no loss number %d: take one of enum mst_loss",
                            (int)target->loss);
        /* 0 means the default; MST_ZERO, which is -0.0, means a weight of 0 */
        if (target->weight == 0 && !signbit(target->weight)) target->weight = 1;
    }
    return MST_OK;
}

static mst_status add_measure(mst_trainer *trainer, mst_measure measure, const char *name) {
    const char *output = mst_model_output_name(trainer->model, measure.output);
    if (trainer->num_metrics == MST_MAX_METRICS)
        return MST_FAIL(MST_INVALID, "compile: more than %d metrics, those of all outputs together: leave some out",
                        MST_MAX_METRICS);
    if (trainer->num_outputs > 1) name = mst_arena_print(&trainer->names, "%s_%s", output, name);
    if (!name) return MST_NO_MEMORY("for the name of a metric");
    trainer->metric_name[trainer->num_metrics] = name;
    trainer->measure[trainer->num_metrics++] = measure;
    return MST_OK;
}

static bool is_given(const mst_custom_metric *custom) {
    return custom->function || custom->counts;
}

static const char *custom_name(const mst_custom_metric *custom) {
    return custom->name ? custom->name : "custom_metric";
}

static mst_status check_custom_metrics(const mst_trainer *trainer) {
    const mst_custom_metric *custom = trainer->options.custom_metric;
    for (int i = 0; i < MST_MAX_CUSTOM_METRICS && is_given(&custom[i]); i++) {
        if (custom[i].function && custom[i].counts)
            return MST_FAIL(MST_INVALID, "compile: metric '%s' has both function and counts: give one of them",
                            custom_name(&custom[i]));
        if (custom[i].output && output_named(trainer, custom[i].output) < 0)
            return MST_FAIL(MST_INVALID, "compile: metric '%s' is for output '%s', which the model does not have",
                            custom_name(&custom[i]), custom[i].output);
    }
    return MST_OK;
}

static mst_status make_measures(mst_trainer *trainer, int output) {
    const mst_compile_options *o = &trainer->options;
    if (trainer->num_outputs > 1) MST_TRY(add_measure(trainer, (mst_measure){output, .is_loss = true}, "loss"));
    const mst_metric *own = trainer->target[output].metric, *metric = own[0] ? own : o->metric;
    const int most = own[0] ? MST_MAX_TARGET_METRICS : MST_MAX_METRICS;
    for (int i = 0; i < most && metric[i]; i++) {
        const char *name = mst_metric_name(metric[i]);
        if (!name)
            return MST_FAIL(MST_INVALID, "compile: there is no metric number %d: take one of enum mst_metric",
                            (int)metric[i]);
        MST_TRY(add_measure(trainer, (mst_measure){output, .metric = metric[i]}, name));
    }
    for (int i = 0; i < MST_MAX_CUSTOM_METRICS && is_given(&o->custom_metric[i]); i++) {
        const mst_custom_metric *custom = &o->custom_metric[i];
        if (custom->output && output_named(trainer, custom->output) != output) continue;
        const char *name = custom->name ? mst_arena_string(&trainer->names, custom->name) : "custom_metric";
        if (!name) return MST_NO_MEMORY("for the name of a metric");
        MST_TRY(add_measure(trainer, (mst_measure){output, .custom = custom}, name));
    }
    return MST_OK;
}

static mst_status make_class_weights(mst_trainer *trainer) {
    const mst_compile_options *o = &trainer->options;
    if (o->class_weight && trainer->num_outputs > 1)
        return MST_FAIL(MST_INVALID,
                        "compile: class_weight is for models with one output, this one has %d: set class_weight of "
                        "each target instead",
                        trainer->num_outputs);
    for (int i = 0; i < trainer->num_outputs; i++) {
        const mst_target *target = &trainer->target[i];
        const double *weight = o->class_weight ? o->class_weight : target->class_weight;
        const int count = o->class_weight ? o->num_class_weights : target->num_class_weights;
        if (!weight) continue;
        if (count < 1)
            return MST_FAIL(MST_INVALID, "compile: num_class_weights is %d, must be the number of classes", count);
        MST_TRY(mst_tensor_copy(MST_F64, MST_SHAPE(count), weight, &trainer->class_weight[i]));
    }
    return MST_OK;
}

mst_status mst_objective_make(mst_trainer *trainer) {
    trainer->num_inputs = mst_model_num_inputs(trainer->model);
    trainer->num_outputs = mst_model_num_outputs(trainer->model);
    trainer->num_components = trainer->num_inputs + trainer->num_outputs + trainer->options.sample_weights;
    trainer->row = calloc((size_t)trainer->num_components, sizeof *trainer->row);
    trainer->target = calloc((size_t)trainer->num_outputs, sizeof *trainer->target);
    trainer->num_classes = calloc((size_t)trainer->num_outputs, sizeof *trainer->num_classes);
    trainer->class_weight = calloc((size_t)trainer->num_outputs, sizeof(mst_tensor *));
    if (!trainer->row || !trainer->target || !trainer->num_classes || !trainer->class_weight)
        return MST_NO_MEMORY("for a trainer");
    MST_TRY(make_targets(trainer));
    MST_TRY(check_custom_metrics(trainer));
    for (int i = 0; i < trainer->num_outputs; i++) MST_TRY(make_measures(trainer, i));
    return make_class_weights(trainer);
}

const char *mst_objective_component(const mst_trainer *trainer, int component, char text[160]) {
    const int label = component - trainer->num_inputs;
    if (label >= trainer->num_outputs) return "weights";
    if (label < 0 && trainer->num_inputs == 1) return "inputs";
    if (label >= 0 && trainer->num_outputs == 1) return "labels";
    snprintf(
        text, 160, label < 0 ? "inputs '%s'" : "labels of '%s'",
        label < 0 ? mst_model_input_name(trainer->model, component) : mst_model_output_name(trainer->model, label));
    return text;
}

mst_status mst_objective_check_labels(const mst_trainer *trainer, const mst_dataset *data) {
    char name[160];
    for (int i = 0; i < trainer->num_outputs; i++) {
        const mst_target *target = &trainer->target[i];
        const int component = trainer->num_inputs + i;
        const char *class = mst_dataset_class_name(data, component, 0);
        if (!class || target->loss_function || !mst_loss_measures(target->loss)) continue;
        return MST_FAIL(MST_INVALID,
                        "%s are names of classes, such as '%.64s', and the loss %s compares numbers: give numbers as "
                        "labels, or a loss of classes such as sparse_categorical_crossentropy",
                        mst_objective_component(trainer, component, name), class, mst_loss_name(target->loss));
    }
    return MST_OK;
}

bool mst_objective_has_classes(const mst_trainer *trainer, int output) {
    const mst_target *target = &trainer->target[output];
    return !target->loss_function && target->loss == MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY;
}

int mst_objective_class_component(const mst_trainer *trainer) {
    const mst_target *target = &trainer->target[0];
    const int component = trainer->num_inputs;
    const bool single = mst_shape_count(trainer->row[component].shape) == 1;
    if (target->loss_function) return 0;
    const bool of_classes = target->loss == MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY ||
                            (target->loss == MST_LOSS_BINARY_CROSSENTROPY && single) ||
                            (target->loss == MST_LOSS_CATEGORICAL_CROSSENTROPY && !single);
    return of_classes ? component : 0;
}

/* ---- in the graph ---- */

/* Classes of VALUES: 1 for each element above LIMIT, else 0. */
static mst_value above(mst_value values, double limit) {
    const mst_value scalar = mst_scalar(mst_value_graph(values), mst_value_spec(values).dtype, limit);
    return mst_cast(mst_greater(values, scalar), MST_I64);
}

/* The class weight of each example, or position, of LABELS, as [n]. LABELS are class indices, one-hot, or 0 or 1 for a
 * single output. */
static mst_value class_weights(const mst_trainer *trainer, int output, mst_value labels, mst_dtype dtype) {
    const mst_value table = mst_cast(mst_constant(mst_value_graph(labels), trainer->class_weight[output]), dtype);
    const mst_target *target = &trainer->target[output];
    if (!target->loss_function && target->loss == MST_LOSS_BINARY_CROSSENTROPY && trainer->num_classes[output] == 1)
        labels = above(mst_cast(labels, dtype), 0.5);
    else if (!mst_objective_has_classes(trainer, output))
        labels = mst_argmax(labels, .axis = -1);
    return mst_gather(table, mst_reshape(mst_cast(labels, MST_I64), MST_SHAPE(-1)), 0);
}

/* LABELS, with class 0 in place of labels that the loss of TARGET ignores. */
static mst_value without_ignored(const mst_target *target, mst_value labels) {
    if (!mst_number_given(target->ignore_class)) return labels;
    if (!mst_dtype_is_float(mst_value_spec(labels).dtype)) labels = mst_cast(labels, MST_I64);
    const mst_value ignored = mst_loss_scalar(labels, target->ignore_class);
    return mst_select(mst_equal(labels, ignored), mst_zeros_like(labels), labels);
}

/* WEIGHTS of examples, or of positions, reshaped so that they can be multiplied with LOSSES [n, ...positions]. They may
 * lack dimensions at the end. WHAT names them in an error. */
static mst_value weights_like(const char *what, mst_value weights, mst_value losses) {
    const mst_spec w = mst_value_spec(weights), l = mst_value_spec(losses);
    char have[MST_SPEC_TEXT], want[MST_SPEC_TEXT];
    int ndim = w.shape.ndim;
    if (ndim == 2 && w.shape.dim[1] == 1) ndim = 1;
    if (ndim > l.shape.ndim || !mst_dims_agree(&w.shape, &l.shape, ndim))
        return mst_value_fail(mst_value_graph(losses), MST_INVALID,
                              "compile: %s %s, and the losses %s: there must be a number for each example, or one for "
                              "each position",
                              what, mst_spec_print(&w, have, sizeof have), mst_spec_print(&l, want, sizeof want));
    mst_shape shape = {.ndim = l.shape.ndim, .dim = {-1}};
    for (int i = 1; i < shape.ndim; i++) shape.dim[i] = i < ndim ? l.shape.dim[i] : 1;
    if (w.dtype != l.dtype) weights = mst_cast(weights, l.dtype);
    if (ndim == l.shape.ndim && ndim == w.shape.ndim) return weights;
    for (int i = ndim; ndim > 1 && i < l.shape.ndim; i++) weights = mst_expand_dims(weights, -1);
    return ndim > 1 ? weights : mst_reshape(weights, shape);
}

/* The loss of each position of OUTPUT, [n, ...]. *COUNTED: whether each position counts, which may lack dimensions at
 * the end; MST_NONE: all positions count. */
static mst_value position_losses(const mst_trainer *trainer, int output, mst_value labels, mst_value predictions,
                                 mst_value mask, mst_value *counted) {
    const mst_target *target = &trainer->target[output];
    *counted = MST_NONE;
    if (target->loss_function && !mst_value_is_none(mask))
        return mst_value_fail(
            mst_value_graph(predictions), MST_UNIMPLEMENTED,
            "output '%s' has a mask, which a loss of your own would not know: its steps would count alike, where Keras "
            "leaves some out; take a loss of the library, or put a layer after it that makes one row of all steps",
            mst_model_output_name(trainer->model, output));
    if (target->loss_function) return target->loss_function(target->loss_context, labels, predictions);
    const bool ignores = mst_number_given(target->ignore_class);
    mst_value losses = mst_loss_per_position(target->loss, labels, predictions, !target->from_probabilities,
                                             target->ignore_class, ignores ? counted : NULL);
    if (mst_value_is_none(losses) || mst_value_is_none(mask)) return losses;
    mask = weights_like("the mask of the output is", mask, losses);
    *counted = ignores ? mst_mul(*counted, mask) : mask;
    return mst_mul(losses, mask);
}

/* Sets *OUT to the weighted loss of each example of OUTPUT, and to the part of it that counts (MST_NONE: all of it). In
 * training, the loss of an example is multiplied by its class weight. */
static void example_loss(const mst_trainer *trainer, int output, const mst_value *values, mst_value predictions,
                         mst_value mask, bool training, mst_counted_loss *out) {
    const mst_target *target = &trainer->target[output];
    const mst_value labels = values[trainer->num_inputs + output];
    const mst_value weights = trainer->options.sample_weights ? values[trainer->num_components - 1] : MST_NONE;
    const bool by_class = training && trainer->class_weight[output];
    mst_value counted, losses = position_losses(trainer, output, labels, predictions, mask, &counted);
    *out = (mst_counted_loss){losses, MST_NONE};
    if (mst_value_is_none(losses)) return;
    const bool positions = mst_value_spec(losses).shape.ndim > 1;
    const bool one_weight = mst_value_is_none(weights) || mst_value_spec(weights).shape.ndim == 1;
    /* if each example has one weight, the mean over its positions comes first */
    const bool mean_first = positions && one_weight && !by_class;
    if (mean_first) losses = mst_loss_mean_of_example(losses);
    if (by_class) {
        const mst_dtype dtype = mst_value_spec(losses).dtype;
        const mst_value weight = class_weights(trainer, output, without_ignored(target, labels), dtype);
        losses = mst_mul(losses, positions ? mst_reshape_like(weight, losses) : weight);
    }
    if (!mst_value_is_none(weights)) losses = mst_mul(losses, weights_like("sample_weights are", weights, losses));
    out->loss = positions && !mean_first ? mst_loss_mean_of_example(losses) : losses;
    if (!mst_value_is_none(counted)) out->counted = mst_loss_mean_of_example(counted);
}

static bool is_logits(const mst_target *target, mst_value predictions) {
    return !target->from_probabilities && (target->loss_function || mst_loss_sees_logits(target->loss, predictions));
}

/* Whether an example belongs to exactly one of the classes. */
static bool is_exclusive(const mst_target *target) {
    return !target->loss_function &&
           (target->loss == MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY ||
            target->loss == MST_LOSS_CATEGORICAL_CROSSENTROPY || target->loss == MST_LOSS_KL_DIVERGENCE);
}

/* Puts the name of the metric before the first error of GRAPH, if that is one of building the metric. */
static void name_error(mst_graph *graph, const char *name) {
    if (mst_failure_restore(&graph->failure) == MST_OK) return;
    const mst_status status = mst_error_prefix("metric '%s'", name);
    mst_failure_keep(&graph->failure, status);
}

static mst_metric_values custom_metric(const char *name, const mst_custom_metric *custom, mst_value labels,
                                       mst_value predictions) {
    mst_graph *graph = mst_value_graph(predictions);
    char left[MST_SPEC_TEXT], right[MST_SPEC_TEXT];
    const bool failed = graph->failure.code;
    mst_metric_values values;
    if (custom->function) {
        values = mst_metric_mean(custom->function(custom->context, labels, predictions));
    } else {
        values = custom->counts(custom->context, labels, predictions);
        const mst_spec a = mst_value_spec(values.sum), b = mst_value_spec(values.count);
        const bool none = mst_value_is_none(values.sum) || mst_value_is_none(values.count);
        if (!none &&
            (a.dtype != MST_F64 || !mst_spec_equal(&a, &b) || a.shape.ndim > 1 || mst_shape_count(a.shape) < 1))
            values.sum = values.count =
                mst_value_fail(graph, MST_INVALID, "counts gives %s and %s: both must be f64, of one shape, [] or [n]",
                               mst_spec_print(&a, left, sizeof left), mst_spec_print(&b, right, sizeof right));
        if (none && !graph->failure.code)
            values.sum = values.count = mst_value_fail(graph, MST_INVALID, "counts gives no values");
    }
    if (!failed) name_error(graph, name);
    return values;
}

static mst_metric_values measured(const mst_trainer *trainer, const mst_measure *m, mst_value labels,
                                  mst_value predictions, mst_value mask, const mst_counted_loss *loss) {
    const mst_target *target = &trainer->target[m->output];
    if (m->is_loss && !mst_value_is_none(loss->counted))
        return (mst_metric_values){mst_cast(mst_reduce_sum(loss->loss), MST_F64),
                                   mst_cast(mst_reduce_sum(loss->counted), MST_F64)};
    if (m->is_loss) return mst_metric_mean(loss->loss);
    if (m->custom) return custom_metric(trainer->metric_name[m - trainer->measure], m->custom, labels, predictions);
    return mst_metric_batch(.metric = m->metric, .labels = labels, .predictions = predictions,
                            .from_logits = is_logits(target, predictions), .exclusive = is_exclusive(target),
                            .positive = target->positive, .ignore_class = target->ignore_class, .mask = mask);
}

double mst_measure_result(const mst_measure *m, const mst_tensor *sum, const mst_tensor *count) {
    const mst_custom_metric *custom = m->custom;
    if (custom && custom->counts && custom->result)
        return custom->result(custom->context, mst_tensor_data(sum), mst_tensor_data(count), mst_tensor_count(sum));
    return mst_metric_value(m->metric, sum, count);
}

void mst_objective_build(mst_trainer *trainer, const mst_value *values, const mst_value *outputs,
                         const mst_value *masks, bool training, mst_replica *out) {
    const mst_value *labels = values + trainer->num_inputs;
    mst_counted_loss loss[MST_MAX_OUTPUTS];
    for (int o = 0; o < trainer->num_outputs; o++) {
        const mst_shape shape = mst_value_spec(outputs[o]).shape;
        if (shape.ndim > 0) trainer->num_classes[o] = shape.dim[shape.ndim - 1];
        const mst_target *target = &trainer->target[o];
        example_loss(trainer, o, values, outputs[o], masks[o], training, &loss[o]);
        mst_value part = target->weight == 1 ? loss[o].loss : mst_scale(loss[o].loss, target->weight);
        if (!mst_value_is_none(loss[o].counted)) {
            out->counted[out->num_counted++] = (mst_counted_loss){part, loss[o].counted};
            part = mst_zeros_like(part);
        }
        out->loss = o == 0 ? part : mst_add(out->loss, part);
    }
    out->num_metrics = trainer->num_metrics;
    for (int m = 0; m < trainer->num_metrics; m++) {
        const int o = trainer->measure[m].output;
        const mst_metric_values batch =
            measured(trainer, &trainer->measure[m], labels[o], outputs[o], masks[o], &loss[o]);
        out->metric_sum[m] = batch.sum;
        out->metric_count[m] = batch.count;
    }
}

/* The confusion matrix without positions that do not count: these are counted in an additional class, which is then cut
 * off. LABELS and PREDICTIONS are class indices, i64 [positions]. */
static mst_value confusion_of_counted(const mst_target *target, mst_value labels, mst_value predictions, mst_value mask,
                                      int64_t classes) {
    const mst_value other = mst_add(mst_zeros_like(labels), mst_loss_scalar(labels, (double)classes));
    if (mst_number_given(target->ignore_class))
        labels = mst_select(mst_equal(labels, mst_loss_scalar(labels, target->ignore_class)), other, labels);
    if (!mst_value_is_none(mask)) labels = mst_select(mst_reshape(mask, MST_SHAPE(-1)), labels, other);
    const mst_value all = mst_confusion_matrix(labels, predictions, classes + 1);
    return mst_slice(all, MST_SHAPE(0, 0), MST_SHAPE(classes, classes));
}

mst_value mst_objective_confusion(const mst_trainer *trainer, int output, mst_value labels, mst_value predictions,
                                  mst_value mask) {
    const mst_target *target = &trainer->target[output];
    int64_t classes = trainer->num_classes[output];
    if (target->loss_function) return MST_NONE;
    switch ((int)target->loss) {
        case MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY:
            labels = mst_cast(labels, MST_I64);
            predictions = mst_argmax(predictions, .axis = -1);
            break;
        case MST_LOSS_CATEGORICAL_CROSSENTROPY:
        case MST_LOSS_KL_DIVERGENCE:
            labels = mst_argmax(labels, .axis = -1);
            predictions = mst_argmax(predictions, .axis = -1);
            break;
        case MST_LOSS_BINARY_CROSSENTROPY:
            if (classes != 1) return MST_NONE; /* not for several labels that do not exclude each other */
            classes = 2;
            labels = above(mst_cast(labels, mst_value_spec(predictions).dtype), 0.5);
            predictions = above(predictions, is_logits(target, predictions) ? 0 : 0.5);
            break;
        default: return MST_NONE;
    }
    labels = mst_reshape(labels, MST_SHAPE(-1));
    predictions = mst_reshape(predictions, MST_SHAPE(-1));
    if (mst_number_given(target->ignore_class) || !mst_value_is_none(mask))
        return confusion_of_counted(target, labels, predictions, mask, classes);
    return mst_confusion_matrix(labels, predictions, classes);
}
