/** The C side of the tests of models: `parity_models < CASES.json` builds the model of each case of a JSON array,
 *  trains it where the case says so, and prints one JSON line a case.
 *
 *      {"layers": [{"type": "dense", "options": {"units": 3}, "src": [0]}, ...], without "src": applied to the model
 *       "outputs": [2, 3],                                                       "share": the layer that is used again
 *                                        "adapt": [TENSOR]: of a layer that learns from data
 *                                        "inside": {"type": "dense", "options": {...}}: the layer inside of it
 *       "fit": {"optimizer": {...}, "loss": "...", "target": [{...}, ...], "class_weight": [...],
 *               "sample_weights": true, "data": [TENSOR, ...], "validation": [TENSOR, ...], "batch_size": 4,
 *               "epochs": 2, "shards": 1, "accuracy": true,                      the last: a metric
 *               "values": {"dense/kernel": TENSOR, ...}},                        weights before the first step
 *       "application": "lenet", "options": {...},       in place of layers: one of muster/applications.h
 *       "load": "weights.npz",                          weights before it predicts
 *       "predict": [TENSOR, ...],                       inputs of rows whose output is "predicted"
 *       "save": "m.keras"}                              the model, after it predicted
 *
 *  gives {"summary": "...", "weights": [["dense/kernel", [4, 3]], ...], "history": {"loss": [...], ...}, "evaluate":
 *  {"loss": 1.5, ...}, "values": {"dense/kernel": [...], ...}}. json_case.h says what a TENSOR is. */
#include <stdio.h>

#include "json_case.h"
#include "layer/type.h"
#include "muster/applications.h"
#include "muster/checkpoint.h"
#include "muster/model_file.h"
#include "muster/train.h"

enum { MOST_LAYERS = 64, OPTIONS_SIZE = 1024 };

/* ---- the model ------------------------------------------------------------------------------------- */

static mst_status dataset_of(const json_t *list, mst_dataset **out) {
    mst_tensor *tensor[MOST_LAYERS] = {NULL};
    const int count = (int)json_array_size(list);
    mst_status status = count <= MOST_LAYERS ? MST_OK : MST_FAIL(MST_INVALID, "more than %d tensors", MOST_LAYERS);
    for (int i = 0; i < count && !status; i++) status = tensor_of(json_array_get(list, (size_t)i), &tensor[i]);
    if (!status) status = mst_dataset_from_tensors(tensor, count, out);
    for (int i = 0; i < count && i < MOST_LAYERS; i++) mst_tensor_release(tensor[i]);
    return status;
}

static mst_outputs outputs_of(const json_t *list, const mst_output *made) {
    mst_outputs outputs = {.count = (int)json_array_size(list)};
    for (int i = 0; i < outputs.count; i++)
        outputs.output[i] = made[json_integer_value(json_array_get(list, (size_t)i))];
    return outputs;
}

static mst_status adapt(mst_output layer, const json_t *tensors) {
    mst_dataset *data;
    MST_TRY(dataset_of(tensors, &data));
    const mst_status status = mst_adapt(layer, data, 0);
    mst_dataset_release(data);
    return status;
}

static mst_status set_inner(mst_inner_layer *inner, const json_t *j) {
    static max_align_t options[OPTIONS_SIZE / sizeof(max_align_t)];
    const mst_layer_type *type = mst_layer_find(json_string_value(json_object_get(j, "type")));
    if (!type || type->options_size > sizeof options) return MST_FAIL(MST_NOT_FOUND, "a layer inside has no type");
    memset(options, 0, sizeof options);
    *inner = (mst_inner_layer){type->name, options};
    return set_fields(type->fields, options, json_object_get(j, "options"));
}

static mst_status add_layer(mst_model *model, const json_t *j, mst_output *made, size_t i) {
    static max_align_t options[OPTIONS_SIZE / sizeof(max_align_t)];
    const json_t *src = json_object_get(j, "src"), *share = json_object_get(j, "share");
    const mst_layer_source source = src ? mst_source_outputs(outputs_of(src, made)) : mst_source_model(model);
    if (share) {
        made[i] = mst_layer_again(made[json_integer_value(share)], source);
        return mst_model_check(model);
    }
    const mst_layer_type *type = mst_layer_find(json_string_value(json_object_get(j, "type")));
    if (!type || type->options_size > sizeof options) return MST_FAIL(MST_NOT_FOUND, "layer %zu has no type", i);
    memset(options, 0, sizeof options);
    MST_TRY(set_fields(type->fields, options, json_object_get(j, "options")));
    if (type->inner) MST_TRY(set_inner(type->inner(options), json_object_get(j, "inside")));
    made[i] = mst_layer_append(type->name, source, options);
    MST_TRY(mst_model_check(model));
    return json_object_get(j, "adapt") ? adapt(made[i], json_object_get(j, "adapt")) : MST_OK;
}

static mst_status build_application(mst_model *model, const char *name, const json_t *j) {
    const mst_application_options o = {
        .input_shape = shape_of(json_object_get(j, "input_shape")),
        .alpha = number(json_object_get(j, "alpha"), 0),
        .vocabulary_size = json_integer_value(json_object_get(j, "vocabulary_size")),
        .no_top = json_is_true(json_object_get(j, "no_top")),
        .classes = json_integer_value(json_object_get(j, "classes")),
        .classifier_activation = json_is_true(json_object_get(j, "softmax")) ? MST_SOFTMAX : MST_LINEAR,
    };
    if (!strcmp(name, "mobilenet_v2"))
        mst_mobilenet_v2_with(model, &o);
    else if (!strcmp(name, "resnet50"))
        mst_resnet50_with(model, &o);
    else if (!strcmp(name, "text_cnn"))
        mst_text_cnn_with(model, &o);
    else
        mst_lenet_with(model, &o);
    return mst_model_check(model);
}

static mst_status build(mst_model *model, const json_t *c) {
    const char *application = json_string_value(json_object_get(c, "application"));
    if (application) return build_application(model, application, json_object_get(c, "options"));
    const json_t *layers = json_object_get(c, "layers"), *outputs = json_object_get(c, "outputs");
    mst_output made[MOST_LAYERS];
    if (json_array_size(layers) > MOST_LAYERS) return MST_FAIL(MST_INVALID, "more than %d layers", MOST_LAYERS);
    for (size_t i = 0; i < json_array_size(layers); i++) MST_TRY(add_layer(model, json_array_get(layers, i), made, i));
    if (outputs) mst_model_outputs(model, outputs_of(outputs, made));
    return mst_model_check(model);
}

static mst_status describe(mst_model *model, json_t *out) {
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    if (!file) return MST_FAIL(MST_IO, "no memory for a summary");
    mst_status status = mst_model_summary(model, NULL, file);
    fclose(file);
    if (!status) json_object_set_new(out, "summary", json_string(text));
    free(text);
    MST_TRY(status);
    const mst_weight *weight;
    int64_t count;
    json_t *list = json_array();
    json_object_set_new(out, "weights", list);
    MST_TRY(mst_model_weights(model, &weight, &count));
    for (int64_t i = 0; i < count; i++) {
        json_t *shape = json_array();
        for (int k = 0; k < weight[i].spec.shape.ndim; k++)
            json_array_append_new(shape, json_integer(weight[i].spec.shape.dim[k]));
        json_array_append_new(list, json_pack("[s, o]", weight[i].name, shape));
    }
    return MST_OK;
}

/* ---- training ---------------------------------------------------------------------------------------- */

static mst_status compile(mst_model *model, const json_t *fit, double *class_weight) {
    mst_compile_options o = {.seed = 1, .sample_weights = json_is_true(json_object_get(fit, "sample_weights"))};
    if (json_is_true(json_object_get(fit, "accuracy"))) o.metric[0] = MST_METRIC_ACCURACY;
    o.strategy.num_shards = (int)json_integer_value(json_object_get(fit, "shards"));
    const json_t *targets = json_object_get(fit, "target"), *weights = json_object_get(fit, "class_weight");
    MST_TRY(optimizer_of(json_object_get(fit, "optimizer"), &o.optimizer));
    MST_TRY(mst_loss_from_name(json_string_value(json_object_get(fit, "loss")), &o.loss));
    for (size_t i = 0; i < json_array_size(targets) && i < MST_MAX_TARGETS; i++) {
        const json_t *target = json_array_get(targets, i);
        if (json_object_size(target) == 0) continue; /* left all zero */
        MST_TRY(mst_loss_from_name(json_string_value(json_object_get(target, "loss")), &o.target[i].loss));
        o.target[i].output = json_string_value(json_object_get(target, "output"));
        o.target[i].weight = number(json_object_get(target, "weight"), 0);
    }
    o.num_class_weights = (int)json_array_size(weights);
    for (int i = 0; i < o.num_class_weights && i < MOST_LAYERS; i++)
        class_weight[i] = number(json_array_get(weights, (size_t)i), 1);
    if (weights) o.class_weight = class_weight;
    return mst_compile_with(model, &o);
}

static mst_status set_values(mst_model *model, json_t *given) {
    const char *name;
    json_t *j;
    json_object_foreach(given, name, j) {
        mst_tensor *tensor;
        MST_TRY(tensor_of(j, &tensor));
        mst_status status = mst_store_set(mst_model_store(model), "", name, MST_STATE_WEIGHT, tensor);
        mst_tensor_release(tensor);
        MST_TRY(status);
    }
    return MST_OK;
}

static void print_history(const mst_history *history, json_t *out) {
    json_t *columns = json_object();
    for (int c = 0; c < history->num_columns; c++) {
        json_t *list = json_array();
        for (int64_t e = 0; e < history->num_epochs; e++)
            json_array_append_new(list, as_json(mst_history_at(history, e, history->column[c])));
        json_object_set_new(columns, history->column[c], list);
    }
    json_object_set_new(out, "history", columns);
}

static mst_status print_values(mst_model *model, json_t *out) {
    const mst_weight *weight;
    int64_t count;
    json_t *all = json_object();
    json_object_set_new(out, "values", all);
    MST_TRY(mst_model_weights(model, &weight, &count));
    for (int64_t i = 0; i < count; i++) {
        mst_tensor *tensor;
        MST_TRY(mst_store_get(mst_model_store(model), "", weight[i].name, &tensor));
        json_object_set_new(all, weight[i].name, values(tensor));
        mst_tensor_release(tensor);
    }
    return MST_OK;
}

static mst_status train(mst_model *model, json_t *fit, const mst_dataset *data, const mst_dataset *validation,
                        json_t *out) {
    double class_weight[MOST_LAYERS];
    mst_history history = {0};
    mst_result result;
    const int64_t batch_size = json_integer_value(json_object_get(fit, "batch_size"));
    MST_TRY(compile(model, fit, class_weight));
    MST_TRY(mst_build(model, data, true));
    MST_TRY(set_values(model, json_object_get(fit, "values")));
    mst_status status =
        mst_fit(model, .data = data, .validation = validation, .batch_size = batch_size,
                .epochs = json_integer_value(json_object_get(fit, "epochs")), .no_shuffle = true, .history = &history);
    if (!status) print_history(&history, out);
    mst_history_free(&history);
    MST_TRY(status);
    MST_TRY(mst_evaluate(model, data, batch_size, &result, NULL));
    json_t *evaluated = json_pack("{s:f}", "loss", result.loss);
    for (int m = 0; m < result.num_metrics; m++)
        json_object_set_new(evaluated, result.metric_name[m], as_json(result.metric[m]));
    json_object_set_new(out, "evaluate", evaluated);
    return print_values(model, out);
}

static mst_status fit(mst_model *model, json_t *fit, json_t *out) {
    const json_t *given = json_object_get(fit, "validation");
    mst_dataset *data = NULL, *validation = NULL;
    mst_status status = dataset_of(json_object_get(fit, "data"), &data);
    if (!status && given) status = dataset_of(given, &validation);
    if (!status) status = train(model, fit, data, validation, out);
    mst_dataset_release(validation);
    mst_dataset_release(data);
    return status;
}

/* The output for the rows of LIST, of a model that is not trained. */
static mst_status predict(mst_model *model, const char *load, const json_t *list, json_t *out) {
    mst_dataset *data;
    mst_tensor *output = NULL;
    MST_TRY(dataset_of(list, &data));
    mst_status status = mst_compile(model, .loss = MST_LOSS_MEAN_SQUARED_ERROR, .seed = 1);
    if (!status) status = mst_build(model, data, false);
    if (!status && load) status = mst_checkpoint_restore(load, mst_model_store(model), NULL, NULL);
    if (!status) status = mst_predict(model, data, mst_dataset_num_rows(data), &output);
    if (!status) json_object_set_new(out, "predicted", values(output));
    if (!status && !load) status = print_values(model, out);
    mst_tensor_release(output);
    mst_dataset_release(data);
    return status;
}

static mst_status run_case(const json_t *c, json_t *out) {
    mst_model *model;
    json_t *training = json_object_get(c, "fit"), *predicted = json_object_get(c, "predict");
    MST_TRY(mst_model_create(&model));
    mst_status status = build(model, c);
    if (!status && !training) status = describe(model, out);
    if (!status && training) status = fit(model, training, out);
    if (!status && predicted) status = predict(model, json_string_value(json_object_get(c, "load")), predicted, out);
    const char *path = json_string_value(json_object_get(c, "save"));
    if (!status && path) status = mst_model_save(model, path);
    mst_model_destroy(model);
    return status;
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
