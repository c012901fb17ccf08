/** Bodies of nodes (plan/bodies.h) with their addresses. The kernels of scan and while run them. */
#ifndef MUSTER_RUN_BOUND_BODIES_H
#define MUSTER_RUN_BOUND_BODIES_H

#include "run/backend.h"

/** Binds the bodies of NODE on DEVICE. OUTER is the binding of NODE's plan, WORKSPACE the workspace of NODE. *OUT is
 *  the state of NODE's kernel (mst_bound_bodies of op/control/loop.h). The caller frees it with
 *  mst_bound_bodies_free. */
MST_CHECKED mst_status mst_bound_bodies_create(const mst_binding *outer, const mst_plan_node *node, int device,
                                               char *workspace, void **out);
/** NULL is allowed. */
void mst_bound_bodies_free(void *bodies);

#endif
