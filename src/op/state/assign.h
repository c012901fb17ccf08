/** Functions that assign, assign_add and assign_sub share; defined in assign.c. */
#ifndef MUSTER_OP_ASSIGN_H
#define MUSTER_OP_ASSIGN_H

#include "muster/op.h"

/** Checks that the variable, source 0, and the value, source 1, have the same dtype, which the op must list, and the
 *  same shape. Infers output 0, which is like them. */
MST_CHECKED mst_status mst_assign_infer(mst_infer *c);
/** True for source 0, the variable: the `writes` of an op. */
bool mst_assign_writes(const void *options, int num_src, int i);

#endif
