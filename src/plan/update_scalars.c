/* The numbers that are the same for all elements of one step, a part of the lowering of apply_gradients. These are the
 * numbers of the rule, the decay of moving averages, the learning rate, and whether the step only accumulates its
 * gradients. The node also gives the next state of the rule, if it keeps one, and the next number of accumulated
 * steps. */
#include <string.h>

#include "muster/ops.h"
#include "op/list.h"
#include "op/op.h"
#include "plan/update_lowering.h"
#include "rule/accumulate.h"
#include "rule/moving_average.h"
#include "rule/rule.h"

typedef struct scalars_options {
    int zero_;
    const mst_rule *rule;
    const mst_optimizer *optimizer;
} scalars_options;

/* ---- update_scalars: learning_rate f32, step i64, state f64, accumulated i64 (if there are sums)
 * -> f64 [MST_NUM_SCALARS], next state f64, next accumulated i64 (if there are sums) ---- */

_Static_assert(MST_SCALAR_AVERAGE == MST_RULE_SCALARS, "the rule's scalars come first");

static mst_status compute_scalars(const mst_kernel_args *a) {
    const mst_rule *rule = ((const scalars_options *)a->options)->rule;
    const mst_optimizer *o = ((const scalars_options *)a->options)->optimizer;
    const double learning_rate = (double)*(const float *)a->src[0].data;
    const bool sums = a->num_src > 3;
    const int64_t step = *(const int64_t *)a->src[1].data, added = sums ? *(const int64_t *)a->src[3].data : 0;
    const int64_t gradients = mst_accumulated_mean(o, added), t = mst_accumulated_updates(o, step) + 1;
    double state = *(const double *)a->src[2].data, *scalar = a->dst[0].data;
    memset(scalar, 0, MST_NUM_SCALARS * sizeof *scalar);
    if (rule->next_state && gradients) state = rule->next_state(o, t, state);
    rule->scalars(o, learning_rate, t, state, scalar);
    scalar[MST_SCALAR_AVERAGE] = mst_moving_average_rest(o, step);
    scalar[MST_SCALAR_LEARNING_RATE] = learning_rate;
    scalar[MST_SCALAR_GRADIENTS] = (double)gradients;
    *(double *)a->dst[1].data = state;
    if (sums) *(int64_t *)a->dst[2].data = gradients ? 0 : added + 1;
    return MST_OK;
}

static const mst_op update_scalars = {.name = "update_scalars",
                                      .num_src = MST_VARIADIC,
                                      .num_dst = MST_VARIADIC,
                                      .flags = MST_OP_STATEFUL | MST_OP_INFALLIBLE,
                                      .options_size = sizeof(scalars_options),
                                      .reference = compute_scalars};

/* ---- lowering ---- */

/* Adds the node that assigns VALUE to STATE, a variable. */
static mst_status add_assign(mst_lowering *l, int32_t state, int32_t value, const char *name) {
    const int32_t pair[2] = {state, value};
    const mst_spec spec = l->plan->value[value].spec;
    const mst_lowered assign = {&mst_op_assign, name, NULL, 2, pair, 1, &spec, mst_lowering_device(l, state)};
    int32_t assigned;
    MST_TRY(mst_lowering_node(l, &assign, &assigned));
    return mst_lowering_part(l, mst_lowering_maker(l, assigned));
}

mst_status mst_lowering_scalars(mst_lowering *l) {
    const mst_optimizer *optimizer = &l->options->optimizer;
    const scalars_options options = {.rule = mst_rule_find(optimizer->rule), .optimizer = optimizer};
    const int64_t count = MST_NUM_SCALARS;
    const int accumulated = mst_apply_accumulated(l->options);
    const mst_spec dst[3] = {
        {.dtype = MST_F64, .shape = mst_shape_make(1, &count)}, {.dtype = MST_F64}, {.dtype = MST_I64}};
    const int32_t state = l->src[MST_APPLY_STATE], src[4] = {l->src[MST_APPLY_LEARNING_RATE], l->src[MST_APPLY_STEP],
                                                             state, accumulated < 0 ? -1 : l->src[accumulated]};
    const mst_lowered scalars = {
        .op = &update_scalars,
        .name = "scalars",
        .options = &options,
        .num_src = accumulated < 0 ? 3 : 4,
        .src = src,
        .num_dst = accumulated < 0 ? 2 : 3,
        .dst = dst,
        .device = mst_plan_number_device(l->plan, mst_lowering_device(l, l->src[MST_APPLY_STEP]))};
    MST_TRY(mst_lowering_node(l, &scalars, &l->scalars));
    if (options.rule->next_state) MST_TRY(add_assign(l, state, l->scalars + 1, "state"));
    return accumulated < 0 ? MST_OK : add_assign(l, src[3], l->scalars + 2, "accumulated");
}
