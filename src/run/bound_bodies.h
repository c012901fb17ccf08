/** Bodies of nodes with their addresses: what the kernels of scan and while run. */
#ifndef MUSTER_RUN_BOUND_BODIES_H
#define MUSTER_RUN_BOUND_BODIES_H

#include "run/backend.h"

/** Binds the bodies of NODE, whose workspace is WORKSPACE, on DEVICE. *OUT is the state of its kernel (mst_bound_bodies
 *  of op/control/loop.h), for the caller to free. */
MST_CHECKED mst_status mst_bound_bodies_create(const mst_binding *outer, const mst_plan_node *node, int device,
                                               char *workspace, void **out);
/** NULL is allowed. */
void mst_bound_bodies_free(void *bodies);

#endif
