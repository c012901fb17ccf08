#include "cli/train/loaded_note.h"

#include <string.h>

#include "cli/spec_kind.h"

/* How data is read. Data of the same kind as in the noted training takes the options that were given there. */
static const char *const of_data[] = {
    "label",      "sample-weight",   "delimiter", "comment",    "no-header", "encoding",
    "drop",       "categories",      "decimal",   "thousands",  "dates",     "text",
    "max-tokens", "sequence-length", "pad",       "raw-pixels", "pixels",    NULL,
};

/* Which layers there are, among them those of the columns of a table. */
static const char *const of_layers[] = {
    "missing", "raw-columns", "embed-above", "model", "hidden-units", "activation", "classes", "loss", NULL,
};

/* Whether NAME, or another name for the same, was given. */
static bool is_given(const option_list *list, const char *name) {
    const bool pixels = strcmp(name, "pixels") == 0 || strcmp(name, "raw-pixels") == 0;
    if (pixels) return option_given(list, "pixels") || option_given(list, "raw-pixels");
    return option_given(list, name);
}

/* Sets the options of NAMES that were not given to the values in NOTE. */
static mst_status take_options(const model_note *note, const char *const *names, option_list *list, train_options *o) {
    for (int i = 0; names[i]; i++) {
        const char *text = model_note_option(note, names[i]);
        if (text && !is_given(list, names[i])) MST_TRY(options_set(list, names[i], text, 0, o));
    }
    return MST_OK;
}

/* Takes what STORE notes. Texts of options point into the note, which T keeps. */
static mst_status take_note(training *t, train_options *o, option_list *list, mst_store *store, bool with_layers) {
    model_note *note = &t->loaded;
    MST_TRY(model_note_read(store, note));
    if (!note->data) return MST_OK;
    if (!option_given(list, "data") && !option_given(list, "data-dir")) t->data = note->data;
    if (!spec_same_kind(t->data, note->data)) return MST_OK;
    if (!option_given(list, "image-size")) o->image_size = note->image_size;
    MST_TRY(take_options(note, of_data, list, o));
    /* which no option named where the training took them from the network's name */
    if (note->pixels && !is_given(list, "pixels")) MST_TRY(options_set(list, "pixels", note->pixels, 0, o));
    return with_layers ? take_options(note, of_layers, list, o) : MST_OK;
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
