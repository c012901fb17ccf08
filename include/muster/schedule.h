/** Learning-rate schedules: functions of the global step, computed in the graph in f32 as TensorFlow does.
 *
 *  The step is the number of updates made before this one: 0 for the first. A schedule is a plain value:
 *
 *      mst_sgd(.schedule = mst_exponential_decay(.rate = 0.1, .decay_rate = 0.99, .decay_steps = 600))
 *
 *  The kinds with their formulas (the enum mst_schedule_kind) and the macro of each are in muster/schedules.h. Setting
 *  a member that the kind does not have is an error, MST_INVALID.
 */
#ifndef MUSTER_SCHEDULE_H
#define MUSTER_SCHEDULE_H

#include "muster/op.h"
#include "muster/schedules.h"

#ifdef __cplusplus
extern "C" {
#endif

#define MST_SCHEDULE_PIECES 16

typedef struct mst_schedule {
    int zero_;
    mst_schedule_kind kind;
    double rate;                           /**< initial learning rate; all kinds except piecewise */
    double decay_rate;                     /**< exponential, inverse time */
    int64_t decay_steps;                   /**< all kinds except piecewise */
    bool staircase;                        /**< exponential, inverse time */
    double end;                            /**< polynomial: default 0.0001; MST_ZERO for 0 */
    double power;                          /**< polynomial: default 1 */
    bool cycle;                            /**< polynomial */
    double alpha;                          /**< cosine: the final rate as a fraction of `rate`, default 0 */
    int num_pieces;                        /**< piecewise: number of values */
    int64_t boundary[MST_SCHEDULE_PIECES]; /**< num_pieces - 1 steps, ascending */
    double value[MST_SCHEDULE_PIECES];
    /** The first steps rise linearly from warmup_from to rate (piecewise: to the first value):
     *  warmup_from + (rate - warmup_from) * step / warmup_steps. The schedule starts after them, at its step 0. */
    int64_t warmup_steps;
    double warmup_from;
} mst_schedule;

/** Whether the schedule decides the learning rate: it has a kind or a warm-up. */
MST_API bool mst_schedule_is_set(const mst_schedule *schedule);
/** Whether decay_steps is the end of the decay, as with cosine: after it the rate is constant (except with `cycle`). */
MST_API bool mst_schedule_ends(mst_schedule_kind kind);
/** MST_INVALID, naming the member, if one is missing or out of range. */
MST_API MST_CHECKED mst_status mst_schedule_check(const mst_schedule *schedule);
/** The learning rate of step STEP (i64 scalar) as a f32 scalar of GRAPH. A schedule that mst_schedule_check refuses
 *  makes an error value. */
MST_API mst_value mst_schedule_value(mst_graph *graph, const mst_schedule *schedule, mst_value step);
/** As mst_schedule_value, computed at once and in double precision, for logs and tests. SCHEDULE must be valid. */
MST_API double mst_schedule_at(const mst_schedule *schedule, int64_t step);

/** "none", "exponential", ..., by mst_schedule_kind; ended by NULL. */
MST_API extern const char *const mst_schedule_names[];
/** The members of mst_schedule except boundary and value, with ranges and defaults. */
MST_API extern const mst_field mst_schedule_fields[];

#ifdef __cplusplus
}
#endif
#endif
