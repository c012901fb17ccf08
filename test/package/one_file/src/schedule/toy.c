/** toy: rate / 2 */
#ifdef MST_SCHEDULE_HEADER
enum { MST_SCHEDULE_TOY = NEXT };
#define mst_toy_schedule(...) MST_NAMED_WITH(mst_schedule, kind, MST_SCHEDULE_TOY, __VA_ARGS__)
#endif
#include "schedule/schedule.h"

static mst_value value(mst_graph *graph, const mst_schedule *s, mst_value step) {
    (void)step;
    return mst_schedule_scalar(graph, s->rate / 2);
}

static double at(const mst_schedule *s, int64_t step) {
    (void)step;
    return s->rate / 2;
}

const mst_schedule_form mst_schedule_form_toy = {.value = value, .at = at, .first = mst_schedule_rate};
