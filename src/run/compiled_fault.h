/** Errors that compiled programs detect while they run. A program reports them by a number, its word of faults
 *  (plan/compiled.h). */
#ifndef MUSTER_RUN_COMPILED_FAULT_H
#define MUSTER_RUN_COMPILED_FAULT_H

#include "run/frame.h"

/** Sets and returns the error of NODE, a compiled node that a device has run in FRAME. WORD is the word of faults of
 *  the program, not 0. *FAILED is the node of the plan that failed: one that the program replaced, or a variable. */
MST_CHECKED mst_status mst_compiled_fail(const mst_frame *frame, int32_t node, int32_t word, int32_t *failed);

#endif
