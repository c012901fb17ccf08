#include "cli/model/model_note.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/no_memory.h"
#include "cli/json_events.h"

static const char key[] = "muster/train";

static void add_text(json_t **note, const char *name, const char *text) {
    if (text) json_add(note, "", name, json_text(text));
}

/* The texts of LIST as an array; NULL if LIST is NULL. */
static json_t *text_array(const char *const *list) {
    json_t *array = list ? json_array() : NULL;
    for (; list && *list; list++) json_array_append_new(array, json_text(*list));
    return array;
}

void model_note_add_output(json_t *outputs, const char *output, const mst_output_loss *loss,
                           const char *const *classes) {
    json_t *object = json_object();
    json_add(&object, "", "output", json_string(output));
    json_add(&object, "", "loss", json_string(mst_loss_name(loss->loss)));
    json_add(&object, "", "weight", json_real(loss->weight));
    if (loss->from_probabilities) json_add(&object, "", "from_probabilities", json_true());
    if (classes) json_add(&object, "", "classes", text_array(classes));
    json_array_append_new(outputs, object);
}

mst_output_loss model_note_output(const model_note *note, const char *output) {
    mst_output_loss loss = {.has_loss = false};
    size_t i;
    const json_t *object;
    json_array_foreach(note->outputs, i, object) {
        const char *name = json_string_value(json_object_get(object, "output"));
        const char *of = json_string_value(json_object_get(object, "loss"));
        if (!name || strcmp(name, output) != 0 || !of || mst_loss_from_name(of, &loss.loss)) continue;
        loss.has_loss = true;
        loss.from_probabilities = json_is_true(json_object_get(object, "from_probabilities"));
        loss.weight = json_number_value(json_object_get(object, "weight"));
    }
    return loss;
}

const char *model_note_option(const model_note *note, const char *name) {
    return json_string_value(json_object_get(note->options, name));
}

/* Adds a boolean for each input up to the last one that is divided; adds nothing if none is. */
static void add_divided(json_t **json, const bool *divided) {
    json_t *all = json_array();
    int count = MST_MAX_TARGETS;
    while (count > 0 && !divided[count - 1]) count--;
    for (int i = 0; i < count; i++) json_array_append_new(all, json_boolean(divided[i]));
    if (count)
        json_add(json, "", "divides_pixels", all);
    else
        json_decref(all);
}

mst_status model_note_write(const model_note *note, mst_store *store) {
    json_t *json = json_object();
    add_text(&json, "loss", note->loss);
    if (note->outputs) json_add(&json, "", "outputs", json_incref(note->outputs));
    if (note->classes) json_add(&json, "", "classes", text_array(note->classes));
    json_t *data = note->data ? json_string(note->data) : NULL; /* also NULL, and left out, if it is not UTF-8 */
    if (data) json_add(&json, "", "data", data);
    add_text(&json, "schema", note->schema);
    add_text(&json, "network", note->network);
    if (note->from_probabilities) json_add(&json, "", "from_probabilities", json_true());
    if (note->image_size) json_add(&json, "", "image_size", json_integer(note->image_size));
    if (note->raw_pixels) json_add(&json, "", "raw_pixels", json_true());
    add_text(&json, "pixels", note->pixels);
    add_divided(&json, note->divides_pixels);
    if (note->encodes_columns) json_add(&json, "", "encodes_columns", json_true());
    if (note->options) json_add(&json, "", "options", json_incref(note->options));
    char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
    json_decref(json);
    if (!text) return MST_NO_MEMORY("for what is noted of the model");
    const mst_status status = mst_store_set_note(store, key, text);
    free(text);
    return status;
}

/* Reads the names in LIST, an array. *OUT is NULL if there are none. */
static mst_status read_names(const json_t *list, class_names *out) {
    const size_t n = json_array_size(list);
    const char **name = n ? malloc(n * sizeof *name) : NULL;
    if (n && !name) return MST_NO_MEMORY("for the names of classes");
    mst_status status = MST_OK;
    for (size_t i = 0; i < n && !status; i++)
        if (!(name[i] = json_string_value(json_array_get(list, i))))
            status = MST_FAIL(MST_CORRUPT, "what is noted of the model is damaged: class %zu has no name", i);
    if (n && !status) status = class_names_copy(name, (int64_t)n, out);
    free(name);
    return status;
}

mst_status model_note_output_names(const model_note *note, const char *output, class_names *out) {
    size_t i;
    const json_t *object;
    *out = NULL;
    json_array_foreach(note->outputs, i, object) {
        const char *name = json_string_value(json_object_get(object, "output"));
        if (name && strcmp(name, output) == 0) return read_names(json_object_get(object, "classes"), out);
    }
    return MST_OK;
}

mst_status model_note_read(mst_store *store, model_note *out) {
    char *text;
    json_error_t error;
    *out = (model_note){.json = NULL};
    MST_TRY(mst_store_get_note(store, key, &text));
    if (!text) return MST_OK;
    out->json = mst_json_read_string(text, &error);
    free(text);
    if (!json_is_object(out->json))
        return MST_FAIL(MST_CORRUPT, "what is noted of the model is damaged: it is no JSON");
    out->loss = json_string_value(json_object_get(out->json, "loss"));
    out->outputs = json_object_get(out->json, "outputs");
    out->data = json_string_value(json_object_get(out->json, "data"));
    out->network = json_string_value(json_object_get(out->json, "network"));
    out->from_probabilities = json_is_true(json_object_get(out->json, "from_probabilities"));
    out->schema = json_string_value(json_object_get(out->json, "schema"));
    out->image_size = json_integer_value(json_object_get(out->json, "image_size"));
    out->encodes_columns = json_is_true(json_object_get(out->json, "encodes_columns"));
    const json_t *divided = json_object_get(out->json, "divides_pixels");
    for (size_t i = 0; i < MST_MAX_TARGETS; i++) out->divides_pixels[i] = json_is_true(json_array_get(divided, i));
    out->pixels = json_string_value(json_object_get(out->json, "pixels"));
    out->raw_pixels = json_is_true(json_object_get(out->json, "raw_pixels"));
    out->options = json_object_get(out->json, "options");
    MST_TRY(read_names(json_object_get(out->json, "classes"), &out->names));
    out->classes = (const char *const *)out->names;
    return MST_OK;
}

void model_note_free(model_note *note) {
    json_decref(note->json);
    free(note->names);
    *note = (model_note){.json = NULL};
}
