/** Notes: short texts by key, which a store keeps beside its entries, for example what a model was trained for. */
#ifndef MUSTER_STORE_NOTES_H
#define MUSTER_STORE_NOTES_H

#include "muster/tensor.h"

typedef struct mst_state_note {
    char *key;
    mst_tensor *text; /**< u8, ends with a 0; never changes, because a store and its snapshots share it */
} mst_state_note;

/** A few notes, in the order in which they were first set. All zeros: empty. */
typedef struct mst_state_notes {
    mst_state_note *note;
    int64_t count;
} mst_state_notes;

/** Sets the note KEY to TEXT, which is copied; NULL removes it. */
MST_CHECKED mst_status mst_state_notes_set(mst_state_notes *notes, const char *key, const char *text);
/** The text of KEY, or NULL. */
const char *mst_state_notes_get(const mst_state_notes *notes, const char *key);
/** Sets all notes of FROM in NOTES. */
MST_CHECKED mst_status mst_state_notes_copy_all(mst_state_notes *notes, const mst_state_notes *from);
void mst_state_notes_free(mst_state_notes *notes);

#endif
