/** exponential: rate * decay_rate^(step / decay_steps); with staircase the quotient is rounded down */
#ifdef MST_SCHEDULE_HEADER
enum { MST_SCHEDULE_EXPONENTIAL = 1 };
#define mst_exponential_decay(...) MST_NAMED_WITH(mst_schedule, kind, MST_SCHEDULE_EXPONENTIAL, __VA_ARGS__)
#endif
#include <math.h>

#include "schedule/schedule.h"

static mst_status exponential_check(const mst_schedule *s) {
    MST_TRY(mst_schedule_want_decay(s));
    return s->decay_rate == 0 ? MST_FAIL(MST_INVALID, "decay_rate is not set, must be above 0") : MST_OK;
}

static mst_value exponential_value(mst_graph *graph, const mst_schedule *s, mst_value step) {
    mst_value decay = mst_pow(mst_schedule_scalar(graph, s->decay_rate), mst_schedule_quotient(graph, s, step));
    return mst_mul(mst_schedule_scalar(graph, s->rate), decay);
}

static double exponential_at(const mst_schedule *s, int64_t step) {
    return s->rate * pow(s->decay_rate, mst_schedule_quotient_at(s, step));
}

const mst_schedule_form mst_schedule_form_exponential = {.takes = {"decay_rate", "decay_steps", "staircase"},
                                                         .check = exponential_check,
                                                         .value = exponential_value,
                                                         .at = exponential_at,
                                                         .first = mst_schedule_rate};
