/** Functions that layer_norm and its gradient share. */
#ifndef MUSTER_OP_LAYER_NORM_H
#define MUSTER_OP_LAYER_NORM_H

#include "op/norm/groups.h"

extern const mst_field mst_layer_norm_fields[];

/** Checks source 0, which must have floats, and source 1, gamma. If LIKE_GAMMA is not 0, source LIKE_GAMMA must be like
 *  gamma. Infers outputs 0 to 2: like source 0, [..., 1] (a statistic), like gamma. */
MST_CHECKED mst_status mst_layer_norm_infer(mst_infer *c, int like_gamma);
/** The shape [outer, rows, groups, inner] as which the kernels see a source of shape SRC (op/norm/groups.h). */
mst_norm_groups mst_layer_norm_view(const mst_shape *src, const mst_shape *gamma);

#endif
