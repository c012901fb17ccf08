/* narrow: if products are computed in bf16, keeps some values between two batch norms in bf16: those that only
 * convolutions and their gradients read. This halves the bytes that are written and read for these values:
 *
 *     h, ... = conv2d_statistics(x, u, ...)                 h and dh are of bf16
 *     y, ... = conv2d_statistics(h, v, ..., terms)
 *     dh, dv, ... = conv2d_grads(h, v, dy, y, ...)
 *
 * Kernels round h and dh as they write them, part by part, and compute with f32 as before. The statistics are those of
 * the rounded h. If one of the convolutions has to be in f32, or another node reads the value, the value stays f32. In
 * a plan of several tasks all values stay f32. Convolutions in groups do not decide: their products are always f32. */
#include <stdlib.h>

#include "base/no_memory.h"
#include "op/conv/conv2d_grads.h"
#include "op/conv/normalized_conv.h"
#include "op/list.h"
#include "plan/plan.h"

typedef enum narrowing { MAY_NOT = -1, UNDECIDED, MAY } narrowing;

/* Whether a value that a convolution with OPTIONS reads or makes may be kept in bf16. */
static narrowing of_options(const mst_conv2d_options *options) {
    if (options->precision == MST_MIXED_BFLOAT16) return MAY;
    return options->groups > 1 ? UNDECIDED : MAY_NOT;
}

static bool is_convolution(const mst_plan_node *node) {
    return node->op == &mst_op_conv2d || node->op == &mst_op_normalized_conv2d || node->op == &mst_op_conv2d_statistics;
}

static bool is_gradient(const mst_plan_node *node) {
    return node->op == &mst_op_conv2d_grads || node->op == &mst_op_normalized_conv2d_weights_grad;
}

static narrowing when_made(const mst_plan_node *node, int output) {
    const bool of_source = node->op == &mst_op_conv2d_grads && mst_conv2d_grads_of_weights(node->options) > 0;
    return output == 0 && (is_convolution(node) || of_source) ? of_options(node->options) : MAY_NOT;
}

/* Whether source I of NODE may be kept in bf16. The kernels can read two sources in bf16: the source of a batch norm,
 * and the gradient of a batch norm's output. */
static narrowing when_read(const mst_plan_node *node, int i) {
    if (mst_plan_shape_only(node, i)) return UNDECIDED;
    const bool source = i == 0 && mst_conv_src_terms(node->op, node->num_src) > 0;
    const bool gradient =
        node->op == &mst_op_conv2d_grads && (i == MST_CONV2D_GRADS_GRADIENT || i == MST_CONV2D_GRADS_OUTPUT);
    return source || gradient ? of_options(node->options) : MAY_NOT;
}

/* Combines the answers of several nodes for one value: a single MAY_NOT decides; UNDECIDED leaves it to the others. */
static void narrow_join(narrowing *all, narrowing one) {
    if (*all == UNDECIDED || one == MAY_NOT) *all = one;
}

mst_status mst_plan_narrow(mst_plan *plan) {
    narrowing *values = calloc((size_t)plan->num_values + 1, sizeof *values);
    if (!values) return MST_NO_MEMORY("for a plan");
    for (int64_t n = 0; n < plan->num_nodes; n++) {
        const mst_plan_node *node = &plan->node[n];
        const bool can = (is_convolution(node) || is_gradient(node)) && node->group < 0 &&
                         mst_plan_takes_bf16(plan, node) && !mst_plan_compiles(plan, node);
        for (int i = 0; i < node->num_dst && !node->dead; i++)
            narrow_join(&values[node->dst + i], can ? when_made(node, i) : MAY_NOT);
        for (int i = 0; i < node->num_src && !node->dead; i++) {
            const bool here = plan->node[plan->value[node->src[i]].node].device == node->device;
            narrow_join(&values[node->src[i]], can && here ? when_read(node, i) : MAY_NOT);
        }
    }
    for (int64_t v = 0; v < plan->num_values; v++) {
        mst_spec *spec = &plan->value[v].spec;
        if (values[v] == MAY && spec->dtype == MST_F32 && mst_shape_count(spec->shape) > 0) spec->dtype = MST_BF16;
    }
    free(values);
    return MST_OK;
}
