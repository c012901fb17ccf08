/* What is the same for all elements of one step, a part of the lowering of apply_gradients: the numbers of the rule,
 * how fast moving averages follow, the learning rate; and the next state of the rule, where it keeps one. */
#include <string.h>

#include "muster/ops.h"
#include "op/list.h"
#include "op/op.h"
#include "plan/update_lowering.h"
#include "rule/moving_average.h"
#include "rule/rule.h"

typedef struct scalars_options {
    int zero_;
    const mst_rule *rule;
    const mst_optimizer *optimizer;
} scalars_options;

/* ---- update_scalars: learning_rate f32, step i64, state f64 -> f64 [MST_NUM_SCALARS], next state f64 ---- */

_Static_assert(MST_SCALAR_AVERAGE == MST_RULE_SCALARS, "the rule's scalars come first");

static mst_status compute_scalars(const mst_kernel_args *a) {
    const mst_rule *rule = ((const scalars_options *)a->options)->rule;
    const mst_optimizer *o = ((const scalars_options *)a->options)->optimizer;
    const double learning_rate = (double)*(const float *)a->src[0].data;
    const int64_t step = *(const int64_t *)a->src[1].data;
    double state = *(const double *)a->src[2].data, *scalar = a->dst[0].data;
    memset(scalar, 0, MST_NUM_SCALARS * sizeof *scalar);
    if (rule->next_state) state = rule->next_state(o, step + 1, state);
    rule->scalars(o, learning_rate, step + 1, state, scalar);
    scalar[MST_SCALAR_AVERAGE] = mst_moving_average_rest(o, step);
    scalar[MST_SCALAR_LEARNING_RATE] = learning_rate;
    *(double *)a->dst[1].data = state;
    return MST_OK;
}

static const mst_op update_scalars = {.name = "update_scalars",
                                      .num_src = 3,
                                      .num_dst = 2,
                                      .flags = MST_OP_STATEFUL | MST_OP_INFALLIBLE,
                                      .options_size = sizeof(scalars_options),
                                      .reference = compute_scalars};

/* ---- lowering ---- */

mst_status mst_lowering_scalars(mst_lowering *l) {
    const mst_optimizer *optimizer = &l->options->optimizer;
    const scalars_options options = {.rule = mst_rule_find(optimizer->rule), .optimizer = optimizer};
    const int64_t count = MST_NUM_SCALARS;
    const mst_spec dst[2] = {{.dtype = MST_F64, .shape = mst_shape_make(1, &count)}, {.dtype = MST_F64}};
    const int32_t device = mst_lowering_device(l, l->src[MST_APPLY_STEP]), state = l->src[MST_APPLY_STATE];
    const mst_lowered scalars = {&update_scalars, "scalars", &options, 3, l->src, 2, dst, device};
    MST_TRY(mst_lowering_node(l, &scalars, &l->scalars));
    if (!options.rule->next_state) return MST_OK;
    const int32_t pair[2] = {state, l->scalars + 1};
    const mst_lowered assign = {&mst_op_assign, "state", NULL, 2, pair, 1, &dst[1], mst_lowering_device(l, state)};
    int32_t assigned;
    MST_TRY(mst_lowering_node(l, &assign, &assigned));
    return mst_lowering_part(l, mst_lowering_maker(l, assigned));
}
