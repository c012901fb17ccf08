/* halve: saves memory if products are computed in bf16. Values around these products that the forward pass makes and
 * the backward pass reads are kept in bf16 between the two passes, in half of the memory:
 *
 *     q = transpose(matmul(...))                   q = transpose(matmul(...)), k = cast(q) {dtype=bf16}
 *     y = attention(q, ...)                        y = attention(q, ...)
 *     dq = attention_grad(q, ..., dy)              r = cast(k) {dtype=f32}, after dy; dq = attention_grad(r, ..., dy)
 *
 * The forward pass still reads f32, and everything except the products is computed in f32. Inputs and outputs of norms,
 * sums at the ends of residual blocks, softmax and losses stay f32 in both passes. Only large values are kept in bf16,
 * and only if their readers are on the same CPU device. With the option `recompute` the pass does nothing. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "graph/graph.h"
#include "muster/ops.h"
#include "op/list.h"
#include "plan/plan.h"

enum { LEAST_BYTES = 16384 /* values of fewer bytes stay as they are */ };

typedef struct halve {
    mst_plan *plan;
    int64_t num_nodes, num_values; /* numbers before casts are added */
    bool *backward;                /* by node: it belongs to a gradient, or depends on one */
    int32_t *root;                 /* by value: the value in whose memory it lies */
    bool *stays;                   /* by root: it stays f32 */
    int32_t *first;                /* by value: the backward node that reads it first; -1: none */
    int32_t *kept, *again;         /* by value: its cast to bf16, and the cast of that back to f32; -1: none */
    bool *follows;                 /* by node: it depends on the reader of wait_for_gradients */
} halve;

/* Whether outputs of OP may be rounded. OP must be a product, compute each element by itself, or only move elements. */
static bool may_round(const mst_op *op) {
    const mst_op *const ops[] = {&mst_op_matmul,    &mst_op_fused_matmul, &mst_op_scaled_dot_product_attention,
                                 &mst_op_transpose, &mst_op_concat,       &mst_op_mul,
                                 &mst_op_gelu,      &mst_op_swish,        &mst_op_relu,
                                 &mst_op_dropout};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (op == ops[i]) return true;
    return false;
}

static bool is_cast_to(const mst_plan_node *node, mst_dtype dtype) {
    return node->op == &mst_op_cast && ((const mst_cast_options *)node->options)->dtype == dtype;
}

/* Whether VALUE, which is made by NODE, can be kept in bf16. */
static bool can_halve(const halve *h, int32_t value, const mst_plan_node *node) {
    const mst_plan_value *v = &h->plan->value[value];
    return !h->backward[v->node] && may_round(node->op) && value == node->dst && v->spec.dtype == MST_F32 &&
           v->space == MST_IN_ARENA && !v->constant && v->counted_by < 0 && mst_plan_bytes(v) >= LEAST_BYTES &&
           node->region == MST_BODY && node->group < 0 && !node->writer && !mst_plan_compiles(h->plan, node);
}

/* Finds for each value its root, whether it stays f32, and which backward node reads it first. */
static void find_values(halve *h) {
    const mst_plan *plan = h->plan;
    for (int64_t v = 0; v < h->num_values; v++) {
        h->root[v] = (int32_t)v;
        h->first[v] = h->kept[v] = h->again[v] = -1;
        h->stays[v] = !can_halve(h, (int32_t)v, &plan->node[plan->value[v].node]);
    }
    for (int64_t k = 0; k < plan->num_order; k++) {
        const int32_t n = plan->order[k];
        const mst_plan_node *node = &plan->node[n];
        if (mst_plan_is_view(node) && node->num_dst) {
            h->root[node->dst] = h->root[node->src[0]];
            if (h->backward[n] || node->materialize) h->stays[h->root[node->dst]] = true;
        }
        for (int i = 0; i < node->num_src; i++) {
            const int32_t value = node->src[i], root = h->root[value];
            if (mst_plan_shape_only(node, i)) continue;
            if (node->device != plan->node[plan->value[root].node].device || node->region != MST_BODY ||
                node->group >= 0 || node->op == &mst_op_fetch)
                h->stays[root] = true;
            if (h->backward[n] && h->first[value] < 0) h->first[value] = n;
        }
    }
}

/* Makes CAST wait for the sources of node N that backward nodes make, except those that depend on the reader. *WAITS
 * becomes true if there are any such sources. */
static mst_status wait_for_sources(halve *h, int32_t cast, int32_t n, bool *waits) {
    for (int i = 0; i < h->plan->node[n].num_src; i++) {
        const mst_plan_node *node = &h->plan->node[n];
        const int32_t maker = h->plan->value[node->src[i]].node;
        if (mst_plan_shape_only(node, i) || maker >= h->num_nodes || !h->backward[maker] || h->follows[maker]) continue;
        MST_TRY(mst_plan_add_control(h->plan, cast, maker));
        *waits = true;
    }
    return MST_OK;
}

static bool follows_from(const halve *h, const mst_plan_node *node) {
    for (int i = 0; i < node->num_src; i++)
        if (!mst_plan_shape_only(node, i) && h->follows[h->plan->value[node->src[i]].node]) return true;
    return false;
}

/* Makes CAST wait for the gradients that READER reads. READER may read none, for example if it computes the derivative
 * of an activation. Then CAST waits for the first gradients that nodes which depend on READER read from elsewhere. */
static mst_status wait_for_gradients(halve *h, int32_t cast, int32_t reader) {
    const mst_plan *plan = h->plan;
    bool waits = false;
    MST_TRY(wait_for_sources(h, cast, reader, &waits));
    if (waits) return MST_OK;
    memset(h->follows, 0, (size_t)h->num_nodes * sizeof *h->follows);
    h->follows[reader] = true;
    for (int64_t k = plan->node[reader].position + 1; k < plan->num_order && !waits; k++) {
        const int32_t n = plan->order[k];
        if (n == cast || !follows_from(h, &plan->node[n])) continue;
        h->follows[n] = true;
        MST_TRY(wait_for_sources(h, cast, n, &waits));
    }
    return MST_OK;
}

/* Notes the casts to bf16 that exist already, because products read them. */
static void find_casts(halve *h) {
    const mst_plan *plan = h->plan;
    for (int64_t n = 0; n < h->num_nodes; n++) {
        const mst_plan_node *node = &plan->node[n];
        if (node->dead || h->backward[n] || node->num_src != 1 || !is_cast_to(node, MST_BF16)) continue;
        const mst_plan_node *maker = &plan->node[plan->value[node->src[0]].node];
        if (maker->device == node->device && maker->phase == node->phase) h->kept[node->src[0]] = node->dst;
    }
}

/* Keeps VALUE in bf16 for the backward nodes that read it. */
static mst_status keep_value(halve *h, int32_t value) {
    mst_plan *plan = h->plan;
    const int32_t maker = plan->value[value].node, reader = h->first[value];
    if (h->kept[value] < 0)
        MST_TRY(mst_plan_add_cast(plan, &plan->node[maker], value, MST_BF16, "kept", &h->kept[value]));
    MST_TRY(mst_plan_add_cast(plan, &plan->node[reader], h->kept[value], MST_F32, "again", &h->again[value]));
    return wait_for_gradients(h, plan->value[h->again[value]].node, reader);
}

static void read_again(halve *h) {
    for (int64_t n = 0; n < h->num_nodes; n++) {
        mst_plan_node *node = &h->plan->node[n];
        for (int i = 0; i < node->num_src && h->backward[n] && !node->dead; i++)
            if (!mst_plan_shape_only(node, i) && h->again[node->src[i]] >= 0) node->src[i] = h->again[node->src[i]];
    }
}

static mst_status halve_all(halve *h) {
    mst_plan_find_backward(h->plan, h->backward);
    find_values(h);
    find_casts(h);
    for (int64_t v = 0; v < h->num_values; v++)
        if (h->first[v] >= 0 && !h->stays[h->root[v]]) MST_TRY(keep_value(h, (int32_t)v));
    read_again(h);
    MST_TRY(mst_plan_sweep(h->plan));
    return mst_plan_sort(h->plan);
}

mst_status mst_plan_halve(mst_plan *plan) {
    const mst_session_options *o = plan->host->options;
    if (o->recompute || mst_plan_has_tasks(plan) || mst_precision_here(o->precision) != MST_MIXED_BFLOAT16)
        return MST_OK;
    halve h = {.plan = plan, .num_nodes = plan->num_nodes, .num_values = plan->num_values};
    const size_t values = (size_t)h.num_values + 1;
    h.backward = calloc((size_t)h.num_nodes + 1, sizeof *h.backward);
    h.follows = calloc((size_t)h.num_nodes + 1, sizeof *h.follows);
    h.stays = calloc(values, sizeof *h.stays);
    h.root = calloc(4 * values, sizeof *h.root);
    mst_status status = h.backward && h.follows && h.stays && h.root ? MST_OK : MST_NO_MEMORY("for a plan");
    if (!status) {
        h.first = h.root + values;
        h.kept = h.first + values;
        h.again = h.kept + values;
        status = halve_all(&h);
    }
    free(h.backward);
    free(h.follows);
    free(h.stays);
    free(h.root);
    return status;
}
