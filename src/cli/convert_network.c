#include "cli/convert_network.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/ending.h"
#include "cli/command.h"
#include "cli/model/network_file.h"
#include "cli/number_text.h"
#include "model_file/huggingface/huggingface.h"
#include "model_file/keras/weights.h"
#include "model_file/model_file.h"
#include "muster/checkpoint.h"

static mst_status write_weights(mst_model *model, const char *to) {
    mst_snapshot *snapshot;
    MST_TRY(mst_store_snapshot(mst_model_store(model), &snapshot));
    const mst_status status = mst_checkpoint_write(to, snapshot, NULL);
    mst_snapshot_release(snapshot);
    return status;
}

static bool is_weights(const char *path) {
    return mst_ends_in(path, ".safetensors") || mst_ends_in(path, ".npz");
}

static bool has_settings(const char *path) {
    return !is_weights(path) && !mst_ends_in(path, ".onnx") && !mst_ends_in(path, ".weights.h5") &&
           !mst_huggingface_is_named(path);
}

static bool has_losses(const mst_model_compiled *compiled) {
    bool has = compiled->has_loss;
    for (int i = 0; i < MST_MAX_OUTPUTS; i++) has |= compiled->output[i].has_loss;
    return has;
}

/* Writes the model with its losses, its optimizer and, if that was read, the state of the optimizer. */
static mst_status write_model(mst_model *model, const mst_model_compiled *compiled, const char *to) {
    const bool optimizer = compiled->has_optimizer && mst_keras_has_optimizer(&compiled->optimizer);
    const bool several = mst_model_num_outputs(model) > 1;
    if (is_weights(to)) return write_weights(model, to);
    return mst_model_save(model, to, .optimizer = optimizer ? &compiled->optimizer : NULL,
                          .loss = compiled->has_loss ? &compiled->loss : NULL,
                          .from_probabilities = compiled->from_probabilities,
                          .output_losses = several && has_losses(compiled) ? compiled->output : NULL,
                          .without_state = !compiled->has_optimizer_state);
}

/* Warns of the settings of training in FROM that are missing in TO. */
static void warn_of_losses(const char *from, const char *to, const mst_model_compiled *c) {
    const bool h5 = mst_ends_in(to, ".h5");
    if (*c->other_optimizer)
        command_warn("'%s': its optimizer '%s' is left out (%s)", from, c->other_optimizer, c->optimizer_note);
    if (c->has_optimizer && !mst_keras_has_optimizer(&c->optimizer))
        command_warn("'%s': its optimizer '%s' is left out: Keras does not have it with its settings", from,
                     c->optimizer.rule);
    if (c->has_optimizer && *c->optimizer_note)
        command_warn("'%s': its optimizer '%s': %s", from, c->optimizer.rule, c->optimizer_note);
    if (c->has_optimizer && c->lacks_state)
        command_warn(
            "'%s': the state of its optimizer '%s' is left out, as it is not that of Keras 3: it begins "
            "anew",
            from, c->optimizer.rule);
    for (int i = 0; i < MST_MAX_OUTPUTS; i++)
        if (*c->other_loss[i])
            command_warn("'%s': its loss '%s' is left out: it is not known here, or not with its options", from,
                         c->other_loss[i]);
    if (*c->metrics) command_warn("'%s': its metrics are left out: %s", from, c->metrics);
    if (h5 && !c->has_optimizer && has_losses(c))
        command_warn("'%s': its loss is left out: an .h5 file has one beside an optimizer only", from);
}

/* Reads FROM for the format of TO: files of Keras need layers. */
static mst_status load_for(const char *from, const char *to, mst_model **out, mst_model_compiled *compiled) {
    const bool is_keras = !is_weights(to) && !mst_ends_in(to, ".onnx") && !mst_huggingface_is_named(to);
    const bool layers = network_file_is_onnx(from) && is_keras;
    return layers ? mst_layers_load(from, out, compiled) : mst_model_load(from, out, compiled);
}

/* Checks that FROM can be converted to the format of TO, which depends on whether it has weights. */
static mst_status check_kinds(const char *from, const char *to, bool has_weights) {
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
    MST_TRY(load_for(from, to, &model, &compiled));
    mst_status status = network_has_weights(model, &has_weights);
    if (!status) status = check_kinds(from, to, has_weights);
    if (!status) status = write_model(model, &compiled, to);
    if (!status) status = mst_model_weights(model, &weights, &count);
    for (int64_t i = 0; !status && i < count; i++) elements += mst_shape_count(weights[i].spec.shape);
    const bool has_own_loss = has_losses(&compiled) && !mst_huggingface_is(from);
    const bool trained = compiled.has_optimizer || *compiled.other_optimizer || has_own_loss;
    if (!status && *compiled.left_out) command_warn("'%s': %s", from, compiled.left_out);
    if (!status && has_settings(to)) warn_of_losses(from, to, &compiled);
    if (!status)
        command_print("%s from %s: %s parameters%s", to, from, number_text(elements, text),
                      trained && !has_settings(to) ? ", without the optimizer and the loss" : "");
    mst_model_destroy(model);
    return status;
}

int convert_network(const char *from, const char *to, bool overwrite) {
    static const char *const endings[] = {".keras", ".h5", ".json", ".onnx", ".safetensors", ".npz"};
    bool known = false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) known |= mst_ends_in(to, endings[i]);
    known |= mst_huggingface_is_named(to);
    if (!known || strncmp(to, "npz:", strlen("npz:")) == 0) /* npz: is a format of data */
        return command_fail(
            EXIT_USAGE,
            "convert: a whole model, as '%s' is, becomes FILE.keras, FILE.h5, FILE.weights.h5, FILE.json, "
            "FILE.onnx, FILE.safetensors, FILE.npz or FOLDER/, not '%s'",
            from, to);
    const bool is_there = mst_huggingface_is_named(to) ? mst_huggingface_is(to) : access(to, F_OK) == 0;
    if (!overwrite && is_there)
        return command_fail(EXIT_FAILED, "'%s' is there already: give another name, or say --overwrite", to);
    return convert(from, to) ? command_fail_library(EXIT_FAILED, NULL) : EXIT_DONE;
}
