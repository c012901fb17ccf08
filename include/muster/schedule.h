/** Learning-rate schedules: functions of the global step, computed in the graph in f32 as TensorFlow does.
 *
 *  The step is the number of updates made before this one: 0 for the first.
 */
#ifndef MUSTER_SCHEDULE_H
#define MUSTER_SCHEDULE_H

#include "muster/op.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mst_schedule_kind {
    MST_SCHEDULE_NONE = 0,
    MST_SCHEDULE_EXPONENTIAL,  /**< rate * decay_rate^(step / decay_steps), quotient floored with staircase */
    MST_SCHEDULE_PIECEWISE,    /**< value[i] for the first i with step <= boundary[i], else the last value */
    MST_SCHEDULE_POLYNOMIAL,   /**< (rate - end) * (1 - min(step, n)/n)^power + end; with cycle n grows */
    MST_SCHEDULE_INVERSE_TIME, /**< rate / (1 + decay_rate * step / decay_steps), quotient floored with staircase */
    MST_SCHEDULE_COSINE        /**< rate * ((1 - alpha) * (1 + cos(pi * min(step, n)/n)) / 2 + alpha) */
} mst_schedule_kind;

#define MST_SCHEDULE_PIECES 16

typedef struct mst_schedule {
    int zero_;
    mst_schedule_kind kind;
    double rate; /**< initial learning rate */
    double decay_rate;
    int64_t decay_steps;
    bool staircase;
    double end;                            /**< polynomial: default 0.0001 */
    double power;                          /**< polynomial: default 1 */
    bool cycle;                            /**< polynomial */
    double alpha;                          /**< cosine: fraction of rate that stays, default 0 */
    int num_pieces;                        /**< piecewise: number of values */
    int64_t boundary[MST_SCHEDULE_PIECES]; /**< num_pieces - 1 steps, ascending */
    double value[MST_SCHEDULE_PIECES];
    int64_t warmup_steps; /**< the first steps rise linearly from warmup_from; the schedule starts after them */
    double warmup_from;
} mst_schedule;

#define mst_exponential_decay(...) ((mst_schedule){.kind = MST_SCHEDULE_EXPONENTIAL, .zero_ = 0, __VA_ARGS__})

#ifdef __cplusplus
}
#endif
#endif
