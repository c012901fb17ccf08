/** --precision of `muster train`, `evaluate` and `predict`. */
#ifndef MUSTER_CLI_PRECISION_H
#define MUSTER_CLI_PRECISION_H

#include "muster/tensor.h"

/** Names of precisions, for an option, NULL past the last; and what must be said of one, NULL: nothing. */
const char *precision_name(int i);
const char *precision_help(int i);
/** The precision of this name. MST_INVALID, which names those that there are, where there is none. */
MST_CHECKED mst_status precision_read(const char *name, mst_precision *out);
/** Prints a line where this processor computes in f32 what is WANTED in bf16. */
void precision_note(mst_precision wanted);

#endif
