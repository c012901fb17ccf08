/* norm_grads: applies if only the gradients of a convolution read the gradient of a batch norm's source. Then that
 * gradient is never in memory as a whole. The gradient of the batch norm is replaced by the sums that it needs. Both
 * gradients of the convolution become one node, which makes each part of the batch norm's gradient once, and uses it
 * twice while it is in the cache:
 *
 *     dh, ... = fused_batch_norm_grad(h, ..., dn)      terms, ... = batch_norm_grad_sums(h, ..., dn)
 *     du = conv2d_weights_grad(x, u, dh)               dx, du = conv2d_grads(x, u, dn, h, terms)
 *     dx = conv2d_src_grad(x, u, dh)
 *
 * where h = conv2d(x, u). If x has no gradient, for example if x are pictures, there is no dx. If x is the output of
 * another batch norm, the same node also computes the sums of that batch norm:
 *
 *     dx, du = conv2d_grads(w, u, dn, h, terms, of_x)          dx, du, of_w, ... = conv2d_grads(w, u, dn, h, terms,
 *     of_w, ... = batch_norm_grad_sums(w, ..., variance, dx)                                    of_x, variance)
 *
 * The sources of batch_norm_grad are: source, gamma, mean, variance, gradient. fused_batch_norm_grad and
 * batch_norm_grad_sums have one more after gamma: beta. The bits are the same with and without this pass. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "graph/options.h"
#include "op/conv/conv.h"
#include "op/conv/conv2d_grads.h"
#include "op/conv/normalized_conv.h"
#include "op/list.h"
#include "op/norm/batch_norm.h"
#include "op/op.h"
#include "plan/plan.h"

/* The readers of output 0 of a gradient of a batch norm. */
typedef struct readers {
    int32_t src_grad, weights_grad; /* nodes; -1: none */
    bool others;                    /* other nodes read it, or come after one of the two: both must stay */
} readers;

static bool is_norm_grad(const mst_plan_node *node) {
    return node->op == &mst_op_batch_norm_grad || node->op == &mst_op_fused_batch_norm_grad;
}

static bool is_weights_grad(const mst_plan_node *node) {
    return node->op == &mst_op_conv2d_weights_grad || node->op == &mst_op_normalized_conv2d_weights_grad;
}

static void read_by(int32_t *reader, bool *others, int32_t node) {
    *others |= *reader >= 0;
    *reader = node;
}

static void find_readers(const mst_plan *plan, readers *of) {
    enum { GRADIENT = 2 }; /* number of this source of a convolution's gradients */
    for (int64_t n = 0; n < plan->num_nodes; n++) of[n] = (readers){-1, -1, false};
    for (int64_t n = 0; n < plan->num_nodes; n++) {
        const mst_plan_node *node = &plan->node[n];
        for (int i = 0; i < node->num_src && !node->dead; i++) {
            const int32_t maker = plan->value[node->src[i]].node;
            if (!is_norm_grad(&plan->node[maker]) || node->src[i] != plan->node[maker].dst) continue;
            if (i == GRADIENT && node->op == &mst_op_conv2d_src_grad)
                read_by(&of[maker].src_grad, &of[maker].others, (int32_t)n);
            else if (i == GRADIENT && is_weights_grad(node))
                read_by(&of[maker].weights_grad, &of[maker].others, (int32_t)n);
            else
                of[maker].others = true;
        }
        for (int i = 0; i < node->num_control && !node->dead; i++) {
            const mst_plan_node *before = &plan->node[node->control[i]];
            if (before->num_src > GRADIENT) of[plan->value[before->src[GRADIENT]].node].others = true;
        }
    }
}

/* The batch norm of which NODE is the gradient; NULL: none. Its outputs 1 and 2, mean and variance, are the sources
 * MEAN and MEAN + 1 of NODE. */
static const mst_plan_node *norm_of(const mst_plan *plan, const mst_plan_node *node, int mean) {
    const mst_plan_node *norm = &plan->node[plan->value[node->src[mean]].node];
    const bool is_norm = norm->op == &mst_op_batch_norm || norm->op == &mst_op_fused_batch_norm ||
                         norm->op == &mst_op_batch_norm_statistics;
    return is_norm && norm->dst + 1 == node->src[mean] && norm->dst + 2 == node->src[mean + 1] ? norm : NULL;
}

static bool together(const mst_plan_node *a, const mst_plan_node *b) {
    return a->device == b->device && a->region == b->region && a->group < 0 && b->group < 0 && !b->num_control;
}

/* Whether A and B are gradients of one convolution. Options of a normalized convolution begin with those of a
 * convolution. */
static bool of_one_convolution(const mst_plan_node *a, const mst_plan_node *b) {
    return a->src[0] == b->src[0] && a->src[1] == b->src[1] &&
           mst_options_equal(mst_conv_fields, a->options, b->options);
}

/* Whether NODE's readers can become one node: they are both gradients of one convolution, or its weights' gradient
 * alone. */
static bool can_join(const mst_plan *plan, const mst_plan_node *node, const readers *r) {
    if (r->others || r->weights_grad < 0) return false;
    const mst_plan_node *weights = &plan->node[r->weights_grad];
    const mst_plan_node *src = r->src_grad < 0 ? weights : &plan->node[r->src_grad];
    const bool plain = node->op == &mst_op_batch_norm_grad;
    if (!together(node, src) || !together(node, weights) || !of_one_convolution(src, weights)) return false;
    /* conv3d has these gradients too */
    if (plan->value[weights->src[0]].spec.shape.ndim != MST_CONV2D_NDIM) return false;
    /* A variable may change before its value is read. */
    return !mst_plan_in_variable(plan, node->src[0]) && !mst_plan_in_variable(plan, weights->src[0]) &&
           !mst_plan_in_variable(plan, node->src[plain ? 4 : 5]) && (!plain || norm_of(plan, node, 2));
}

static mst_status add_joined(mst_plan *plan, const mst_plan_node *norm, const readers *r, int activation,
                             int32_t *out) {
    const mst_plan_node *weights_grad = &plan->node[r->weights_grad];
    const mst_plan_node *first = r->src_grad < 0 ? weights_grad : &plan->node[r->src_grad];
    const bool normalized = weights_grad->op == &mst_op_normalized_conv2d_weights_grad;
    mst_conv2d_grads_options options = {.conv = *(const mst_conv2d_options *)weights_grad->options,
                                        .activation = activation,
                                        .weights_only = r->src_grad < 0};
    if (normalized) options.src_activation = ((const mst_normalized_conv_options *)weights_grad->options)->activation;
    const int32_t src[MST_CONV2D_GRADS_MOST] = {
        [MST_CONV2D_GRADS_SRC] = weights_grad->src[0],
        [MST_CONV2D_GRADS_WEIGHTS] = weights_grad->src[1],
        [MST_CONV2D_GRADS_GRADIENT] = norm->src[5],
        [MST_CONV2D_GRADS_OUTPUT] = norm->src[0],
        [MST_CONV2D_GRADS_TERMS] = norm->dst,
        [MST_CONV2D_GRADS_SRC_TERMS] = normalized ? weights_grad->src[3] : -1,
    };
    const mst_spec dst[2] = {plan->value[first->dst].spec, plan->value[weights_grad->dst].spec};
    mst_plan_node node = *first;
    node.op = &mst_op_conv2d_grads;
    node.options = mst_arena_copy(&plan->memory, &options, sizeof options);
    node.num_src = MST_CONV2D_GRADS_SRC_TERMS + normalized;
    node.num_dst = options.weights_only ? 1 : 2;
    if (!node.options) return MST_NO_MEMORY("for a plan");
    return mst_plan_add(plan, &node, src, dst, out);
}

/* Turns node N, a gradient of a batch norm, into the sums that the gradient needs, and its readers into one node.
 * JOINED: by value, the value that replaces it. */
static mst_status join_readers(mst_plan *plan, int32_t n, const readers *r, int32_t *joined) {
    mst_plan_node *node = &plan->node[n];
    mst_fused_batch_norm_options options = {.activation = MST_BATCH_LINEAR};
    if (node->op == &mst_op_batch_norm_grad) {
        const int32_t src[6] = {node->src[0], node->src[1], norm_of(plan, node, 2)->src[2],
                                node->src[2], node->src[3], node->src[4]};
        options.epsilon = ((const mst_batch_norm_options *)node->options)->epsilon;
        MST_TRY(mst_plan_become(plan, node, &mst_op_batch_norm_grad_sums, &options, 6, src));
    } else {
        options = *(const mst_fused_batch_norm_options *)node->options;
        MST_TRY(mst_plan_become(plan, node, &mst_op_batch_norm_grad_sums, &options, 6, node->src));
    }
    plan->value[node->dst].spec.shape =
        mst_shape_make(2, (const int64_t[]){MST_BATCH_GRAD_TERMS, plan->value[node->dst + 1].spec.shape.dim[0]});
    int32_t added;
    MST_TRY(add_joined(plan, node, r, options.activation, &added));
    if (r->src_grad >= 0) joined[plan->node[r->src_grad].dst] = plan->node[added].dst;
    joined[plan->node[r->weights_grad].dst] = plan->node[added].dst + plan->node[added].num_dst - 1;
    return MST_OK;
}

static mst_status join_gradients(mst_plan *plan) {
    const int64_t num_nodes = plan->num_nodes, num_values = plan->num_values;
    readers *of = calloc((size_t)num_nodes + 1, sizeof *of);
    int32_t *joined = malloc(((size_t)num_values + 1) * sizeof *joined);
    mst_status status = of && joined ? MST_OK : MST_NO_MEMORY("for a plan");
    if (!status) find_readers(plan, of);
    for (int64_t v = 0; v < num_values && joined; v++) joined[v] = -1;
    for (int32_t n = 0; n < num_nodes && !status; n++)
        if (!plan->node[n].dead && is_norm_grad(&plan->node[n]) && !mst_plan_compiles(plan, &plan->node[n]) &&
            can_join(plan, &plan->node[n], &of[n]))
            status = join_readers(plan, n, &of[n], joined);
    if (!status && plan->num_nodes > num_nodes) status = mst_plan_read_instead(plan, joined, num_values);
    free(of);
    free(joined);
    return status;
}

/* ---- the sums of the batch norm before ---- */

/* Whether CONV can compute SUMS too. SUMS must belong to the batch norm whose output the convolution reads. */
static bool can_add_up(const mst_plan *plan, const mst_plan_node *conv, const mst_plan_node *sums) {
    if (conv->op != &mst_op_conv2d_grads || conv->num_src != MST_CONV2D_GRADS_SRC_TERMS + 1 || conv->dead) return false;
    const mst_plan_node *norm = norm_of(plan, sums, 3);
    const mst_conv2d_grads_options *o = conv->options;
    const mst_fused_batch_norm_options *of = sums->options;
    return norm && sums->src[5] == conv->dst && together(conv, sums) &&
           norm->dst == conv->src[MST_CONV2D_GRADS_SRC_TERMS] && norm->src[0] == sums->src[0] &&
           norm->src[1] == sums->src[1] && norm->src[2] == sums->src[2] &&
           conv->src[MST_CONV2D_GRADS_SRC] == sums->src[0] && o->src_activation == of->activation &&
           ((const mst_batch_norm_options *)norm->options)->epsilon == of->epsilon;
}

static mst_status add_sums(mst_plan *plan, int32_t c, int32_t n, int32_t *joined) {
    const mst_plan_node *conv = &plan->node[c], *sums = &plan->node[n];
    int32_t src[MST_CONV2D_GRADS_MOST], added;
    mst_spec dst[MST_CONV2D_GRADS_OUTPUTS];
    mst_conv2d_grads_options options = *(const mst_conv2d_grads_options *)conv->options;
    options.epsilon = ((const mst_fused_batch_norm_options *)sums->options)->epsilon;
    for (int i = 0; i < conv->num_src; i++) src[i] = conv->src[i];
    src[MST_CONV2D_GRADS_VARIANCE] = sums->src[4];
    for (int i = 0; i < MST_CONV2D_GRADS_OUTPUTS; i++)
        dst[i] = plan->value[i < MST_CONV2D_GRADS_SUMS ? conv->dst + i : sums->dst + i - MST_CONV2D_GRADS_SUMS].spec;
    mst_plan_node node = *conv;
    node.options = mst_arena_copy(&plan->memory, &options, sizeof options);
    node.num_src = MST_CONV2D_GRADS_MOST;
    node.num_dst = MST_CONV2D_GRADS_OUTPUTS;
    if (!node.options) return MST_NO_MEMORY("for a plan");
    MST_TRY(mst_plan_add(plan, &node, src, dst, &added));
    for (int i = 0; i < MST_CONV2D_GRADS_OUTPUTS; i++)
        joined[i < MST_CONV2D_GRADS_SUMS ? plan->node[c].dst + i : plan->node[n].dst + i - MST_CONV2D_GRADS_SUMS] =
            plan->node[added].dst + i;
    return MST_OK;
}

static mst_status join_sums(mst_plan *plan) {
    const int64_t num_nodes = plan->num_nodes, num_values = plan->num_values;
    int32_t *joined = malloc(((size_t)num_values + 1) * sizeof *joined);
    mst_status status = joined ? MST_OK : MST_NO_MEMORY("for a plan");
    for (int64_t v = 0; v < num_values && joined; v++) joined[v] = -1;
    for (int32_t n = 0; n < num_nodes && !status; n++) {
        const mst_plan_node *sums = &plan->node[n];
        if (sums->dead || sums->op != &mst_op_batch_norm_grad_sums) continue;
        const int32_t conv = plan->value[sums->src[5]].node;
        if (can_add_up(plan, &plan->node[conv], sums)) status = add_sums(plan, conv, n, joined);
    }
    if (!status && plan->num_nodes > num_nodes) status = mst_plan_read_instead(plan, joined, num_values);
    free(joined);
    return status;
}

mst_status mst_plan_norm_grads(mst_plan *plan) {
    MST_TRY(join_gradients(plan));
    return join_sums(plan);
}
