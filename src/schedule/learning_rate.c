/* The functions of muster/schedule.h: checks of a schedule, its warm-up, and its value by the kind (schedule.h). */
#include "schedule/schedule.h"

#include <math.h>

#include "base/argument.h"
#include "graph/field.h"
#include "graph/graph.h"
#include "graph/options.h"
#include "graph/spec.h"

#define NUMBER(member, initial, low, high, help) MST_FIELD_F64(mst_schedule, member, initial, low, high, help)
const mst_field mst_schedule_fields[] = {
    MST_FIELD_ENUM(mst_schedule, kind, 0, mst_schedule_names, "formula of the learning rate"),
    NUMBER(rate, 0, 0, 1e9, "initial learning rate"),
    NUMBER(decay_rate, 0, 0, 1e9, "factor of decay: exponential, inverse_time"),
    MST_FIELD_I64(mst_schedule, decay_steps, 0, 0, 1e15, "steps of decay"),
    MST_FIELD_BOOL(mst_schedule, staircase, "decays only every decay_steps: exponential, inverse_time"),
    NUMBER(end, 0.0001, 0, 1e9, "learning rate after decay_steps: polynomial"),
    NUMBER(power, 1, 0, 1e3, "power of the polynomial"),
    MST_FIELD_BOOL(mst_schedule, cycle, "starts again after decay_steps: polynomial"),
    NUMBER(alpha, 0, 0, 1, "part of rate that stays: cosine"),
    MST_FIELD_I32(mst_schedule, num_pieces, 0, 0, MST_SCHEDULE_PIECES, "number of values: piecewise"),
    MST_FIELD_I64(mst_schedule, warmup_steps, 0, 0, 1e15, "first steps, that rise to rate"),
    NUMBER(warmup_from, 0, 0, 1e9, "learning rate of step 0 with a warm-up"),
    MST_FIELD_END,
};

static double number(const mst_field *field, const void *at) {
    switch ((int)field->type) {
        case MST_FIELD_TYPE_F64: return *(const double *)at;
        case MST_FIELD_TYPE_I64: return (double)*(const int64_t *)at;
        case MST_FIELD_TYPE_I32: return *(const int32_t *)at;
        default: return 0;
    }
}

static mst_schedule with_defaults(const mst_schedule *schedule) {
    mst_schedule s = *schedule;
    for (const mst_field *field = mst_schedule_fields; field->name; field++) {
        double *at = (double *)(void *)((char *)&s + field->offset);
        if (field->type == MST_FIELD_TYPE_F64 && !mst_number_given(*at)) *at = field->initial;
    }
    return s;
}

bool mst_schedule_is_set(const mst_schedule *schedule) {
    if (MST_IS_NULL(schedule)) return false;
    return schedule->kind != MST_SCHEDULE_NONE || schedule->warmup_steps != 0;
}

bool mst_schedule_ends(mst_schedule_kind kind) {
    return (unsigned)kind < MST_NUM_SCHEDULES && mst_schedule_table[kind]->ends;
}

mst_status mst_schedule_check(const mst_schedule *schedule) {
    const mst_schedule *s = schedule;
    if (MST_IS_NULL(schedule)) return MST_INVALID;
    if ((int)s->kind < 0 || s->kind >= MST_NUM_SCHEDULES)
        return MST_FAIL(MST_INVALID, "kind is %d, must be one of mst_schedule_kind", (int)s->kind);
    mst_option_kind kinds[MST_NUM_SCHEDULES];
    for (int i = 0; i < MST_NUM_SCHEDULES; i++)
        kinds[i] = (mst_option_kind){mst_schedule_names[i], mst_schedule_table[i]->takes};
    MST_TRY(mst_options_taken(mst_schedule_fields, s, kinds, MST_NUM_SCHEDULES, (int)s->kind));
    for (const mst_field *field = mst_schedule_fields; field->name; field++) {
        double value = number(field, (const char *)s + field->offset);
        if ((field->low != 0 || field->high != 0) && !(value >= field->low && value <= field->high))
            return MST_FAIL(MST_INVALID, "%s: %s is %g, must be between %g and %g (%s)", mst_schedule_names[s->kind],
                            field->name, value, field->low, field->high, field->help);
    }
    if (mst_schedule_table[s->kind]->check && mst_schedule_table[s->kind]->check(s))
        return mst_error_prefix("%s", mst_schedule_names[s->kind]);
    return MST_OK;
}

mst_value mst_schedule_value(mst_graph *graph, const mst_schedule *schedule, mst_value step) {
    if (MST_IS_NULL(graph) || MST_IS_NULL_IN(graph, schedule)) return MST_NONE;
    if (mst_schedule_check(schedule)) {
        mst_error_prefix("schedule");
        return mst_value_of_last_error(graph);
    }
    mst_spec spec = mst_value_spec(step);
    if (!mst_value_is_none(step) && (spec.dtype != MST_I64 || spec.shape.ndim != 0)) {
        char text[MST_SPEC_TEXT];
        return mst_value_fail(graph, MST_INVALID, "schedule: the step '%s' is %s, must be an i64 scalar",
                              mst_value_name(step), mst_spec_print(&spec, text, sizeof text));
    }
    const mst_schedule s = with_defaults(schedule);
    const mst_schedule_form *form = mst_schedule_table[s.kind];
    mst_value rate = MST_NONE;
    mst_with_name (graph, "learning_rate") {
        if (s.warmup_steps == 0) {
            rate = form->value(graph, &s, step);
        } else {
            mst_value warmup_steps = mst_scalar(graph, MST_I64, (double)s.warmup_steps);
            mst_value past = mst_maximum(mst_sub(step, warmup_steps), mst_scalar(graph, MST_I64, 0));
            mst_value part = mst_div(mst_cast(step, MST_F32), mst_schedule_scalar(graph, (double)s.warmup_steps));
            mst_value rise = mst_schedule_scalar(graph, form->first(&s) - s.warmup_from);
            mst_value rising = mst_add(mst_mul(rise, part), mst_schedule_scalar(graph, s.warmup_from));
            rate = mst_select(mst_less(step, warmup_steps), rising, form->value(graph, &s, past));
        }
    }
    return rate;
}

double mst_schedule_at(const mst_schedule *schedule, int64_t step) {
    if (MST_IS_NULL(schedule)) return 0;
    const mst_schedule s = with_defaults(schedule);
    const mst_schedule_form *form = mst_schedule_table[s.kind];
    if (step >= s.warmup_steps) return form->at(&s, step - s.warmup_steps);
    return s.warmup_from + (form->first(&s) - s.warmup_from) * ((double)step / (double)s.warmup_steps);
}

mst_status mst_schedule_want_decay(const mst_schedule *s) {
    if (s->rate == 0) return MST_FAIL(MST_INVALID, "rate is not set, must be the initial learning rate");
    if (s->decay_steps == 0) return MST_FAIL(MST_INVALID, "decay_steps is not set, must be at least 1");
    return MST_OK;
}

double mst_schedule_rate(const mst_schedule *s) {
    return s->rate;
}

mst_value mst_schedule_scalar(mst_graph *graph, double value) {
    return mst_scalar(graph, MST_F32, value);
}

mst_value mst_schedule_quotient(mst_graph *graph, const mst_schedule *s, mst_value step) {
    mst_value quotient = mst_div(mst_cast(step, MST_F32), mst_schedule_scalar(graph, (double)s->decay_steps));
    return s->staircase ? mst_floor(quotient) : quotient;
}

double mst_schedule_quotient_at(const mst_schedule *s, int64_t step) {
    double quotient = (double)step / (double)s->decay_steps;
    return s->staircase ? floor(quotient) : quotient;
}
