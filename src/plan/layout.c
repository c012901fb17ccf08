/* layout: the place for memory layouts that kernels want, and reorders between them. Changes nothing yet. */
#include "plan/plan.h"

mst_status mst_plan_layout(mst_plan *plan) {
    (void)plan;
    return MST_OK;
}
