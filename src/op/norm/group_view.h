/** The op group_view. */
#ifndef MUSTER_OP_GROUP_VIEW_H
#define MUSTER_OP_GROUP_VIEW_H

#include "muster/op.h"

mst_value mst_group_view(mst_value src, int32_t groups);

#endif
