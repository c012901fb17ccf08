/** Moving averages of weights (ema_decay), after any rule:
 *
 *    average -= rest * (average - w)     rest = 1 - ema_decay, or more in the first steps (ema_num_updates)
 *
 *  docs/the-update.md shows its place in a step. */
#ifndef MUSTER_RULE_MOVING_AVERAGE_H
#define MUSTER_RULE_MOVING_AVERAGE_H

#include <stdint.h>

#include "muster/hlo.h"
#include "muster/optimizer.h"

/** `rest` of the update after STEP earlier updates. It is rounded to f32 for every dtype, as in
 *  tf.train.ExponentialMovingAverage: 1 - 0.9999 is then 1.00017e-4, which visibly changes the results. */
double mst_moving_average_rest(const mst_optimizer *optimizer, int64_t step);

void mst_moving_average_f32(float *restrict average, const float *restrict w, float rest, int64_t count);
void mst_moving_average_f64(double *restrict average, const double *restrict w, double rest, int64_t count);
/** The new average in StableHLO; REST is a scalar of its dtype. */
mst_hlo mst_moving_average_lower(mst_lower *l, mst_hlo average, mst_hlo w, mst_hlo rest);

#endif
