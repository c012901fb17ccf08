/** piecewise: value[i] for the first i with step <= boundary[i], the last value after all boundaries */
#ifdef MST_SCHEDULE_HEADER
enum { MST_SCHEDULE_PIECEWISE = 2 };
#define mst_piecewise_constant(...) MST_NAMED_WITH(mst_schedule, kind, MST_SCHEDULE_PIECEWISE, __VA_ARGS__)
#endif
#include "schedule/schedule.h"

static mst_status piecewise_check(const mst_schedule *s) {
    if (s->num_pieces < 1) return MST_FAIL(MST_INVALID, "num_pieces is not set, must be the number of values");
    for (int i = 1; i < s->num_pieces - 1; i++)
        if (s->boundary[i] <= s->boundary[i - 1])
            return MST_FAIL(MST_INVALID, "boundary %d is %lld, must be above the one before, %lld", i,
                            (long long)s->boundary[i], (long long)s->boundary[i - 1]);
    for (int i = 0; i < s->num_pieces; i++)
        if (!(s->value[i] >= 0 && s->value[i] <= 1e9))
            return MST_FAIL(MST_INVALID, "value %d is %g, must be between 0 and 1e9", i, s->value[i]);
    return MST_OK;
}

static mst_value piecewise_value(mst_graph *graph, const mst_schedule *s, mst_value step) {
    mst_value result = mst_schedule_scalar(graph, s->value[s->num_pieces - 1]);
    for (int i = s->num_pieces - 2; i >= 0; i--) {
        mst_value here = mst_less_equal(step, mst_scalar(graph, MST_I64, (double)s->boundary[i]));
        result = mst_select(here, mst_schedule_scalar(graph, s->value[i]), result);
    }
    return result;
}

static double piecewise_at(const mst_schedule *s, int64_t step) {
    int i = 0;
    while (i < s->num_pieces - 1 && step > s->boundary[i]) i++;
    return s->value[i];
}

static double first(const mst_schedule *s) {
    return piecewise_at(s, 0);
}

const mst_schedule_form mst_schedule_form_piecewise = {
    .takes = {"num_pieces"}, .check = piecewise_check, .value = piecewise_value, .at = piecewise_at, .first = first};
