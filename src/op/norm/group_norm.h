/** What group_norm and its gradient share. */
#ifndef MUSTER_OP_GROUP_NORM_H
#define MUSTER_OP_GROUP_NORM_H

#include "op/norm/groups.h"

extern const mst_field mst_group_norm_fields[];

/** Source 0, [n, ..., channels], and source 1, gamma; source LIKE_GAMMA, if it is not 0, is like gamma. The first
 *  three outputs become like source 0, a statistic and gamma. */
MST_CHECKED mst_status mst_group_norm_infer(mst_infer *c, int like_gamma);
mst_norm_groups mst_group_norm_view(const mst_shape *src, const mst_group_norm_options *options);

#endif
