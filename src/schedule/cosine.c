/** cosine: rate * ((1 - alpha) * (1 + cos(pi * min(step, n) / n)) / 2 + alpha), n = decay_steps */
#ifdef MST_SCHEDULE_HEADER
enum { MST_SCHEDULE_COSINE = 5 };
#define mst_cosine_decay(...) MST_NAMED_WITH(mst_schedule, kind, MST_SCHEDULE_COSINE, __VA_ARGS__)
#endif
#include <math.h>

#include "schedule/schedule.h"

static const double pi = 3.14159265358979323846;

static mst_value cosine_value(mst_graph *graph, const mst_schedule *s, mst_value step) {
    mst_value decay_steps = mst_schedule_scalar(graph, (double)s->decay_steps);
    mst_value part = mst_div(mst_minimum(mst_cast(step, MST_F32), decay_steps), decay_steps);
    mst_value wave = mst_add(mst_schedule_scalar(graph, 1), mst_cos(mst_mul(mst_schedule_scalar(graph, pi), part)));
    mst_value cosine = mst_mul(mst_schedule_scalar(graph, 0.5), wave);
    mst_value decayed = mst_mul(mst_schedule_scalar(graph, 1 - s->alpha), cosine);
    return mst_mul(mst_schedule_scalar(graph, s->rate), mst_add(decayed, mst_schedule_scalar(graph, s->alpha)));
}

static double cosine_at(const mst_schedule *s, int64_t step) {
    double part = (double)(step < s->decay_steps ? step : s->decay_steps) / (double)s->decay_steps;
    return s->rate * ((1 - s->alpha) * 0.5 * (1 + cos(pi * part)) + s->alpha);
}

const mst_schedule_form mst_schedule_form_cosine = {.takes = {"decay_steps", "alpha"},
                                                    .ends = true,
                                                    .check = mst_schedule_want_decay,
                                                    .value = cosine_value,
                                                    .at = cosine_at,
                                                    .first = mst_schedule_rate};
