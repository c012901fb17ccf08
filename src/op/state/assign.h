/** What assign, assign_add and assign_sub share; defined in assign.c. */
#ifndef MUSTER_OP_ASSIGN_H
#define MUSTER_OP_ASSIGN_H

#include "muster/op.h"

/** Sources 0, the variable, and 1, the value, must have one listed dtype and one shape, which dst[0] gets. */
MST_CHECKED mst_status mst_assign_infer(mst_infer *c);
/** True for source 0, the variable: the `writes` of an op. */
bool mst_assign_writes(const void *options, int num_src, int i);

#endif
