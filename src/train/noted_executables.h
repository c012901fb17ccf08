/** The executables of a fit: the compiled programs of devices that compile. They are a note of the store
 *  (MST_NOTE_EXECUTABLES), so checkpoints have it, and so does the state that other tasks get. A fit that is resumed
 *  warns if its programs have other bytes now, since its weights may then differ in a bit. Nothing is loaded because of
 *  the note.
 *
 *  The note has a line for each executable, sorted, of three hashes of 64 hexadecimal digits: that of its source, that
 *  of its source without the text, and that of its bytes (run/executable_record.h). There is no note if there are no
 *  executables. The record is one of the process, so the note may name programs of other models too. */
#ifndef MUSTER_TRAIN_NOTED_EXECUTABLES_H
#define MUSTER_TRAIN_NOTED_EXECUTABLES_H

#include <stdio.h>

#include "muster/store.h"
#include "run/executable_record.h"

/** What a fit knows of them. Zero-initialised, it is at its beginning. */
typedef struct mst_noted_executables {
    mst_used_executable *before; /**< those of the fit that is resumed, sorted; NULL: none */
    int num_before;
    uint64_t num_uses; /**< mst_executables_num_uses when the note was last set */
    bool has_begun;    /**< the first step was made */
    bool has_warned;
} mst_noted_executables;

void mst_noted_executables_free(mst_noted_executables *x);
/** Sets the note in STORE, if executables were made since the last call. Call it after each step. The first call reads
 *  the note before if the fit RESUMES another one. Warns once on WARNINGS, which may be NULL. */
MST_CHECKED mst_status mst_noted_executables_step(mst_noted_executables *x, mst_store *store, bool resumes,
                                                  FILE *warnings);

#endif
