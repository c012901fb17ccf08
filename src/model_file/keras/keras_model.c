#include "model_file/keras/keras_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ending.h"
#include "base/file.h"
#include "base/no_memory.h"
#include "format/zip_write.h"
#include "loss/loss.h"
#include "model/describe.h"
#include "model_file/keras/flat_ends.h"
#include "model_file/keras/keras_file.h"
#include "model_file/keras/loss.h"
#include "model_file/keras/network_text.h"
#include "model_file/keras/weights.h"
#include "model_file/model_file.h"
#include "store/store.h"

/* ---- loading ---- */

/* The item of LIST for output I. LIST is an array in the order of the outputs, or an object with a member for each name
 * of an output. If LIST is neither, it is the item itself. If the model's outputs are a dict, KEYS has their names;
 * else KEYS is NULL, and the names in the model are used. */
static const json_t *of_output(const json_t *list, const mst_model *model, const json_t *keys, int i) {
    const char *key = json_string_value(json_array_get(keys, (size_t)i));
    const char *name = key ? key : mst_model_output_name(model, i);
    if (json_is_array(list)) return json_array_get(list, (size_t)i);
    if (!json_is_object(list) || json_object_get(list, "class_name")) return list;
    return name ? json_object_get(list, name) : NULL;
}

static void keep_name(const char *name, char out[MST_OTHER_NAME]) {
    snprintf(out, MST_OTHER_NAME, "%s", name ? name : "");
}

/* In Muster, the loss of a model with one output has no weight. If it has one in the file, OUT names it among the
 * losses that Muster does not have. */
static void read_losses(const json_t *made, const json_t *keys, const mst_model *model, mst_model_compiled *out) {
    const json_t *losses = json_object_get(made, "loss"), *weights = json_object_get(made, "loss_weights");
    const int outputs = mst_model_num_outputs(model);
    mst_loss loss;
    bool from_probabilities;
    for (int i = 0; i < outputs && i < MST_MAX_OUTPUTS; i++) {
        const json_t *value = of_output(losses, model, keys, i);
        if (!mst_keras_loss_read(value, &loss, &from_probabilities))
            keep_name(mst_keras_loss_name(value), out->other_loss[i]);
    }
    const json_t *weight_of_all = outputs == 1 ? of_output(weights, model, keys, 0) : NULL;
    const bool weighted = json_is_number(weight_of_all) && json_number_value(weight_of_all) != 1;
    if (weighted)
        snprintf(out->other_loss[0], MST_OTHER_NAME, "%.20s of weight %g",
                 mst_keras_loss_name(of_output(losses, model, keys, 0)), json_number_value(weight_of_all));
    if (outputs == 1 && !weighted)
        out->has_loss = mst_keras_loss_read(of_output(losses, model, keys, 0), &out->loss, &out->from_probabilities);
    for (int i = 0; outputs > 1 && i < outputs && i < MST_MAX_OUTPUTS; i++) {
        mst_output_loss *o = &out->output[i];
        const json_t *weight = of_output(weights, model, keys, i);
        o->has_loss = mst_keras_loss_read(of_output(losses, model, keys, i), &o->loss, &o->from_probabilities);
        if (json_is_number(weight)) o->weight = json_number_value(weight) == 0 ? MST_ZERO : json_number_value(weight);
    }
}

static void add_metric(const json_t *metric, char out[MST_METRIC_NAMES]) {
    const char *name = mst_keras_loss_name(metric);
    const size_t used = strlen(out);
    if (name) snprintf(out + used, MST_METRIC_NAMES - used, "%s'%.40s'", used ? ", " : "", name);
}

/* Adds the names of the metrics in VALUE to OUT. VALUE is a list of metrics, or a list with such a list for each
 * output, or an object with either by the name of the output. */
static void add_metrics(const json_t *value, int depth, char out[MST_METRIC_NAMES]) {
    enum { MOST_DEPTH = 3 };
    const char *key;
    json_t *item;
    size_t i;
    if (depth > MOST_DEPTH) return;
    if (json_is_array(value)) {
        json_array_foreach(value, i, item) add_metrics(item, depth + 1, out);
    } else if (json_is_object(value) && !json_object_get(value, "class_name")) {
        json_object_foreach((json_t *)(uintptr_t)value, key, item) add_metrics(item, depth + 1, out);
    } else {
        add_metric(value, out);
    }
}

static mst_status read_compiled(const mst_keras_file *file, const mst_keras_network *network, mst_model *model,
                                mst_model_compiled *out) {
    const json_t *optimizer = json_object_get(file->made, "optimizer");
    if (!optimizer) optimizer = json_object_get(file->made, "optimizer_config");
    *out = (mst_model_compiled){.has_loss = false};
    const json_t *keys = json_object_get(json_object_get(file->config, "config"), MST_KERAS_OUTPUT_KEYS);
    read_losses(file->made, keys, model, out);
    add_metrics(json_object_get(file->made, "metrics"), 0, out->metrics);
    add_metrics(json_object_get(file->made, "weighted_metrics"), 0, out->metrics);
    mst_keras_optimizer_read(optimizer, &out->optimizer, out->optimizer_note);
    out->has_optimizer = out->optimizer.rule;
    if (!out->has_optimizer)
        keep_name(json_string_value(json_object_get(optimizer, "class_name")), out->other_optimizer);
    if (!out->has_optimizer || !file->has_weights) return MST_OK;
    MST_TRY(mst_keras_state_read(&file->tree, network, model, &out->optimizer, &out->has_optimizer_state));
    out->lacks_state = !out->has_optimizer_state && mst_keras_has_state(&file->tree);
    return MST_OK;
}

#define KERAS_VERSION "3.0.0"            /* files are written in the form of this version */
#define DATE_SAVED "1980-01-01@00:00:00" /* always the same, so that equal models give equal files */
static const char notes_key[] = "muster_notes";

/* Files that Muster has written are recognized by their date. */
static bool is_from_keras(const mst_keras_file *file) {
    const char *date = json_string_value(json_object_get(file->metadata, "date_saved"));
    return !date || strcmp(date, DATE_SAVED) != 0;
}

bool mst_keras_is_from_keras(const char *path) {
    mst_keras_file file;
    const bool found = !mst_keras_file_read(path, &file) && is_from_keras(&file);
    mst_keras_file_free(&file);
    return found;
}

static mst_status read_notes(const char *path, const mst_keras_file *file, mst_model *model) {
    json_t *notes = json_object_get(file->metadata, notes_key), *value;
    const char *key;
    mst_status status = MST_OK;
    json_object_foreach(notes, key, value) if (!status) status =
        json_is_string(value) ? mst_store_set_note(model->store, key, json_string_value(value))
                              : MST_FAIL(MST_CORRUPT, "'%s': note '%.100s' is no text", path, key);
    return status;
}

static mst_status load_file(const char *path, const mst_keras_file *file, mst_model *model,
                            mst_model_compiled *compiled) {
    mst_keras_network network;
    if (!file->config)
        return MST_FAIL(MST_INVALID,
                        "'%s': has weights alone, no network: give the whole model, FILE.keras or FILE.h5; or load the "
                        "weights into a model (mst_model_load_weights, muster train --model)",
                        path);
    mst_status status = mst_keras_network_read(path, file->config, model, &network);
    if (!status && file->has_weights) status = mst_keras_weights_read(path, &file->tree, &network, model);
    if (!status && compiled) status = read_compiled(file, &network, model, compiled);
    if (!status) status = read_notes(path, file, model);
    model->from_keras = is_from_keras(file);
    mst_keras_network_free(&network);
    return status;
}

mst_status mst_keras_load(const char *path, bool network_only, mst_model *model, mst_model_compiled *compiled) {
    mst_keras_file file;
    mst_status status = mst_keras_file_read(path, &file);
    if (!status && network_only) {
        json_decref(file.metadata);
        file.metadata = NULL;
        file.has_weights = false;
    }
    if (!status) status = load_file(path, &file, model, compiled);
    mst_keras_file_free(&file);
    return status;
}

mst_status mst_keras_load_weights(mst_model *model, const char *path) {
    mst_keras_file file;
    mst_keras_network network = {0};
    json_t *config = NULL;
    mst_status status = mst_keras_file_read(path, &file);
    if (!status && !file.has_weights) status = MST_FAIL(MST_INVALID, "'%s': has no weights", path);
    if (!status) status = mst_keras_network_write(model, &config, &network);
    if (!status) status = mst_keras_weights_read(path, &file.tree, &network, model);
    json_decref(config);
    mst_keras_network_free(&network);
    mst_keras_file_free(&file);
    return status;
}

/* ---- saving ---- */

/* Writes the metadata: a version of Keras, for human readers, and the notes. Keras does not read it. */
static mst_status print_metadata(mst_model *model, char **out) {
    mst_snapshot *snapshot;
    const char *key;
    MST_TRY(mst_store_snapshot(model->store, &snapshot));
    json_t *notes = json_object(),
           *metadata = json_pack("{s:s, s:s}", "keras_version", KERAS_VERSION, "date_saved", DATE_SAVED);
    for (int64_t i = 0; (key = mst_snapshot_note_key(snapshot, i)); i++)
        if (strcmp(key, MST_NOTE_EXECUTABLES) != 0)
            json_object_set_new(notes, key, json_string(mst_snapshot_note(snapshot, key)));
    if (json_object_size(notes)) json_object_set(metadata, notes_key, notes);
    *out = metadata && notes ? json_dumps(metadata, 0) : NULL;
    json_decref(notes);
    json_decref(metadata);
    mst_snapshot_release(snapshot);
    return *out ? MST_OK : MST_NO_MEMORY("for a model file");
}

static mst_status write_archive(mst_model *model, const char *path, const char *config, const void *weights,
                                size_t size) {
    char *metadata;
    MST_TRY(print_metadata(model, &metadata));
    const mst_zip_file files[] = {{"metadata.json", {{metadata, strlen(metadata)}}},
                                  {"config.json", {{config, strlen(config)}}},
                                  {"model.weights.h5", {{weights, size}}}};
    const mst_status status = mst_zip_write(path, files, sizeof files / sizeof *files);
    free(metadata);
    return status;
}

/* The loss of output I as Keras writes it. It gets from_logits if the output gives logits (mst_loss_sees_logits): an
 * output that ends in a softmax gives probabilities. */
static json_t *print_loss(const mst_model *model, const mst_model_description *d, int i, const mst_output_loss *loss) {
    const mst_value end = d->value[mst_model_get_outputs(model).output[i].node];
    const bool from_logits = d->graph && !loss->from_probabilities && mst_loss_sees_logits(loss->loss, end);
    return mst_keras_loss_write(loss->loss, from_logits);
}

/* Adds the losses as lists in the order of the outputs. Names could be ambiguous, since Keras gives all outputs of one
 * layer the same name. */
static void add_output_losses(const mst_model *model, const mst_model_description *d, const mst_output_loss *losses,
                              json_t *compile) {
    json_t *loss = json_array(), *weights = json_array();
    for (int i = 0; i < mst_model_num_outputs(model); i++) {
        /* 0 stands for the default, 1; a weight that was given as 0 is -0 (graph/field.h) */
        const double weight = losses[i].weight == 0 ? !signbit(losses[i].weight) : losses[i].weight;
        json_t *printed = losses[i].has_loss ? print_loss(model, d, i, &losses[i]) : NULL;
        json_array_append_new(loss, printed ? printed : json_null());
        json_array_append_new(weights, json_real(losses[i].has_loss ? weight : 1));
    }
    json_object_set_new(compile, "loss", loss);
    json_object_set_new(compile, "loss_weights", weights);
}

static mst_status add_losses(mst_model *model, const mst_model_save_options *o, json_t *compile) {
    mst_model_description d;
    if (!o->loss && !o->output_losses) return MST_OK;
    const mst_status status = mst_model_describe(model, &d);
    if (!status && o->output_losses)
        add_output_losses(model, &d, o->output_losses, compile);
    else if (!status)
        json_object_set_new(compile, "loss",
                            print_loss(model, &d, 0, &(mst_output_loss){true, *o->loss, o->from_probabilities, 1}));
    mst_model_forget(&d);
    return status;
}

static mst_status add_compiled(mst_model *model, json_t *config, const mst_model_save_options *o) {
    json_t *optimizer = NULL, *compile = json_object();
    mst_status status = o->optimizer ? mst_keras_optimizer_write(o->optimizer, &optimizer) : MST_OK;
    if (optimizer) json_object_set_new(compile, "optimizer", optimizer);
    if (!status) status = add_losses(model, o, compile);
    if (!status)
        return json_object_set_new(config, "compile_config", compile) ? MST_NO_MEMORY("for a network") : MST_OK;
    json_decref(compile);
    return status;
}

static bool has_state(const mst_model_save_options *o) {
    return o->optimizer && !o->without_state;
}

/* Fills TREE with a whole model, for one HDF5 file. Texts are attributes of its root. */
static mst_status fill_h5(mst_model *model, const mst_model_save_options *o, const json_t *config,
                          const mst_keras_network *network, mst_keras_tree *tree) {
    const json_t *made = json_object_get(config, "compile_config");
    char *training = NULL, *text = json_dumps(config, 0), *metadata = NULL;
    mst_status status = text ? print_metadata(model, &metadata) : MST_NO_MEMORY("for a network");
    if (!status && made) {
        json_t *loss = json_object_get(made, "loss"), *optimizer = json_object_get(made, "optimizer");
        json_t *object =
            json_pack("{s:O?, s:n, s:n, s:O?, s:O?}", "loss", loss, "metrics", "weighted_metrics", "loss_weights",
                      json_object_get(made, "loss_weights"), "optimizer_config", optimizer);
        training = object ? json_dumps(object, 0) : NULL;
        json_decref(object);
        if (!training) status = MST_NO_MEMORY("for a network");
    }
    if (!status) status = mst_keras_weights_write_h5(model, network, tree);
    if (!status && has_state(o)) status = mst_keras_state_write_h5(model, network, o->optimizer, tree);
    if (!status) status = mst_keras_tree_add_text(tree, "/", "keras_version", KERAS_VERSION);
    if (!status) status = mst_keras_tree_add_text(tree, "/", "backend", "muster");
    if (!status) status = mst_keras_tree_add_text(tree, "/", "model_config", text);
    if (!status) status = mst_keras_tree_add_text(tree, "/", MST_KERAS_METADATA, metadata);
    if (!status && training && o->optimizer) status = mst_keras_tree_add_text(tree, "/", "training_config", training);
    free(metadata);
    free(training);
    free(text);
    return status;
}

static mst_status fill_keras(mst_model *model, const mst_model_save_options *o, const mst_keras_network *network,
                             mst_keras_tree *tree) {
    MST_TRY(mst_keras_weights_write(model, network, tree));
    return has_state(o) ? mst_keras_state_write(model, network, o->optimizer, tree) : MST_OK;
}

static mst_status save_json(const char *path, const json_t *config) {
    char *text = json_dumps(config, 0);
    const mst_status status = text ? mst_file_write(path, text, strlen(text)) : MST_NO_MEMORY("for a network");
    free(text);
    return status;
}

static mst_status save(mst_model *model, const char *path, const mst_model_save_options *o, json_t *config,
                       const mst_keras_network *network) {
    mst_keras_tree tree = {0};
    void *weights = NULL;
    char *text = NULL;
    size_t size = 0;
    const bool h5 = mst_ends_in(path, ".h5") && !mst_ends_in(path, ".weights.h5");
    if (o->optimizer || o->loss || o->output_losses) MST_TRY(add_compiled(model, config, o));
    if (mst_ends_in(path, ".json")) return save_json(path, config);
    mst_status status = h5 ? fill_h5(model, o, config, network, &tree) : fill_keras(model, o, network, &tree);
    if (!status) status = mst_keras_tree_write(&tree, &weights, &size);
    if (!status && mst_ends_in(path, ".keras") && !(text = json_dumps(config, 0)))
        status = MST_NO_MEMORY("for a network");
    if (!status) status = text ? write_archive(model, path, text, weights, size) : mst_file_write(path, weights, size);
    mst_keras_tree_free(&tree);
    free(weights);
    free(text);
    return status;
}

mst_status mst_keras_save(mst_model *model, const char *path, const mst_model_save_options *options) {
    mst_keras_network network;
    json_t *config;
    mst_status status = mst_keras_network_write(model, &config, &network);
    if (!status) status = save(model, path, options, config, &network);
    json_decref(config);
    mst_keras_network_free(&network);
    return status;
}
