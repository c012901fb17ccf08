/* Reads files of Keras into memory. The first bytes of a file tell its format. */
#include "model_file/keras/keras_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json_text.h"
#include "base/no_memory.h"
#include "format/zip_read.h"
#include "model_file/keras/dict_calls.h"
#include "model_file/keras/flat_ends.h"
#include "model_file/keras/keras2_names.h"
#include "model_file/keras/layer_folder.h"

static const size_t most_bytes = (size_t)1 << 40;
enum { MOST_JSON = 1 << 28 };

void mst_keras_file_free(mst_keras_file *file) {
    json_decref(file->config);
    json_decref(file->training);
    json_decref(file->metadata);
    mst_keras_tree_free(&file->tree);
}

static mst_status parse_json(const char *name, const char *text, size_t size, json_t **out) {
    json_error_t error;
    *out = mst_json_read(text, size, &error);
    if (*out) return MST_OK;
    return MST_FAIL(MST_CORRUPT, "'%s': the JSON in it is damaged: %s, line %d", name, error.text, error.line);
}

enum { NEWEST_MAJOR = 3 };

/* Checks that Muster knows the Keras VERSION of the file, "3.15.0" or NULL. *MAJOR becomes its first number, or 0. */
static mst_status check_version(const char *name, const char *version, long *major) {
    *major = version ? strtol(version, NULL, 10) : 0;
    if (*major <= NEWEST_MAJOR) return MST_OK;
    return MST_FAIL(
        MST_UNIMPLEMENTED,
        "'%s': is of Keras %.20s, which is too new: files of Keras 2 and %d are read: save it with Keras %d", name,
        version, NEWEST_MAJOR, NEWEST_MAJOR);
}

/* Rewrites the network: dicts in calls, inputs and outputs become lists. In files of Keras 2, names with another
 * meaning in Keras 3 become Muster's names. */
static mst_status rewrite_config(const char *name, long major, mst_keras_file *out) {
    MST_TRY(mst_keras_order_dict_calls(name, out->config));
    MST_TRY(mst_keras_flatten_ends(out->config));
    return major == 1 || major == 2 ? mst_keras2_rename(out->config) : MST_OK;
}

static const char *version_in(const json_t *object) {
    return json_string_value(json_object_get(object, "keras_version"));
}

/* ---- .keras: an archive ---- */

static mst_status read_entry(const char *name, const mst_zip *zip, const char *entry_name, uint64_t most, void **data,
                             size_t *size) {
    const mst_zip_entry *entry = mst_zip_find(zip, entry_name);
    mst_zip_reader reader;
    *data = NULL;
    if (!entry) return MST_FAIL(MST_CORRUPT, "'%s': has no %s: it is no model of Keras, or damaged", name, entry_name);
    if (entry->size > most) return MST_FAIL(MST_CORRUPT, "'%s': %s is too large", name, entry_name);
    *size = (size_t)entry->size;
    if (!(*data = malloc(*size + 1))) return MST_NO_MEMORY("to read '%s'", name);
    mst_status status = mst_zip_reader_open(zip, entry, &reader);
    if (!status) status = mst_zip_reader_read(&reader, *data, *size);
    if (!status) status = mst_zip_reader_finish(&reader);
    mst_zip_reader_close(&reader);
    if (status) {
        free(*data);
        *data = NULL;
    }
    return status;
}

static mst_status read_json(const char *name, const mst_zip *zip, const char *entry_name, json_t **out) {
    void *text;
    size_t size;
    mst_status status = read_entry(name, zip, entry_name, MOST_JSON, &text, &size);
    if (!status) status = parse_json(name, text, size, out);
    free(text);
    return status;
}

/* ---- assets: what a layer has learnt besides numbers ---- */

enum { MOST_NESTED = 16, MOST_ENTRY_NAME = MST_KERAS_FOLDER + 32 };

static bool is_empty(const json_t *text) {
    return json_is_string(text) && json_string_length(text) == 0;
}

static bool is_integer_lookup(const char *class_name) {
    return strcmp(class_name, "IntegerLookup") == 0;
}

static bool is_lookup(const char *class_name) {
    return strcmp(class_name, "StringLookup") == 0 || strcmp(class_name, "TextVectorization") == 0 ||
           is_integer_lookup(class_name);
}

/* LINE as a JSON string, or as an integer if INTEGERS is true. */
static json_t *token_of(const char *line, bool integers) {
    char *end = NULL;
    const long long number = integers ? strtoll(line, &end, 10) : 0;
    return end && end != line && *end == '\0' ? json_integer(number) : json_string(line);
}

/* The lines of TEXT, which is changed. Empty lines at its end are dropped while there are more than LEAST lines: a
 * vocabulary may contain the empty string. */
static json_t *lines_of(char *text, size_t least, bool integers) {
    json_t *list = json_array();
    char *line;
    while (list && (line = strsep(&text, "\n"))) {
        const size_t size = strlen(line);
        if (size && line[size - 1] == '\r') line[size - 1] = '\0';
        if (json_array_append_new(list, token_of(line, integers)))
            json_array_append_new(list, json_null()); /* not UTF-8 */
    }
    for (size_t n; (n = json_array_size(list)) > least && is_empty(json_array_get(list, n - 1));)
        json_array_remove(list, n - 1);
    return list;
}

/* If the vocabulary of LAYER is a file of the archive, copies it to the configuration of LAYER. FOLDER is the folder of
 * LAYER, such as "/layers/string_lookup". */
static mst_status take_vocabulary(const char *name, const mst_zip *zip, const char *folder, json_t *layer) {
    json_t *config = json_object_get(layer, "config"), *vocabulary = json_object_get(config, "vocabulary");
    const char *class_name = json_string_value(json_object_get(layer, "class_name"));
    const json_int_t count = json_integer_value(json_object_get(config, "vocabulary_size"));
    char entry[MOST_ENTRY_NAME];
    void *text = NULL;
    size_t size;
    if (!class_name || !is_lookup(class_name) || (vocabulary && !json_is_null(vocabulary))) return MST_OK;
    snprintf(entry, sizeof entry, "assets%s/vocabulary.txt", folder);
    if (!mst_zip_find(zip, entry)) return MST_OK; /* the layer will report that it has none */
    MST_TRY(read_entry(name, zip, entry, MOST_JSON, &text, &size));
    ((char *)text)[size] = '\0'; /* there is memory for it */
    json_t *lines = lines_of(text, count > 0 ? (size_t)count : 0, is_integer_lookup(class_name));
    const int failed = json_object_set_new(config, "vocabulary", lines);
    free(text);
    return failed ? MST_NO_MEMORY("for a vocabulary") : MST_OK;
}

/* Calls take_vocabulary for all layers of MODEL, whose folder is PARENT, and of the models inside it. */
static mst_status take_vocabularies(const char *name, const mst_zip *zip, const char *parent, int depth,
                                    json_t *model) {
    json_t *layers = json_object_get(json_object_get(model, "config"), "layers"), *layer;
    size_t i;
    char folder[MST_KERAS_FOLDER];
    if (depth > MOST_NESTED) return MST_OK;
    json_array_foreach(layers, i, layer) {
        const char *class_name = json_string_value(json_object_get(layer, "class_name"));
        int64_t before = 0;
        const bool matters = class_name && (is_lookup(class_name) ||
                                            json_is_array(json_object_get(json_object_get(layer, "config"), "layers")));
        for (size_t k = 0; matters && k < i; k++) {
            const char *other = json_string_value(json_object_get(json_array_get(layers, k), "class_name"));
            before += other && strcmp(other, class_name) == 0;
        }
        if (!matters) continue;
        mst_keras_layer_folder(parent, class_name, before, folder);
        MST_TRY(take_vocabulary(name, zip, folder, layer));
        MST_TRY(take_vocabularies(name, zip, folder, depth + 1, layer));
    }
    return MST_OK;
}

static mst_status read_archive(const mst_zip *zip, mst_keras_file *out) {
    const char *name = zip->bytes->name;
    void *weights = NULL;
    size_t size;
    long major = 0;
    mst_status status = MST_OK;
    if (mst_zip_find(zip, "metadata.json")) status = read_json(name, zip, "metadata.json", &out->metadata);
    if (!status) status = check_version(name, version_in(out->metadata), &major);
    if (!status) status = read_json(name, zip, "config.json", &out->config);
    if (!status) status = rewrite_config(name, major, out);
    if (!status) status = take_vocabularies(name, zip, "", 0, out->config);
    if (!status) status = read_entry(name, zip, "model.weights.h5", most_bytes, &weights, &size);
    if (!status) status = mst_keras_tree_read(name, weights, size, zip->bytes->size, &out->tree);
    out->has_weights = !status;
    out->made = json_object_get(out->config, "compile_config");
    free(weights);
    return status;
}

static mst_status read_keras(const mst_bytes *bytes, mst_keras_file *out) {
    mst_zip zip = {0};
    mst_status status = mst_zip_open(bytes, &zip);
    if (!status) status = read_archive(&zip, out);
    mst_zip_free(&zip);
    return status;
}

static bool is_archive(const mst_bytes *bytes) {
    char head[4];
    size_t got;
    return !mst_bytes_read(bytes, 0, head, sizeof head, &got) && got == sizeof head && memcmp(head, "PK\3\4", got) == 0;
}

/* Reads the file if it is an archive. Only the entries that are needed are read into memory. */
static mst_status read_if_archive(const char *path, bool *is_one, mst_keras_file *out) {
    mst_bytes bytes;
    *is_one = !mst_bytes_open(path, &bytes) && is_archive(&bytes);
    const mst_status status = *is_one ? read_keras(&bytes, out) : MST_OK;
    mst_bytes_close(&bytes);
    return status;
}

/* ---- .h5 ---- */

/* The texts of an attribute as one text. A long list is split (mst_keras_tree_each_text). */
typedef struct joined {
    char *text;  /* NULL: there is none */
    size_t size; /* without the 0 byte at its end */
} joined;

static mst_status join(void *context, const char *more) {
    joined *j = context;
    const size_t size = strlen(more);
    char *grown = realloc(j->text, j->size + size + 1);
    if (!grown) return MST_NO_MEMORY("for a model file");
    j->text = grown;
    memcpy(grown + j->size, more, size + 1);
    j->size += size;
    return MST_OK;
}

/* Reads the attribute KEY of the root, which is JSON. */
static mst_status read_root_json(const char *name, const mst_keras_tree *tree, const char *key, json_t **out) {
    joined j = {NULL, 0};
    *out = NULL;
    mst_status status = mst_keras_tree_each_text(tree, "/", key, join, &j);
    if (!status && j.text) status = parse_json(name, j.text, j.size, out);
    free(j.text);
    return status;
}

static mst_status check_h5_version(const char *name, const mst_keras_tree *tree, long *major) {
    joined version = {NULL, 0};
    mst_status status = mst_keras_tree_each_text(tree, "/", "keras_version", join, &version);
    if (!status) status = check_version(name, version.text, major);
    free(version.text);
    return status;
}

static mst_status read_h5(const char *name, const void *data, size_t size, mst_keras_file *out) {
    long major;
    MST_TRY(mst_keras_tree_read(name, data, size, size, &out->tree));
    MST_TRY(check_h5_version(name, &out->tree, &major));
    out->has_weights = true;
    MST_TRY(read_root_json(name, &out->tree, "model_config", &out->config));
    MST_TRY(rewrite_config(name, major, out));
    MST_TRY(read_root_json(name, &out->tree, "training_config", &out->training));
    MST_TRY(read_root_json(name, &out->tree, MST_KERAS_METADATA, &out->metadata));
    out->made = out->training;
    return MST_OK;
}

static mst_status read_json_file(const char *name, const char *text, size_t size, mst_keras_file *out) {
    long major;
    MST_TRY(parse_json(name, text, size, &out->config));
    MST_TRY(check_version(name, version_in(out->config), &major));
    return rewrite_config(name, major, out);
}

mst_status mst_keras_file_read(const char *path, mst_keras_file *out) {
    void *data;
    size_t size;
    bool is_one;
    *out = (mst_keras_file){0};
    mst_status status = read_if_archive(path, &is_one, out);
    if (is_one) return status;
    MST_TRY(mst_file_read(path, most_bytes, &data, &size));
    char *text = data;
    text[size] = '\0'; /* there is memory for it */
    const size_t blank = strspn(text, " \t\r\n");
    if (size >= 4 && memcmp(text, "\211HDF", 4) == 0)
        status = read_h5(path, data, size, out);
    else if (text[blank] == '{')
        status = read_json_file(path, text, size, out);
    else if (!size)
        status = MST_FAIL(MST_CORRUPT, "'%s': is empty: save the model again", path);
    else
        status =
            MST_FAIL(MST_CORRUPT,
                     "'%s': is no model of Keras, neither .keras nor .h5 nor JSON, and none of ONNX: it is damaged, "
                     "or another file: save the model again",
                     path);
    free(data);
    return status;
}
