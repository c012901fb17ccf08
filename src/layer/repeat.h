/** Layers that repeat the elements of axes. */
#ifndef MUSTER_LAYER_REPEAT_H
#define MUSTER_LAYER_REPEAT_H

#include "layer/type.h"

/** Source 0 of CALL, with each element along axis k + 1 repeated SIZE[k] times in a row. There are NUM_AXES such axes,
 *  at most 3, whose dimensions must be known. FORM names the dimensions of the source in errors, such as
 *  "[n, steps, channels]". */
mst_value mst_repeat_axes(const mst_layer_call *call, const char *form, const int32_t *size, int num_axes);

#endif
