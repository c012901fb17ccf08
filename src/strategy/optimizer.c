/* Optimizers: fills in the defaults of a rule by its name, and checks the options of the rule and the schedule. */
#include "muster/optimizer.h"

#include <string.h>

#include "base/argument.h"
#include "base/did_you_mean.h"
#include "graph/options.h"
#include "rule/rule.h"

enum { MOST_RULES = 64 };

mst_optimizer *mst_optimizer_fill(const char *name, mst_optimizer *optimizer) {
    const mst_rule *rule = MST_IS_NULL(name) || MST_IS_NULL(optimizer) ? NULL : mst_rule_find(name);
    if (!optimizer) return NULL;
    optimizer->rule = rule ? rule->name : name;
    if (rule) rule->defaults(optimizer);
    if (mst_schedule_is_set(&optimizer->schedule) && optimizer->schedule.rate == 0)
        optimizer->schedule.rate = optimizer->learning_rate;
    return optimizer;
}

mst_optimizer mst_optimizer_named(const char *name, mst_optimizer optimizer) {
    if (MST_IS_NULL(name)) return optimizer;
    return *mst_optimizer_fill(name, &optimizer);
}

static mst_status unknown_rule(const char *name) {
    const char *names[MOST_RULES + 1] = {NULL};
    for (int i = 0; i < MOST_RULES && mst_rule_table[i]; i++) names[i] = mst_rule_table[i]->name;
    if (!name || !*name) return MST_FAIL(MST_INVALID, "the optimizer has no name: make it with mst_sgd() or another");
    char guess[MST_DID_YOU_MEAN_TEXT];
    return MST_FAIL(MST_INVALID, "there is no optimizer '%s'%s", name,
                    mst_did_you_mean(name, names, guess, sizeof guess));
}

static mst_status check_taken(const mst_optimizer *o) {
    mst_option_kind kinds[MOST_RULES];
    int count = 0, kind = 0;
    for (; count < MOST_RULES && mst_rule_table[count]; count++) {
        kinds[count] = (mst_option_kind){mst_rule_table[count]->name, mst_rule_table[count]->takes};
        if (strcmp(kinds[count].name, o->rule) == 0) kind = count;
    }
    return mst_options_taken(mst_optimizer_fields, o, kinds, count, kind);
}

mst_status mst_optimizer_check(const mst_optimizer *optimizer) {
    const mst_optimizer *o = optimizer;
    if (MST_IS_NULL(optimizer)) return MST_INVALID;
    if (!mst_rule_find(o->rule)) return unknown_rule(o->rule);
    MST_TRY(check_taken(o));
    for (const mst_field *field = mst_optimizer_fields; field->name; field++) {
        const void *at = (const char *)o + field->offset;
        if (field->type == MST_FIELD_TYPE_F64) {
            double value = *(const double *)at;
            if (!(value >= field->low && value <= field->high))
                return MST_FAIL(MST_INVALID, "%s: %s is %g, must be between %g and %g (%s)", o->rule, field->name,
                                value, field->low, field->high, field->help);
        }
    }
    if (o->epsilon_kind != MST_EPSILON_HAT && o->epsilon_kind != MST_EPSILON_CORRECTED)
        return MST_FAIL(MST_INVALID, "%s: epsilon_kind is %d, must be hat or corrected", o->rule, (int)o->epsilon_kind);
    if (o->sparse != MST_SPARSE_KERAS && o->sparse != MST_SPARSE_TENSORFLOW)
        return MST_FAIL(MST_INVALID, "%s: sparse is %d, must be keras or tensorflow", o->rule, (int)o->sparse);
    if ((o->clip_value > 0) + (o->clip_norm > 0) + (o->clip_global_norm > 0) > 1)
        return MST_FAIL(MST_INVALID, "%s: only one of clip_value, clip_norm and clip_global_norm can be set", o->rule);
    if (o->gradient_accumulation_steps < 0)
        return MST_FAIL(MST_INVALID, "%s: gradient_accumulation_steps is %d, must be at least 1 (0: the default, 1)",
                        o->rule, o->gradient_accumulation_steps);
    mst_schedule schedule = o->schedule;
    if (!mst_schedule_is_set(&schedule)) schedule.rate = 1; /* a rate may be missing here; other members are checked */
    if (mst_schedule_check(&schedule)) return mst_error_prefix("%s: schedule", o->rule);
    return MST_OK;
}
