/** One kind of schedule. Each file of this folder except learning_rate.c defines one, with its formula twice: as graph
 *  and as number. The functions are called with all defaults filled in. From these files the build makes the enum
 *  mst_schedule_kind (muster/schedules.h), mst_schedule_names and the table below. */
#ifndef MUSTER_SCHEDULE_SCHEDULE_H
#define MUSTER_SCHEDULE_SCHEDULE_H

#include "muster/ops.h"
#include "muster/schedule.h"

#define MST_SCHEDULE_TAKES 6

typedef struct mst_schedule_form {
    const char *takes[MST_SCHEDULE_TAKES]; /**< members of mst_schedule that this kind takes and not all
                                                kinds do; ended by NULL */
    /** The decay ends after decay_steps. If --decay-steps is not given, the command sets it to the number of steps
     *  after the warm-up. */
    bool ends;
    /** Checks what the formula needs beyond the ranges of mst_schedule_fields; may be NULL. */
    mst_status (*check)(const mst_schedule *schedule);
    /** The learning rate of STEP. STEP is an i64 scalar, not negative; the result is an f32 scalar. */
    mst_value (*value)(mst_graph *graph, const mst_schedule *schedule, mst_value step);
    /** As `value`, computed at once in double precision. */
    double (*at)(const mst_schedule *schedule, int64_t step);
    /** The learning rate of step 0 of the formula, at which a warm-up ends. */
    double (*first)(const mst_schedule *schedule);
} mst_schedule_form;

/** All schedules, by mst_schedule_kind. */
extern const mst_schedule_form *const mst_schedule_table[];

/** The `check` of most kinds: rate above 0 and decay_steps of at least 1. */
mst_status mst_schedule_want_decay(const mst_schedule *schedule);
/** `first` of most kinds: rate. */
double mst_schedule_rate(const mst_schedule *schedule);
/** An f32 constant. */
mst_value mst_schedule_scalar(mst_graph *graph, double value);
/** step / decay_steps in f32; with staircase rounded down. */
mst_value mst_schedule_quotient(mst_graph *graph, const mst_schedule *schedule, mst_value step);
/** As mst_schedule_quotient, as a double. */
double mst_schedule_quotient_at(const mst_schedule *schedule, int64_t step);

#endif
