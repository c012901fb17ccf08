/** Shape inference and kernel of the ops broadcast_to and broadcast_like. */
#ifndef MUSTER_OP_BROADCAST_H
#define MUSTER_OP_BROADCAST_H

#include "muster/op.h"

/** Infers output 0: source 0 broadcast to SHAPE. A dimension of SHAPE is -1 if it is not known yet. It then becomes the
 *  dimension of source 0 if that one is above 1, and stays -1 otherwise. Fails if source 0 does not broadcast to
 *  SHAPE. */
MST_CHECKED mst_status mst_broadcast_infer(mst_infer *c, const mst_shape *shape);
/** The kernel: repeats source 0 to the shape of output 0. */
mst_status mst_broadcast_copy(const mst_kernel_args *a);

#endif
