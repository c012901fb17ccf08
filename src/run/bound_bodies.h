/** Bodies of nodes with their addresses: what the kernels of scan and while run. */
#ifndef MUSTER_RUN_BOUND_BODIES_H
#define MUSTER_RUN_BOUND_BODIES_H

#include "run/backend.h"

/** Binds the bodies of NODE on DEVICE. WORKSPACE is the workspace of NODE. *OUT is the state of its kernel
 *  (mst_bound_bodies of op/control/loop.h). The caller frees it. */
MST_CHECKED mst_status mst_bound_bodies_create(const mst_binding *outer, const mst_plan_node *node, int device,
                                               char *workspace, void **out);
/** NULL is allowed. */
void mst_bound_bodies_free(void *bodies);

#endif
