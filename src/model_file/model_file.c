/* Files of whole models. The ending of a new file's name decides its format. */
#include "model_file/model_file.h"

#include <stdio.h>
#include <string.h>

#include "base/argument.h"
#include "base/ending.h"
#include "base/folder.h"
#include "model/model.h"
#include "model_file/huggingface/huggingface.h"
#include "model_file/keras/keras_model.h"
#include "model_file/keras/network_text.h"
#include "model_file/onnx/onnx_file.h"
#include "model_file/onnx/onnx_layers.h"
#include "model_file/onnx/onnx_model.h"
#include "store/store.h"

/* ---- loading ---- */

/* Adds the name of the file to errors that do not have it, such as those of layers and outputs. */
static mst_status of_file(const char *path, mst_status status) {
    if (status && !strstr(mst_error()->message, path)) return mst_error_prefix("'%s'", path);
    return status;
}

/* How a file of ONNX is read: as one layer of ops, as layers of Keras, or as layers of Keras without weights. */
typedef enum { AS_MODEL, AS_LAYERS, AS_NETWORK } reading;

/* ONNX has neither losses nor optimizers. */
static mst_status load_onnx(const char *path, reading as, mst_model *model, mst_model_compiled *compiled) {
    if (compiled) *compiled = (mst_model_compiled){.has_loss = false};
    if (as != AS_MODEL) return mst_onnx_load_layers(path, as == AS_NETWORK, model);
    char other[1];
    return compiled ? mst_onnx_load(path, model, compiled->left_out, sizeof compiled->left_out)
                    : mst_onnx_load(path, model, other, sizeof other);
}

static bool is_onnx(const char *path) {
    char head[8];
    FILE *file = fopen(path, "rbe");
    const size_t size = file ? fread(head, 1, sizeof head, file) : 0;
    if (file) fclose(file);
    return mst_onnx_begins(head, size) || (!size && mst_ends_in(path, ".onnx"));
}

static mst_status read_model(const char *path, reading as, mst_model **out, mst_model_compiled *compiled) {
    mst_model *model = NULL;
    *out = NULL;
    mst_status status = mst_model_create(&model);
    if (!status && mst_is_folder(path))
        status = mst_huggingface_load(path, as == AS_NETWORK, model, compiled);
    else if (!status)
        status = is_onnx(path) ? load_onnx(path, as, model, compiled)
                               : mst_keras_load(path, as == AS_NETWORK, model, compiled);
    if (status)
        mst_model_destroy(model);
    else
        *out = model;
    return of_file(path, status);
}

mst_status mst_model_load(const char *path, mst_model **out, mst_model_compiled *compiled) {
    if (MST_IS_NULL(path) || MST_IS_NULL(out)) return MST_INVALID;
    return read_model(path, AS_MODEL, out, compiled);
}

mst_status mst_layers_load(const char *path, mst_model **out, mst_model_compiled *compiled) {
    return read_model(path, AS_LAYERS, out, compiled);
}

mst_status mst_network_load(const char *path, mst_model **out, mst_model_compiled *compiled) {
    return read_model(path, AS_NETWORK, out, compiled);
}

mst_status mst_model_load_weights(mst_model *model, const char *path) {
    if (MST_IS_NULL(model) || MST_IS_NULL(path)) return MST_INVALID;
    const bool is_folder = mst_is_folder(path);
    return of_file(path, (is_folder ? mst_huggingface_load_weights : mst_keras_load_weights)(model, path));
}

/* ---- saving ---- */

/* Replaces the error about a weight without a value by one that tells the reason: the model has not been built yet. */
static mst_status of_built(mst_model *model, mst_status status) {
    const mst_weight *weight;
    int64_t count;
    if (status != MST_NOT_FOUND && (!status || !strstr(mst_error()->message, "has no value"))) return status;
    if (mst_model_weights(model, &weight, &count) || !count || mst_store_find(model->store, NULL, weight->name))
        return status;
    return MST_FAIL(MST_NOT_FOUND,
                    "the weights have no values yet, such as '%s': build the model first, by mst_fit, mst_predict or "
                    "mst_build",
                    weight->name);
}

mst_status mst_model_save_with(mst_model *model, const char *path, mst_model_save_options options) {
    if (MST_IS_NULL(model) || MST_IS_NULL(path)) return MST_INVALID;
    if (mst_huggingface_is_named(path)) return of_file(path, of_built(model, mst_huggingface_save(model, path)));
    if (mst_ends_in(path, ".onnx")) return of_file(path, of_built(model, mst_onnx_save(model, path)));
    if (!mst_ends_in(path, ".keras") && !mst_ends_in(path, ".h5") && !mst_ends_in(path, ".json"))
        return MST_FAIL(MST_INVALID,
                        "'%s': a model is saved as FILE.keras, FILE.h5, FILE.weights.h5, FILE.json or FILE.onnx, or as "
                        "FOLDER/, the form of Hugging Face",
                        path);
    if (!mst_ends_in(path, ".weights.h5")) MST_TRY(mst_network_check_names(model));
    return of_file(path, of_built(model, mst_keras_save(model, path, &options)));
}
