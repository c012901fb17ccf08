/* measure: lets the convolution before a batch norm compute the statistics of the batch norm. It measures each part of
 * its output right after writing it, while the part is in the cache:
 *
 *     h = conv2d(x, u)                                             h, terms, mean, variance =
 *     terms, mean, variance = batch_norm_statistics(h, ...)            conv2d_statistics(x, u, ...)
 *
 * The copies of convolutions that the pass recompute has made for the backward pass measure nothing. The bits are the
 * same with and without this pass. */
#include <stdlib.h>

#include "base/no_memory.h"
#include "op/conv/conv.h"
#include "op/conv/conv2d_statistics.h"
#include "op/list.h"
#include "op/op.h"
#include "plan/plan.h"

/* Whether VALUE exists before any convolution runs, because it is not computed in the step. */
static bool is_given(const mst_plan *plan, int32_t value) {
    const mst_plan_node *maker;
    while (maker = &plan->node[plan->value[value].node], mst_plan_is_view(maker)) value = maker->src[0];
    return maker->num_src == 0 && maker->num_control == 0;
}

/* The convolution whose output STATISTICS measures, if it can compute them itself; else NULL. */
static const mst_plan_node *conv_of(const mst_plan *plan, const mst_plan_node *statistics) {
    const mst_plan_node *conv = &plan->node[plan->value[statistics->src[0]].node];
    if (conv->op != &mst_op_conv2d && conv->op != &mst_op_normalized_conv2d) return NULL;
    const bool together = conv->device == statistics->device && conv->region == statistics->region && conv->group < 0 &&
                          statistics->group < 0 && !statistics->num_control;
    return together && is_given(plan, statistics->src[1]) && is_given(plan, statistics->src[2]) ? conv : NULL;
}

/* Replaces CONV and STATISTICS by one node. JOINED: by value, the value that replaces it. */
static mst_status measure_join(mst_plan *plan, const mst_plan_node *conv, const mst_plan_node *statistics,
                               int32_t *joined) {
    enum { TERMS = 2 }; /* number of the source of a normalized_conv2d that has the terms */
    const bool normalized = conv->op == &mst_op_normalized_conv2d;
    mst_conv2d_statistics_options options = {.epsilon = ((const mst_batch_norm_options *)statistics->options)->epsilon};
    if (normalized)
        options.conv = *(const mst_normalized_conv_options *)conv->options;
    else
        options.conv.conv = *(const mst_conv2d_options *)conv->options;
    const int32_t src[MST_CONV2D_STATISTICS_MOST] = {
        [MST_CONV2D_STATISTICS_SRC] = conv->src[0],
        [MST_CONV2D_STATISTICS_WEIGHTS] = conv->src[1],
        [MST_CONV2D_STATISTICS_GAMMA] = statistics->src[1],
        [MST_CONV2D_STATISTICS_BETA] = statistics->src[2],
        [MST_CONV2D_STATISTICS_SRC_TERMS] = normalized ? conv->src[TERMS] : -1,
    };
    mst_spec dst[MST_CONV2D_STATISTICS_OUTPUTS];
    int32_t old[MST_CONV2D_STATISTICS_OUTPUTS], added;
    for (int i = 0; i < MST_CONV2D_STATISTICS_OUTPUTS; i++) {
        old[i] = i < MST_CONV2D_STATISTICS_TERMS ? conv->dst : statistics->dst + i - MST_CONV2D_STATISTICS_TERMS;
        dst[i] = plan->value[old[i]].spec;
    }
    mst_plan_node node = *conv;
    node.op = &mst_op_conv2d_statistics;
    node.options = mst_arena_copy(&plan->memory, &options, sizeof options);
    node.num_src = MST_CONV2D_STATISTICS_SRC_TERMS + normalized;
    node.num_dst = MST_CONV2D_STATISTICS_OUTPUTS;
    if (!node.options) return MST_NO_MEMORY("for a plan");
    MST_TRY(mst_plan_add(plan, &node, src, dst, &added));
    for (int i = 0; i < MST_CONV2D_STATISTICS_OUTPUTS; i++) joined[old[i]] = plan->node[added].dst + i;
    return MST_OK;
}

mst_status mst_plan_measure(mst_plan *plan) {
    const int64_t num_nodes = plan->num_nodes, num_values = plan->num_values;
    int32_t *joined = malloc(((size_t)num_values + 1) * sizeof *joined);
    mst_status status = joined ? MST_OK : MST_NO_MEMORY("for a plan");
    for (int64_t v = 0; v < num_values && joined; v++) joined[v] = -1;
    for (int64_t n = 0; n < num_nodes && !status; n++) {
        const mst_plan_node *statistics = &plan->node[n];
        if (statistics->dead || statistics->op != &mst_op_batch_norm_statistics) continue;
        const mst_plan_node *conv = conv_of(plan, statistics);
        if (conv && joined[conv->dst] < 0) status = measure_join(plan, conv, statistics, joined);
    }
    if (!status && plan->num_nodes > num_nodes) status = mst_plan_read_instead(plan, joined, num_values);
    free(joined);
    return status;
}
