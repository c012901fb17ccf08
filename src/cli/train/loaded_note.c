#include "cli/train/loaded_note.h"

#include <string.h>

#include "cli/train/train_data.h"

typedef struct noted_option {
    const char *name;
    const char *kind; /* of the data that it is for: the beginning of a spec; NULL: any */
    bool of_layers;   /* it decides which layers there are */
} noted_option;

static const noted_option taken[] = {
    {"label", "csv:", false},
    {"sample-weight", "csv:", false},
    {"delimiter", "csv:", false},
    {"comment", "csv:", false},
    {"no-header", "csv:", false},
    {"encoding", NULL, false},
    {"drop", "csv:", false},
    {"categories", "csv:", false},
    {"missing", "csv:", true},
    {"decimal", "csv:", false},
    {"thousands", "csv:", false},
    {"dates", "csv:", false},
    {"text", "csv:", false},
    {"raw-columns", "csv:", true},
    {"embed-above", "csv:", true},
    {"max-tokens", NULL, false},
    {"sequence-length", NULL, false},
    {"pad", NULL, false},
    {"model", NULL, true},
    {"hidden-units", NULL, true},
    {"activation", NULL, true},
    {"classes", NULL, true},
    {"loss", NULL, true},
    {"raw-pixels", NULL, false},
};

static bool is_same_kind(const char *a, const char *b) {
    const size_t size = strcspn(a, ":");
    return size == strcspn(b, ":") && strncmp(a, b, size) == 0;
}

static bool is_of_kind(const char *spec, const char *kind) {
    return !kind || strncmp(spec, kind, strlen(kind)) == 0;
}

/* Takes what STORE notes. Texts of options point into the note, which T keeps. */
static mst_status take_note(training *t, train_options *o, option_list *list, mst_store *store, bool with_layers) {
    model_note *note = &t->loaded;
    MST_TRY(model_note_read(store, note));
    if (!note->data) return MST_OK;
    if (!option_given(list, "data") && !option_given(list, "data-dir")) t->data = note->data;
    if (!is_same_kind(t->data, note->data)) return MST_OK;
    if (!option_given(list, "image-size")) o->image_size = note->image_size;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        const char *text = json_string_value(json_object_get(note->options, taken[i].name));
        if (!text || option_given(list, taken[i].name) || (taken[i].of_layers && !with_layers)) continue;
        if (is_of_kind(t->data, taken[i].kind)) MST_TRY(options_set(list, taken[i].name, text, 0, o));
    }
    return MST_OK;
}

mst_status loaded_note_take(training *t, train_options *o, option_list *list) {
    mst_store *store;
    mst_restored where = {.path = NULL};
    if (!o->load || network_file_is(o->load) || network_file_is(o->model)) return MST_OK;
    MST_TRY(mst_store_create(&store));
    const bool failed = mst_checkpoint_restore(o->load, store, NULL, &where) != MST_OK;
    const mst_status status = failed ? MST_OK : take_note(t, o, list, store, true);
    mst_restored_free(&where);
    mst_store_release(store);
    return status ? mst_error_prefix("'%s'", o->load) : MST_OK;
}

mst_status loaded_note_take_data(training *t, train_options *o, option_list *list) {
    if (!t->network || t->network != o->load) return MST_OK;
    return take_note(t, o, list, mst_model_store(t->model), false) ? mst_error_prefix("'%s'", o->load) : MST_OK;
}
