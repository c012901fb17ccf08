/** The plans of bodies: a node with bodies (scan, while) has a plan for each, which its kernel runs step by step.
 *
 *  A body is planned as a graph is, on the device of its node alone; its inputs are fed, and those of its outputs that
 *  somebody needs are fetched. Its memory is a part of the node's workspace. */
#ifndef MUSTER_PLAN_BODIES_H
#define MUSTER_PLAN_BODIES_H

#include "plan/plan.h"

struct mst_plan_body {
    mst_plan *plan;
    int32_t *output; /**< by fetch of the plan: the output of the body that it is */
    size_t offset;   /**< of its memory in the workspace of the node */
    /* of the plan */
    mst_plan_host host;
    mst_session_options options;
    mst_devices devices;
    mst_device device;
};

/** Makes the plans of NODE's bodies, adds what they need to its workspace, and leaves out those of its outputs that
 *  nobody needs. The uses of values must have been counted. */
MST_CHECKED mst_status mst_plan_make_bodies(mst_plan *plan, mst_plan_node *node);
void mst_plan_destroy_bodies(mst_plan_node *node);

#endif
