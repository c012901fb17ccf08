/** Moving averages of weights (ema_decay), after any rule:
 *
 *    average -= rest * (average - w)     rest = 1 - ema_decay, or more in the first steps (ema_num_updates)
 *
 *  Where in a step: docs/the-update.md. */
#ifndef MUSTER_RULE_MOVING_AVERAGE_H
#define MUSTER_RULE_MOVING_AVERAGE_H

#include <stdint.h>

#include "muster/optimizer.h"

/** `rest` of the update after STEP others, rounded to f32 whatever the dtype, as tf.train.ExponentialMovingAverage:
 *  1 - 0.9999 is 1.00017e-4 then, which shows. */
double mst_moving_average_rest(const mst_optimizer *optimizer, int64_t step);

void mst_moving_average_f32(float *restrict average, const float *restrict w, float rest, int64_t count);
void mst_moving_average_f64(double *restrict average, const double *restrict w, double rest, int64_t count);

#endif
