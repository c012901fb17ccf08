/* programs: replaces the nodes of devices that compile by programs in StableHLO (plan/compiled.h).
 *
 * A compiler rewrites a whole program. No program has nodes of two shards, so the results of a shard do not depend on
 * which other shards the device computes. Each node belongs to a part of the step: a shard, the rest (such as the
 * update), or itself alone (a sum over shards). The level of a node is the largest number of changes of part on any
 * path to it. For nodes of a shard and of the rest, a change of device counts too. A program has the nodes of one
 * device, one part and one level:
 *
 *    device 0   shard 0 -> gradients, level 0 --+                     +--> update, level 2
 *                                               +--> sum, level 1 ----+
 *    device 1   shard 1 -> gradients, level 0 --+                     +--> update, level 2
 *
 * A path that leaves a program only comes to higher levels, so programs cannot wait for each other in a circle. Feeds,
 * and values that the host computes from feeds alone, have level 0 everywhere.
 *
 * Every device computes the new values of the variables that the replicas have, and all must get the same bits. So the
 * programs for these values have equal texts on all devices. This has three consequences:
 *   - Nodes that only one device needs, such as those for a fetch, are a separate part.
 *   - If one of these programs has an output that other nodes read, all of them have this output.
 *   - Nodes that lead to the update of weights are a separate part too. With several tasks, other variables, such as
 *     moving statistics, may get their values on the same level as the weights. The program of the update is the same
 *     in either case.
 *
 * Programs write no variables. The new value of a variable is an output of the node that writes it. Later nodes read
 * this output, and behind the gate an assignment gives it to the variable (commit.c). A plan that donates is the
 * exception: its updates are behind the gate. Each update is a program of its own, together with the pieces of summed
 * gradients that it reads. (As outputs of programs before the gate, these pieces would take as much memory as new
 * weights.) The variables that the update writes are donated to its results. Apart from the donations, with several
 * shards and without clipping by norm, its text is the same as in other plans.
 *
 * With check_numerics the text looks for NaN and Inf in each output of a node, and in the variables that the node
 * reads. As on CPUs, a value that only an assignment behind the gate reads is not checked until a node reads the
 * variable. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "graph/graph.h"
#include "graph/spec.h"
#include "op/list.h"
#include "op/state/constant.h"
#include "op/state/update_hlo.h"
#include "plan/compiled.h"
#include "plan/pair_map.h"
#include "plan/plan.h"
#include "plan/update_ops.h"
#include "tensor/string.h"

/* The most elements of a constant that is written in the text itself. */
enum { MOST_IN_TEXT = 16 };

/* Where a node runs. Values are sent and received where they were made. */
typedef struct site {
    int32_t device; /* -1: not on a device that compiles */
    int32_t part;
} site;

/* More parts, of nodes that belong to no shard. PART_OTHER: the node leads to no new value of a variable that all
 * devices have. PART_UPDATE: it leads to such a value and to the update of weights. */
enum { PART_OTHER = INT32_MIN, PART_UPDATE };

/* What a node leads to. TO_COMMON: a new value of a variable of the replicas. TO_UPDATE: the update of weights. */
enum { TO_COMMON = 1, TO_UPDATE = 2 };

/* A node of a program. */
typedef struct member {
    int32_t node, program;
    int64_t key; /* the order of the nodes of a program, which is the same for all shards and devices */
} member;

typedef struct pass {
    mst_plan *plan;
    int64_t num_nodes, num_values; /* when the pass began */
    site *sites;                   /* by node */
    int32_t *level;                /* by node */
    bool *is_made;                 /* by node: it is in a program, or a node on a path to it is */
    uint8_t *leads_to;             /* by node: TO_COMMON, TO_UPDATE */
    int32_t *program_of;           /* by node: the number of its program; -1: it is in none */
    int32_t num_programs;
    int32_t *kind_of; /* by program: programs of one kind do the same on different devices; -1: on one device only */
    member *members;  /* sorted by program and key */
    int64_t num_members;
    int32_t *node_of; /* by program: its node in the plan */
    bool *is_output;  /* by value: a node outside of its program reads it */
    bool *is_used;    /* by value: a node of a program reads it */
    int32_t *joined;  /* by value: the output of a program that replaces it; -1: none */
    /* while a program is written */
    mst_hlo *hlo;        /* by value: the same value in the program */
    int32_t *has_hlo;    /* by value: the program for which `hlo` is set */
    int32_t *checked_in; /* by value of a variable: the program that has looked for NaN and Inf in it */
    bool *written;       /* by node: it is in the text */
} pass;

/* Of a fault of a program: `node` and `value` of mst_compiled_fault. */
typedef struct fault_place {
    int32_t node, value;
} fault_place;

/* A program that is being written. */
typedef struct writing {
    pass *p;
    int32_t number;
    const member *members;
    int64_t num_members;
    mst_hlo_program *program;
    int32_t *source; /* values of the plan: the arguments of the kind MST_HLO_SOURCE_VALUE */
    int64_t num_sources, source_capacity;
    int32_t *constant; /* values of the plan: the constants that the program has, in the order of their first uses */
    int64_t num_constants, constant_capacity;
    fault_place *fault; /* fault number n (from 1) is fault[n - 1] */
    int64_t num_faults, fault_capacity;
} writing;

/* ---- updates behind the gate ---- */

static bool is_update_step(const mst_plan_node *node) {
    return mst_is_update_step(node->op, node->options);
}

/* Gives each update behind the gate a part of its own, and its own copies of the pieces that it reads. */
static mst_status isolate_updates(mst_plan *plan) {
    const int64_t num_nodes = plan->num_nodes;
    for (int32_t n = 0; n < num_nodes; n++) {
        const mst_plan_node *node = &plan->node[n];
        if (node->dead || node->region != MST_COMMIT || !mst_plan_compiles(plan, node) || !is_update_step(node))
            continue;
        const int32_t part = MST_PART_ALONE - 1 - n;
        plan->node[n].part = part;
        for (int i = 0; i < plan->node[n].num_src; i++) {
            const int32_t maker = plan->value[plan->node[n].src[i]].node;
            mst_plan_node piece = plan->node[maker];
            const mst_spec spec = plan->value[plan->node[n].src[i]].spec;
            int32_t added;
            if (piece.op != &mst_op_piece) continue;
            piece.part = part;
            piece.region = MST_COMMIT;
            if (!piece.copy_of) piece.copy_of = 1 + maker;
            MST_TRY(mst_plan_add(plan, &piece, piece.src, &spec, &added));
            plan->node[n].src[i] = plan->node[added].dst;
        }
    }
    return mst_plan_sweep(plan);
}

/* ---- which nodes go together ---- */

/* Whether NODE becomes part of a program. */
static bool is_member(const mst_plan *plan, const mst_plan_node *node) {
    const mst_op *op = node->op;
    const unsigned storage = MST_OP_VARIABLE | MST_OP_PLACEHOLDER | MST_OP_NO_VALUE;
    if (!mst_plan_compiles(plan, node) || (op->flags & storage)) return false;
    if (node->region == MST_COMMIT) return is_update_step(node) || op == &mst_op_piece; /* see isolate_updates */
    if (op == &mst_op_feed || op == &mst_op_fetch || op == &mst_op_send || op == &mst_op_receive ||
        op == &mst_op_exchange_start || op == &mst_op_exchange_wait)
        return false;
    return node->num_dst > 0 && !plan->value[node->dst].constant;
}

/* Whether NODE reads its source I. It does not if only the shape matters, or if it overwrites the source. */
static bool reads(const mst_plan_node *node, int i) {
    if (node->op == &mst_op_update && !mst_update_reads(node->options, i)) return false;
    return !mst_plan_shape_only(node, i) && !(mst_plan_writes(node, i) && (node->op->flags & MST_OP_OVERWRITES));
}

/* The node from which input K of NODE comes: a source, or a control source; -1: it does not read the source. */
static int32_t input(const mst_plan *plan, const mst_plan_node *node, int k) {
    if (k >= node->num_src) return node->control[k - node->num_src];
    return reads(node, k) ? plan->value[node->src[k]].node : -1;
}

/* Fills `leads_to`. */
static void find_aims(const pass *p) {
    const mst_plan *plan = p->plan;
    for (int64_t k = plan->num_order - 1; k >= 0; k--) {
        const int32_t n = plan->order[k];
        const mst_plan_node *node = &plan->node[n];
        for (int i = 0; i < node->num_src; i++) {
            const mst_plan_node *from = &plan->node[plan->value[node->src[i]].node];
            const bool is_replicas = from->op->flags & MST_OP_VARIABLE && from->origin && from->origin->shard >= 0;
            if (is_replicas && node->region == MST_COMMIT && mst_plan_writes(node, i)) p->leads_to[n] |= TO_COMMON;
        }
        if (is_update_step(node)) p->leads_to[n] |= TO_UPDATE;
        for (int i = 0; i < node->num_src; i++) p->leads_to[plan->value[node->src[i]].node] |= p->leads_to[n];
    }
}

/* The part of node N for the choice of its program. In a step without shards all nodes of a device are of one part. */
static int32_t program_part(const pass *p, int32_t n) {
    const int32_t part = p->plan->node[n].part;
    if (part != MST_PART_REST || !p->plan->has_shards) return part;
    return !(p->leads_to[n] & TO_COMMON) ? PART_OTHER : p->leads_to[n] & TO_UPDATE ? PART_UPDATE : MST_PART_REST;
}

static bool changes(site from, site to) {
    if (from.part != to.part) return true;
    return from.part != MST_PART_ALONE && from.device != to.device;
}

static void find_level(pass *p, int32_t n) {
    const mst_plan *plan = p->plan;
    const mst_plan_node *node = &plan->node[n];
    const bool member = is_member(plan, node);
    p->sites[n] = member ? (site){node->device, program_part(p, n)} : (site){-1, MST_PART_REST};
    if ((node->op == &mst_op_send || node->op == &mst_op_receive) && node->num_src)
        p->sites[n] = p->sites[plan->value[node->src[0]].node];
    p->is_made[n] = member;
    for (int k = 0; k < node->num_src + node->num_control; k++) {
        const int32_t from = input(plan, node, k);
        if (from < 0) continue;
        const int32_t level = p->level[from] + (p->is_made[from] && changes(p->sites[from], p->sites[n]));
        p->is_made[n] |= p->is_made[from];
        if (level > p->level[n]) p->level[n] = level;
    }
}

static int by_program(const void *a, const void *b) {
    const member *x = a, *y = b;
    if (x->program != y->program) return x->program < y->program ? -1 : 1;
    return (x->key > y->key) - (x->key < y->key);
}

/* Maps each part to a number that is at least 0: parts from 0 on to even numbers, parts below 0 to odd ones. */
static int32_t part_key(int32_t part) {
    if (part == PART_OTHER || part == PART_UPDATE) return INT32_MAX - (part == PART_UPDATE);
    return part >= 0 ? 2 * part : -2 * part - 1;
}

/* Numbers the programs, and sorts the nodes of each. Nodes of the graph come first, in the order in which they were
 * made there, then nodes that passes have added. A copy for another device has the key of the node that was copied. */
static mst_status find_programs(pass *p) {
    const mst_plan *plan = p->plan;
    mst_pair_map kinds = {0}, programs = {0};
    int32_t num_kinds = 0;
    mst_status status = MST_OK;
    for (int64_t k = 0; k < plan->num_order && !status; k++) {
        const int32_t n = plan->order[k];
        const mst_plan_node *node = &plan->node[n];
        find_level(p, n);
        if (!is_member(plan, node)) continue;
        const int32_t level = node->region == MST_COMMIT ? 0 : p->level[n]; /* behind the gate a part is one program */
        int32_t *kind = NULL, *program = NULL;
        if (node->part == MST_PART_ALONE) {
            p->program_of[n] = p->num_programs++;
        } else if ((kind = mst_pair_map_at(&kinds, part_key(program_part(p, n)), level, -1))) {
            if (*kind < 0) *kind = num_kinds++;
            program = mst_pair_map_at(&programs, node->device, *kind, -1);
        }
        if (program && *program < 0) *program = p->num_programs++;
        if (program) p->program_of[n] = *program;
        const bool is_common = program_part(p, n) == MST_PART_REST || program_part(p, n) == PART_UPDATE;
        if (program && is_common) p->kind_of[*program] = *kind;
        if (p->program_of[n] < 0) status = MST_NO_MEMORY("for a plan");
        const int32_t added = node->copy_of ? node->copy_of - 1 : n;
        const int64_t key = node->origin ? node->origin->id : (int64_t)INT32_MAX + added;
        p->members[p->num_members++] = (member){n, p->program_of[n], key};
    }
    mst_pair_map_free(&kinds);
    mst_pair_map_free(&programs);
    if (!status) qsort(p->members, (size_t)p->num_members, sizeof *p->members, by_program);
    return status;
}

/* NODE has no value. Sources of NODE that are in programs become control sources, so that NODE comes after the programs
 * without needing their outputs. */
static mst_status come_after(pass *p, mst_plan_node *node) {
    const mst_plan *plan = p->plan;
    int kept = 0, moved = 0;
    int32_t *control = mst_arena_alloc(&p->plan->memory, (size_t)(node->num_src + node->num_control) * sizeof *control);
    if (!control) return MST_NO_MEMORY("for a plan");
    memcpy(control, node->control, (size_t)node->num_control * sizeof *control);
    for (int i = 0; i < node->num_src; i++) {
        const int32_t maker = plan->value[node->src[i]].node;
        if (p->program_of[maker] >= 0)
            control[node->num_control + moved++] = maker;
        else
            node->src[kept++] = node->src[i];
    }
    node->num_src = kept;
    node->num_control += moved;
    node->control = control;
    return MST_OK;
}

static mst_status find_outputs(pass *p) {
    const mst_plan *plan = p->plan;
    for (int64_t k = 0; k < plan->num_order; k++) {
        const int32_t n = plan->order[k];
        mst_plan_node *node = &plan->node[n];
        if (node->op->flags & MST_OP_NO_VALUE) MST_TRY(come_after(p, node));
        for (int i = 0; i < node->num_src; i++) {
            const int32_t from = input(plan, node, i);
            if (from < 0 || p->program_of[from] < 0) continue;
            p->is_output[node->src[i]] |= p->program_of[from] != p->program_of[n];
            p->is_used[node->src[i]] |= p->program_of[n] >= 0;
        }
    }
    return MST_OK;
}

/* The number of members from K on that belong to the program of member K. */
static int64_t count_of_program(const pass *p, int64_t k) {
    int64_t end = k + 1;
    while (end < p->num_members && p->members[end].program == p->members[k].program) end++;
    return end - k;
}

/* Whether the COUNT members from A on do the same as the COUNT members from B on. */
static bool are_alike(const pass *p, int64_t a, int64_t b, int64_t count) {
    const mst_plan_node *node = p->plan->node;
    bool alike = true;
    for (int64_t i = 0; i < count && alike; i++) {
        const mst_plan_node *x = &node[p->members[a + i].node], *y = &node[p->members[b + i].node];
        alike = x->op == y->op && x->num_dst == y->num_dst && x->origin == y->origin;
    }
    return alike;
}

/* The COUNT members from A on correspond to those from B on. If a value of one of them is an output, or is used, marks
 * the value of the other one in the same way. */
static void join_outputs(const pass *p, int64_t a, int64_t b, int64_t count) {
    const mst_plan_node *node = p->plan->node;
    for (int64_t i = 0; i < count; i++) {
        const int32_t x = node[p->members[a + i].node].dst, y = node[p->members[b + i].node].dst;
        for (int k = 0; k < node[p->members[a + i].node].num_dst; k++) {
            p->is_output[x + k] = p->is_output[y + k] |= p->is_output[x + k];
            p->is_used[x + k] = p->is_used[y + k] |= p->is_used[x + k];
        }
    }
}

/* Gives all programs of one kind the same outputs. FIRST has room for all kinds. */
static void join_kinds(const pass *p, int64_t *first) {
    for (int32_t i = 0; i < p->num_programs; i++) first[i] = -1;
    for (int twice = 0; twice < 2; twice++)
        for (int64_t k = 0, count; k < p->num_members; k += count) {
            const int32_t kind = p->kind_of[p->members[k].program];
            count = count_of_program(p, k);
            if (kind < 0) continue;
            if (first[kind] < 0) first[kind] = k;
            const int64_t other = first[kind];
            if (other != k && count_of_program(p, other) == count && are_alike(p, other, k, count))
                join_outputs(p, other, k, count);
        }
}

/* ---- text ---- */

/* Sets OUT to the constant VALUE, or to an equal constant that the program has already. The pass simplify merges equal
 * constants only if they are for one device, but the text must not depend on that. Different large tensors are not
 * compared. */
static mst_status find_constant(writing *w, int32_t value, int32_t *out) {
    enum { SMALL = 256 };
    const mst_plan_value *all = w->p->plan->value, *v = &all[value];
    *out = value;
    for (int64_t i = 0; i < w->num_constants; i++) {
        const mst_plan_value *other = &all[w->constant[i]];
        if (!mst_spec_equal(&other->spec, &v->spec)) continue;
        if (other->constant != v->constant &&
            (mst_tensor_bytes(v->constant) > SMALL || !mst_tensor_same(other->constant, v->constant)))
            continue;
        *out = w->constant[i];
        return MST_OK;
    }
    MST_TRY(mst_grow(&w->constant, sizeof *w->constant, w->num_constants + 1, &w->constant_capacity));
    w->constant[w->num_constants++] = value;
    return MST_OK;
}

/* Sets OUT to VALUE in the program that is being written: the output of a node of the program, a constant or an
 * argument. */
static mst_status find_hlo(writing *w, mst_lower *l, int32_t value, mst_hlo *out) {
    pass *p = w->p;
    if (p->plan->value[value].constant) MST_TRY(find_constant(w, value, &value));
    const mst_plan_value *v = &p->plan->value[value];
    if (p->has_hlo[value] != w->number) {
        if (v->constant && mst_tensor_count(v->constant) <= MOST_IN_TEXT) {
            p->hlo[value] = mst_hlo_tensor(l, v->constant);
        } else {
            MST_TRY(mst_grow(&w->source, sizeof *w->source, w->num_sources + 1, &w->source_capacity));
            w->source[w->num_sources++] = value;
            p->hlo[value] = mst_hlo_program_source(w->program, &v->spec);
        }
        p->has_hlo[value] = w->number;
    }
    *out = p->hlo[value];
    return MST_OK;
}

static void set_hlo(const writing *w, int32_t value, mst_hlo hlo) {
    w->p->hlo[value] = hlo;
    w->p->has_hlo[value] = w->number;
}

/* Writes NODE. The outputs of an update, after the first, are the new values of the sources that it writes. NEW has
 * room for all sources. */
static mst_status write_op(const writing *w, const mst_plan_node *node, mst_lower *l, mst_hlo *new) {
    if (!is_update_step(node)) return mst_hlo_program_op(w->program, l);
    l->program = w->program;
    mst_update_node_lower(l, new); /* errors are kept in the program */
    for (int i = 0, next = 1; i < node->num_src; i++)
        if (mst_plan_writes(node, i)) l->dst[next++] = new[i];
    return MST_OK;
}

/* Notes NODE and VALUE for the faults that have been written since the last call. */
static mst_status note_faults(writing *w, int32_t node, int32_t value) {
    while (w->num_faults < mst_hlo_program_num_faults(w->program)) {
        MST_TRY(mst_grow(&w->fault, sizeof *w->fault, w->num_faults + 1, &w->fault_capacity));
        w->fault[w->num_faults++] = (fault_place){node, value};
    }
    return MST_OK;
}

/* Whether the text looks for NaN and Inf in the values that NODE reads and makes. If NODE is a writer, this is so only
 * if another node reads a new value that it makes; output 0 of an update is no such value. */
static bool is_checked(const pass *p, const mst_plan_node *node) {
    bool is_used = !node->writer;
    if (!p->plan->host->options->check_numerics || mst_plan_is_silent(p->plan, node)) return false;
    for (int i = is_update_step(node); i < node->num_dst; i++) is_used |= p->is_used[node->dst + i];
    return is_used;
}

/* Writes a check of X, which is VALUE in the program: a NaN or Inf is a fault. All rows are checked, also those that
 * are not in use (counted_by), because ops set these to zeros. */
static mst_status check_value(writing *w, mst_lower *l, int32_t value, mst_hlo x) {
    const mst_spec *spec = &w->p->plan->value[value].spec,
                   bools = {.dtype = MST_BOOL, .shape = mst_hlo_spec(l, x).shape};
    mst_hlo is_finite;
    if (!mst_dtype_is_float(spec->dtype) || mst_shape_count(bools.shape) == 0) return MST_OK;
    mst_hlo_call(l, "is_finite", "", 1, &x, 1, &bools, &is_finite);
    mst_hlo_fault(l, mst_hlo_unary(l, "not", is_finite), MST_NUMERICS, "a NaN or Inf");
    return note_faults(w, w->p->plan->value[value].node, value);
}

/* Writes the same check if X, the source VALUE of a node, is a variable or a view of one. The output of a writer is not
 * checked here, because it is a new value. */
static mst_status check_source(writing *w, mst_lower *l, int32_t value, mst_hlo x) {
    const mst_plan *plan = w->p->plan;
    const mst_plan_node *maker;
    int32_t root = value;
    while (maker = &plan->node[plan->value[root].node], mst_plan_is_view(maker) && !maker->writer) root = maker->src[0];
    if (!mst_plan_is_variable(plan, root) || w->p->checked_in[value] == w->number) return MST_OK;
    w->p->checked_in[value] = w->number;
    return check_value(w, l, root, x);
}

static mst_status write_node(writing *w, int32_t n) {
    mst_plan *plan = w->p->plan;
    const mst_plan_node *node = &plan->node[n];
    const bool checked = is_checked(w->p, node);
    const size_t num_src = (size_t)node->num_src + 1, num_dst = (size_t)node->num_dst + 1;
    mst_hlo *src = mst_arena_alloc(&plan->memory, num_src * sizeof *src),
            *new = mst_arena_alloc(&plan->memory, num_src * sizeof *new),
            *dst = mst_arena_alloc(&plan->memory, num_dst * sizeof *dst);
    mst_spec *src_spec = mst_arena_alloc(&plan->memory, num_src * sizeof *src_spec),
             *dst_spec = mst_arena_alloc(&plan->memory, num_dst * sizeof *dst_spec);
    if (!src || !new || !dst || !src_spec || !dst_spec) return MST_NO_MEMORY("for a plan");
    mst_lower l = {.program = w->program,
                   .op = node->op,
                   .options = node->options,
                   .name = node->name,
                   .num_src = node->num_src,
                   .src = src,
                   .src_spec = src_spec,
                   .num_dst = node->num_dst,
                   .dst = dst,
                   .dst_spec = dst_spec,
                   .precision = plan->host->options->precision};
    for (int i = 0; i < node->num_src; i++) {
        src_spec[i] = plan->value[node->src[i]].spec;
        src[i] = new[i] = MST_NO_HLO;
        if (!reads(node, i)) continue;
        MST_TRY(find_hlo(w, &l, node->src[i], &src[i]));
        if (checked) MST_TRY(check_source(w, &l, node->src[i], src[i]));
        if (node->again) src[i] = mst_hlo_barrier(&l, src[i]);
    }
    for (int i = 0; i < node->num_dst; i++) {
        dst_spec[i] = plan->value[node->dst + i].spec;
        dst[i] = MST_NO_HLO;
    }
    MST_TRY(write_op(w, node, &l, new));
    for (int i = 0; i < node->num_dst; i++) set_hlo(w, node->dst + i, dst[i]);
    MST_TRY(note_faults(w, n, -1));
    for (int i = 0; i < node->num_dst && checked; i++) MST_TRY(check_value(w, &l, node->dst + i, dst[i]));
    return MST_OK;
}

/* A place in a walk from a node back to its inputs. */
typedef struct visit {
    int32_t node;
    int next; /* the next of its inputs */
} visit;

/* Writes node N, and before it all nodes of the program that come before it. STACK has room for all of them. */
static mst_status write_after_inputs(writing *w, int32_t n, visit *stack) {
    const mst_plan *plan = w->p->plan;
    int64_t top = 0;
    if (w->p->written[n]) return MST_OK;
    stack[top++] = (visit){.node = n};
    w->p->written[n] = true;
    while (top) {
        visit *at = &stack[top - 1];
        const mst_plan_node *node = &plan->node[at->node];
        if (at->next < node->num_src + node->num_control) {
            const int32_t from = input(plan, node, at->next++);
            if (from < 0 || w->p->program_of[from] != w->number || w->p->written[from]) continue;
            w->p->written[from] = true;
            stack[top++] = (visit){.node = from};
        } else {
            MST_TRY(write_node(w, at->node));
            top--;
        }
    }
    return MST_OK;
}

static bool has_output(const pass *p, int32_t n) {
    const mst_plan_node *node = &p->plan->node[n];
    if (node->region == MST_COMMIT && node->writer) return true; /* the new values of variables */
    for (int32_t v = node->dst; v < node->dst + node->num_dst; v++)
        if (p->is_output[v]) return true;
    return false;
}

/* Writes the nodes of the program: first those with outputs, in the order of their keys, each after its inputs. So the
 * text is the same on all devices, although passes may have added nodes in a different order for each. */
static mst_status write_nodes(writing *w) {
    visit *stack = malloc(((size_t)w->num_members + 1) * sizeof *stack);
    mst_status status = stack ? MST_OK : MST_NO_MEMORY("for a plan");
    for (int rest = 0; rest < 2; rest++)
        for (int64_t k = 0; k < w->num_members && !status; k++)
            if (rest || has_output(w->p, w->members[k].node)) status = write_after_inputs(w, w->members[k].node, stack);
    free(stack);
    return status;
}

static void add_results(const writing *w) {
    const pass *p = w->p;
    for (int64_t k = 0; k < w->num_members; k++) {
        const mst_plan_node *node = &p->plan->node[w->members[k].node];
        for (int32_t v = node->dst; v < node->dst + node->num_dst; v++)
            if (p->is_output[v]) mst_hlo_program_result(w->program, p->hlo[v]);
    }
    for (int64_t k = 0; k < w->num_members; k++) {
        const mst_plan_node *node = &p->plan->node[w->members[k].node];
        for (int i = 0, next = 1; i < node->num_src && node->region == MST_COMMIT; i++)
            if (mst_plan_writes(node, i))
                mst_hlo_program_donate(w->program, p->hlo[node->src[i]], p->hlo[node->dst + next++]);
    }
}

/* ---- nodes of programs ---- */

/* Adds TENSOR, a constant of the program that is too large for its text, as a constant of DEVICE. */
static mst_status add_constant(mst_plan *plan, int32_t device, mst_tensor *tensor, int32_t *out) {
    const mst_constant_options options = {.value = tensor};
    const mst_spec spec = {.dtype = mst_tensor_dtype(tensor), .shape = mst_tensor_shape(tensor)};
    const mst_plan_node node = {.op = &mst_op_constant,
                                .name = "constant",
                                .options = mst_arena_copy(&plan->memory, &options, sizeof options),
                                .asked = "",
                                .num_dst = 1,
                                .device = device,
                                .group = -1};
    int32_t added;
    if (!node.options) return MST_NO_MEMORY("for a plan");
    MST_TRY(mst_plan_add(plan, &node, NULL, &spec, &added));
    *out = plan->node[added].dst;
    plan->value[*out].space = MST_IN_CONSTANT;
    plan->value[*out].constant = mst_tensor_retain(tensor);
    return MST_OK;
}

/* Sets the arguments of the program in OUT, and SRC, the values that are its sources. */
static mst_status find_arguments(const writing *w, int32_t device, mst_compiled_options *out, int32_t *src,
                                 int *num_src) {
    mst_plan *plan = w->p->plan;
    int64_t next = 0;
    out->num_arguments = mst_hlo_program_num_sources(w->program);
    mst_compiled_argument *argument =
        mst_arena_alloc(&plan->memory, ((size_t)out->num_arguments + 1) * sizeof *argument);
    if (!argument) return MST_NO_MEMORY("for a plan");
    out->argument = argument;
    *num_src = 0;
    for (int32_t i = 0; i < out->num_arguments; i++) {
        const mst_hlo_source *source = mst_hlo_program_source_at(w->program, i);
        argument[i] = (mst_compiled_argument){.kind = source->kind, .source = -1, .stream = source->stream};
        if (source->kind == MST_HLO_SOURCE_KEY || source->kind == MST_HLO_SOURCE_STEP) continue;
        argument[i].kind = MST_HLO_SOURCE_VALUE;
        argument[i].source = *num_src;
        if (source->kind == MST_HLO_SOURCE_VALUE)
            src[*num_src] = w->source[next++];
        else
            MST_TRY(add_constant(plan, device, source->tensor, &src[*num_src]));
        ++*num_src;
    }
    return MST_OK;
}

/* Sets the donations of the program in OUT, whose arguments are set. */
static mst_status find_donations(const writing *w, mst_compiled_options *out) {
    mst_compiled_donation *donation =
        mst_arena_alloc(&w->p->plan->memory, ((size_t)out->num_arguments + 1) * sizeof *donation);
    if (!donation) return MST_NO_MEMORY("for a plan");
    out->donation = donation;
    for (int32_t i = 0; i < out->num_arguments; i++) {
        const int64_t taken_by = mst_hlo_program_source_at(w->program, i)->taken_by;
        if (taken_by)
            donation[out->num_donated++] = (mst_compiled_donation){out->argument[i].source, (int32_t)taken_by - 1};
    }
    return MST_OK;
}

static mst_status find_faults(const writing *w, mst_compiled_options *out) {
    mst_plan *plan = w->p->plan;
    out->num_faults = mst_hlo_program_num_faults(w->program);
    if (out->num_donated && out->num_faults)
        return MST_FAIL(MST_INTERNAL, "'%s' may fail, and writes variables", plan->node[w->members[0].node].name);
    mst_compiled_fault *fault = mst_arena_alloc(&plan->memory, ((size_t)out->num_faults + 1) * sizeof *fault);
    if (!fault) return MST_NO_MEMORY("for a plan");
    out->fault = fault;
    for (int32_t i = 0; i < out->num_faults; i++) {
        const char *message;
        fault[i].node = w->fault[i].node;
        fault[i].value = w->fault[i].value;
        fault[i].code = mst_hlo_program_fault_at(w->program, i, &message);
        fault[i].message = mst_arena_string(&plan->memory, message);
        if (!fault[i].message) return MST_NO_MEMORY("for a plan");
    }
    return MST_OK;
}

/* The name of the program. "shard_0/program_2" has the part and the level. A program of one node alone, or of an
 * update, has the name of this node, such as "layer1/sum". */
static const char *find_name(const writing *w) {
    const mst_plan_node *first = &w->p->plan->node[w->members[0].node];
    const int32_t level = w->p->level[w->members[0].node];
    for (int64_t k = 0; k < w->num_members && first->region == MST_COMMIT && !first->writer; k++)
        first = &w->p->plan->node[w->members[k].node];
    if (first->part <= MST_PART_ALONE) return first->name;
    if (first->part == MST_PART_REST) return mst_arena_print(&w->p->plan->memory, "program_%d", level);
    return mst_arena_print(&w->p->plan->memory, "shard_%d/program_%d", first->part - 1, level);
}

/* Adds the node of the program. Its outputs replace the outputs of the program's nodes that other nodes read. */
static mst_status add_node(const writing *w, const char *text) {
    pass *p = w->p;
    mst_plan *plan = p->plan;
    int32_t *src = mst_arena_alloc(&plan->memory, ((size_t)mst_hlo_program_num_sources(w->program) + 1) * sizeof *src);
    mst_compiled_options *options = mst_arena_alloc(&plan->memory, sizeof *options);
    const int32_t device = plan->node[w->members[0].node].device;
    const mst_region region = plan->node[w->members[0].node].region;
    int num_dst = 0, num_src = 0;
    int64_t most = 0;
    for (int64_t k = 0; k < w->num_members; k++) most += plan->node[w->members[k].node].num_dst;
    mst_spec *dst = mst_arena_alloc(&plan->memory, ((size_t)most + 1) * sizeof *dst);
    if (!src || !options || !dst) return MST_NO_MEMORY("for a plan");
    *options =
        (mst_compiled_options){.text = mst_arena_string(&plan->memory, text), .num_nodes = (int32_t)w->num_members};
    MST_TRY(find_arguments(w, device, options, src, &num_src));
    MST_TRY(find_donations(w, options));
    MST_TRY(find_faults(w, options));
    for (int64_t k = 0; k < w->num_members; k++) {
        const mst_plan_node *node = &plan->node[w->members[k].node];
        for (int32_t v = node->dst; v < node->dst + node->num_dst; v++)
            if (p->is_output[v]) dst[num_dst++] = plan->value[v].spec;
    }
    const mst_plan_node node = {.op = &mst_op_compiled,
                                .name = find_name(w),
                                .options = options,
                                .asked = "",
                                .num_src = num_src,
                                .num_dst = num_dst,
                                .device = device,
                                .group = -1,
                                .region = region,
                                .fallible = region == MST_BODY};
    if (!options->text || !node.name) return MST_NO_MEMORY("for a plan");
    MST_TRY(mst_plan_add(plan, &node, src, dst, &p->node_of[w->number]));
    int32_t value = plan->node[p->node_of[w->number]].dst;
    for (int64_t k = 0; k < w->num_members; k++) {
        const mst_plan_node *from = &plan->node[w->members[k].node];
        for (int32_t v = from->dst; v < from->dst + from->num_dst; v++)
            if (p->is_output[v]) p->joined[v] = value++;
    }
    for (int64_t k = 0; k < w->num_members; k++) {
        const mst_plan_node *from = &plan->node[w->members[k].node];
        for (int32_t v = from->dst; v < from->dst + from->num_dst; v++) {
            const int32_t by = plan->value[v].counted_by;
            if (p->joined[v] >= 0 && by >= 0) plan->value[p->joined[v]].counted_by = p->joined[by];
        }
    }
    return MST_OK;
}

/* Writes the program whose nodes are MEMBERS, and adds its node. */
static mst_status make_program(pass *p, const member *members, int64_t num_members) {
    writing w = {.p = p, .number = members[0].program, .members = members, .num_members = num_members};
    const char *text;
    mst_status status = mst_hlo_program_create(&w.program);
    if (!status) status = write_nodes(&w);
    if (!status) add_results(&w);
    if (!status) status = mst_hlo_program_finish(w.program, &text);
    if (!status) status = add_node(&w, text);
    mst_hlo_program_destroy(w.program);
    free(w.source);
    free(w.constant);
    free(w.fault);
    return status;
}

/* The node that replaces node N: its program, or N itself. */
static int32_t replaced_by(const pass *p, int32_t n) {
    return n < p->num_nodes && p->program_of[n] >= 0 ? p->node_of[p->program_of[n]] : n;
}

/* Makes all nodes that came after a node of a program come after the program. */
static mst_status redirect(pass *p) {
    mst_plan *plan = p->plan;
    for (int64_t k = 0; k < p->num_members; k++) {
        const mst_plan_node *node = &plan->node[p->members[k].node];
        const int32_t program = p->node_of[p->members[k].program];
        for (int i = 0; i < node->num_control; i++) {
            const int32_t after = replaced_by(p, node->control[i]);
            if (after != program) MST_TRY(mst_plan_add_control(plan, program, after));
        }
    }
    for (int64_t n = 0; n < p->num_nodes; n++)
        for (int i = 0; i < plan->node[n].num_control && p->program_of[n] < 0; i++)
            plan->node[n].control[i] = replaced_by(p, plan->node[n].control[i]);
    for (int64_t i = 0; i < plan->num_effects; i++) plan->effect[i] = replaced_by(p, plan->effect[i]);
    return mst_plan_read_instead(plan, p->joined, p->num_values);
}

static mst_status make_programs(pass *p) {
    find_aims(p);
    MST_TRY(find_programs(p));
    if (p->num_programs == 0) return MST_OK;
    p->node_of = calloc((size_t)p->num_programs, sizeof *p->node_of);
    if (!p->node_of) return MST_NO_MEMORY("for a plan");
    MST_TRY(find_outputs(p));
    int64_t *first = malloc((size_t)p->num_programs * sizeof *first);
    if (!first) return MST_NO_MEMORY("for a plan");
    join_kinds(p, first);
    free(first);
    for (int64_t k = 0, count; k < p->num_members; k += count) {
        count = count_of_program(p, k);
        MST_TRY(make_program(p, p->members + k, count));
    }
    return redirect(p);
}

mst_status mst_plan_programs(mst_plan *plan) {
    if (plan->donates) MST_TRY(isolate_updates(plan));
    MST_TRY(mst_plan_sort(plan));
    pass p = {.plan = plan, .num_nodes = plan->num_nodes, .num_values = plan->num_values};
    const size_t nodes = (size_t)plan->num_nodes + 1, values = (size_t)plan->num_values + 1;
    p.sites = calloc(nodes, sizeof *p.sites);
    p.level = calloc(nodes, sizeof *p.level);
    p.is_made = calloc(nodes, sizeof *p.is_made);
    p.leads_to = calloc(nodes, sizeof *p.leads_to);
    p.program_of = malloc(nodes * sizeof *p.program_of);
    p.kind_of = malloc(nodes * sizeof *p.kind_of);
    p.members = calloc(nodes, sizeof *p.members);
    p.is_output = calloc(values, sizeof *p.is_output);
    p.is_used = calloc(values, sizeof *p.is_used);
    p.joined = malloc(values * sizeof *p.joined);
    p.hlo = calloc(values, sizeof *p.hlo);
    p.has_hlo = malloc(values * sizeof *p.has_hlo);
    p.checked_in = malloc(values * sizeof *p.checked_in);
    p.written = calloc(nodes, sizeof *p.written);
    mst_status status = p.sites && p.level && p.is_made && p.leads_to && p.program_of && p.kind_of && p.members &&
                                p.is_output && p.is_used && p.joined && p.hlo && p.has_hlo && p.checked_in && p.written
                            ? MST_OK
                            : MST_NO_MEMORY("for a plan");
    if (!status) {
        memset(p.program_of, -1, nodes * sizeof *p.program_of);
        memset(p.kind_of, -1, nodes * sizeof *p.kind_of);
        memset(p.joined, -1, values * sizeof *p.joined);
        memset(p.has_hlo, -1, values * sizeof *p.has_hlo);
        memset(p.checked_in, -1, values * sizeof *p.checked_in);
        status = make_programs(&p);
    }
    free(p.sites);
    free(p.level);
    free(p.is_made);
    free(p.leads_to);
    free(p.program_of);
    free(p.kind_of);
    free(p.members);
    free(p.node_of);
    free(p.is_output);
    free(p.is_used);
    free(p.joined);
    free(p.hlo);
    free(p.has_hlo);
    free(p.checked_in);
    free(p.written);
    return status;
}
