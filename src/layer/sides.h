/** Padding and cropping of the axes between the first and the last one. Each of these one to three axes has two numbers
 *  of elements: those at its beginning and those at its end. */
#ifndef MUSTER_LAYER_SIDES_H
#define MUSTER_LAYER_SIDES_H

#include "layer/type.h"

/** An error unless SIDES, an option of a layer, is empty or has two numbers of at least 0 for each of NUM_AXES axes. */
MST_CHECKED mst_status mst_sides_check(const mst_axes *sides, int num_axes, const char *layer, const char *name);
/** Source 0 of CALL with the numbers of zeros in SIDES added before and after it along each of NUM_AXES axes. If SIDES
 *  is empty, the number of zeros on each side is ALL. */
mst_value mst_sides_pad(const mst_layer_call *call, int num_axes, const mst_axes *sides, int32_t all);
/** Source 0 with the same numbers of elements removed. */
mst_value mst_sides_crop(const mst_layer_call *call, int num_axes, const mst_axes *sides, int32_t all);

#endif
