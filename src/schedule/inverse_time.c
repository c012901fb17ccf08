/** inverse time: rate / (1 + decay_rate * step / decay_steps); with staircase the quotient is rounded down */
#ifdef MST_SCHEDULE_HEADER
enum { MST_SCHEDULE_INVERSE_TIME = 4 };
#define mst_inverse_time_decay(...) MST_NAMED_WITH(mst_schedule, kind, MST_SCHEDULE_INVERSE_TIME, __VA_ARGS__)
#endif
#include "schedule/schedule.h"

static mst_value inverse_time_value(mst_graph *graph, const mst_schedule *s, mst_value step) {
    mst_value growth = mst_mul(mst_schedule_scalar(graph, s->decay_rate), mst_schedule_quotient(graph, s, step));
    return mst_div(mst_schedule_scalar(graph, s->rate), mst_add(mst_schedule_scalar(graph, 1), growth));
}

static double inverse_time_at(const mst_schedule *s, int64_t step) {
    return s->rate / (1 + s->decay_rate * mst_schedule_quotient_at(s, step));
}

const mst_schedule_form mst_schedule_form_inverse_time = {.takes = {"decay_rate", "decay_steps", "staircase"},
                                                          .check = mst_schedule_want_decay,
                                                          .value = inverse_time_value,
                                                          .at = inverse_time_at,
                                                          .first = mst_schedule_rate};
