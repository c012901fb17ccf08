/* norms: if only convolutions read the output of a batch norm, that output is never in memory as a whole. The batch
 * norm is replaced by its statistics. The convolutions, forward and backward, read the source of the batch norm and
 * compute each part of its output when they need that part:
 *
 *     h = conv2d(x, u)                                 h = conv2d(x, u)
 *     n, mean, variance = fused_batch_norm(h, ...)     terms, mean, variance = batch_norm_statistics(h, ...)
 *     y = conv2d(n, v)                                 y = normalized_conv2d(h, v, terms)
 *     ...                                              ...
 *     dv = conv2d_weights_grad(n, v, dy)               dv = normalized_conv2d_weights_grad(h, v, dy, terms)
 *
 * The gradient of a batch norm needs the source of the batch norm in any case. So only the source is kept for the
 * backward pass, instead of source and output: half of the memory. Parts that are computed twice stay in the cache. The
 * bits are the same with and without this pass. */
#include <stdlib.h>

#include "base/no_memory.h"
#include "op/conv/conv.h"
#include "op/conv/normalized_conv.h"
#include "op/list.h"
#include "op/norm/batch_norm.h"
#include "op/op.h"
#include "plan/plan.h"

/* Whether NODE only passes on the value of its source. */
static bool passes_on(const mst_plan_node *node) {
    return node->op == &mst_op_identity && node->num_control == 0 && !node->materialize;
}

/* The value that VALUE stands for, skipping nodes that only pass a value on. */
static int32_t passed_on(const mst_plan *plan, int32_t value) {
    const mst_plan_node *maker;
    while (maker = &plan->node[plan->value[value].node], passes_on(maker)) value = maker->src[0];
    return value;
}

/* The batch norm whose output 0 is source I of NODE, if that output need not be written; else NULL. */
static mst_plan_node *norm_of(mst_plan *plan, const mst_plan_node *node, int i) {
    const int32_t value = passed_on(plan, node->src[i]);
    mst_plan_node *norm = &plan->node[plan->value[value].node];
    if ((norm->op != &mst_op_batch_norm && norm->op != &mst_op_fused_batch_norm) || value != norm->dst) return NULL;
    if (mst_plan_compiles(plan, norm)) return NULL;
    /* A variable may change before the last user reads it. */
    return mst_plan_in_variable(plan, norm->src[0]) ? NULL : norm;
}

/* Whether NODE can read the source of NORM in place of source I, which is NORM's output. */
static bool can_take(const mst_plan *plan, const mst_plan_node *node, int i, const mst_plan_node *norm) {
    if (mst_plan_shape_only(node, i)) return true;
    if (i || node->device != norm->device || node->group >= 0 || node->region != norm->region) return false;
    if (plan->value[norm->dst].spec.shape.ndim != MST_CONV2D_NDIM) return false; /* conv3d has this gradient too */
    return node->op == &mst_op_conv2d || node->op == &mst_op_conv2d_weights_grad;
}

static mst_status norms_take(mst_plan *plan, mst_plan_node *node, const mst_plan_node *norm) {
    enum { MOST_SRC = 4 };
    const bool forward = node->op == &mst_op_conv2d;
    int32_t src[MOST_SRC] = {norm->src[0]};
    for (int i = 1; i < node->num_src; i++) src[i] = node->src[i];
    src[node->num_src] = norm->dst;
    const mst_normalized_conv_options options = {
        .conv = *(const mst_conv2d_options *)node->options,
        .activation = norm->op == &mst_op_batch_norm
                          ? MST_BATCH_LINEAR
                          : ((const mst_fused_batch_norm_options *)norm->options)->activation};
    return mst_plan_become(plan, node, forward ? &mst_op_normalized_conv2d : &mst_op_normalized_conv2d_weights_grad,
                           &options, node->num_src + 1, src);
}

/* Turns NORM into its statistics. Its users read its source by now. */
static mst_status become_statistics(mst_plan *plan, mst_plan_node *norm) {
    const double epsilon = norm->op == &mst_op_batch_norm
                               ? ((const mst_batch_norm_options *)norm->options)->epsilon
                               : ((const mst_fused_batch_norm_options *)norm->options)->epsilon;
    const mst_batch_norm_options options = {.epsilon = epsilon};
    const int64_t channels = plan->value[norm->dst + 1].spec.shape.dim[0];
    plan->value[norm->dst].spec.shape = mst_shape_make(2, (const int64_t[]){MST_BATCH_TERMS, channels});
    return mst_plan_become(plan, norm, &mst_op_batch_norm_statistics, &options, norm->num_src, norm->src);
}

/* Marks in READ the batch norms that a convolution reads, and in SPOILED those that another kind of node reads as
 * well. */
static void find_users(mst_plan *plan, bool *read, bool *spoiled) {
    for (int64_t n = 0; n < plan->num_nodes; n++) {
        const mst_plan_node *node = &plan->node[n];
        for (int i = 0; i < node->num_src && !node->dead; i++) {
            const mst_plan_node *norm = norm_of(plan, node, i);
            if (!norm || passes_on(node)) continue; /* the users of the passed value are visited themselves */
            if (can_take(plan, node, i, norm))
                read[norm - plan->node] |= i == 0 && !mst_plan_shape_only(node, i);
            else
                spoiled[norm - plan->node] = true;
        }
    }
}

static mst_status change_users(mst_plan *plan, const bool *chosen) {
    for (int64_t n = 0; n < plan->num_nodes; n++) {
        mst_plan_node *node = &plan->node[n];
        for (int i = node->num_src - 1; i >= 0 && !node->dead; i--) {
            const mst_plan_node *norm = norm_of(plan, node, i);
            if (!norm || !chosen[norm - plan->node] || passes_on(node)) continue;
            if (mst_plan_shape_only(node, i))
                node->src[i] = norm->src[0];
            else
                MST_TRY(norms_take(plan, node, norm));
        }
        /* A node that came after a node that passes the output on now comes after the norm, because nothing is passed
         * on any more. */
        for (int i = 0; i < node->num_control && !node->dead; i++) {
            const mst_plan_node *before = &plan->node[node->control[i]];
            const mst_plan_node *norm = passes_on(before) ? norm_of(plan, before, 0) : NULL;
            if (norm && chosen[norm - plan->node]) node->control[i] = (int32_t)(norm - plan->node);
        }
    }
    for (int64_t n = 0; n < plan->num_nodes; n++)
        if (chosen[n]) MST_TRY(become_statistics(plan, &plan->node[n]));
    return mst_plan_sweep(plan);
}

mst_status mst_plan_norms(mst_plan *plan) {
    bool *chosen = calloc((size_t)plan->num_nodes + 1, sizeof *chosen);
    bool *spoiled = calloc((size_t)plan->num_nodes + 1, sizeof *spoiled);
    mst_status status = chosen && spoiled ? MST_OK : MST_NO_MEMORY("for a plan");
    if (!status) {
        bool any = false;
        find_users(plan, chosen, spoiled);
        for (int64_t n = 0; n < plan->num_nodes; n++) any |= chosen[n] &= !spoiled[n];
        if (any) status = change_users(plan, chosen);
    }
    free(chosen);
    free(spoiled);
    return status;
}
