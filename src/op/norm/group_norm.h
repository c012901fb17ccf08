/** What group_norm and its gradient share. */
#ifndef MUSTER_OP_GROUP_NORM_H
#define MUSTER_OP_GROUP_NORM_H

#include "op/norm/groups.h"

extern const mst_field mst_group_norm_fields[];

/** Checks source 0, [n, ..., channels], and source 1, gamma. Source LIKE_GAMMA, if it is not 0, must be like gamma.
 *  Infers the first three outputs: like source 0, like a statistic, like gamma. */
MST_CHECKED mst_status mst_group_norm_infer(mst_infer *c, int like_gamma);
/** How a source of shape SRC is seen. */
mst_norm_groups mst_group_norm_view(const mst_shape *src, const mst_group_norm_options *options);

#endif
