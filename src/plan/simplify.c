/* simplify: if all sources of a node are constant, computes the node while the plan is made, by the op's reference
 * kernel (folding). Of several nodes that compute the same, one stays. One walk through the order finds them in a hash
 * table (common subexpressions). A node that passes its source on unchanged is removed. Nodes that have a state, draw
 * random numbers, write, or wait for others stay as they are. So do nodes with a result of more than MAX_FOLDED_BYTES,
 * which would make the plan large, and numbers of examples that programs have as arguments. */
#include <stdlib.h>
#include <string.h>

#include "base/denormal.h"
#include "base/no_memory.h"
#include "graph/body.h"
#include "graph/graph.h"
#include "graph/options.h"
#include "graph/spec.h"
#include "op/list.h"
#include "op/state/constant.h"
#include "plan/plan.h"
#include "tensor/buffer.h"
#include "tensor/string.h"

enum { MAX_FOLDED_BYTES = 1 << 20, MAX_SRC = 64 }; /* MAX_SRC: nodes with more sources are not folded */

/* Whether NODE counts examples on the host beside devices that compile. If it were folded, the number would stand in
 * the programs of shards, where it is known only if no other task has shards. */
static bool counts_for_programs(const mst_plan *plan, const mst_plan_node *node) {
    return node->op == &mst_op_dim_size && plan->has_shards && !mst_plan_compiles(plan, node) &&
           mst_plan_has_compilers(plan);
}

static bool can_fold(const mst_plan *plan, const mst_plan_node *node) {
    if (counts_for_programs(plan, node)) return false;
    if (node->op->flags & (MST_OP_STATEFUL | MST_OP_VARIABLE | MST_OP_PLACEHOLDER) || !node->op->reference)
        return false;
    if (mst_op_has_body(node->op)) return false; /* its kernel needs the plans of its bodies, which are made later */
    /* with check_numerics a node that makes the first NaN must run, so that it can be named */
    if (plan->host->options->check_numerics && !(node->op->flags & MST_OP_CONSTANT)) return false;
    if (node->dead || node->writer || node->num_control || node->num_src > MAX_SRC || node->num_dst == 0) return false;
    for (int i = 0; i < node->num_src; i++)
        if (!plan->value[node->src[i]].constant && !mst_plan_shape_only(node, i)) return false;
    if (node->op->flags & MST_OP_CONSTANT) return true; /* its tensor exists already */
    int64_t bytes = 0;
    for (int i = 0; i < node->num_dst; i++) {
        mst_spec spec = plan->value[node->dst + i].spec;
        bytes += mst_shape_count(spec.shape) * (int64_t)mst_dtype_size(spec.dtype);
    }
    return bytes <= MAX_FOLDED_BYTES;
}

static mst_array array_of(mst_spec spec, mst_tensor *tensor) {
    return (mst_array){.data = tensor ? mst_tensor_data(tensor) : NULL,
                       .count = mst_shape_count(spec.shape),
                       .dtype = spec.dtype,
                       .shape = spec.shape};
}

static mst_status run_reference(mst_plan *plan, const mst_plan_node *node) {
    mst_array src[MAX_SRC], *dst = calloc((size_t)node->num_dst, sizeof *dst);
    mst_spec src_spec[MAX_SRC], *dst_spec = calloc((size_t)node->num_dst, sizeof *dst_spec);
    void *workspace = NULL;
    mst_status status = dst && dst_spec ? MST_OK : MST_NO_MEMORY("for a plan");
    for (int i = 0; i < node->num_src && !status; i++)
        src[i] = array_of(plan->value[node->src[i]].spec, plan->value[node->src[i]].constant);
    for (int i = 0; i < node->num_dst && !status; i++)
        dst[i] = array_of(plan->value[node->dst + i].spec, plan->value[node->dst + i].constant);
    mst_infer c = status ? (mst_infer){0} : mst_plan_infer_context(plan, node, src_spec, dst_spec);
    if (!status && node->op->workspace) status = mst_buffer_alloc(node->op->workspace(&c, 1), &workspace);
    mst_step step = {.seed = mst_graph_seed(plan->graph)};
    mst_kernel_args args = {.op = node->op,
                            .options = node->options,
                            .name = node->name,
                            .num_src = node->num_src,
                            .src = src,
                            .num_dst = node->num_dst,
                            .dst = dst,
                            .workspace = workspace,
                            .step = &step,
                            .num_threads = 1};
    uint64_t mode = mst_flush_denormals(); /* as in a step */
    if (!status) status = node->op->reference(&args);
    mst_float_mode_set(mode);
    mst_buffer_free(workspace);
    free(dst);
    free(dst_spec);
    return status;
}

/* Allocates memory for a constant that a kernel computes. Strings point to the bytes of the kernel's sources. */
static mst_status make_room(mst_plan_value *value) {
    const mst_spec *spec = &value->spec;
    if (spec->dtype != MST_STRING) return mst_tensor_create(spec->dtype, spec->shape, &value->constant);
    void *data;
    MST_TRY(mst_buffer_alloc((size_t)mst_shape_count(spec->shape) * sizeof(mst_string), &data));
    const mst_status status = mst_tensor_wrap(MST_STRING, spec->shape, data, mst_buffer_free, data, &value->constant);
    if (status) mst_buffer_free(data);
    return status;
}

/* Makes the bytes of a constant's strings its own, because the constant lives longer than its sources. */
static mst_status own_strings(mst_plan_value *value) {
    mst_tensor *borrowed = value->constant, *own;
    if (value->spec.dtype != MST_STRING) return MST_OK;
    MST_TRY(mst_tensor_copy(MST_STRING, value->spec.shape, mst_tensor_data(borrowed), &own));
    value->constant = own;
    mst_tensor_release(borrowed);
    return MST_OK;
}

/* Whether the result of NODE, with the bytes of its strings, is too large to be kept in the plan. Many string elements
 * may refer to the same few bytes. The plan would copy these bytes for each element; the kernel of a node that runs in
 * the step does not copy them. */
static bool is_too_large(const mst_plan *plan, const mst_plan_node *node) {
    size_t bytes = 0;
    for (int i = 0; i < node->num_dst; i++) bytes += mst_tensor_all_bytes(plan->value[node->dst + i].constant);
    return bytes > MAX_FOLDED_BYTES;
}

static void unfold(mst_plan *plan, const mst_plan_node *node) {
    for (int i = 0; i < node->num_dst; i++) {
        mst_plan_value *value = &plan->value[node->dst + i];
        mst_tensor_release(value->constant);
        value->constant = NULL;
    }
}

static mst_status fold(mst_plan *plan, mst_plan_node *node) {
    if (node->op->flags & MST_OP_CONSTANT) {
        const mst_constant_options *o = node->options;
        plan->value[node->dst].constant = mst_tensor_retain(o->value);
    } else {
        for (int i = 0; i < node->num_dst; i++) MST_TRY(make_room(&plan->value[node->dst + i]));
        MST_TRY(run_reference(plan, node));
        if (is_too_large(plan, node)) {
            unfold(plan, node);
            return MST_OK;
        }
        for (int i = 0; i < node->num_dst; i++) MST_TRY(own_strings(&plan->value[node->dst + i]));
    }
    for (int i = 0; i < node->num_dst; i++) plan->value[node->dst + i].space = MST_IN_CONSTANT;
    node->num_src = 0;
    return MST_OK;
}

/* ---- common subexpressions ---- */

/* FNV-1a */
static uint64_t hash_bytes(uint64_t h, const void *data, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) h = (h ^ ((const unsigned char *)data)[i]) * 0x100000001b3u;
    return h;
}

static uint64_t hash_constant(uint64_t h, const mst_tensor *constant) {
    const mst_string *string = mst_tensor_data(constant);
    if (mst_tensor_dtype(constant) != MST_STRING) return hash_bytes(h, string, mst_tensor_bytes(constant));
    for (int64_t i = 0; i < mst_tensor_count(constant); i++)
        h = hash_bytes(h ^ string[i].length, string[i].data, string[i].length);
    return h;
}

/* Hash of a node. Nodes of different phases differ even if they have the same sources: writes may come between them.
 * Constants and options are hashed by their contents, so nodes that are equal by `same` have equal
 * hashes. In each process the table then finds all equal nodes. All tasks of a session over several tasks therefore
 * merge the same nodes, and make the same plan. */
static uint64_t hash(const mst_plan *plan, const mst_plan_node *node) {
    const mst_tensor *constant = plan->value[node->dst].constant;
    uint64_t h = (uint64_t)(uint32_t)node->device << 40;
    if (constant) {
        h = hash_constant(h, constant);
    } else {
        h ^= (uint64_t)(uintptr_t)node->op ^ (uint64_t)node->phase;
        for (int i = 0; i < node->num_src; i++) h = (h ^ (uint64_t)node->src[i]) * 0x9e3779b97f4a7c15u;
        h ^= mst_options_hash(node->op->fields, node->options);
    }
    return h ^ (h >> 31);
}

static bool same(const mst_plan *plan, const mst_plan_node *a, const mst_plan_node *b) {
    const mst_plan_value *x = &plan->value[a->dst], *y = &plan->value[b->dst];
    if (x->constant || y->constant)
        return x->constant && y->constant && a->device == b->device && mst_spec_equal(&x->spec, &y->spec) &&
               mst_tensor_same(x->constant, y->constant);
    if (a->part != b->part && mst_plan_compiles(plan, a)) return false; /* a program has the nodes of one part */
    return a->op == b->op && a->device == b->device && a->phase == b->phase && a->num_src == b->num_src &&
           memcmp(a->src, b->src, (size_t)a->num_src * sizeof *a->src) == 0 &&
           mst_options_equal(a->op->fields, a->options, b->options);
}

static bool can_merge(const mst_plan *plan, const mst_plan_node *node) {
    enum { SMALL = 256 }; /* bytes; large constants are rarely equal, and comparing them takes time */
    if (node->dead || node->num_dst == 0 || node->num_control || node->writer) return false;
    const mst_tensor *constant = plan->value[node->dst].constant;
    if (constant) return node->num_dst == 1 && mst_tensor_all_bytes(constant) <= SMALL;
    return !(node->op->flags & (MST_OP_STATEFUL | MST_OP_VARIABLE | MST_OP_PLACEHOLDER | MST_OP_CONSTANT));
}

/* Whether output 0 is source 0, so that users can read the source instead. This is not so if the source is a variable
 * that is written in between. */
static bool is_identity(const mst_plan *plan, const mst_plan_node *node) {
    enum { FEW = 4 };
    mst_spec src[FEW], dst[1];
    if (!node->op->is_identity || node->num_dst != 1 || node->num_control) return false;
    if (node->num_src == 0 || node->num_src > FEW) return false; /* no sources: it was folded */
    const mst_plan_node *maker = &plan->node[plan->value[node->src[0]].node];
    if (maker->device != node->device || maker->writer || mst_plan_is_variable(plan, node->src[0])) return false;
    mst_infer c = mst_plan_infer_context(plan, node, src, dst);
    return node->op->is_identity(&c);
}

static void merge(mst_plan *plan, int32_t *table, uint64_t mask, int32_t *value_map, int32_t *node_map, int32_t n) {
    mst_plan_node *node = &plan->node[n];
    for (int i = 0; i < node->num_src; i++) node->src[i] = value_map[node->src[i]];
    for (int i = 0; i < node->num_control; i++) node->control[i] = node_map[node->control[i]];
    if (is_identity(plan, node)) value_map[node->dst] = node->src[0];
    if (!can_merge(plan, node)) return;
    for (uint64_t slot = hash(plan, node) & mask;; slot = (slot + 1) & mask) {
        if (table[slot] < 0) {
            table[slot] = n;
            return;
        }
        const mst_plan_node *first = &plan->node[table[slot]];
        if (!same(plan, first, node)) continue;
        for (int i = 0; i < node->num_dst; i++) value_map[node->dst + i] = first->dst + i;
        node_map[n] = table[slot];
        return;
    }
}

static mst_status merge_all(mst_plan *plan) {
    uint64_t capacity = 64;
    while (capacity < (uint64_t)plan->num_nodes * 2) capacity *= 2;
    int32_t *table = malloc(capacity * sizeof *table);
    int32_t *value_map = malloc(((size_t)plan->num_values + 1) * sizeof *value_map);
    int32_t *node_map = malloc(((size_t)plan->num_nodes + 1) * sizeof *node_map);
    mst_status status = MST_OK;
    if (table && value_map && node_map) {
        memset(table, -1, capacity * sizeof *table);
        for (int64_t i = 0; i < plan->num_values; i++) value_map[i] = (int32_t)i;
        for (int64_t i = 0; i < plan->num_nodes; i++) node_map[i] = (int32_t)i;
        for (int64_t i = 0; i < plan->num_nodes; i++) merge(plan, table, capacity - 1, value_map, node_map, (int32_t)i);
    } else {
        status = MST_NO_MEMORY("for a plan");
    }
    free(table);
    free(value_map);
    free(node_map);
    return status;
}

mst_status mst_plan_simplify(mst_plan *plan) {
    for (int64_t i = 0; i < plan->num_nodes; i++)
        if (can_fold(plan, &plan->node[i])) MST_TRY(fold(plan, &plan->node[i]));
    MST_TRY(mst_plan_sort(plan));
    mst_plan_phases(plan);
    MST_TRY(merge_all(plan));
    return mst_plan_sweep(plan);
}
