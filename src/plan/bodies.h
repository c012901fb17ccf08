/** The plans of bodies. A body is a graph that is an option of a node, such as the step of a scan. The node has a plan
 *  for each of its bodies, and its kernel runs these plans.
 *
 *  A body is planned like any graph, on the device of its node alone. Its inputs are fed. Only outputs that some node
 *  needs are fetched. The memory of the body is a part of the node's workspace. */
#ifndef MUSTER_PLAN_BODIES_H
#define MUSTER_PLAN_BODIES_H

#include "plan/plan.h"

struct mst_plan_body {
    mst_plan *plan;
    int32_t *output; /**< by fetch of the plan: the number of the body's output that it fetches */
    size_t offset;   /**< offset of the body's memory in the node's workspace */
    /* host and options with which the plan is made */
    mst_plan_host host;
    mst_session_options options;
    mst_devices devices;
    mst_device device;
};

/** Makes the plans of NODE's bodies, and adds their memory to NODE's workspace. Outputs of NODE without uses are not
 *  computed, so mst_plan_sweep must have counted the uses of values before. */
MST_CHECKED mst_status mst_plan_make_bodies(mst_plan *plan, mst_plan_node *node);
void mst_plan_destroy_bodies(mst_plan_node *node);

#endif
