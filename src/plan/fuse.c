/* fuse: replaces several nodes by one with a fused kernel. Each rule looks at the last node of its pattern. That node
 * becomes the fused one, so it still comes after all of its sources. */
#include <string.h>

#include "op/conv/fused_conv2d.h"
#include "op/list.h"
#include "op/matrix/fused_matmul.h"
#include "op/norm/batch_norm.h"
#include "op/op.h"
#include "op/shape/strided.h"
#include "plan/plan.h"

/* The node that makes VALUE, if USER is its only user and both are on the same device and side of the gate; else
 * NULL. */
static mst_plan_node *sole_maker(mst_plan *plan, const mst_plan_node *user, int32_t value) {
    mst_plan_node *maker = &plan->node[plan->value[value].node];
    bool apart = maker->device != user->device || maker->region != user->region || maker->num_control;
    return plan->value[value].num_uses == 1 && !apart && !plan->value[value].constant ? maker : NULL;
}

/* ---- products ---- */

/* add(matmul(a, b), bias), of floats */
static mst_status fuse_bias(mst_plan *plan, mst_plan_node *node) {
    if (node->op != &mst_op_add || node->num_control) return MST_OK;
    for (int i = 0; i < 2; i++) {
        mst_plan_node *matmul = sole_maker(plan, node, node->src[i]);
        const mst_spec *product = &plan->value[node->src[i]].spec, *bias = &plan->value[node->src[1 - i]].spec;
        if (!matmul || matmul->op != &mst_op_matmul || product->shape.ndim != 2 || bias->shape.ndim != 1 ||
            bias->shape.dim[0] != product->shape.dim[1] || !mst_dtype_is_float(product->dtype))
            continue;
        /* Both factors must be matrices: products of batches are not fused. */
        if (plan->value[matmul->src[0]].spec.shape.ndim != 2 || plan->value[matmul->src[1]].spec.shape.ndim != 2)
            continue;
        const mst_matmul_options *o = matmul->options;
        mst_fused_matmul_options fused = {.transpose_a = o->transpose_a, .transpose_b = o->transpose_b};
        matmul->dead = true;
        return mst_plan_become(plan, node, &mst_op_fused_matmul, &fused, 3,
                               (const int32_t[]){matmul->src[0], matmul->src[1], node->src[1 - i]});
    }
    return MST_OK;
}

/* relu(fused_matmul(a, b, bias)) */
static mst_status fuse_activation(mst_plan *plan, mst_plan_node *node) {
    if ((node->op != &mst_op_relu && node->op != &mst_op_relu6) || node->num_control) return MST_OK;
    mst_plan_node *matmul = sole_maker(plan, node, node->src[0]);
    if (!matmul || matmul->op != &mst_op_fused_matmul) return MST_OK;
    mst_fused_matmul_options fused = *(const mst_fused_matmul_options *)matmul->options;
    if (fused.activation != MST_FUSED_NONE) return MST_OK;
    fused.activation = node->op == &mst_op_relu ? MST_FUSED_RELU : MST_FUSED_RELU6;
    matmul->dead = true;
    return mst_plan_become(plan, node, &mst_op_fused_matmul, &fused, 3, matmul->src);
}

/* ---- convolutions ---- */

/* Whether VALUE has one number for each channel of CONV's output. */
static bool is_of_channels(const mst_plan *plan, const mst_plan_node *conv, int32_t value) {
    const mst_spec *of = &plan->value[value].spec, *dst = &plan->value[conv->dst].spec;
    return of->dtype == dst->dtype && of->shape.ndim == 1 && of->shape.dim[0] == dst->shape.dim[dst->shape.ndim - 1];
}

/* The convolution that makes source I of NODE, if NODE is its only user and NUMBERS has one number for each channel;
 * else NULL. A convolution that reads a batch norm stays a conv2d, which the pass norms looks for. */
static mst_plan_node *conv_of(mst_plan *plan, const mst_plan_node *node, int i, int32_t numbers) {
    mst_plan_node *conv = sole_maker(plan, node, node->src[i]);
    if (!conv || conv->op != &mst_op_conv2d || !is_of_channels(plan, conv, numbers)) return NULL;
    const mst_plan_node *src = &plan->node[plan->value[conv->src[0]].node];
    if (src->op == &mst_op_identity) src = &plan->node[plan->value[src->src[0]].node];
    return src->op == &mst_op_batch_norm || src->op == &mst_op_fused_batch_norm ? NULL : conv;
}

/* add(conv2d(src, weights), shift) and add(mul(conv2d(src, weights), scale), shift), a batch norm of inference */
static mst_status fuse_shift(mst_plan *plan, mst_plan_node *node) {
    if (node->op != &mst_op_add || node->num_control) return MST_OK;
    for (int i = 0; i < 2; i++) {
        mst_plan_node *conv = conv_of(plan, node, i, node->src[1 - i]), *mul = sole_maker(plan, node, node->src[i]);
        int32_t scale = -1;
        for (int k = 0; k < 2 && !conv && mul && mul->op == &mst_op_mul; k++) {
            conv = conv_of(plan, mul, k, mul->src[1 - k]);
            scale = mul->src[1 - k];
        }
        if (!conv || !is_of_channels(plan, conv, node->src[1 - i])) continue;
        const mst_fused_conv2d_options fused = {.conv = *(const mst_conv2d_options *)conv->options};
        conv->dead = true;
        if (scale >= 0) mul->dead = true;
        return mst_plan_become(plan, node, &mst_op_fused_conv2d, &fused, 3 + (scale >= 0),
                               (const int32_t[]){conv->src[0], conv->src[1], node->src[1 - i], scale});
    }
    return MST_OK;
}

/* add(fused_conv2d(...), what), both of one shape: the end of a residual block */
static mst_status fuse_residual(mst_plan *plan, mst_plan_node *node) {
    enum { MOST_SRC = 5 };
    if (node->op != &mst_op_add || node->num_control) return MST_OK;
    const mst_shape shape = plan->value[node->dst].spec.shape;
    for (int i = 0; i < 2; i++) {
        mst_plan_node *conv = sole_maker(plan, node, node->src[i]);
        if (!conv || conv->op != &mst_op_fused_conv2d) continue;
        mst_fused_conv2d_options fused = *(const mst_fused_conv2d_options *)conv->options;
        if (fused.activation != MST_FUSED_NONE || fused.residual) continue;
        for (int k = 0; k < 2; k++)
            if (!mst_shape_equal(plan->value[node->src[k]].spec.shape, shape)) return MST_OK;
        int32_t src[MOST_SRC];
        memcpy(src, conv->src, (size_t)conv->num_src * sizeof *src);
        src[conv->num_src] = node->src[1 - i];
        fused.residual = true;
        conv->dead = true;
        return mst_plan_become(plan, node, &mst_op_fused_conv2d, &fused, conv->num_src + 1, src);
    }
    return MST_OK;
}

/* ---- convolutions and poolings over one axis: views turn them into those over two ---- */

/* Makes NODE an identity of its source I, whose node now computes what NODE used to compute. */
static mst_status pass_on(mst_plan *plan, mst_plan_node *node, int i) {
    return mst_plan_become(plan, node, &mst_op_identity, node->options, 1, (const int32_t[]){node->src[i]});
}

/* The node that makes source I of NODE, skipping views. NULL if any of these nodes has another user. */
static mst_plan_node *maker_behind_views(mst_plan *plan, const mst_plan_node *node, int i) {
    mst_plan_node *maker = sole_maker(plan, node, node->src[i]);
    while (maker && mst_plan_is_view(maker)) maker = sole_maker(plan, maker, maker->src[0]);
    return maker;
}

/* add(squeeze(conv2d(src, weights)), shift): the convolution adds the shift. */
static mst_status fuse_row_shift(mst_plan *plan, mst_plan_node *node) {
    if (node->op != &mst_op_add || node->num_control) return MST_OK;
    for (int i = 0; i < 2; i++) {
        const mst_plan_node *view = sole_maker(plan, node, node->src[i]);
        const int32_t shift = node->src[1 - i];
        if (!view || view->op != &mst_op_squeeze) continue;
        mst_plan_node *conv = conv_of(plan, view, 0, shift);
        if (!conv || plan->value[shift].node > conv - plan->node) continue;
        const mst_fused_conv2d_options fused = {.conv = *(const mst_conv2d_options *)conv->options};
        MST_TRY(mst_plan_become(plan, conv, &mst_op_fused_conv2d, &fused, 3,
                                (const int32_t[]){conv->src[0], conv->src[1], shift}));
        return pass_on(plan, node, i);
    }
    return MST_OK;
}

/* relu(fused_conv2d(...)), also with views between the two */
static mst_status fuse_conv_activation(mst_plan *plan, mst_plan_node *node) {
    if ((node->op != &mst_op_relu && node->op != &mst_op_relu6) || node->num_control) return MST_OK;
    mst_plan_node *conv = maker_behind_views(plan, node, 0);
    if (!conv || conv->op != &mst_op_fused_conv2d) return MST_OK;
    mst_fused_conv2d_options fused = *(const mst_fused_conv2d_options *)conv->options;
    if (fused.activation != MST_FUSED_NONE) return MST_OK;
    fused.activation = node->op == &mst_op_relu ? MST_FUSED_RELU : MST_FUSED_RELU6;
    MST_TRY(mst_plan_become(plan, conv, conv->op, &fused, conv->num_src, conv->src));
    return pass_on(plan, node, 0);
}

/* The value of which VALUE is a view, through any number of views. */
static int32_t behind_views(const mst_plan *plan, int32_t value) {
    const mst_plan_node *maker;
    while (maker = &plan->node[plan->value[value].node], mst_plan_is_view(maker)) value = maker->src[0];
    return value;
}

/* relu_grad(max_pool2d_grad(output, gradient), output): the gradient of the pooling sets its result to 0 where the
 * output is not greater than 0. */
static mst_status fuse_pool_relu_grad(mst_plan *plan, mst_plan_node *node) {
    if (node->op != &mst_op_relu_grad || node->num_control) return MST_OK;
    mst_plan_node *pool = maker_behind_views(plan, node, 0);
    if (!pool || pool->op != &mst_op_max_pool2d_grad ||
        behind_views(plan, pool->src[0]) != behind_views(plan, node->src[1]))
        return MST_OK;
    MST_TRY(mst_plan_become(plan, pool, &mst_op_max_pool2d_relu_grad, pool->options, pool->num_src, pool->src));
    return pass_on(plan, node, 0);
}

/* ---- batch norm ---- */

/* relu(batch_norm(...)): the batch norm applies the relu, and the relu's node becomes an identity of its output. */
static mst_status fuse_batch_norm(mst_plan *plan, mst_plan_node *node) {
    if ((node->op != &mst_op_relu && node->op != &mst_op_relu6) || node->num_control) return MST_OK;
    mst_plan_node *norm = sole_maker(plan, node, node->src[0]);
    if (!norm || norm->op != &mst_op_batch_norm || node->src[0] != norm->dst) return MST_OK;
    const mst_fused_batch_norm_options fused = {
        .epsilon = ((const mst_batch_norm_options *)norm->options)->epsilon,
        .activation = node->op == &mst_op_relu ? MST_BATCH_RELU : MST_BATCH_RELU6};
    MST_TRY(mst_plan_become(plan, norm, &mst_op_fused_batch_norm, &fused, norm->num_src, norm->src));
    node->op = &mst_op_identity;
    return MST_OK;
}

/* batch_norm_grad(source, gamma, mean, variance, relu_grad(gradient, output)), where output is the output of the fused
 * batch norm of the same sources. The fused gradient has one more source after gamma: beta. */
static mst_status fuse_batch_norm_grad(mst_plan *plan, mst_plan_node *node) {
    if (node->op != &mst_op_batch_norm_grad || node->num_control) return MST_OK;
    mst_plan_node *relu = sole_maker(plan, node, node->src[4]);
    if (!relu || (relu->op != &mst_op_relu_grad && relu->op != &mst_op_relu6_grad)) return MST_OK;
    const mst_plan_node *passed = &plan->node[plan->value[relu->src[1]].node];
    if (passed->op != &mst_op_identity || passed->device != node->device) return MST_OK;
    const mst_plan_node *norm = &plan->node[plan->value[passed->src[0]].node];
    if (norm->op != &mst_op_fused_batch_norm || norm->src[0] != node->src[0] || norm->src[1] != node->src[1] ||
        norm->dst + 1 != node->src[2] || norm->dst + 2 != node->src[3])
        return MST_OK;
    /* Writes behind the gate were ordered only with respect to the variables that the node read before this pass. */
    if (node->region == MST_COMMIT && mst_plan_in_variable(plan, norm->src[2])) return MST_OK;
    relu->dead = true;
    return mst_plan_become(
        plan, node, &mst_op_fused_batch_norm_grad, norm->options, 6,
        (const int32_t[]){node->src[0], node->src[1], norm->src[2], node->src[2], node->src[3], relu->src[0]});
}

/* ---- zeros around the source of a convolution: the convolution pads by itself ---- */

/* transpose(pad(transpose(src))), where the second transpose undoes the first, becomes a pad of the source. ONNX files
 * have this pattern, because their pictures have the channels first. */
static mst_status fuse_turned_pad(mst_plan *plan, mst_plan_node *node) {
    if (node->op != &mst_op_transpose || node->num_control) return MST_OK;
    mst_plan_node *pad = sole_maker(plan, node, node->src[0]);
    mst_plan_node *turn = pad && pad->op == &mst_op_pad ? sole_maker(plan, pad, pad->src[0]) : NULL;
    if (!turn || turn->op != &mst_op_transpose) return MST_OK;
    const mst_axes *first = &((const mst_transpose_options *)turn->options)->perm;
    const mst_axes *second = &((const mst_transpose_options *)node->options)->perm;
    const int ndim = plan->value[node->dst].spec.shape.ndim;
    if (first->count != ndim || second->count != ndim) return MST_OK;
    mst_pad_options turned = *(const mst_pad_options *)pad->options;
    const mst_shape before = turned.before, after = turned.after;
    for (int k = 0; k < ndim; k++) {
        const int axis = second->axis[k]; /* axis of the padded value */
        if (first->axis[axis] != k) return MST_OK;
        if (before.ndim) turned.before.dim[k] = before.dim[axis];
        if (after.ndim) turned.after.dim[k] = after.dim[axis];
    }
    pad->dead = turn->dead = true;
    return mst_plan_become(plan, node, &mst_op_pad, &turned, 1, turn->src);
}

/* The node that pads VALUE with zeros above, below, left and right, if it is on the device of NODE; else NULL. */
static const mst_plan_node *pad_of(const mst_plan *plan, const mst_plan_node *node, int32_t value) {
    const mst_plan_node *pad = &plan->node[plan->value[value].node];
    if (pad->op != &mst_op_pad || pad->device != node->device || pad->region != node->region || pad->num_control ||
        plan->value[value].constant || plan->value[value].spec.shape.ndim != 4)
        return NULL;
    const mst_pad_options *o = pad->options;
    for (int axis = 0; axis < 4; axis += 3)
        if ((o->before.ndim && o->before.dim[axis]) || (o->after.ndim && o->after.dim[axis])) return NULL;
    return o->value == 0 ? pad : NULL;
}

/* Sets OUT to the options of a convolution that reads the source of PAD and pads it itself. False if there are none. */
static bool padded_options(const mst_plan_node *pad, const void *options, mst_conv2d_options *out) {
    enum { MOST = 1 << 20 };
    const mst_pad_options *o = pad->options;
    *out = *(const mst_conv2d_options *)options;
    if (out->padding != MST_PADDING_VALID) return false;
    out->pads.count = 4;
    for (int side = 0; side < 4; side++) {
        const mst_shape *more = side % 2 ? &o->after : &o->before;
        const int64_t zeros = more->ndim ? more->dim[1 + side / 2] : 0;
        if (zeros > MOST || out->pads.axis[side] > MOST) return false;
        out->pads.axis[side] += (int)zeros;
    }
    return true;
}

/* conv2d(pad(src), weights), and the gradient of its weights */
static mst_status fuse_pad(mst_plan *plan, mst_plan_node *node) {
    mst_conv2d_options fused;
    if (node->op != &mst_op_conv2d && node->op != &mst_op_conv2d_weights_grad) return MST_OK;
    const mst_plan_node *pad = pad_of(plan, node, node->src[0]);
    if (!pad || !padded_options(pad, node->options, &fused)) return MST_OK;
    int32_t src[3] = {pad->src[0]};
    for (int i = 1; i < node->num_src; i++) src[i] = node->src[i];
    return mst_plan_become(plan, node, node->op, &fused, node->num_src, src);
}

/* slice_like(conv2d_src_grad(pad(src), weights, gradient), src): the gradient of the zeros is not computed. */
static mst_status fuse_pad_grad(mst_plan *plan, mst_plan_node *node) {
    mst_conv2d_options fused;
    if (node->op != &mst_op_slice_like || node->num_control) return MST_OK;
    mst_plan_node *conv = sole_maker(plan, node, node->src[0]);
    const mst_plan_node *pad = conv && conv->op == &mst_op_conv2d_src_grad ? pad_of(plan, conv, conv->src[0]) : NULL;
    if (!pad || !padded_options(pad, conv->options, &fused)) return MST_OK;
    const mst_shape *begin = &((const mst_slice_like_options *)node->options)->begin;
    const mst_shape *before = &((const mst_pad_options *)pad->options)->before;
    if (!mst_shape_equal(plan->value[node->dst].spec.shape, plan->value[pad->src[0]].spec.shape)) return MST_OK;
    for (int axis = 0; axis < 4; axis++)
        if (begin->dim[axis] != (before->ndim ? before->dim[axis] : 0)) return MST_OK;
    conv->dead = true;
    return mst_plan_become(plan, node, &mst_op_conv2d_src_grad, &fused, 3,
                           (const int32_t[]){pad->src[0], conv->src[1], conv->src[2]});
}

static mst_status (*const rules[])(mst_plan *plan, mst_plan_node *node) = {
    fuse_bias,       fuse_activation,      fuse_shift,      fuse_residual, fuse_row_shift, fuse_conv_activation,
    fuse_batch_norm, fuse_batch_norm_grad, fuse_turned_pad, fuse_pad,      fuse_pad_grad,  fuse_pool_relu_grad};

mst_status mst_plan_fuse(mst_plan *plan) {
    for (int64_t i = 0; i < plan->num_nodes; i++)
        for (size_t r = 0; r < sizeof rules / sizeof *rules && !plan->node[i].dead; r++)
            if (!mst_plan_compiles(plan, &plan->node[i])) MST_TRY(rules[r](plan, &plan->node[i]));
    return mst_plan_sweep(plan);
}
