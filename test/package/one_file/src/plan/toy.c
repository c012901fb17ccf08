/* toy: changes nothing. */
#include "plan/plan.h"

mst_status mst_plan_toy(mst_plan *plan) {
    (void)plan;
    return MST_OK;
}
