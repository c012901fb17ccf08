/** polynomial: (rate - end) * (1 - min(step, n) / n)^power + end, n = decay_steps
 *
 *  With cycle, n is the end of the cycle that contains step: decay_steps * max(ceil(step / decay_steps), 1).
 */
#ifdef MST_SCHEDULE_HEADER
enum { MST_SCHEDULE_POLYNOMIAL = 3 };
#define mst_polynomial_decay(...) MST_NAMED_WITH(mst_schedule, kind, MST_SCHEDULE_POLYNOMIAL, __VA_ARGS__)
#endif
#include <math.h>

#include "schedule/schedule.h"

static mst_value polynomial_value(mst_graph *graph, const mst_schedule *s, mst_value step) {
    mst_value now = mst_cast(step, MST_F32);
    mst_value decay_steps = mst_schedule_scalar(graph, (double)s->decay_steps);
    if (s->cycle) {
        /* the maximum matters only at step 0 */
        mst_value cycles = mst_maximum(mst_ceil(mst_div(now, decay_steps)), mst_schedule_scalar(graph, 1));
        decay_steps = mst_mul(decay_steps, cycles);
    }
    /* Needed with cycle too: after step 2^24, rounding may put the end of the cycle below step, and pow would give
     * NaN. */
    now = mst_minimum(now, decay_steps);
    mst_value left = mst_sub(mst_schedule_scalar(graph, 1), mst_div(now, decay_steps));
    mst_value factor = mst_pow(left, mst_schedule_scalar(graph, s->power));
    mst_value span = mst_sub(mst_schedule_scalar(graph, s->rate), mst_schedule_scalar(graph, s->end));
    return mst_add(mst_mul(span, factor), mst_schedule_scalar(graph, s->end));
}

static double polynomial_at(const mst_schedule *s, int64_t step) {
    double now = (double)step, decay_steps = (double)s->decay_steps;
    if (s->cycle)
        decay_steps *= fmax(ceil(now / decay_steps), 1);
    else
        now = fmin(now, decay_steps);
    return (s->rate - s->end) * pow(1 - now / decay_steps, s->power) + s->end;
}

const mst_schedule_form mst_schedule_form_polynomial = {.takes = {"decay_steps", "end", "power", "cycle"},
                                                        .ends = true,
                                                        .check = mst_schedule_want_decay,
                                                        .value = polynomial_value,
                                                        .at = polynomial_at,
                                                        .first = mst_schedule_rate};
