#include "store/notes.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"

static mst_state_note *notes_find(const mst_state_notes *notes, const char *key) {
    for (int64_t i = 0; i < notes->count; i++)
        if (strcmp(notes->note[i].key, key) == 0) return &notes->note[i];
    return NULL;
}

static void drop(mst_state_notes *notes, mst_state_note *note) {
    free(note->key);
    mst_tensor_release(note->text);
    const int64_t after = notes->note + --notes->count - note;
    memmove(note, note + 1, (size_t)after * sizeof *note);
}

/* Sets the note KEY to TEXT, which is retained. */
static mst_status set(mst_state_notes *notes, const char *key, mst_tensor *text) {
    mst_state_note *note = notes_find(notes, key);
    if (!note) {
        mst_state_note *grown = realloc(notes->note, (size_t)(notes->count + 1) * sizeof *grown);
        if (!grown) return MST_NO_MEMORY("for a note");
        notes->note = grown;
        note = &grown[notes->count];
        *note = (mst_state_note){.key = strdup(key)};
        if (!note->key) return MST_NO_MEMORY("for a note");
        notes->count++;
    }
    mst_tensor_retain(text);
    mst_tensor_release(note->text);
    note->text = text;
    return MST_OK;
}

mst_status mst_state_notes_set(mst_state_notes *notes, const char *key, const char *text) {
    mst_tensor *copy;
    if (!text) {
        mst_state_note *note = notes_find(notes, key);
        if (note) drop(notes, note);
        return MST_OK;
    }
    MST_TRY(mst_tensor_copy(MST_U8, MST_SHAPE((int64_t)strlen(text) + 1), text, &copy));
    const mst_status status = set(notes, key, copy);
    mst_tensor_release(copy);
    return status;
}

const char *mst_state_notes_get(const mst_state_notes *notes, const char *key) {
    const mst_state_note *note = notes_find(notes, key);
    return note ? mst_tensor_data(note->text) : NULL;
}

mst_status mst_state_notes_copy_all(mst_state_notes *notes, const mst_state_notes *from) {
    for (int64_t i = 0; i < from->count; i++) MST_TRY(set(notes, from->note[i].key, from->note[i].text));
    return MST_OK;
}

void mst_state_notes_free(mst_state_notes *notes) {
    while (notes->count) drop(notes, &notes->note[notes->count - 1]);
    free(notes->note);
    *notes = (mst_state_notes){0};
}
