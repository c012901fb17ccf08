/* The gradient of each variable: a part of the lowering of apply_gradients. A gradient is of one of three kinds:
 *
 *      product   a matrix product A^T B that only the update uses. The update's kernel computes the product itself, one
 *                unit at a time (op/state/update.h).
 *      sparse    rows and their indices. They come from gathers; then rows with the same index are added up on the
 *                device of the shard. Or another graph has computed and added them up (op/state/sparse_gradient.h).
 *      dense     anything else
 *
 * Dense gradients of the shards of one device are added up on that device, in the order of the fixed tree over shards
 * (base/shard_tree.h). update_exchange.c adds up across domains. */
#include <stdlib.h>

#include "base/no_memory.h"
#include "muster/ops.h"
#include "op/index/gather.h"
#include "op/list.h"
#include "op/state/sparse_gradient.h"
#include "plan/ops.h"
#include "plan/update_lowering.h"
#include "plan/update_ops.h"
#include "rule/gradient_clip.h"
#include "rule/rule.h"

/* ---- products ---- */

/* Whether the update can read the sources of NODE instead of its output, with the same values. NODE must wait for no
 * node of the original graph, and no writer may change the sources before the update. The update must then wait for the
 * joins that NODE waits for (come_after_joins). */
static bool can_read_sources(const mst_lowering *l, const mst_plan_node *node) {
    for (int32_t i = 0; i < node->num_control; i++)
        if (node->control[i] < l->d->num_imported) return false;
    return node->phase == l->plan->node[l->node].phase ||
           !mst_lowering_reads_variable(l->plan, node->num_src, node->src);
}

/* Makes the update wait for all nodes that NODE waits for. */
static mst_status come_after_joins(mst_lowering *l, int32_t node) {
    for (int32_t i = 0; i < l->plan->node[node].num_control; i++)
        MST_TRY(mst_plan_add_control(l->plan, l->node, l->plan->node[node].control[i]));
    return MST_OK;
}

/* Whether VALUE is a matrix product A^T B that only the update uses, so that the update can compute it unit by unit.
 * *OUT is the node that makes VALUE. */
static bool is_product(const mst_lowering *l, int32_t value, const mst_plan_node **out) {
    const mst_plan_node *node = &l->plan->node[mst_lowering_maker(l, value)];
    *out = node;
    if (node->op != &mst_op_matmul || l->plan->value[value].constant || l->plan->value[value].num_uses != 1 ||
        !can_read_sources(l, node))
        return false;
    const mst_matmul_options *o = node->options;
    const mst_spec *spec = &l->plan->value[value].spec, *a = &l->plan->value[node->src[0]].spec;
    return o->transpose_a && !o->transpose_b && spec->dtype == MST_F32 && a->dtype == MST_F32 &&
           spec->shape.ndim == 2 && a->shape.ndim == 2 && l->plan->value[node->src[1]].spec.shape.ndim == 2 &&
           a->shape.dim[0] > 0 && mst_shape_count(spec->shape) > 0;
}

static bool set_has_device(const mst_update_set *s, int32_t device) {
    if (s->mirrored) return s->mirrored->place[device] >= 0;
    return s->device[0] == device;
}

/* The most gradients of one variable that a device would hold at once if they were stored. There is one waiting sum for
 * each level of the tree over its shards, and the gradient that is being computed. */
static int64_t gradients_at_once(const mst_lowering *l, const mst_update_set *s) {
    const int64_t shards = (l->window.count + s->num_devices - 1) / s->num_devices;
    int64_t levels = 0;
    while ((int64_t)1 << levels < shards) levels++;
    return levels + 1;
}

/* Whether the update computes the products of V itself. It does so if that saves memory. The factors A and B of all
 * shards must then be kept until the update, so they must be no larger than the gradients that need not be stored. */
static bool are_products(const mst_lowering *l, const mst_variable_update *v) {
    const mst_update_set *s = &l->sets[v->set];
    const mst_plan_node *node;
    int64_t factors = 0;
    if (mst_lowering_compiles(l, v->set) || s->num_domains > 1 || mst_lowering_is_part(l) ||
        mst_clips_by_norm(&l->options->optimizer) || l->plan->host->options->check_numerics || l->options->masters)
        return false;
    for (int32_t i = 0; i < l->window.count; i++) {
        const int32_t gradient = v->gradient[i];
        if (!is_product(l, gradient, &node) || !set_has_device(s, node->device)) return false;
        for (int k = 0; k < 2; k++) factors += mst_plan_bytes(&l->plan->value[node->src[k]]);
    }
    const int64_t gradients = s->num_devices * gradients_at_once(l, s);
    return factors <= gradients * mst_plan_bytes(&l->plan->value[v->gradient[0]]);
}

/* ---- the gradient of gather: rows and indices ---- */

/* The sources of sum_rows for one gradient. */
typedef struct row_sources {
    int32_t *value; /* values of the plan: rows, their indices, rows, their indices, ... */
    int64_t count, capacity;
} row_sources;

static bool is_sum(const mst_plan_node *node) {
    return node->op == &mst_op_add || node->op == &mst_op_add_n;
}

/* Whether VALUE is the gradient of a gather of rows, or a sum of such gradients, for example of a table that is used
 * several times. A value that was folded into a constant is neither, because its node has lost its sources. */
static bool is_sparse(const mst_lowering *l, int32_t value) {
    const mst_plan_node *node = &l->plan->node[mst_lowering_maker(l, value)];
    if (l->plan->value[value].constant) return false;
    if (node->op == &mst_op_gather_grad)
        return ((const mst_gather_options *)node->options)->axis == 0 && can_read_sources(l, node);
    bool sparse = is_sum(node) && node->num_control == 0;
    for (int i = 0; i < node->num_src && sparse; i++) sparse = is_sparse(l, node->src[i]);
    return sparse;
}

/* The node that gives the gradient of V as rows; NULL: there is none. */
static const mst_plan_node *find_given_rows(const mst_lowering *l, const mst_variable_update *v) {
    const mst_plan_node *node = &l->plan->node[mst_lowering_maker(l, v->gradient[0])];
    const bool given = l->window.count == 1 && node->op == &mst_op_sparse_gradient && !mst_lowering_is_part(l) &&
                       !l->plan->value[v->gradient[0]].constant && can_read_sources(l, node);
    return given ? node : NULL;
}

static bool are_sparse(const mst_lowering *l, const mst_variable_update *v) {
    bool sparse = mst_shape_count(*mst_lowering_shape(l, v)) > 0;
    if (sparse && find_given_rows(l, v)) return true;
    for (int32_t i = 0; i < l->window.count && sparse; i++) sparse = is_sparse(l, v->gradient[i]);
    return sparse;
}

/* Appends the rows and indices of all gathers whose gradients add up to VALUE. */
static mst_status collect_rows(mst_lowering *l, int32_t value, row_sources *out) {
    const mst_plan_node *node = &l->plan->node[mst_lowering_maker(l, value)];
    if (!is_sum(node)) {
        MST_TRY(come_after_joins(l, mst_lowering_maker(l, value)));
        MST_TRY(mst_grow(&out->value, sizeof *out->value, out->count + 2, &out->capacity));
        for (int k = 0; k < 2; k++) out->value[out->count++] = node->src[k];
        return MST_OK;
    }
    for (int i = 0; i < node->num_src; i++)
        MST_TRY(collect_rows(l, l->plan->node[mst_lowering_maker(l, value)].src[i], out));
    return MST_OK;
}

mst_status mst_lowering_rows(mst_lowering *l, const mst_variable_update *v, mst_lowered node, int64_t bound,
                             mst_gradient_part *out) {
    const mst_shape shape = *mst_lowering_shape(l, v);
    mst_spec dst[2] = {{.dtype = l->plan->value[v->gradient[0]].spec.dtype, .shape = shape}, {.dtype = MST_I64}};
    dst[0].shape.dim[0] = bound;
    if (v->squares) dst[0].shape = MST_SHAPE(bound, 2 * (mst_shape_count(shape) / shape.dim[0]));
    dst[1].shape = mst_shape_make(1, (const int64_t[]){1 + bound});
    node.name = "rows";
    node.num_dst = 2;
    node.dst = dst;
    MST_TRY(mst_lowering_node(l, &node, &out->value));
    out->second = out->value + 1;
    l->plan->value[out->value].counted_by = l->plan->value[out->second].counted_by = out->second;
    return MST_OK;
}

/* Adds the node that sums the rows of SOURCES by index, on the device of GRADIENT, the value that it replaces. */
static mst_status add_sum_rows(mst_lowering *l, const mst_variable_update *v, const row_sources *sources,
                               int32_t gradient, mst_gradient_part *out) {
    const mst_sum_rows_options options = {.num_rows = mst_lowering_shape(l, v)->dim[0],
                                          .squares = v->squares,
                                          .clip = v->clipped ? l->options->optimizer.clip_value : 0};
    int64_t indices = 0;
    for (int64_t i = 1; i < sources->count; i += 2)
        indices += mst_shape_count(l->plan->value[sources->value[i]].spec.shape);
    const mst_lowered sum = {.op = &mst_op_sum_rows,
                             .options = &options,
                             .num_src = (int)sources->count,
                             .src = sources->value,
                             .device = mst_lowering_device(l, gradient)};
    return mst_lowering_rows(l, v, sum, indices < options.num_rows ? indices : options.num_rows, out);
}

/* Decides whether rows are squared and clipped before those with the same index are added up. */
static void choose_row_steps(mst_lowering *l, mst_variable_update *v) {
    const mst_optimizer *o = &l->options->optimizer;
    const mst_variable_options *variable = mst_lowering_variable(l, v);
    const mst_row_steps steps = mst_rule_row_steps(o, variable->l1 != 0 || variable->l2 != 0);
    v->squares = steps.squares;
    v->clipped = steps.clip > 0;
}

/* Takes the rows that NODE gives, which were added up over all shards before, and checks them. */
static mst_status take_rows(mst_lowering *l, mst_variable_update *v, const mst_plan_node *node) {
    const mst_sparse_gradient_options given = *(const mst_sparse_gradient_options *)node->options;
    const mst_check_rows_options options = {.num_rows = mst_lowering_shape(l, v)->dim[0]};
    const int32_t src[2] = {node->src[0], node->src[1]};
    const int64_t rows = l->plan->value[src[0]].spec.shape.dim[0];
    const mst_lowered check = {.op = &mst_op_check_rows,
                               .options = &options,
                               .num_src = 2,
                               .src = src,
                               .device = mst_lowering_device(l, v->gradient[0])};
    mst_gradient_part *p = &v->parts[v->num_parts++];
    MST_TRY(come_after_joins(l, mst_lowering_maker(l, v->gradient[0])));
    v->squares = given.squares;
    v->clipped = given.clipped;
    p->leaf = (mst_shards){0, 1};
    return mst_lowering_rows(l, v, check, rows < options.num_rows ? rows : options.num_rows, p);
}

/* Adds up the rows of each shard on the device of the shard. */
static mst_status sum_rows(mst_lowering *l, mst_variable_update *v) {
    row_sources sources = {NULL, 0, 0};
    mst_status status = MST_OK;
    const mst_plan_node *given = find_given_rows(l, v);
    if (given) return take_rows(l, v, given);
    choose_row_steps(l, v);
    for (int32_t i = 0; i < l->window.count && !status; i++) {
        mst_gradient_part *p = &v->parts[v->num_parts++];
        p->leaf = (mst_shards){l->window.first + i, 1};
        sources.count = 0;
        status = collect_rows(l, v->gradient[i], &sources);
        if (!status) status = add_sum_rows(l, v, &sources, v->gradient[i], p);
        if (!status)
            l->plan->node[mst_lowering_maker(l, p->value)].part =
                l->plan->node[mst_lowering_maker(l, v->gradient[i])].part;
    }
    free(sources.value);
    return status || !mst_lowering_compiles(l, v->set) ? status : mst_lowering_pairs(l, v, (int32_t)(v - l->variables));
}

/* ---- dense gradients: sums of shards ---- */

/* Adds the nodes that sum the gradients of SHARDS, a subtree on one device. *OUT is the value of the sum. */
static mst_status sum_subtree(mst_lowering *l, const mst_variable_update *v, mst_shards shards, int32_t *out) {
    int32_t sum[MST_SHARD_LEVELS] = {-1}, height = 0;
    for (int32_t i = 0; i < shards.count; i++) {
        sum[height++] = v->gradient[shards.first - l->window.first + i];
        for (mst_shards s = {i, 1}; mst_shards_is_right(s, shards.count); s = mst_shards_parent(s, shards.count)) {
            int32_t *pair = &sum[--height - 1];
            const mst_spec spec = l->plan->value[pair[0]].spec;
            const mst_lowered add = {&mst_op_add, "sum", NULL, 2, pair, 1, &spec, mst_lowering_device(l, pair[0])};
            MST_TRY(mst_lowering_node(l, &add, &pair[0]));
        }
    }
    *out = sum[0];
    return MST_OK;
}

/* Splits the shards into the largest subtrees whose gradients are on one device, and sums the gradients of each. On
 * devices that compile they are summed in buckets (update_pairs.c). */
static mst_status sum_dense(mst_lowering *l, mst_variable_update *v) {
    const int32_t begin = l->window.first, shards = l->window.count;
    if (mst_lowering_compiles(l, v->set)) {
        for (int32_t i = 0; i < shards; i++)
            v->parts[v->num_parts++] = (mst_gradient_part){.leaf = {begin + i, 1}, .value = v->gradient[i]};
        return MST_OK;
    }
    for (int32_t first = 0, end = 0; first < shards;) {
        const int32_t device = mst_lowering_device(l, v->gradient[first]);
        if (end <= first)
            for (end = first + 1; end < shards && mst_lowering_device(l, v->gradient[end]) == device;) end++;
        mst_gradient_part *p = &v->parts[v->num_parts++];
        p->leaf = mst_shards_within(begin + first, begin + end, l->options->num_shards);
        MST_TRY(sum_subtree(l, v, p->leaf, &p->value));
        first += p->leaf.count;
    }
    return MST_OK;
}

mst_status mst_lowering_gradient(mst_lowering *l, mst_variable_update *v) {
    const int32_t shards = l->window.count;
    v->parts = mst_lowering_alloc(l, (size_t)shards, sizeof *v->parts);
    if (!v->parts) return MST_NO_MEMORY("for an update");
    v->kind = are_products(l, v) ? MST_GRADIENT_PRODUCT : are_sparse(l, v) ? MST_GRADIENT_SPARSE : MST_GRADIENT_DENSE;
    if (v->kind == MST_GRADIENT_DENSE) return sum_dense(l, v);
    if (v->kind == MST_GRADIENT_SPARSE) return sum_rows(l, v);
    for (int32_t s = 0; s < shards; s++) {
        MST_TRY(come_after_joins(l, mst_lowering_maker(l, v->gradient[s])));
        const mst_plan_node *node = &l->plan->node[mst_lowering_maker(l, v->gradient[s])];
        v->parts[v->num_parts++] = (mst_gradient_part){{s, 1}, node->src[0], node->src[1]};
    }
    return MST_OK;
}
