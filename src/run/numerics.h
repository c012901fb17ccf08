/** The error of check_numerics (muster/session.h). */
#ifndef MUSTER_RUN_NUMERICS_H
#define MUSTER_RUN_NUMERICS_H

#include "plan/plan.h"

/** Sets and returns the error MST_NUMERICS: the node of VALUE made a NaN or Inf or, if it is a variable, holds one.
 *  STEP is the step in which the NaN or Inf was found. */
MST_CHECKED mst_status mst_numerics_fail(const mst_plan *plan, int32_t value, const mst_step *step);

#endif
