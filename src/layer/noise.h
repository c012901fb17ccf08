/** What layers that change values at random in training have in common: a shape in which numbers are drawn. */
#ifndef MUSTER_LAYER_NOISE_H
#define MUSTER_LAYER_NOISE_H

#include "layer/type.h"

/** Refuses a NOISE_SHAPE, an option of the layer TYPE NAME, with a dimension that is neither -1 nor at least 1. */
MST_CHECKED mst_status mst_noise_check(const mst_shape *noise_shape, const char *type, const char *name);
/** A value of the source's dtype and of NOISE_SHAPE. Dimensions of -1 are those of the source, the others are 1 or
 *  equal to them. Without dimensions, it has the source's shape. Its elements do not matter. An error value if
 *  NOISE_SHAPE does not fit the source. */
mst_value mst_noise_like(const mst_layer_call *call, const mst_shape *noise_shape);
/** A value of NOISE_SHAPE: each element is 0 with the probability RATE, else 1 / (1 - RATE). SEED as of mst_dropout. */
mst_value mst_noise_mask(const mst_layer_call *call, float rate, uint64_t seed, const mst_shape *noise_shape);
/** The source of a layer of spatial dropout: [n, ..., channels] with NDIM dimensions, of which in training whole
 *  channels of an example are 0. */
mst_value mst_noise_channels(const mst_layer_call *call, float rate, uint64_t seed, int ndim, const char *form);

#endif
