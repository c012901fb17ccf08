/** The C side of the tests that compare values: `parity_evaluate < CASES.json` computes each case of a JSON array and
 *  prints one JSON line a case. muster.py writes the cases, which say what they need by the names of the library:
 *
 *      {"kind": "op", "op": "maximum", "inputs": [TENSOR, ...], "options": {...}, "upstream": TENSOR}
 *      {"kind": "op", "op": "einsum", "inputs": [TENSOR, ...], "equation": "ij,jk", "upstream": TENSOR}
 *      {"kind": "loss", "loss": "huber", "labels": TENSOR, "predictions": TENSOR, "weights": TENSOR, ...}
 *      {"kind": "metric", "metric": "accuracy", "batches": [[TENSOR, TENSOR], ...], ...}
 *      {"kind": "schedule", "schedule": {...}, "steps": [...]}
 *      {"kind": "update", "optimizer": {...}, "variables": [TENSOR, ...], "gradients": [[TENSOR, ...], ...], ...}
 *          with "indices" like "gradients": rows of the variables, as the gradient of gather has them
 *      {"kind": "initializer", "name": "he_normal", "dtype": "f32", "shape": [...], ...}
 *      {"kind": "defaults", "optimizer": "adam"}
 *
 *  json_case.h says what a TENSOR is. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "json_case.h"
#include "muster/layers.h"
#include "muster/loss.h"
#include "muster/metric.h"
#include "muster/ops.h"
#include "muster/session.h"
#include "muster/strategy.h"

enum { MOST = 16, OPTIONS_SIZE = 4096 };

/* ---- graphs --------------------------------------------------------------------------------------------- */

/* A graph with what is fed to it and fetched from it. */
typedef struct bench {
    mst_graph *graph;
    mst_session *session;
    int num_feeds, num_fetches;
    mst_feed feed[MOST];
    mst_value fetch[2 * MOST];
    mst_tensor *output[2 * MOST];
} bench;

/* A placeholder fed with the tensor J, so that kernels run, and not the folding of constants. */
static mst_status feed(bench *b, const json_t *j, mst_value *out) {
    if (b->num_feeds == MOST) return MST_FAIL(MST_INVALID, "more than %d tensors are fed", MOST);
    mst_feed *f = &b->feed[b->num_feeds++];
    MST_TRY(tensor_of(j, &f->tensor));
    f->value = *out =
        mst_placeholder(.graph = b->graph, .dtype = mst_tensor_dtype(f->tensor), .shape = mst_tensor_shape(f->tensor));
    return MST_OK;
}

static mst_status feed_again(bench *b, int i, const json_t *j) {
    mst_tensor_release(b->feed[i].tensor);
    b->feed[i].tensor = NULL;
    return tensor_of(j, &b->feed[i].tensor);
}

static mst_status run(bench *b) {
    if (!b->session) {
        MST_TRY(mst_graph_check(b->graph));
        MST_TRY(mst_session_create(b->graph, &(mst_session_options){.devices = "cpu:1"}, &b->session));
        MST_TRY(mst_session_init_variables(b->session));
    }
    return mst_session_run(b->session, b->feed, b->num_feeds, b->fetch, b->num_fetches, b->output);
}

static void end(bench *b) {
    for (int i = 0; i < b->num_feeds; i++) mst_tensor_release(b->feed[i].tensor);
    for (int i = 0; i < b->num_fetches; i++) mst_tensor_release(b->output[i]);
    mst_session_destroy(b->session);
    mst_graph_destroy(b->graph);
}

/* Runs TARGETS and the gradients of the first with respect to SRC: {"outputs": [...], "gradients": [...]}. */
static mst_status run_with_gradients(bench *b, int num_targets, const mst_value *targets, mst_value upstream,
                                     int num_src, const mst_value *src, json_t *out) {
    mst_value gradient[MOST] = {MST_NONE};
    if (num_src > 0 && mst_value_is_none(upstream))
        mst_gradients(targets[0], src, num_src, gradient);
    else if (num_src > 0)
        mst_gradients_from(targets[0], upstream, src, num_src, gradient);
    for (int i = 0; i < num_targets; i++) b->fetch[b->num_fetches++] = targets[i];
    for (int i = 0; i < num_src; i++)
        if (!mst_value_is_none(gradient[i])) b->fetch[b->num_fetches++] = gradient[i];
    MST_TRY(run(b));
    json_t *outputs = json_array(), *gradients = json_array();
    json_object_set_new(out, "outputs", outputs);
    json_object_set_new(out, "gradients", gradients);
    int n = 0;
    while (n < num_targets) json_array_append_new(outputs, values(b->output[n++]));
    for (int i = 0; i < num_src; i++)
        json_array_append_new(gradients, mst_value_is_none(gradient[i]) ? json_null() : values(b->output[n++]));
    return MST_OK;
}

/* ---- the kinds of cases ------------------------------------------------------------------------------------- */

static mst_status run_op(bench *b, json_t *c, json_t *out) {
    static max_align_t options[OPTIONS_SIZE / sizeof(max_align_t)];
    const char *name = json_string_value(json_object_get(c, "op"));
    const char *equation = json_string_value(json_object_get(c, "equation"));
    const mst_op *op = name ? mst_find_op(equation ? "identity" : name) : NULL;
    json_t *inputs = json_object_get(c, "inputs"), *upstream = json_object_get(c, "upstream");
    if (!op || op->options_size > sizeof options) return MST_FAIL(MST_NOT_FOUND, "there is no op '%s'", name);
    memset(options, 0, sizeof options);
    MST_TRY(set_fields(op->fields, options, json_object_get(c, "options")));
    mst_value src[MOST], target[MOST], given = MST_NONE;
    int num_src = (int)json_array_size(inputs), num_floats = 0;
    for (int i = 0; i < num_src; i++) MST_TRY(feed(b, json_array_get(inputs, (size_t)i), &src[i]));
    if (upstream) MST_TRY(feed(b, upstream, &given));
    target[0] = equation ? mst_einsum(equation, src, num_src)
                         : mst_call(b->graph, op, num_src, src, op->options_size ? (void *)options : NULL);
    MST_TRY(mst_graph_check(b->graph));
    for (int i = 1; i < mst_node_num_dst(target[0].node); i++) target[i] = mst_value_output(target[0], i);
    if (mst_dtype_is_float(mst_value_spec(target[0]).dtype))
        while (num_floats < num_src && mst_dtype_is_float(mst_value_spec(src[num_floats]).dtype)) num_floats++;
    return run_with_gradients(b, mst_node_num_dst(target[0].node), target, given, num_floats, src, out);
}

/* Also of a regularizer, whose "loss" is "penalty": of the predictions. */
static mst_status run_loss(bench *b, json_t *c, json_t *out) {
    const char *name = json_string_value(json_object_get(c, "loss"));
    const char *activation = json_string_value(json_object_get(c, "activation"));
    mst_value labels = MST_NONE, predictions, weights = MST_NONE, value;
    MST_TRY(feed(b, json_object_get(c, "predictions"), &predictions));
    mst_value output = predictions;
    if (activation) {
        mst_activation kind = MST_LINEAR;
        while (kind < MST_NUM_ACTIVATIONS && strcmp(mst_activation_name(kind), activation) != 0) kind++;
        output = mst_activate(predictions, kind);
    }
    if (strcmp(name, "penalty") == 0) {
        mst_regularizer r = {.l1 = number(json_object_get(c, "l1"), 0), .l2 = number(json_object_get(c, "l2"), 0)};
        r.half = json_is_true(json_object_get(c, "half"));
        value = mst_regularizer_value(&r, output);
    } else {
        mst_loss loss;
        MST_TRY(mst_loss_from_name(name, &loss));
        MST_TRY(feed(b, json_object_get(c, "labels"), &labels));
        if (json_object_get(c, "weights")) MST_TRY(feed(b, json_object_get(c, "weights"), &weights));
        value = mst_loss_per_example(loss, labels, output, json_is_true(json_object_get(c, "from_logits")));
        mst_reduction reduction = (mst_reduction)number(json_object_get(c, "reduction"), MST_REDUCTION_NONE);
        value = mst_loss_reduce(value, weights, reduction);
    }
    MST_TRY(mst_graph_check(b->graph));
    return run_with_gradients(b, 1, &value, MST_NONE, 1, &predictions, out);
}

static mst_status add_up(const mst_tensor *batch, mst_tensor **total) {
    if (!*total) MST_TRY(mst_tensor_create(mst_tensor_dtype(batch), mst_tensor_shape(batch), total));
    for (int64_t i = 0; i < mst_tensor_count(batch); i++)
        mst_tensor_set(*total, i, mst_tensor_get(*total, i) + mst_tensor_get(batch, i));
    return MST_OK;
}

static mst_status run_metric(bench *b, json_t *c, json_t *out) {
    mst_metric_options o = {.k = (int32_t)number(json_object_get(c, "k"), 0),
                            .threshold = number(json_object_get(c, "threshold"), 0),
                            .num_thresholds = (int32_t)number(json_object_get(c, "num_thresholds"), 0),
                            .from_logits = json_is_true(json_object_get(c, "from_logits"))};
    json_t *batches = json_object_get(c, "batches"), *results = json_array();
    mst_tensor *sum = NULL, *count = NULL;
    json_object_set_new(out, "outputs", results);
    MST_TRY(mst_metric_from_name(json_string_value(json_object_get(c, "metric")), &o.metric));
    mst_status status = MST_OK;
    for (size_t i = 0; i < json_array_size(batches); i++) {
        json_t *labels = json_array_get(json_array_get(batches, i), 0);
        json_t *predictions = json_array_get(json_array_get(batches, i), 1);
        bench one = {.num_fetches = 2};
        status = mst_graph_create(&one.graph);
        if (!status) status = feed(&one, labels, &o.labels);
        if (!status) status = feed(&one, predictions, &o.predictions);
        if (!status) {
            mst_metric_values batch = mst_metric_batch_with(o);
            one.fetch[0] = batch.sum;
            one.fetch[1] = batch.count;
            status = run(&one);
        }
        if (!status) status = add_up(one.output[0], &sum);
        if (!status) status = add_up(one.output[1], &count);
        if (!status) json_array_append_new(results, as_json(mst_metric_value(o.metric, sum, count)));
        end(&one);
        if (status) break;
    }
    mst_tensor_release(sum);
    mst_tensor_release(count);
    (void)b;
    return status;
}

static mst_status run_schedule(bench *b, json_t *c, json_t *out) {
    mst_schedule schedule;
    json_t *steps = json_object_get(c, "steps"), *in_graph = json_array(), *at_once = json_array();
    json_object_set_new(out, "outputs", in_graph);
    json_object_set_new(out, "at", at_once);
    MST_TRY(schedule_of(json_object_get(c, "schedule"), &schedule));
    MST_TRY(mst_schedule_check(&schedule));
    json_t *zero = json_pack("{s:s, s:[], s:[i]}", "dtype", "i64", "shape", "values", 0);
    mst_value step;
    mst_status status = feed(b, zero, &step);
    json_decref(zero);
    if (status) return status;
    b->fetch[b->num_fetches++] = mst_schedule_value(b->graph, &schedule, step);
    for (size_t i = 0; i < json_array_size(steps); i++) {
        int64_t now = json_integer_value(json_array_get(steps, i));
        *(int64_t *)mst_tensor_data(b->feed[0].tensor) = now;
        MST_TRY(run(b));
        json_array_append_new(in_graph, as_json(mst_tensor_get(b->output[0], 0)));
        json_array_append_new(at_once, as_json(mst_schedule_at(&schedule, now)));
    }
    return MST_OK;
}

static mst_status variable_values(bench *b, const mst_value *variables, int count, json_t *out) {
    json_t *list = json_array();
    json_array_append_new(out, list);
    for (int v = 0; v < count; v++) {
        mst_tensor *tensor;
        MST_TRY(mst_session_get_variable(b->session, variables[v], &tensor));
        json_array_append_new(list, values(tensor));
        mst_tensor_release(tensor);
    }
    return MST_OK;
}

/* After each update of the gradients given: {"outputs": [[values of variable 0, ...], ...], "averages": the same}. */
static mst_status run_update(bench *b, json_t *c, json_t *out) {
    json_t *initial = json_object_get(c, "variables"), *gradients = json_object_get(c, "gradients");
    const json_t *indices = json_object_get(c, "indices");
    json_t *weights = json_array(), *averages = json_array();
    json_object_set_new(out, "outputs", weights);
    json_object_set_new(out, "averages", averages);
    mst_optimizer optimizer;
    mst_value variable[MOST], gradient[MOST], average[MOST];
    int count = (int)json_array_size(initial);
    if (count > MOST) return MST_FAIL(MST_INVALID, "more than %d variables", MOST);
    MST_TRY(optimizer_of(json_object_get(c, "optimizer"), &optimizer));
    for (int v = 0; v < count; v++) {
        char name[16];
        mst_tensor *first;
        json_t *j = json_array_get(initial, (size_t)v);
        snprintf(name, sizeof name, "variable%d", v);
        MST_TRY(tensor_of(j, &first));
        variable[v] = mst_get_variable(.graph = b->graph, .name = name, .shape = mst_tensor_shape(first),
                                       .dtype = mst_tensor_dtype(first), .initializer = mst_tensor_initializer(first),
                                       .l1 = (float)number(json_object_get(c, "l1"), 0),
                                       .l2 = (float)number(json_object_get(c, "l2"), 0));
        mst_tensor_release(first);
        MST_TRY(feed(b, json_array_get(json_array_get(gradients, 0), (size_t)v), &gradient[v]));
    }
    for (int v = 0; v < count && indices; v++) {
        mst_value rows;
        MST_TRY(feed(b, json_array_get(json_array_get(indices, 0), (size_t)v), &rows));
        gradient[v] =
            mst_call_text(NULL, "gather_grad", NULL, 3, (const mst_value[]){gradient[v], rows, variable[v]}, NULL);
    }
    b->fetch[b->num_fetches++] = mst_apply_gradients(&optimizer, gradient, variable, count, MST_NONE);
    for (int v = 0; v < count; v++) average[v] = mst_moving_average(variable[v]);
    for (size_t step = 0; step < json_array_size(gradients); step++) {
        for (int v = 0; v < count; v++)
            MST_TRY(feed_again(b, v, json_array_get(json_array_get(gradients, step), (size_t)v)));
        for (int v = 0; v < count && indices; v++)
            MST_TRY(feed_again(b, count + v, json_array_get(json_array_get(indices, step), (size_t)v)));
        MST_TRY(run(b));
        MST_TRY(variable_values(b, variable, count, weights));
        if (optimizer.ema_decay > 0) MST_TRY(variable_values(b, average, count, averages));
    }
    return MST_OK;
}

static mst_status run_initializer(bench *b, json_t *c, json_t *out) {
    mst_initializer r = {.mean = number(json_object_get(c, "mean"), 0),
                         .stddev = number(json_object_get(c, "stddev"), 0),
                         .low = number(json_object_get(c, "low"), 0),
                         .high = number(json_object_get(c, "high"), 0),
                         .scale = number(json_object_get(c, "scale"), 0),
                         .fan = (mst_fan)number(json_object_get(c, "fan"), 0),
                         .distribution = (mst_distribution)number(json_object_get(c, "distribution"), 0),
                         .seed = 5};
    const char *name = json_string_value(json_object_get(c, "name"));
    mst_shape shape = shape_of(json_object_get(c, "shape"));
    while (r.kind < MST_NUM_INITIALIZERS && strcmp(mst_initializer_name(r.kind), name) != 0) r.kind++;
    double fan_in, fan_out;
    mst_shape_fans(shape, &fan_in, &fan_out);
    b->fetch[b->num_fetches++] = mst_initializer_value(b->graph, r, dtype_of(c), shape);
    MST_TRY(run(b));
    json_object_set_new(out, "fans", json_pack("[f, f]", fan_in, fan_out));
    json_object_set_new(out, "outputs", values(b->output[0]));
    return MST_OK;
}

static mst_status run_defaults(bench *b, json_t *c, json_t *out) {
    mst_optimizer o = mst_optimizer_named(json_string_value(json_object_get(c, "optimizer")), (mst_optimizer){0});
    MST_TRY(mst_optimizer_check(&o));
    for (const mst_field *field = mst_optimizer_fields; field->name; field++) {
        const void *at = (const char *)&o + field->offset;
        if (field->type == MST_FIELD_TYPE_F64) json_object_set_new(out, field->name, as_json(*(const double *)at));
        if (field->type == MST_FIELD_TYPE_I32) json_object_set_new(out, field->name, json_integer(*(const int *)at));
        if (field->type == MST_FIELD_TYPE_BOOL) json_object_set_new(out, field->name, json_boolean(*(const bool *)at));
    }
    (void)b;
    return MST_OK;
}

static mst_status run_case(json_t *c, json_t *out) {
    static const struct {
        const char *name;
        mst_status (*run)(bench *b, json_t *c, json_t *out);
    } kinds[] = {{"op", run_op},
                 {"loss", run_loss},
                 {"metric", run_metric},
                 {"update", run_update},
                 {"schedule", run_schedule},
                 {"initializer", run_initializer},
                 {"defaults", run_defaults}};
    const char *kind = json_string_value(json_object_get(c, "kind"));
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (!kind || strcmp(kinds[i].name, kind) != 0) continue;
        bench b = {.num_feeds = 0};
        MST_TRY(mst_graph_create(&b.graph));
        mst_status status = kinds[i].run(&b, c, out);
        end(&b);
        return status;
    }
    return MST_FAIL(MST_INVALID, "there is no kind '%s'", kind ? kind : "");
}

int main(void) {
    json_error_t error;
    json_t *cases = json_loadf(stdin, 0, &error), *c;
    size_t i;
    if (!json_is_array(cases)) {
        fprintf(stderr, "error: no JSON array on the standard input: line %d: %s\n", error.line, error.text);
        return 1;
    }
    json_array_foreach(cases, i, c) {
        json_t *out = json_object();
        if (run_case(c, out)) json_object_set_new(out, "error", json_string(mst_error()->message));
        json_dumpf(out, stdout, JSON_REAL_PRECISION(17));
        putchar('\n');
        json_decref(out);
    }
    json_decref(cases);
    return 0;
}
