/** Elements that layers add to both sides of the axes between the first and the last one, or take away: two numbers for
 *  each of one to three axes, for the beginning and for the end. */
#ifndef MUSTER_LAYER_SIDES_H
#define MUSTER_LAYER_SIDES_H

#include "layer/type.h"

/** An error unless SIDES, an option of a layer, has no numbers, or two for each of NUM_AXES, all at least 0. */
MST_CHECKED mst_status mst_sides_check(const mst_axes *sides, int num_axes, const char *layer, const char *name);
/** Source 0 of CALL with as many zeros before and after it along each of NUM_AXES as SIDES says. If SIDES has no
 *  numbers, ALL zeros on each side. */
mst_value mst_sides_pad(const mst_layer_call *call, int num_axes, const mst_axes *sides, int32_t all);
/** Source 0 without as many elements. */
mst_value mst_sides_crop(const mst_layer_call *call, int num_axes, const mst_axes *sides, int32_t all);

#endif
