/* autocast: computes products of f32 in bf16 where the option `precision` of the node or the session says so. The
 * factors of matrix products are cast, and the products are f32 as before:
 *
 *     h = matmul(x, w)                          a = cast(x) {dtype=bf16}, b = cast(w) {dtype=bf16}
 *     dw = matmul(x, dh) {transpose_a=true}     c = cast(dh) {dtype=bf16}
 *                                               h = matmul(a, b)
 *                                               dw = matmul(a, c) {transpose_a=true}
 *
 * A value is cast once on each device, so a weight is cast once for all shards there. Convolutions and their gradients
 * are marked (`precision`): their kernels round their sources part by part, while each part is in the cache.
 *
 * After this pass the precision of these nodes is no longer the default. On CPUs, products that may be rounded to TF32
 * are computed in f32; on devices that compile, the text of programs has this precision. On CPUs, products that may be
 * computed in bf16 stay f32 in three cases:
 *   - The processor has no instructions for bf16.
 *   - Several tasks share the plan, because their processors may differ.
 *   - bf16 is not faster, or has no correct implementation. This holds for convolutions in groups and over three axes,
 *     and for transposed convolutions whose own options do not set bf16. It also holds for matrix products of few terms
 *     whose own options do not set bf16, such as the gradient of weights from a shard of few examples. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "kernel/onednn/base/product.h"
#include "muster/ops.h"
#include "op/conv/conv.h"
#include "op/list.h"
#include "plan/plan.h"

/* A value that has been cast for the nodes of one device and phase. */
typedef struct casting {
    /* part: 0 on CPUs. cast: the value in bf16. next: another casting of the same value; -1: none. */
    int32_t device, part, phase, cast, next;
} casting;

typedef struct autocast {
    mst_plan *plan;
    int32_t *first; /* by value: its first casting; -1: none */
    casting *castings;
    int32_t num_castings;
} autocast;

/* Replaces source I of NODE by its cast to bf16. Adds the cast if there is none yet. */
static mst_status cast_source(autocast *c, int32_t node, int i) {
    const mst_plan_node *user = &c->plan->node[node];
    const int32_t value = user->src[i], device = user->device, phase = user->phase;
    const int32_t part = mst_plan_compiles(c->plan, user) ? user->part : 0;
    int32_t at = c->first[value];
    while (at >= 0 &&
           (c->castings[at].device != device || c->castings[at].part != part || c->castings[at].phase != phase))
        at = c->castings[at].next;
    if (at < 0) {
        int32_t cast;
        MST_TRY(mst_plan_add_cast(c->plan, user, value, MST_BF16, "bf16", &cast));
        at = c->num_castings++;
        c->castings[at] =
            (casting){.device = device, .part = part, .phase = phase, .cast = cast, .next = c->first[value]};
        c->first[value] = at;
    }
    c->plan->node[node].src[i] = c->castings[at].cast;
    return MST_OK;
}

static bool is_transposed(const mst_plan_node *node) {
    return node->op == &mst_op_conv2d_transpose || node->op == &mst_op_conv3d_transpose;
}

static bool is_convolution(const mst_plan_node *node) {
    return is_transposed(node) || node->op == &mst_op_conv2d || node->op == &mst_op_conv3d ||
           node->op == &mst_op_conv2d_src_grad || node->op == &mst_op_conv2d_weights_grad;
}

/* True for convolutions in groups, for convolutions over three axes, and for transposed ones whose own options do not
 * set bf16. The gradients of convolutions over three axes are the same ops as over two, so the shape decides. */
static bool stays_f32(const mst_plan *plan, const mst_plan_node *node) {
    const mst_conv2d_options *o = node->options;
    return o->groups > 1 || plan->value[node->src[0]].spec.shape.ndim == MST_CONV3D_NDIM ||
           (is_transposed(node) && !o->precision);
}

bool mst_plan_takes_bf16(const mst_plan *plan, const mst_plan_node *node) {
    const mst_device *device = &plan->host->devices->device[node->device];
    if (device->type->compiles) return true;
    if (mst_plan_has_tasks(plan)) return false;
    for (int i = 0; device->type->engines[i]; i++)
        if (strcmp(device->type->engines[i], "onednn") == 0) return true;
    return false;
}

/* Whether NODE can be computed in bf16 on its device: its sources must be f32 and not empty. */
static bool can_round(const mst_plan *plan, const mst_plan_node *node) {
    if (!mst_plan_takes_bf16(plan, node)) return false;
    for (int i = 0; i < node->num_src; i++) {
        const mst_spec *src = &plan->value[node->src[i]].spec;
        if (src->dtype != MST_F32 || mst_shape_count(src->shape) == 0) return false;
    }
    return true;
}

static mst_precision autocast_precision(const mst_plan *plan, const mst_plan_node *node, mst_precision own) {
    const mst_precision wanted = own ? own : plan->host->options->precision;
    if (!can_round(plan, node)) return MST_FLOAT32;
    return mst_plan_compiles(plan, node) ? wanted : mst_precision_here(wanted);
}

/* Whether rounding the factors and writing the sums take more time than bf16 saves. Measured with oneDNN 2.6 for the
 * gradient of 784 x 500 weights: from 50 examples bf16 is faster with AVX512_BF16 and slower with AMX. From 100
 * examples it is faster with both. The limits are the powers of two below these numbers. */
static bool has_few_terms(const mst_plan *plan, const mst_plan_node *node) {
    const int64_t enough = mst_dnnl_has_amx() ? 64 : 32;
    const mst_matmul_options *o = node->options;
    const mst_shape *a = &plan->value[node->src[0]].spec.shape;
    return a->dim[a->ndim - (o->transpose_a ? 2 : 1)] < enough;
}

static mst_status autocast_node(autocast *c, int32_t n) {
    mst_plan *plan = c->plan;
    mst_plan_node *node = &plan->node[n];
    if (node->num_src == 0) return MST_OK; /* folded into a constant */
    if (node->op == &mst_op_matmul) {
        const mst_matmul_options *o = node->options;
        if (autocast_precision(plan, node, o->precision) != MST_MIXED_BFLOAT16) return MST_OK;
        if (!o->precision && !mst_plan_compiles(plan, node) && has_few_terms(plan, node)) return MST_OK;
        for (int i = 0; i < 2; i++) MST_TRY(cast_source(c, n, i));
    } else if (is_convolution(node)) {
        mst_conv2d_options options = *(const mst_conv2d_options *)node->options;
        const mst_precision precision = autocast_precision(plan, node, options.precision);
        options.precision = stays_f32(plan, node) && !mst_plan_compiles(plan, node) ? MST_FLOAT32 : precision;
        return mst_plan_become(plan, node, node->op, &options, node->num_src, node->src);
    }
    return MST_OK;
}

mst_precision mst_precision_here(mst_precision wanted) {
    return wanted == MST_MIXED_BFLOAT16 && mst_dnnl_has_bf16() ? MST_MIXED_BFLOAT16 : MST_FLOAT32;
}

mst_status mst_plan_autocast(mst_plan *plan) {
    const int64_t num_nodes = plan->num_nodes, num_values = plan->num_values;
    autocast c = {.plan = plan};
    c.first = malloc(((size_t)num_values + 1) * sizeof *c.first);
    c.castings = calloc((size_t)num_nodes * 2 + 1, /* a product has two factors */
                        sizeof *c.castings);
    mst_status status = c.first && c.castings ? MST_OK : MST_NO_MEMORY("for a plan");
    if (!status) memset(c.first, -1, (size_t)num_values * sizeof *c.first);
    for (int64_t n = 0; n < num_nodes && !status; n++)
        if (!plan->node[n].dead) status = autocast_node(&c, (int32_t)n);
    free(c.first);
    free(c.castings);
    if (!status) status = mst_plan_sweep(plan);
    return status ? status : mst_plan_sort(plan); /* puts the casts before the nodes that read them */
}
