/** Numbers of categories as rows, for layers whose last step this is. */
#ifndef MUSTER_LAYER_ENCODE_H
#define MUSTER_LAYER_ENCODE_H

#include "layer/type.h"
#include "muster/layers.h"

/** Names of mst_output_mode, for fields. */
extern const char *const mst_output_mode_names[];

/** INDEX, i32 or i64, [n, ...] with numbers below DEPTH, as MODE says; a number that is negative or at least DEPTH
 *  counts for no category. INT gives INDEX as it is. */
mst_value mst_layer_encode(mst_value index, mst_output_mode mode, int64_t depth);

#endif
