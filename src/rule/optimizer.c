#include "muster/optimizer.h"

#include <string.h>

#include "base/argument.h"
#include "base/nearest.h"
#include "graph/graph.h"
#include "graph/options.h"
#include "rule/rule.h"

enum { MOST_RULES = 64 };

#define BELOW_1 (1 - 1e-12)

static const char *const epsilon_kinds[] = {"hat", "corrected", NULL};

#define NUMBER(member, initial, low, high, help) MST_FIELD_F64(mst_optimizer, member, initial, low, high, help)
const mst_field mst_optimizer_fields[] = {
    MST_FIELD_STRING(mst_optimizer, rule, "name of the optimizer"),
    NUMBER(learning_rate, 0, 0, 1e9, "step size"),
    NUMBER(momentum, 0, 0, 1, "part of the last step that is made again: sgd, rmsprop"),
    MST_FIELD_BOOL(mst_optimizer, nesterov, "looks ahead by the momentum: sgd"),
    NUMBER(rho, 0.9, 0, BELOW_1, "decay of the mean square, below 1: rmsprop"),
    MST_FIELD_BOOL(mst_optimizer, centered, "divides by the standard deviation: rmsprop"),
    NUMBER(beta_1, 0.9, 0, BELOW_1, "decay of the mean gradient, below 1: adam, adamw, nadam"),
    NUMBER(beta_2, 0.999, 0, BELOW_1, "decay of the mean square, below 1: adam, adamw, nadam"),
    NUMBER(epsilon, 1e-7, 0, 1e9, "keeps the divisor from 0"),
    MST_FIELD_ENUM(mst_optimizer, epsilon_kind, 0, epsilon_kinds, "where epsilon is added: adam, adamw"),
    MST_FIELD_BOOL(mst_optimizer, amsgrad, "divides by the largest mean square so far: adam, adamw"),
    NUMBER(initial_accumulator, 0.1, 0, 1e9, "first sum of squares: adagrad, ftrl"),
    NUMBER(learning_rate_power, -0.5, -10, 0, "how the rate falls with the sum of squares: ftrl"),
    NUMBER(l1_strength, 0, 0, 1e9, "L1 penalty: ftrl"),
    NUMBER(l2_strength, 0, 0, 1e9, "L2 penalty: ftrl"),
    NUMBER(l2_shrinkage, 0, 0, 1e9, "L2 penalty of the gradient only: ftrl"),
    NUMBER(beta, 0, 0, 1e9, "first value of the inverse rate: ftrl"),
    NUMBER(weight_decay, 0, 0, 1e9, "w -= learning_rate * weight_decay * w before the update"),
    NUMBER(clip_value, 0, 0, 1e30, "largest magnitude of a gradient's element"),
    NUMBER(clip_norm, 0, 0, 1e30, "largest norm of a variable's gradient"),
    NUMBER(clip_global_norm, 0, 0, 1e30, "largest norm of all gradients together"),
    NUMBER(ema_decay, 0, 0, BELOW_1, "decay of the moving average of the weights, below 1"),
    MST_FIELD_BOOL(mst_optimizer, ema_num_updates, "the moving average follows faster in the first steps"),
    MST_FIELD_END,
};

const mst_rule *mst_rule_find(const char *name) {
    for (int i = 0; name && mst_rule_table[i]; i++)
        if (strcmp(mst_rule_table[i]->name, name) == 0) return mst_rule_table[i];
    return NULL;
}

const char *mst_optimizer_name(int i) {
    for (int k = 0; mst_rule_table[k]; k++)
        if (k == i) return mst_rule_table[k]->name;
    return NULL;
}

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
    if ((o->clip_value > 0) + (o->clip_norm > 0) + (o->clip_global_norm > 0) > 1)
        return MST_FAIL(MST_INVALID, "%s: only one of clip_value, clip_norm and clip_global_norm can be set", o->rule);
    mst_schedule schedule = o->schedule;
    if (!mst_schedule_is_set(&schedule)) schedule.rate = 1; /* none is needed; all else is checked the same */
    if (mst_schedule_check(&schedule)) return mst_error_prefix("%s: schedule", o->rule);
    return MST_OK;
}
