/* Files of Keras: .keras, .h5, and networks as JSON. */
#include <string.h>

#include "format/zip_read.h"
#include "inspect/inspector.h"
#include "model_file/keras/keras_file.h"
#include "model_file/keras/weights.h"

/* In a ZIP archive: where the name of the first entry begins, and where the length of that name is stored. */
enum { ARCHIVE_NAME = 30, ARCHIVE_LENGTH = 26 };

/* Whether the archive contains a network. Its entries may have any order. */
static bool has_network(const char *path) {
    mst_bytes bytes;
    mst_zip zip = {0};
    const bool has = !mst_bytes_open(path, &bytes) && !mst_zip_open(&bytes, &zip) && mst_zip_find(&zip, "config.json");
    mst_zip_free(&zip);
    mst_bytes_close(&bytes);
    return has;
}

/* Whether the file is an archive of Keras. If damage makes its list of entries unreadable, the name of the first entry
 * decides. */
static bool is_archive(const mst_inspect_source *s) {
    static const char *const names[] = {"metadata.json", "config.json"};
    if (s->size < ARCHIVE_NAME || memcmp(s->head, "PK\3\4", 4) != 0) return false;
    if (has_network(s->path)) return true;
    const size_t length = s->head[ARCHIVE_LENGTH] | (size_t)s->head[ARCHIVE_LENGTH + 1] << 8;
    for (int i = 0; i < 2; i++)
        if (length == strlen(names[i]) && s->size >= ARCHIVE_NAME + length &&
            memcmp(s->head + ARCHIVE_NAME, names[i], length) == 0)
            return true;
    return false;
}

static bool has(const mst_inspect_source *s, const char *word) {
    return memmem(s->head, s->size, word, strlen(word)) != NULL;
}

static mst_inspect_match inspect_keras_knows(const mst_inspect_source *s) {
    if (s->is_packed) return MST_INSPECT_NO;
    if (is_archive(s) || (s->size >= 8 && memcmp(s->head, "\211HDF\r\n\x1a\n", 8) == 0)) return MST_INSPECT_SURE;
    size_t blank = 0;
    while (blank < s->size && strchr(" \t\r\n", s->head[blank]) && s->head[blank]) blank++;
    const bool is_network = mst_inspect_is_text(s) && blank < s->size && s->head[blank] == '{' &&
                            has(s, "\"class_name\"") && has(s, "\"config\"");
    return is_network ? MST_INSPECT_SURE : MST_INSPECT_NO;
}

/* ---- the report ---- */

static const char *text_of(const json_t *object, const char *key, const char *otherwise) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : otherwise;
}

/* The class_name of an object; or the text, if VALUE is a name alone. */
static const char *keras_class_name(const json_t *value) {
    const char *name = json_string_value(value);
    return name ? name : json_string_value(json_object_get(value, "class_name"));
}

static const json_t *layers_of(const json_t *config) {
    const json_t *inside = json_object_get(config, "config");
    return json_is_array(inside) ? inside : json_object_get(inside, "layers");
}

static void tell_layers(mst_report *report, const json_t *layers) {
    size_t i;
    json_t *layer;
    json_array_foreach(layers, i, layer) {
        char name[MST_REPORT_NAME], class[MST_REPORT_NAME];
        const json_t *config = json_object_get(layer, "config");
        const char *of_layer = text_of(config, "name", text_of(layer, "name", "?"));
        const char *of_class = text_of(layer, "class_name", "?");
        const bool frozen = json_is_false(json_object_get(config, "trainable"));
        json_t *item = mst_report_item(report, "layers");
        mst_report_set(report, item, "name", mst_report_string(of_layer, strlen(of_layer)));
        mst_report_set(report, item, "class", mst_report_string(of_class, strlen(of_class)));
        mst_report_set(report, item, "trainable", json_boolean(!frozen));
        mst_report_line(report, "%s (%s)%s", mst_report_name(of_layer, strlen(of_layer), name),
                        mst_report_name(of_class, strlen(of_class), class), frozen ? ", frozen" : "");
    }
}

static void tell_made(mst_report *report, const json_t *made) {
    const json_t *optimizer = json_object_get(made, "optimizer");
    if (!optimizer) optimizer = json_object_get(made, "optimizer_config");
    const char *names[] = {keras_class_name(optimizer), keras_class_name(json_object_get(made, "loss"))};
    static const char *const what[] = {"optimizer", "loss"};
    for (int i = 0; i < 2; i++) {
        char shown[MST_REPORT_NAME];
        if (!names[i]) continue;
        mst_report_set(report, NULL, what[i], mst_report_string(names[i], strlen(names[i])));
        mst_report_line(report, "%s %s", what[i], mst_report_name(names[i], strlen(names[i]), shown));
    }
}

static void tell_title(mst_report *report, const mst_keras_file *file) {
    const long long arrays = (long long)file->tree.num_arrays;
    const char *s = arrays == 1 ? "" : "s";
    if (!file->config) {
        mst_report_title(report, "HDF5", "%lld array%s", arrays, s);
        return;
    }
    char class[MST_REPORT_NAME];
    const char *name = text_of(file->config, "class_name", "?");
    const long long layers = (long long)json_array_size(layers_of(file->config));
    mst_report_set(report, NULL, "class", mst_report_string(name, strlen(name)));
    mst_report_title(report, "Keras", "%s of %lld layer%s, %lld array%s", mst_report_name(name, strlen(name), class),
                     layers, layers == 1 ? "" : "s", arrays, s);
}

/* Reports whether Muster can read the network and its weights. If it cannot, that is not damage. */
static mst_status try_network(const mst_inspect_source *source, const mst_keras_file *file, mst_report *report) {
    mst_model *model;
    mst_keras_network network;
    MST_TRY(mst_model_create(&model));
    mst_status status = mst_keras_network_read(source->path, file->config, model, &network);
    if (!status && file->has_weights) status = mst_keras_weights_read(source->path, &file->tree, &network, model);
    mst_keras_network_free(&network);
    mst_model_destroy(model);
    mst_report_set(report, NULL, "is_taken", json_boolean(!status));
    if (status != MST_UNIMPLEMENTED) return status;
    mst_report_line(report, "not taken: %s", mst_error()->message);
    return MST_OK;
}

static mst_status inspect_keras_print(const mst_inspect_source *source, mst_report *report) {
    mst_keras_file file;
    mst_status status = mst_keras_file_read(source->path, &file);
    if (status) {
        mst_report_title(report, "Keras", "cannot be read");
    } else {
        tell_title(report, &file);
        tell_layers(report, layers_of(file.config));
        tell_made(report, file.made);
        for (int64_t i = 0; i < file.tree.num_arrays; i++)
            mst_report_tensor(report, file.tree.array[i].path, file.tree.array[i].tensor, "");
        if (file.config) status = try_network(source, &file, report);
    }
    mst_keras_file_free(&file);
    return status;
}

const mst_inspector mst_inspector_keras = {
    .name = "Keras", .suffixes = ".keras .h5 .hdf5", .knows = inspect_keras_knows, .print = inspect_keras_print};
