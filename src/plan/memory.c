/* memory: where each value lives.
 *
 * A device walks its program in order, so the life of a value is an interval: from the node that makes it to the last
 * that uses it, or to the end of the step where another device or the caller sees it. Walking the program, a new
 * value takes the smallest free hole that fits, and a dead one gives its hole back. An op that allows it writes into a
 * source that dies there. Values that one node wants side by side (the gradients of an update) lie at the front of the
 * arena in its order, and are never reused. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "plan/plan.h"
#include "tensor/buffer.h"

typedef struct hole {
    int64_t offset, size;
} hole;

typedef struct layout {
    mst_plan *plan;
    int device;
    int32_t *last; /* by root value: place in the program of its last use; INT32_MAX: end of the step */
    hole *holes;   /* by offset */
    int64_t num_holes, hole_capacity;
    int64_t end; /* of the arena so far */
} layout;

static int64_t bytes_of(const mst_plan_value *value) {
    return (int64_t)mst_align((size_t)mst_shape_count(value->spec.shape) * mst_dtype_size(value->spec.dtype));
}

static mst_status give_back(layout *l, int64_t offset, int64_t size) {
    if (size == 0) return MST_OK;
    MST_TRY(mst_grow(&l->holes, sizeof *l->holes, l->num_holes + 1, &l->hole_capacity));
    int64_t low = 0, high = l->num_holes;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (l->holes[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    bool joins_left = low > 0 && l->holes[low - 1].offset + l->holes[low - 1].size == offset;
    bool joins_right = low < l->num_holes && offset + size == l->holes[low].offset;
    if (joins_left && joins_right) {
        l->holes[low - 1].size += size + l->holes[low].size;
        memmove(&l->holes[low], &l->holes[low + 1], (size_t)(--l->num_holes - low) * sizeof *l->holes);
    } else if (joins_left) {
        l->holes[low - 1].size += size;
    } else if (joins_right) {
        l->holes[low].offset = offset;
        l->holes[low].size += size;
    } else {
        memmove(&l->holes[low + 1], &l->holes[low], (size_t)(l->num_holes++ - low) * sizeof *l->holes);
        l->holes[low] = (hole){offset, size};
    }
    return MST_OK;
}

static int64_t take(layout *l, int64_t size) {
    int64_t best = -1;
    for (int64_t i = 0; i < l->num_holes; i++)
        if (l->holes[i].size >= size && (best < 0 || l->holes[i].size < l->holes[best].size)) best = i;
    if (best < 0) {
        int64_t offset = l->end;
        l->end += size;
        return offset;
    }
    int64_t offset = l->holes[best].offset;
    l->holes[best].offset += size;
    l->holes[best].size -= size;
    if (l->holes[best].size == 0)
        memmove(&l->holes[best], &l->holes[best + 1], (size_t)(--l->num_holes - best) * sizeof *l->holes);
    return offset;
}

/* ---- roots ---- */

static bool shares_source(const mst_plan *plan, const mst_plan_node *node) {
    if (node->num_dst == 0 || plan->value[node->dst].constant) return false;
    return (node->op->flags & MST_OP_VIEW) && node->num_src > 0 && !node->materialize;
}

static void find_roots(mst_plan *plan) {
    for (int64_t i = 0; i < plan->num_values; i++) plan->value[i].root = (int32_t)i;
    /* in the common order, so that the root of a source is known; a receive comes after its send */
    for (int64_t k = 0; k < plan->num_order; k++) {
        const mst_plan_node *node = &plan->node[plan->order[k]];
        for (int i = 0; i < node->num_src; i++) {
            mst_plan_value *received = &plan->value[node->src[i]];
            const mst_plan_node *from = &plan->node[received->node];
            if (from->op == &mst_op_receive) received->root = plan->value[from->src[0]].root;
        }
        if (shares_source(plan, node)) plan->value[node->dst].root = plan->value[node->src[0]].root;
    }
}

/* ---- lives ---- */

static void extend(layout *l, int32_t value, int32_t until) {
    int32_t *last = &l->last[l->plan->value[value].root];
    if (until > *last) *last = until;
}

static void find_lives(layout *l, const mst_program *program) {
    for (int64_t k = 0; k < program->num_nodes; k++) {
        const mst_plan_node *node = &l->plan->node[program->node[k]];
        bool forever = node->op == &mst_op_send; /* the receiver says nowhere when it is done */
        for (int i = 0; i < node->num_src; i++)
            if (!mst_plan_shape_only(node, i)) extend(l, node->src[i], forever ? INT32_MAX : (int32_t)k);
        for (int i = 0; i < node->num_dst; i++) extend(l, node->dst + i, (int32_t)k);
    }
}

/* ---- places ---- */

static bool is_own_arena(const layout *l, int32_t value) {
    const mst_plan_value *v = &l->plan->value[value];
    const mst_plan_node *node = &l->plan->node[v->node];
    return v->root == value && v->where == MST_IN_ARENA && !v->constant && node->device == l->device &&
           node->op != &mst_op_receive && !(node->op->flags & MST_OP_NO_VALUE);
}

/* A source that dies at place K, whose memory the node's output may take. */
static int32_t dying_source(const layout *l, const mst_plan_node *node, int32_t k) {
    if (!node->op->may_alias) return -1;
    const mst_plan_value *dst = &l->plan->value[node->dst];
    for (int i = 0; i < node->num_src; i++) {
        int32_t root = l->plan->value[node->src[i]].root;
        const mst_plan_value *src = &l->plan->value[node->src[i]];
        if (mst_plan_shape_only(node, i) || !is_own_arena(l, root) || l->last[root] != k) continue;
        if (bytes_of(src) != bytes_of(dst) || bytes_of(&l->plan->value[root]) != bytes_of(dst) ||
            src->spec.dtype != dst->spec.dtype || mst_shape_count(src->spec.shape) != mst_shape_count(dst->spec.shape))
            continue;
        return root;
    }
    return -1;
}

/* Side by side: sources of nodes that write parts of variables together. */
static void place_packed(layout *l, const mst_program *program, bool *placed) {
    for (int64_t k = 0; k < program->num_nodes; k++) {
        const mst_plan_node *node = &l->plan->node[program->node[k]];
        if (!(node->op->flags & MST_OP_PACKS_SOURCES)) continue;
        for (int i = 0; i < node->num_src; i++) {
            int32_t root = l->plan->value[node->src[i]].root;
            const mst_plan_value *value = &l->plan->value[root];
            /* gradients of other devices are placed by those */
            if (value->where != MST_IN_ARENA || value->constant || placed[root]) continue;
            if (l->plan->node[value->node].device != l->device || !is_own_arena(l, root)) continue;
            placed[root] = true;
            l->plan->value[root].offset = l->end;
            l->end += bytes_of(value);
        }
    }
}

static void place_node(layout *l, int32_t k, const mst_plan_node *node, bool *placed) {
    mst_plan *plan = l->plan;
    for (int i = 0; i < node->num_dst; i++) {
        int32_t value = node->dst + i;
        if (!is_own_arena(l, value) || placed[value]) continue;
        int32_t source = i == 0 ? dying_source(l, node, k) : -1;
        placed[value] = true;
        if (source >= 0) {
            plan->value[value].offset = plan->value[source].offset;
            l->last[source] = -1; /* its memory goes on as the output's */
        } else {
            plan->value[value].offset = take(l, bytes_of(&plan->value[value]));
        }
    }
}

static mst_status free_dead(layout *l, int32_t k, const mst_plan_node *node, const bool *packed) {
    for (int i = 0; i < node->num_src + node->num_dst; i++) {
        int32_t value = i < node->num_src ? node->src[i] : node->dst + i - node->num_src;
        int32_t root = l->plan->value[value].root;
        if (!is_own_arena(l, root) || l->last[root] != k || packed[root]) continue;
        l->last[root] = -1; /* once */
        MST_TRY(give_back(l, l->plan->value[root].offset, bytes_of(&l->plan->value[root])));
    }
    return MST_OK;
}

static mst_status place_device(layout *l, mst_program *program, bool *placed, bool *packed) {
    place_packed(l, program, placed);
    memcpy(packed, placed, (size_t)l->plan->num_values * sizeof *packed);
    for (int64_t k = 0; k < program->num_nodes; k++) {
        const mst_plan_node *node = &l->plan->node[program->node[k]];
        if ((int64_t)node->workspace > program->workspace_bytes) program->workspace_bytes = (int64_t)node->workspace;
        if (node->op != &mst_op_receive) place_node(l, (int32_t)k, node, placed);
        MST_TRY(free_dead(l, (int32_t)k, node, packed));
    }
    program->workspace_bytes = (int64_t)mst_align((size_t)program->workspace_bytes);
    program->arena_bytes = l->end;
    return MST_OK;
}

/* ---- limits ---- */

static mst_status over_limit(const mst_plan *plan, int device, int64_t needed) {
    enum { LARGEST = 3 };
    int32_t largest[LARGEST] = {-1, -1, -1};
    for (int64_t i = 0; i < plan->num_values; i++) {
        int32_t value = (int32_t)i;
        const mst_plan_value *v = &plan->value[value];
        if (plan->node[v->node].dead || plan->node[v->node].device != device || v->root != value) continue;
        for (int j = 0; j < LARGEST; j++)
            if (largest[j] < 0 || bytes_of(v) > bytes_of(&plan->value[largest[j]])) {
                int32_t swap = largest[j];
                largest[j] = value;
                if (swap < 0) break;
                value = swap;
                v = &plan->value[value];
            }
    }
    char list[600] = "", bytes[MST_BYTES_TEXT], limit[MST_BYTES_TEXT];
    for (int j = 0; j < LARGEST && largest[j] >= 0; j++) {
        size_t used = strlen(list);
        const mst_plan_value *v = &plan->value[largest[j]];
        snprintf(list + used, sizeof list - used, "%s'%s' %s", j ? ", " : "", plan->node[v->node].name,
                 mst_bytes_print(bytes_of(v), bytes, sizeof bytes));
    }
    const mst_device *where = &plan->host->devices->device[device];
    MST_FAIL(MST_OUT_OF_MEMORY,
             "device %s: the step needs %s, the limit is %s; largest: %s: take a smaller batch or a higher limit",
             where->text, mst_bytes_print(needed, bytes, sizeof bytes),
             mst_bytes_print(where->memory_limit, limit, sizeof limit), list);
    return mst_error_at(NULL, where->text);
}

static mst_status check_limit(const mst_plan *plan, int device) {
    int64_t limit = plan->host->devices->device[device].memory_limit;
    int64_t needed = plan->program[device].arena_bytes + plan->program[device].workspace_bytes;
    if (plan->host->held_bytes) needed += plan->host->held_bytes(plan->host->context, device);
    return limit > 0 && needed > limit ? over_limit(plan, device, needed) : MST_OK;
}

/* ---- addresses ---- */

static mst_status store_variables(mst_plan *plan, int device) {
    const mst_node **nodes = malloc(((size_t)plan->num_nodes + 1) * sizeof *nodes);
    if (!nodes) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for a plan");
    int64_t count = 0;
    for (int64_t i = 0; i < plan->num_nodes; i++) {
        const mst_plan_node *node = &plan->node[i];
        if (!node->dead && (node->op->flags & MST_OP_VARIABLE) && node->device == device) nodes[count++] = node->origin;
    }
    mst_status status = count ? plan->host->store(plan->host->context, nodes, count, device) : MST_OK;
    free(nodes);
    return status;
}

static void set_addresses(mst_plan *plan) {
    for (int64_t i = 0; i < plan->num_values; i++) {
        mst_plan_value *value = &plan->value[i];
        const mst_plan_node *node = &plan->node[value->node];
        if (node->dead || value->root != i) continue;
        if (value->constant)
            value->data = mst_tensor_data(value->constant);
        else if (value->where == MST_IN_VARIABLE)
            value->data = plan->host->variable(plan->host->context, node->origin);
        else if (value->where == MST_IN_ARENA)
            value->data = plan->program[node->device].arena + value->offset;
    }
    for (int64_t i = 0; i < plan->num_values; i++) {
        const mst_plan_value *root = &plan->value[plan->value[i].root];
        plan->value[i].data = root->data;
        plan->value[i].where = root->where;
        plan->value[i].feed = root->feed;
    }
}

static mst_status lay_out(layout *l, bool *placed, bool *packed) {
    mst_plan *plan = l->plan;
    for (int64_t i = 0; i < plan->num_values; i++) l->last[i] = -1;
    /* uses on other devices reach their root through a send, which keeps it to the end */
    for (l->device = 0; l->device < plan->host->devices->count; l->device++) {
        mst_program *program = &plan->program[l->device];
        l->num_holes = l->end = 0;
        MST_TRY(store_variables(plan, l->device));
        find_lives(l, program);
        MST_TRY(place_device(l, program, placed, packed));
        MST_TRY(check_limit(plan, l->device));
        void *arena;
        mst_status status = mst_buffer_alloc((size_t)(program->arena_bytes + program->workspace_bytes), &arena);
        if (status) return mst_error_prefix("device %s", plan->host->devices->device[l->device].text);
        program->arena = arena;
    }
    set_addresses(plan);
    return MST_OK;
}

mst_status mst_plan_memory(mst_plan *plan) {
    layout l = {.plan = plan};
    size_t values = (size_t)plan->num_values + 1;
    l.last = malloc(values * sizeof *l.last);
    bool *placed = calloc(values, sizeof *placed), *packed = calloc(values, sizeof *packed);
    mst_status status;
    if (l.last && placed && packed) {
        find_roots(plan);
        status = lay_out(&l, placed, packed);
    } else {
        status = MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for a plan");
    }
    free(l.last);
    free(l.holes);
    free(placed);
    free(packed);
    return status;
}
