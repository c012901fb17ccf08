/** [n, ...] as [n, features]: what dense and flatten make of their source. */
#ifndef MUSTER_LAYER_ROWS_H
#define MUSTER_LAYER_ROWS_H

#include "layer/type.h"

/** The product of all dimensions of source 0 but the first; an error, naming the layer, where there is only one
 *  dimension or the product is not known, 0 or too large. */
MST_CHECKED mst_status mst_row_features(const mst_layer_call *call, int64_t *features);
/** X as [n, features]; its features are known. */
mst_value mst_as_rows(mst_value x, int64_t features);

#endif
