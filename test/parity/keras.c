/** The C side of the tests of Keras' files: `parity_keras < CASES.json` does for each case of a JSON array what it
 *  says, in this order, and prints one JSON line a case.
 *
 *      {"load": "m.keras",                      a model from a file
 *       "weights": "m.weights.h5",              its weights from another
 *       "predict": [TENSOR, ...]                inputs of rows, whose outputs are "predicted"
 *       "fit": {"data": [TENSOR, ...], "batch_size": 4, "epochs": 2}    on from where the file's optimizer stood; the
 *                                               loss of each step is in "losses"
 *       "save": "out.keras", "state": true}     with the optimizer's state
 *
 *  {"error": "..."} where something failed, or with "fails": true {"failed": "..."}. json_case.h says what a TENSOR
 *  is. */
#include <stdio.h>

#include "json_case.h"
#include "muster/model_file.h"
#include "muster/train.h"

enum { MOST = 8 };

static mst_status dataset_of(const json_t *list, mst_dataset **out) {
    mst_tensor *tensor[MOST] = {NULL};
    const int count = (int)json_array_size(list);
    mst_status status = count <= MOST ? MST_OK : MST_FAIL(MST_INVALID, "more than %d tensors", MOST);
    for (int i = 0; i < count && !status; i++) status = tensor_of(json_array_get(list, (size_t)i), &tensor[i]);
    if (!status) status = mst_dataset_from_tensors(tensor, count, out);
    for (int i = 0; i < count && i < MOST; i++) mst_tensor_release(tensor[i]);
    return status;
}

static mst_status note_loss(void *context, mst_train_state *state) {
    json_array_append_new(context, json_real(state->step_loss));
    return MST_OK;
}

static mst_status fit_case(mst_model *model, const json_t *fit, json_t *answer) {
    mst_dataset *data;
    json_t *losses = json_array();
    json_object_set_new(answer, "losses", losses);
    const mst_callback note = {.context = losses, .step_end = note_loss};
    MST_TRY(dataset_of(json_object_get(fit, "data"), &data));
    const mst_status status =
        mst_fit(model, .data = data, .batch_size = json_integer_value(json_object_get(fit, "batch_size")),
                .epochs = json_integer_value(json_object_get(fit, "epochs")), .no_shuffle = true, .callbacks = &note,
                .num_callbacks = 1);
    mst_dataset_release(data);
    return status;
}

static mst_status predict_case(mst_model *model, const json_t *rows, json_t *answer) {
    mst_dataset *data;
    mst_tensor *out = NULL;
    MST_TRY(dataset_of(rows, &data));
    const mst_status status = mst_predict(model, data, 1000, &out);
    mst_dataset_release(data);
    json_t *list = json_array();
    for (int64_t i = 0; !status && i < mst_tensor_count(out); i++)
        json_array_append_new(list, json_real(mst_tensor_get(out, i)));
    json_object_set_new(answer, "predicted", list);
    mst_tensor_release(out);
    return status;
}

static mst_status run_keras(mst_model *model, const mst_model_compiled *compiled, const json_t *j, json_t *answer) {
    const char *weights = json_string_value(json_object_get(j, "weights"));
    const char *save = json_string_value(json_object_get(j, "save"));
    const json_t *fit = json_object_get(j, "fit"), *predict = json_object_get(j, "predict");
    mst_model_save_options options = {0};
    if (weights) MST_TRY(mst_model_load_weights(model, weights));
    json_object_set_new(answer, "state", json_boolean(compiled->has_optimizer_state));
    MST_TRY(mst_compile(model, .optimizer = compiled->optimizer, .loss = compiled->loss,
                        .from_probabilities = compiled->from_probabilities));
    if (predict) MST_TRY(predict_case(model, predict, answer));
    if (fit) MST_TRY(fit_case(model, fit, answer));
    if (json_is_true(json_object_get(j, "state")))
        options = (mst_model_save_options){.optimizer = &compiled->optimizer,
                                           .loss = &compiled->loss,
                                           .from_probabilities = compiled->from_probabilities};
    return save ? mst_model_save_with(model, save, options) : MST_OK;
}

static void answer_case(const json_t *j) {
    mst_model *model = NULL;
    mst_model_compiled compiled = {0};
    json_t *answer = json_object();
    mst_status status = mst_model_load(json_string_value(json_object_get(j, "load")), &model, &compiled);
    if (!status) status = run_keras(model, &compiled, j, answer);
    if (status)
        json_object_set_new(answer, json_is_true(json_object_get(j, "fails")) ? "failed" : "error",
                            json_string(mst_error()->message));
    char *text = json_dumps(answer, JSON_COMPACT);
    puts(text ? text : "{\"error\": \"no memory\"}");
    free(text);
    json_decref(answer);
    mst_model_destroy(model);
}

int main(void) {
    json_t *cases = json_loadf(stdin, 0, NULL), *j;
    size_t i;
    json_array_foreach(cases, i, j) answer_case(j);
    json_decref(cases);
    return 0;
}
