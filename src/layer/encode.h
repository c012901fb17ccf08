/** Encodes numbers of categories as rows. It is the last step of several layers. */
#ifndef MUSTER_LAYER_ENCODE_H
#define MUSTER_LAYER_ENCODE_H

#include "layer/type.h"
#include "muster/layers.h"

/** Names of mst_output_mode, for fields. */
extern const char *const mst_output_mode_names[];

/** Encodes INDEX, i32 or i64 [n, ...], in the form of MODE, with DEPTH categories. A number that is negative or at
 *  least DEPTH belongs to no category. For INT, returns INDEX itself. */
mst_value mst_layer_encode(mst_value index, mst_output_mode mode, int64_t depth);

#endif
