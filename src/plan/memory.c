/* memory: decides where each value lies.
 *
 * A device walks its program in order, so the life of a value is an interval. It begins at the node that makes the
 * value. It ends at the last node that uses it, or at the end of the step if another device uses it. Values that live
 * at the same time do not overlap (blocks.c). If the op allows it, a node writes its output over a source that is used
 * there for the last time:
 *
 *     program of a device      arena      0        64       128
 *       h = relu(scale)                   [ h  ]                     in the place of scale
 *       y = add(h, h)                     [ h  ]   [ y  ]
 *       z = square(y)                     [ z  ]   [ y  ]            h is dead
 *
 * Constants of a device lie in memory of their own, which lasts as long as the plan. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/byte_count.h"
#include "base/no_memory.h"
#include "plan/blocks.h"
#include "plan/ops.h"
#include "plan/plan.h"
#include "plan/task_sums.h"
#include "tensor/buffer.h"
#include "tensor/string.h"

typedef struct placing {
    mst_plan *plan;
    int device;
    int32_t *last;  /* by root value: place in the program of its last use; INT32_MAX: end of the step */
    int32_t *block; /* by root value: the number of its block among those of its device */
    mst_plan_block *blocks;
    int64_t num_blocks, block_capacity;
} placing;

/* ---- roots ---- */

static int64_t shift_of(const mst_plan *plan, const mst_plan_node *node) {
    if (node->op != &mst_op_piece) return 0;
    const mst_piece_options *o = node->options;
    return o->offset * (int64_t)mst_dtype_size(plan->value[node->dst].spec.dtype);
}

/* Finds the roots of all values. It walks in the common order, so the root of a source is found before its users. */
static void find_roots(mst_plan *plan) {
    for (int64_t i = 0; i < plan->num_values; i++) plan->value[i].root = (int32_t)i;
    for (int64_t k = 0; k < plan->num_order; k++) {
        const mst_plan_node *node = &plan->node[plan->order[k]];
        if (node->num_dst == 0 || plan->value[node->dst].constant || !mst_plan_is_view(node)) continue;
        const mst_plan_value *src = &plan->value[node->src[0]];
        plan->value[node->dst].root = src->root;
        plan->value[node->dst].shift = src->shift + shift_of(plan, node);
    }
}

/* ---- lives ---- */

/* Whether several devices run the node at once. */
static bool is_shared(const mst_plan *plan, const mst_plan_node *node) {
    return node->group >= 0 && plan->group[node->group].count > 1;
}

/* Finds the life of each value: until its last use on its own device, or to the end of the step if another device uses
 * it. */
static void find_lives(const placing *l) {
    const mst_plan *plan = l->plan;
    for (int64_t v = 0; v < plan->num_values; v++) l->last[v] = -1;
    for (int d = 0; d < plan->host->devices->count; d++) {
        const mst_program *program = &plan->program[d];
        for (int64_t k = 0; k < program->num_instances; k++) {
            const mst_plan_instance *instance = &plan->instance[program->instance[k]];
            const mst_plan_node *node = &plan->node[instance->node];
            /* the devices of a group share the memory of the node's values, so only the first part is looked at */
            for (int i = 0; i < node->num_src + node->num_dst && instance->part == 0; i++) {
                if (i < node->num_src && mst_plan_shape_only(node, i)) continue;
                const int32_t root = plan->value[i < node->num_src ? node->src[i] : node->dst + i - node->num_src].root;
                const bool elsewhere = is_shared(plan, node) || plan->node[plan->value[root].node].device != d;
                const int32_t until = elsewhere ? INT32_MAX : (int32_t)k;
                if (until > l->last[root]) l->last[root] = until;
            }
        }
    }
}

/* ---- places ---- */

static bool is_own_arena(const placing *l, int32_t value) {
    const mst_plan_value *v = &l->plan->value[value];
    const mst_plan_node *node = &l->plan->node[v->node];
    return v->root == value && v->space == MST_IN_ARENA && !v->constant && node->device == l->device &&
           !(node->op->flags & MST_OP_NO_VALUE);
}

/* A source of NODE that has its last use at place K, so that the node's output may take its memory; -1: none. */
static int32_t dying_source(const placing *l, const mst_plan_node *node, int32_t k) {
    if (!node->op->may_alias) return -1;
    const mst_plan_value *dst = &l->plan->value[node->dst];
    for (int i = 0; i < node->num_src; i++) {
        const mst_plan_value *src = &l->plan->value[node->src[i]];
        const int32_t root = src->root;
        if (mst_plan_shape_only(node, i) || !is_own_arena(l, root) || l->last[root] != k || src->shift) continue;
        if (mst_plan_bytes(src) != mst_plan_bytes(dst) ||
            mst_plan_bytes(&l->plan->value[root]) != mst_plan_bytes(dst) || src->spec.dtype != dst->spec.dtype ||
            mst_shape_count(src->spec.shape) != mst_shape_count(dst->spec.shape))
            continue;
        return root;
    }
    return -1;
}

static mst_status add_block(placing *l, int32_t value, int32_t begin, int32_t end) {
    MST_TRY(mst_grow(&l->blocks, sizeof *l->blocks, l->num_blocks + 1, &l->block_capacity));
    l->block[value] = (int32_t)l->num_blocks;
    const size_t bytes = (size_t)mst_plan_bytes(&l->plan->value[value]);
    l->blocks[l->num_blocks++] = (mst_plan_block){
        .bytes = (int64_t)mst_domain_room(mst_plan_domain(l->plan, l->device), bytes), .begin = begin, .end = end};
    return MST_OK;
}

static mst_status place_node(placing *l, int32_t k, const mst_plan_node *node) {
    /* If devices share the node, another device may begin its part while this one is still at an earlier node. So
     * memory that the earlier node uses must not be taken. */
    const bool shared = is_shared(l->plan, node);
    for (int i = 0; i < node->num_dst; i++) {
        const int32_t value = node->dst + i;
        if (!is_own_arena(l, value)) continue;
        const int32_t source = i == 0 && !shared ? dying_source(l, node, k) : -1;
        const int32_t end = l->last[value] > k ? l->last[value] : k;
        if (source >= 0 && l->blocks) { /* the output takes over its memory */
            l->last[source] = -1;
            l->block[value] = l->block[source];
            l->blocks[l->block[value]].end = end;
        } else {
            MST_TRY(add_block(l, value, shared ? 0 : k, shared ? INT32_MAX : end));
        }
    }
    return MST_OK;
}

/* Bytes of a constant. If it has strings, their text follows the elements. */
static int64_t constant_bytes(const mst_plan_value *value) {
    if (value->spec.dtype != MST_STRING) return mst_plan_bytes(value);
    return (int64_t)mst_align(mst_tensor_all_bytes(value->constant));
}

static void place_constants(mst_plan *plan) {
    for (int64_t k = 0; k < plan->num_order; k++) {
        const mst_plan_node *node = &plan->node[plan->order[k]];
        mst_program *program = &plan->program[node->device];
        for (int i = 0; i < node->num_dst; i++) {
            mst_plan_value *value = &plan->value[node->dst + i];
            if (!value->constant) continue;
            value->space = MST_IN_CONSTANT;
            if (mst_plan_domain(plan, node->device)->type->host) continue; /* the tensor's own memory is used */
            value->offset = program->constant_bytes;
            program->constant_bytes +=
                (int64_t)mst_domain_room(mst_plan_domain(plan, node->device), (size_t)constant_bytes(value));
        }
    }
}

static void set_offsets(const placing *l, const mst_program *program) {
    for (int64_t k = 0; k < program->num_instances; k++) {
        const mst_plan_instance *instance = &l->plan->instance[program->instance[k]];
        const mst_plan_node *node = &l->plan->node[instance->node];
        for (int i = 0; i < node->num_dst && instance->part == 0; i++)
            if (is_own_arena(l, node->dst + i))
                l->plan->value[node->dst + i].offset = l->blocks[l->block[node->dst + i]].offset;
    }
}

static mst_status place_device(placing *l, mst_program *program) {
    const mst_plan *plan = l->plan;
    const bool host = mst_plan_domain(plan, l->device)->type->host;
    l->num_blocks = 0;
    for (int64_t k = 0; k < program->num_instances; k++) {
        const mst_plan_instance *instance = &plan->instance[program->instance[k]];
        const mst_plan_node *node = &plan->node[instance->node];
        if ((int64_t)node->workspace > program->workspace_bytes) program->workspace_bytes = (int64_t)node->workspace;
        if (instance->part == 0) MST_TRY(place_node(l, (int32_t)k, node));
        const bool takes = node->op == &mst_op_receive || (node->op == &mst_op_feed && !host);
        if (takes && node->num_dst && plan->value[node->dst].spec.dtype == MST_STRING) program->receives_strings = true;
        if (node->op == &mst_op_feed && !host) {
            l->plan->node[instance->node].staging = program->staging_bytes;
            program->staging_bytes += mst_plan_bytes(&plan->value[node->dst]);
        }
    }
    program->workspace_bytes = (int64_t)mst_align((size_t)program->workspace_bytes);
    MST_TRY(mst_plan_place_blocks(l->blocks, l->num_blocks, &program->arena_bytes));
    set_offsets(l, program);
    return MST_OK;
}

mst_status mst_plan_memory(mst_plan *plan) {
    placing l = {.plan = plan};
    l.last = malloc(((size_t)plan->num_values + 1) * sizeof *l.last);
    l.block = malloc(((size_t)plan->num_values + 1) * sizeof *l.block);
    mst_status status = l.last && l.block ? MST_OK : MST_NO_MEMORY("for a plan");
    if (!status) {
        mst_plan_place_leaves(plan);
        find_roots(plan);
        find_lives(&l);
        place_constants(plan);
    }
    for (l.device = 0; l.device < plan->host->devices->count && !status; l.device++)
        status = place_device(&l, &plan->program[l.device]);
    free(l.last);
    free(l.block);
    free(l.blocks);
    return status;
}

/* ---- limits ---- */

/* Writes the largest values of DEVICE to TEXT: "'layer1/matmul' 1.2 MB, ...". */
static void list_largest(const mst_plan *plan, int device, char *text, size_t size) {
    enum { LARGEST = 3 };
    int32_t largest[LARGEST] = {-1, -1, -1};
    for (int64_t i = 0; i < plan->num_values; i++) {
        int32_t value = (int32_t)i;
        const mst_plan_value *v = &plan->value[value];
        if (plan->node[v->node].dead || plan->node[v->node].device != device || v->root != value) continue;
        for (int j = 0; j < LARGEST; j++) {
            const int32_t other = largest[j];
            if (other >= 0 && mst_plan_bytes(&plan->value[value]) <= mst_plan_bytes(&plan->value[other])) continue;
            largest[j] = value;
            if (other < 0) break;
            value = other;
        }
    }
    size_t used = 0;
    char bytes[MST_BYTES_TEXT];
    *text = '\0';
    for (int j = 0; j < LARGEST && largest[j] >= 0 && used < size; j++) {
        const mst_plan_value *v = &plan->value[largest[j]];
        used += (size_t)snprintf(text + used, size - used, "%s'%s' %s", j ? ", " : "", plan->node[v->node].name,
                                 mst_bytes_print(mst_plan_bytes(v), bytes, sizeof bytes));
    }
}

mst_status mst_plan_over_limit(const mst_plan *plan, int device, int64_t needed, int64_t inside) {
    const mst_device *where = &plan->host->devices->device[device];
    char list[600], bytes[MST_BYTES_TEXT], limit[MST_BYTES_TEXT], within[MST_BYTES_TEXT], part[100] = "";
    list_largest(plan, device, list, sizeof list);
    if (inside > 0)
        snprintf(part, sizeof part, ", %s of it inside its programs", mst_bytes_print(inside, within, sizeof within));
    mst_bytes_print_two(needed, where->memory_limit, bytes, limit);
    MST_FAIL(MST_OUT_OF_MEMORY,
             "device %s: the step needs %s%s, the limit is %s; largest: %s: take a smaller batch%s or a higher limit",
             where->text, bytes, part, limit, list, plan->host->options->recompute ? "" : ", recompute,");
    return mst_error_at(NULL, where->text);
}

mst_status mst_plan_over_host(const mst_plan *plan, int device, int64_t needed, int64_t memory) {
    char list[600], bytes[MST_BYTES_TEXT], limit[MST_BYTES_TEXT];
    list_largest(plan, device, list, sizeof list);
    mst_bytes_print_two(needed, memory, bytes, limit);
    return MST_FAIL(
        MST_OUT_OF_MEMORY,
        "with the step this process needs %s, and this machine, or its container (cgroup), has %s; largest: %s: take a "
        "smaller batch%s or give it more memory",
        bytes, limit, list, plan->host->options->recompute ? "" : ", recompute,");
}
