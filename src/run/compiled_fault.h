/** Errors that programs of devices that compile have found themselves (plan/compiled.h). */
#ifndef MUSTER_RUN_COMPILED_FAULT_H
#define MUSTER_RUN_COMPILED_FAULT_H

#include "run/frame.h"

/** The error of NODE, a compiled node, which a device has run in FRAME: WORD is its word of faults, not 0. Sets FAILED
 *  to the node of the program that has failed. */
MST_CHECKED mst_status mst_compiled_fail(const mst_frame *frame, int32_t node, int32_t word, int32_t *failed);

#endif
