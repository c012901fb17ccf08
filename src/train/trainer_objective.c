/* What a model is trained for: the loss of each output, its weight, and the metrics that are reported. When the model
 * is compiled, mst_objective_make checks the options. Then mst_objective_build adds losses and metrics to the graph of
 * each replica. They are sums and counts over the rows of the replica; a step adds them up over the shards. */
#include "train/trainer_objective.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "loss/loss.h"
#include "muster/ops.h"

static int output_named(const mst_trainer *trainer, const char *name) {
    for (int i = 0; i < trainer->num_outputs; i++)
        if (strcmp(mst_model_output_name(trainer->model, i), name) == 0) return i;
    return -1;
}

static bool is_all_zero(const mst_target *target) {
    return !target->output && !target->loss && !target->loss_function && !target->from_probabilities &&
           target->weight == 0 && !target->metric[0] && !target->positive;
}

static mst_status make_targets(mst_trainer *trainer) {
    const mst_compile_options *o = &trainer->options;
    for (int i = 0; i < trainer->num_outputs; i++)
        trainer->target[i] = (mst_target){.loss = o->loss,
                                          .from_probabilities = o->from_probabilities,
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
    for (int i = 0; i < MST_MAX_CUSTOM_METRICS && o->custom_metric[i].function; i++) {
        const mst_custom_metric *custom = &o->custom_metric[i];
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

static mst_value target_loss(const mst_target *target, mst_value labels, mst_value predictions) {
    if (target->loss_function) return target->loss_function(target->loss_context, labels, predictions);
    return mst_loss_per_example(target->loss, labels, predictions, !target->from_probabilities);
}

/* Classes of VALUES: 1 for each element above LIMIT, else 0. */
static mst_value above(mst_value values, double limit) {
    const mst_value scalar = mst_scalar(mst_value_graph(values), mst_value_spec(values).dtype, limit);
    return mst_cast(mst_greater(values, scalar), MST_I64);
}

/* The weight of each example by its class. LABELS are numbers of classes, one-hot, or 0 or 1 for a single output. */
static mst_value class_weights(const mst_trainer *trainer, int output, mst_value labels, mst_value loss) {
    const mst_value table =
        mst_cast(mst_constant(mst_value_graph(loss), trainer->class_weight[output]), mst_value_spec(loss).dtype);
    const mst_target *target = &trainer->target[output];
    if (!target->loss_function && target->loss == MST_LOSS_BINARY_CROSSENTROPY && trainer->num_classes[output] == 1)
        labels = above(mst_cast(labels, mst_value_spec(loss).dtype), 0.5);
    else if (!mst_objective_has_classes(trainer, output))
        labels = mst_argmax(labels, .axis = -1);
    return mst_gather(table, mst_reshape(mst_cast(labels, MST_I64), MST_SHAPE(-1)), 0);
}

/* LOSS of each example times the weight of the example and, in training, the weight of its class. */
static mst_value weighted(mst_trainer *trainer, int output, const mst_value *values, mst_value loss, bool training) {
    if (training && trainer->class_weight[output])
        loss = mst_mul(loss, class_weights(trainer, output, values[trainer->num_inputs + output], loss));
    if (trainer->options.sample_weights) {
        const mst_value weights = values[trainer->num_components - 1];
        loss = mst_mul(loss, mst_cast(mst_reshape(weights, MST_SHAPE(-1)), mst_value_spec(loss).dtype));
    }
    return loss;
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

static mst_metric_values measured(const mst_trainer *trainer, const mst_measure *m, mst_value labels,
                                  mst_value predictions, mst_value loss) {
    const mst_target *target = &trainer->target[m->output];
    if (m->is_loss) return mst_metric_mean(loss);
    if (m->custom) return mst_metric_mean(m->custom->function(m->custom->context, labels, predictions));
    return mst_metric_batch(.metric = m->metric, .labels = labels, .predictions = predictions,
                            .from_logits = is_logits(target, predictions), .exclusive = is_exclusive(target),
                            .positive = target->positive);
}

double mst_measure_result(const mst_measure *m, const mst_tensor *sum, const mst_tensor *count) {
    return mst_metric_value(m->metric, sum, count);
}

void mst_objective_build(mst_trainer *trainer, const mst_value *values, const mst_value *outputs, bool training,
                         mst_replica *out) {
    const mst_value *labels = values + trainer->num_inputs;
    mst_value loss[MST_MAX_OUTPUTS];
    for (int o = 0; o < trainer->num_outputs; o++) {
        const mst_shape shape = mst_value_spec(outputs[o]).shape;
        if (shape.ndim > 0) trainer->num_classes[o] = shape.dim[shape.ndim - 1];
        const mst_target *target = &trainer->target[o];
        loss[o] = weighted(trainer, o, values, target_loss(target, labels[o], outputs[o]), training);
        const mst_value part = target->weight == 1 ? loss[o] : mst_scale(loss[o], target->weight);
        out->loss = o == 0 ? part : mst_add(out->loss, part);
    }
    out->num_metrics = trainer->num_metrics;
    for (int m = 0; m < trainer->num_metrics; m++) {
        const mst_measure *measure = &trainer->measure[m];
        const mst_metric_values batch =
            measured(trainer, measure, labels[measure->output], outputs[measure->output], loss[measure->output]);
        out->metric_sum[m] = batch.sum;
        out->metric_count[m] = batch.count;
    }
}

mst_value mst_objective_confusion(const mst_trainer *trainer, int output, mst_value labels, mst_value predictions) {
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
    return mst_confusion_matrix(mst_reshape(labels, MST_SHAPE(-1)), mst_reshape(predictions, MST_SHAPE(-1)), classes);
}
