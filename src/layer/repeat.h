/** Layers that repeat the elements of axes. */
#ifndef MUSTER_LAYER_REPEAT_H
#define MUSTER_LAYER_REPEAT_H

#include "layer/type.h"

/** Source 0 of CALL, which is of FORM, with each element along axis k + 1 SIZE[k] times, one after the other, for
 *  NUM_AXES (at most 3) axes, whose dimensions must be known. */
mst_value mst_repeat_axes(const mst_layer_call *call, const char *form, const int32_t *size, int num_axes);

#endif
