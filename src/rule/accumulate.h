/** Gradient accumulation (gradient_accumulation_steps), before any rule. The gradients of several steps are added up.
 *  The last of these steps makes the update, from their mean. docs/the-update.md shows its place in a step. */
#ifndef MUSTER_RULE_ACCUMULATE_H
#define MUSTER_RULE_ACCUMULATE_H

#include <stdint.h>

#include "muster/hlo.h"
#include "muster/optimizer.h"

/** Name of the sum beside its variable, as in Keras. */
#define MST_ACCUMULATOR "gradient_accumulator"

/** Whether gradients are added up over several steps. */
bool mst_accumulates(const mst_optimizer *optimizer);
/** How many gradients a step averages for its update, if ADDED gradients were summed before it. 0: the step makes no
 *  update and only adds its gradient. The number exceeds gradient_accumulation_steps if the sum comes from a checkpoint
 *  and has more gradients. */
int64_t mst_accumulated_mean(const mst_optimizer *optimizer, int64_t added);
/** The number of updates that the first STEP steps have made. */
int64_t mst_accumulated_updates(const mst_optimizer *optimizer, int64_t step);

/** sum += gradient */
void mst_accumulate_f32(float *sum, const float *gradient, int64_t count);
void mst_accumulate_f64(double *sum, const double *gradient, int64_t count);
/** mean = (gradient + sum) / NUMBER; MEAN may be GRADIENT. */
void mst_take_mean_f32(float *mean, const float *gradient, const float *sum, float number, int64_t count);
void mst_take_mean_f64(double *mean, const double *gradient, const double *sum, double number, int64_t count);

/** The mean in StableHLO; NUMBER is a scalar of its dtype. */
mst_hlo mst_take_mean_lower(mst_lower *l, mst_hlo gradient, mst_hlo sum, mst_hlo number);

#endif
