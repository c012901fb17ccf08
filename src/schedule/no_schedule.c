/** none: rate in each step. With a warm-up this is a schedule too. */
#ifdef MST_SCHEDULE_HEADER
enum { MST_SCHEDULE_NONE = 0 };
#endif
#include "schedule/schedule.h"

static mst_status no_schedule_check(const mst_schedule *s) {
    return s->rate == 0 ? MST_FAIL(MST_INVALID, "rate is not set, must be the learning rate") : MST_OK;
}

static mst_value no_schedule_value(mst_graph *graph, const mst_schedule *s, mst_value step) {
    (void)step;
    return mst_schedule_scalar(graph, s->rate);
}

static double no_schedule_at(const mst_schedule *s, int64_t step) {
    (void)step;
    return s->rate;
}

const mst_schedule_form mst_schedule_form_none = {
    .check = no_schedule_check, .value = no_schedule_value, .at = no_schedule_at, .first = mst_schedule_rate};
