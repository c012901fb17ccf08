/** Functions of the layers that change values at random in training. Numbers are drawn in the shape `noise_shape`, and
 *  broadcast to the source. */
#ifndef MUSTER_LAYER_NOISE_H
#define MUSTER_LAYER_NOISE_H

#include "layer/type.h"

/** MST_INVALID unless each dimension of NOISE_SHAPE, an option of the layer NAME of type TYPE, is -1 or at least 1. */
MST_CHECKED mst_status mst_noise_check(const mst_shape *noise_shape, const char *type, const char *name);
/** A value with the source's dtype and the shape NOISE_SHAPE; its elements have no meaning. A dimension of -1 becomes
 *  that of the source; any other must be 1 or equal to that of the source. A NOISE_SHAPE without dimensions stands for
 *  the source's shape. An error value if NOISE_SHAPE does not fit the source. */
mst_value mst_noise_like(const mst_layer_call *call, const mst_shape *noise_shape);
/** A value of NOISE_SHAPE: each element is 0 with the probability RATE, else 1 / (1 - RATE). SEED as of mst_dropout. */
mst_value mst_noise_mask(const mst_layer_call *call, float rate, uint64_t seed, const mst_shape *noise_shape);
/** The output of a layer of spatial dropout. In training, each channel of each example is multiplied by 0, with the
 *  probability RATE, or by 1 / (1 - RATE); otherwise the output is the source. The source must have NDIM dimensions,
 *  [n, ..., channels]. FORM names these dimensions in errors. */
mst_value mst_noise_channels(const mst_layer_call *call, float rate, uint64_t seed, int ndim, const char *form);

#endif
