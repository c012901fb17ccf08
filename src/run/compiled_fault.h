/** Errors that programs of devices that compile have found themselves (plan/compiled.h). */
#ifndef MUSTER_RUN_COMPILED_FAULT_H
#define MUSTER_RUN_COMPILED_FAULT_H

#include "run/frame.h"

/** The error of NODE, a compiled node, which DEVICE has run in FRAME: WORD is its word of faults, not 0. Notes in
 *  frame->at which node of the program has failed. */
MST_CHECKED mst_status mst_compiled_fail(mst_frame *frame, int device, int32_t node, int32_t word);

#endif
