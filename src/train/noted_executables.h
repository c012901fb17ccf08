/** The executables of a fit: the compiled programs of devices that compile. Their hashes are kept as a note of the
 *  store (MST_NOTE_EXECUTABLES), and therefore in checkpoints and in the state that other tasks get. A fit that is
 *  resumed warns if its executables differ from the noted ones, since the last bits of its weights may then differ. The
 *  note is only for this comparison: no executable is loaded by it.
 *
 *  The note has a sorted line for each executable, with three hashes of 64 hexadecimal digits: of its source, of its
 *  source without the program's text, and of its bytes (run/executable_record.h). There is no note if there are no
 *  executables. The executables are recorded for the whole process, so the note may include programs of other
 *  models. */
#ifndef MUSTER_TRAIN_NOTED_EXECUTABLES_H
#define MUSTER_TRAIN_NOTED_EXECUTABLES_H

#include <stdio.h>

#include "muster/store.h"
#include "run/executable_record.h"

/** The executables that a fit has noted. Zero-initialised before the fit. */
typedef struct mst_noted_executables {
    mst_used_executable *before; /**< executables of the fit that is resumed, sorted; NULL: none */
    int num_before;
    uint64_t num_uses; /**< mst_executables_num_uses when the note was last set */
    bool has_begun;    /**< the first step was made */
    bool has_warned;
} mst_noted_executables;

void mst_noted_executables_free(mst_noted_executables *x);
/** Sets the note in STORE, if executables were made since the last call. Call it after each step. RESUMES: the fit
 *  resumes another one; the first call then first reads the old note. Warns at most once, on WARNINGS, which may be
 *  NULL. */
MST_CHECKED mst_status mst_noted_executables_step(mst_noted_executables *x, mst_store *store, bool resumes,
                                                  FILE *warnings);

#endif
