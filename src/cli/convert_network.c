#include "cli/convert_network.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/ending.h"
#include "cli/command.h"
#include "cli/network_file.h"
#include "cli/number_text.h"
#include "model_file/weights.h"
#include "muster/checkpoint.h"

static mst_status write_weights(mst_model *model, const char *to) {
    mst_snapshot *snapshot;
    MST_TRY(mst_store_snapshot(mst_model_store(model), &snapshot));
    const mst_status status = mst_checkpoint_write(to, snapshot, NULL);
    mst_snapshot_release(snapshot);
    return status;
}

/* With the optimizer and its state, where they were read and Keras has them. */
static mst_status write_model(mst_model *model, const mst_model_compiled *compiled, const char *to) {
    const bool optimizer = compiled->has_optimizer_state && mst_keras_has_optimizer(&compiled->optimizer);
    if (mst_ends_in(to, ".safetensors") || mst_ends_in(to, ".npz")) return write_weights(model, to);
    return mst_model_save(model, to, .optimizer = optimizer ? &compiled->optimizer : NULL,
                          .loss = compiled->has_loss ? &compiled->loss : NULL,
                          .from_probabilities = compiled->from_probabilities);
}

/* What a file is converted to depends on what it has: layers, operators of ONNX, or no weights. */
static mst_status check_kinds(const char *from, const char *to, bool has_weights) {
    const bool weights = mst_ends_in(to, ".safetensors") || mst_ends_in(to, ".npz");
    if (network_file_is_onnx(from) && !weights && !mst_ends_in(to, ".onnx"))
        return MST_FAIL(MST_INVALID,
                        "'%s': is of ONNX, whose operators are no layers of Keras: it becomes FILE.onnx, its weights "
                        "FILE.safetensors or FILE.npz, not '%s'",
                        from, to);
    if (!has_weights && !mst_ends_in(to, ".json"))
        return MST_FAIL(MST_INVALID,
                        "'%s': has a network without weights, which becomes FILE.json only, not '%s': muster train "
                        "--model '%s' --save FILE.keras gives it weights",
                        from, to, from);
    return MST_OK;
}

static mst_status convert(const char *from, const char *to) {
    mst_model *model;
    mst_model_compiled compiled;
    const mst_weight *weights;
    int64_t count = 0, elements = 0;
    bool has_weights = false;
    char text[NUMBER_TEXT];
    MST_TRY(mst_model_load(from, &model, &compiled));
    mst_status status = network_has_weights(model, &has_weights);
    if (!status) status = check_kinds(from, to, has_weights);
    if (!status) status = write_model(model, &compiled, to);
    if (!status) status = mst_model_weights(model, &weights, &count);
    for (int64_t i = 0; !status && i < count; i++) elements += mst_shape_count(weights[i].spec.shape);
    if (!status) printf("%s from %s: %s parameters\n", to, from, number_text(elements, text));
    mst_model_destroy(model);
    return status;
}

int convert_network(const char *from, const char *to, bool overwrite) {
    static const char *const endings[] = {".keras", ".h5", ".json", ".onnx", ".safetensors", ".npz"};
    bool known = false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) known |= mst_ends_in(to, endings[i]);
    if (!known || strncmp(to, "npz:", strlen("npz:")) == 0) /* which is data */
        return command_fail(
            EXIT_USAGE,
            "convert: a whole model, as '%s' is, becomes FILE.keras, FILE.h5, FILE.weights.h5, FILE.json, "
            "FILE.onnx, FILE.safetensors or FILE.npz, not '%s'",
            from, to);
    if (!overwrite && access(to, F_OK) == 0)
        return command_fail(EXIT_FAILED, "'%s' is there already: give another name, or say --overwrite", to);
    return convert(from, to) ? command_fail_library(EXIT_FAILED, NULL) : EXIT_DONE;
}
