/* commit: decides when each write happens.
 *
 * A step happens as a whole or not at all. So everything that can fail runs in the body of the step, where no state
 * changes. Then all devices go through a gate together. Behind it writers change the state, and nothing can fail.
 *
 * What a reader sees depends on phases. The phase of a node is the largest number of writers on any path of sources and
 * control sources to it. A reader sees the writes of earlier phases and none of its own phase. This also holds for the
 * values that a writer reads. Writers of one phase write in the order in which they were made.
 *
 * One number decides what runs where: last_phase, the last phase whose readers must run before the gate, because
 * something of that phase may fail.
 *
 *     phase                 < last_phase           = last_phase                    > last_phase
 *     readers               body                   body                            behind the gate
 *     writers               body, on a copy        behind the gate, in place       behind the gate, in place
 *
 *   - A writer in the body is staged: it works on a copy of the variable, later phases read that copy, and behind the
 *     gate the variable takes its value. On devices that compile all writers are staged, and programs write nothing:
 *     the new value is an output of the writer. A node that reads the variable, or the output of one of its writers,
 *     reads the copy that is newest in the reader's phase.
 *   - A plan that donates is the exception. There updates and assignments on devices that compile do not count as
 *     fallible, and so mostly write in place behind the gate. Their programs may fail there all the same, which leaves
 *     their variables torn (run/torn.c). Such plans are made only if memory has no room for the other kind.
 *   - Behind the gate control sources put the readers and writers of each variable in order.
 *   - A value of a variable is copied beforehand if it is used when the variable may have changed. There are two
 *     cases. A writer reads the value, and the variable is written in the same phase. Or the value is a view that is
 *     used in a later phase than its own. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "muster/ops.h"
#include "op/list.h"
#include "plan/plan.h"
#include "plan/update_ops.h"

/* How the nodes visited so far read and write one variable. */
typedef struct access {
    int32_t staged;        /* value of its staged copy after the last write, which later phases read; -1: not staged */
    int32_t last_writer;   /* node behind the gate that wrote it last; -1: none */
    int32_t first_reader;  /* nodes behind the gate that read it since then: first of a list in `links`; -1: none */
    int32_t writers_phase; /* last phase seen so far in which a node writes it; -1: none */
} access;

typedef struct link {
    int32_t node, next;
} link;

typedef struct committer {
    mst_plan *plan;
    int32_t last_phase;   /* last phase whose readers run in the body */
    int32_t *variable_of; /* by value: the variable in whose memory it is; -1: none */
    access *accesses;     /* by value: how the variable is read and written so far */
    link *links;
    int64_t num_links, link_capacity;
    int64_t num_values; /* number of values when the pass began */
} committer;

/* ---- what can fail ---- */

static bool crosses_domains(const mst_plan *plan, const mst_plan_node *node) {
    for (int i = 0; i < node->num_src; i++)
        if (!mst_plan_shape_only(node, i) && !plan->value[node->src[i]].constant &&
            mst_plan_value_domain(plan, node->src[i]) != mst_plan_domain(plan, node->device))
            return true;
    return false;
}

/* Whether a program of a device that compiles computes NODE. Any program may fail, also one that writes. Nodes that
 * were folded into constants are in no program. */
static bool is_compiled(const mst_plan *plan, const mst_plan_node *node) {
    return mst_plan_compiles(plan, node) && !(node->op->flags & (MST_OP_VARIABLE | MST_OP_NO_VALUE)) &&
           node->op != &mst_op_fetch && !(node->num_dst && plan->value[node->dst].constant);
}

/* Whether NODE, which a program computes, may write behind the gate although a program may fail. It must be an update
 * or an assignment. It must write variables themselves, not views of them, and must not read variables that it does not
 * write. Then no other node has to be computed for it behind the gate. */
static bool writes_in_place(const mst_plan *plan, const mst_plan_node *node) {
    if (!plan->donates || !(node->op == &mst_op_assign || mst_is_update_step(node->op, node->options))) return false;
    for (int i = 0; i < node->num_src; i++) {
        if (mst_plan_writes(node, i) ? !mst_plan_is_variable(plan, node->src[i])
                                     : mst_plan_in_variable(plan, node->src[i]))
            return false;
    }
    return true;
}

/* Whether the kernel of NODE may fail. A view that writes its source has a kernel like any other node. */
static bool kernel_may_fail(const mst_plan *plan, const mst_plan_node *node) {
    if (is_compiled(plan, node)) return !writes_in_place(plan, node);
    if (node->op->flags & MST_OP_INFALLIBLE || (node->op->flags & MST_OP_VIEW && !node->writer)) return false;
    if (!(node->op->flags & (MST_OP_ELEMENTWISE | MST_OP_INFALLIBLE_FLOATS))) return true;
    for (int i = 0; i < node->num_src; i++)
        if (!mst_dtype_is_float(plan->value[node->src[i]].spec.dtype)) return true;
    return false;
}

/* Whether NODE may fail. A node that takes a value from another domain may fail even if it is a view, because the value
 * is received first. */
static bool may_fail(const mst_plan *plan, const mst_plan_node *node) {
    const bool carries =
        node->op != &mst_op_fetch && node->op != &mst_op_exchange_start && !(node->op->flags & MST_OP_NO_VALUE);
    if (carries && crosses_domains(plan, node)) return true;
    return (is_compiled(plan, node) || !mst_plan_is_silent(plan, node)) && kernel_may_fail(plan, node);
}

/* The least value of last_phase that NODE needs because it may fail; 0: it cannot fail. Writers of earlier phases are
 * then staged. If NODE is a writer whose kernel may fail, it is staged too. If only the receipt of its value can fail,
 * it is not staged, because the value is received before the writer runs. */
static int32_t phase_to_stage(const mst_plan *plan, const mst_plan_node *node) {
    if (!may_fail(plan, node)) return 0;
    return node->phase + (node->writer && kernel_may_fail(plan, node));
}

/* ---- order ---- */

/* Sorts the live nodes by phase, then readers before writers, then by place in the order. This is a counting sort. */
static mst_status sort_by_phase(mst_plan *plan, int32_t *order) {
    int32_t phases = 1;
    for (int64_t k = 0; k < plan->num_order; k++)
        if (plan->node[plan->order[k]].phase >= phases) phases = plan->node[plan->order[k]].phase + 1;
    int64_t *start = calloc((size_t)phases * 2 + 1, sizeof *start);
    if (!start) return MST_NO_MEMORY("for a plan");
    for (int64_t k = 0; k < plan->num_order; k++) {
        const mst_plan_node *node = &plan->node[plan->order[k]];
        start[node->phase * 2 + node->writer + 1]++;
    }
    for (int32_t k = 0; k < phases * 2; k++) start[k + 1] += start[k];
    for (int64_t k = 0; k < plan->num_order; k++) {
        const mst_plan_node *node = &plan->node[plan->order[k]];
        order[start[node->phase * 2 + node->writer]++] = plan->order[k];
    }
    free(start);
    return MST_OK;
}

/* A writer, and its place among the writers of its phase. */
typedef struct writer {
    int64_t made;
    int32_t node;
} writer;

static int by_making(const void *a, const void *b) {
    const writer *x = a, *y = b;
    if (x->made != y->made) return x->made < y->made ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

/* Sorts the COUNT writers of one phase into the order in which they were made. */
static mst_status sort_writers(const mst_plan *plan, int32_t *order, int64_t count) {
    if (count < 2) return MST_OK;
    writer *writers = malloc((size_t)count * sizeof *writers);
    if (!writers) return MST_NO_MEMORY("for a plan");
    for (int64_t k = 0; k < count; k++) writers[k] = (writer){plan->node[order[k]].made, order[k]};
    qsort(writers, (size_t)count, sizeof *writers, by_making);
    for (int64_t k = 0; k < count; k++) order[k] = writers[k].node;
    free(writers);
    return MST_OK;
}

/* ---- copies ---- */

/* Adds an identity of VALUE on its device: a copy or, if AFTER names a node, the same memory after that node. *OUT
 * is its value. */
static mst_status add_identity(committer *c, int32_t value, const char *suffix, int32_t after, int32_t phase,
                               mst_region region, int32_t *out) {
    mst_plan *plan = c->plan;
    const mst_plan_node *maker = &plan->node[plan->value[value].node];
    const mst_plan_node identity = {.op = &mst_op_identity,
                                    .name = mst_arena_print(&plan->memory, "%s/%s", maker->name, suffix),
                                    .asked = "",
                                    .num_src = 1,
                                    .num_control = after >= 0,
                                    .control = &after,
                                    .num_dst = 1,
                                    .device = maker->device,
                                    .group = -1,
                                    .phase = phase,
                                    .region = region,
                                    .materialize = after < 0};
    if (!identity.name) return MST_NO_MEMORY("for a plan");
    const mst_spec spec = plan->value[value].spec;
    int32_t added;
    MST_TRY(mst_plan_add(plan, &identity, &value, &spec, &added));
    *out = plan->node[added].dst;
    return MST_OK;
}

static int32_t variable_of(const committer *c, int32_t value) {
    return value < c->num_values ? c->variable_of[value] : -1;
}

/* ---- behind the gate ---- */

static mst_status add_reader(committer *c, access *a, int32_t node) {
    MST_TRY(mst_grow(&c->links, sizeof *c->links, c->num_links + 1, &c->link_capacity));
    c->links[c->num_links] = (link){node, a->first_reader};
    a->first_reader = (int32_t)c->num_links++;
    return MST_OK;
}

/* Orders node N, which reads variable A behind the gate: N comes after the last writer, and later writers after N. */
static mst_status read_behind(committer *c, access *a, int32_t n) {
    if (a->last_writer >= 0) MST_TRY(mst_plan_add_control(c->plan, n, a->last_writer));
    return add_reader(c, a, n);
}

static mst_status write_behind(committer *c, access *a, int32_t n) {
    if (a->last_writer >= 0 && a->last_writer != n) MST_TRY(mst_plan_add_control(c->plan, n, a->last_writer));
    for (int32_t i = a->first_reader; i >= 0 && c->links; i = c->links[i].next)
        if (c->links[i].node != n) MST_TRY(mst_plan_add_control(c->plan, n, c->links[i].node));
    a->first_reader = -1;
    a->last_writer = n;
    return MST_OK;
}

static mst_region region_of_readers(const committer *c, int32_t phase) {
    return phase > c->last_phase ? MST_COMMIT : MST_BODY;
}

/* Source I of writer N is a variable, or a view of one, that is written in the same phase. Gives N a copy of it that is
 * made before the writes. */
static mst_status read_before(committer *c, int32_t n, int i, access *a) {
    mst_plan *plan = c->plan;
    const int32_t value = plan->node[n].src[i], phase = plan->node[n].phase;
    int32_t copy;
    MST_TRY(add_identity(c, value, "read", -1, phase, region_of_readers(c, phase), &copy));
    if (region_of_readers(c, phase) == MST_COMMIT) MST_TRY(read_behind(c, a, plan->value[copy].node));
    plan->node[n].src[i] = copy;
    return MST_OK;
}

/* ---- staged writers ---- */

/* The value of the variable after the writes of all earlier phases. */
static int32_t current_value(const committer *c, int32_t variable) {
    return c->accesses[variable].staged >= 0 ? c->accesses[variable].staged : variable;
}

/* Whether writer N, on a device that compiles, only assigns to a variable a value that is not in the memory of a
 * variable. Then no program computes N: behind the gate the value is assigned to the variable directly. */
static bool is_plain(const mst_plan *plan, int32_t n) {
    const mst_plan_node *node = &plan->node[n];
    return mst_plan_compiles(plan, node) && node->op == &mst_op_assign && node->region == MST_BODY &&
           !mst_plan_in_variable(plan, node->src[1]);
}

/* Replaces the writers that no program computes by nodes without a value, which only keep the order: they come after
 * the same nodes. All readers of the writers' outputs read the assigned values themselves by now. */
static mst_status drop_plain(committer *c, const int32_t *order, int64_t count) {
    mst_plan *plan = c->plan;
    for (int64_t k = 0; k < count; k++) {
        mst_plan_node *node = &plan->node[order[k]];
        if (!is_plain(plan, order[k])) continue;
        MST_TRY(mst_plan_add_control(plan, order[k], plan->value[node->src[1]].node));
        node->op = &mst_op_no_op;
        node->writer = false;
        node->num_src = 0;
    }
    return MST_OK;
}

/* The output of writer N, on a device that compiles, that is the new value of source I. */
static int32_t new_value(const mst_plan *plan, int32_t n, int i) {
    const mst_plan_node *node = &plan->node[n];
    int32_t value = node->dst;
    if (node->op->flags & MST_OP_VIEW) return value;
    for (int k = 0; k <= i; k++) value += mst_plan_writes(node, k); /* output 0 is no new value of a variable */
    return value;
}

static mst_status stage(committer *c, int32_t n, int i, int32_t variable) {
    mst_plan *plan = c->plan;
    const int32_t phase = plan->node[n].phase;
    if (mst_plan_compiles(plan, &plan->node[n])) {
        plan->node[n].src[i] = current_value(c, variable);
        c->accesses[variable].staged = is_plain(plan, n) ? plan->node[n].src[1] : new_value(plan, n, i);
        return MST_OK;
    }
    int32_t copy;
    MST_TRY(add_identity(c, current_value(c, variable), "staged", -1, phase, MST_BODY, &copy));
    if (plan->node[n].op->flags & MST_OP_OVERWRITES) /* the variable may have no value: copies its next value instead */
        plan->node[plan->value[copy].node].src[0] = plan->node[n].src[1 - i];
    plan->node[n].src[i] = copy;
    return add_identity(c, copy, "written", n, phase, MST_BODY, &c->accesses[variable].staged);
}

/* Adds the writer that copies the staged value into the variable behind the gate. */
static mst_status commit_staged(committer *c, int32_t v) {
    mst_plan *plan = c->plan;
    access *a = &c->accesses[v];
    const mst_plan_node *variable = &plan->node[plan->value[v].node];
    const mst_plan_node assign = {.op = &mst_op_assign,
                                  .name = mst_arena_print(&plan->memory, "%s/commit", variable->name),
                                  .asked = "",
                                  .num_src = 2,
                                  .num_dst = 1,
                                  .device = variable->device,
                                  .group = -1,
                                  .phase = c->last_phase,
                                  .region = MST_COMMIT};
    const mst_spec spec = plan->value[v].spec;
    const int32_t src[2] = {v, a->staged};
    int32_t added;
    if (!assign.name) return MST_NO_MEMORY("for a plan");
    MST_TRY(mst_plan_add(plan, &assign, src, &spec, &added));
    MST_TRY(mst_plan_add_effect(plan, added));
    a->staged = -1;
    return write_behind(c, a, added);
}

static mst_status commit_all_staged(committer *c) {
    for (int32_t v = 0; v < c->num_values; v++)
        if (variable_of(c, v) == v && c->accesses[v].staged >= 0) MST_TRY(commit_staged(c, v));
    return MST_OK;
}

/* ---- nodes in the order of phases ---- */

/* Whether VALUE is the variable itself, or the output of one of its writers. A reader of such a value gets the value
 * that the variable has when the reader runs. */
static bool is_current(const mst_plan *plan, int32_t value) {
    return mst_plan_is_variable(plan, value) || plan->node[plan->value[value].node].writer;
}

/* Handles source I of node N, which is in the memory of VARIABLE. If the variable is staged, N reads the staged copy
 * instead. */
static mst_status read_source(committer *c, int32_t n, int i, int32_t variable) {
    mst_plan *plan = c->plan;
    mst_plan_node *node = &plan->node[n];
    access *a = &c->accesses[variable];
    if (is_current(plan, node->src[i])) {
        const mst_plan_node *maker = &plan->node[plan->value[node->src[i]].node];
        const bool stale = maker->writer && maker->region == MST_BODY; /* its output is a staged copy */
        if (a->staged >= 0 || stale) node->src[i] = current_value(c, variable);
        if (a->staged >= 0) {
            if (mst_plan_is_view(node) && !node->writer) c->variable_of[node->dst] = -1;
            return MST_OK;
        }
    }
    if (node->region == MST_BODY || mst_plan_is_silent(plan, node)) return MST_OK;
    if (node->writer && a->writers_phase == node->phase) return read_before(c, n, i, a);
    return read_behind(c, a, n);
}

static mst_status write_source(committer *c, int32_t n, int i, int32_t variable) {
    if (c->plan->node[n].region == MST_BODY) return stage(c, n, i, variable);
    if (c->accesses[variable].staged >= 0) MST_TRY(commit_staged(c, variable));
    return write_behind(c, &c->accesses[variable], n);
}

static mst_status visit_sources(committer *c, int32_t n, bool writes) {
    for (int i = 0; i < c->plan->node[n].num_src; i++) {
        const mst_plan_node *node = &c->plan->node[n];
        const int32_t variable = variable_of(c, node->src[i]);
        if (variable < 0 || mst_plan_shape_only(node, i) || mst_plan_writes(node, i) != writes) continue;
        MST_TRY(writes ? write_source(c, n, i, variable) : read_source(c, n, i, variable));
    }
    return MST_OK;
}

static mst_status visit_reads(committer *c, int32_t n) {
    mst_plan_node *node = &c->plan->node[n];
    node->fallible = may_fail(c->plan, node);
    node->region = node->writer && node->phase >= c->last_phase ? MST_COMMIT : region_of_readers(c, node->phase);
    c->plan->commits |= node->writer;
    return visit_sources(c, n, false);
}

/* Visits the nodes of one phase: first its readers, then its writers. */
static mst_status visit_phase(committer *c, const int32_t *order, int64_t count) {
    const mst_plan *plan = c->plan;
    for (int64_t k = 0; k < count; k++) {
        const mst_plan_node *node = &plan->node[order[k]];
        for (int i = 0; i < node->num_src && node->writer; i++)
            if (mst_plan_writes(node, i) && variable_of(c, node->src[i]) >= 0)
                c->accesses[variable_of(c, node->src[i])].writers_phase = node->phase;
    }
    for (int64_t k = 0; k < count; k++) MST_TRY(visit_reads(c, order[k]));
    for (int64_t k = 0; k < count; k++)
        if (plan->node[order[k]].writer) MST_TRY(visit_sources(c, order[k], true));
    return MST_OK;
}

/* Finds the values that are in the memory of a variable: the variable itself, views, and outputs of writers. If there
 * are writes, a view that is used in a later phase than its own becomes a copy, so that it keeps the old value. */
static void find_variables(committer *c) {
    mst_plan *plan = c->plan;
    bool writes = false;
    for (int64_t k = 0; k < plan->num_order; k++) writes |= plan->node[plan->order[k]].writer;
    for (int64_t k = 0; k < plan->num_order && writes; k++) {
        const mst_plan_node *node = &plan->node[plan->order[k]];
        for (int i = 0; i < node->num_src; i++) {
            mst_plan_node *view = &plan->node[plan->value[node->src[i]].node];
            if (mst_plan_is_view(view) && !view->writer && node->phase > view->phase) view->materialize = true;
        }
    }
    for (int64_t k = 0; k < plan->num_order; k++) {
        mst_plan_node *node = &plan->node[plan->order[k]];
        if (node->op->flags & MST_OP_VARIABLE) c->variable_of[node->dst] = node->dst;
        if (!mst_plan_is_view(node)) continue;
        c->variable_of[node->dst] = c->variable_of[node->src[0]];
    }
    /* Views of values that are in no variable need no copy. */
    for (int64_t k = 0; k < plan->num_order; k++) {
        mst_plan_node *node = &plan->node[plan->order[k]];
        if ((node->op->flags & MST_OP_VIEW) && node->materialize && node->num_src && c->variable_of[node->src[0]] < 0)
            node->materialize = false;
    }
}

/* Whether it would save memory to write NODE in place, in a plan that does not do so yet. Tasks that make the same plan
 * cannot choose this each for itself. */
static bool can_donate(const mst_plan *plan, const mst_plan_node *node) {
    return !plan->donates && !mst_plan_has_tasks(plan) && mst_plan_compiles(plan, node) &&
           mst_is_update_step(node->op, node->options);
}

static mst_status commit_run(committer *c, int32_t *order) {
    mst_plan *plan = c->plan;
    const int64_t count = plan->num_order;
    mst_plan_phases(plan);
    for (int64_t k = 0; k < count; k++) {
        const int32_t phase = phase_to_stage(plan, &plan->node[plan->order[k]]);
        if (phase > c->last_phase) c->last_phase = phase;
        plan->can_donate |= can_donate(plan, &plan->node[plan->order[k]]);
    }
    find_variables(c);
    MST_TRY(sort_by_phase(plan, order));
    for (int64_t k = 0, writers, end; k < count; k = end) {
        const int32_t phase = plan->node[order[k]].phase;
        for (writers = k; writers < count && plan->node[order[writers]].phase == phase;) {
            if (plan->node[order[writers]].writer) break;
            writers++;
        }
        for (end = writers; end < count && plan->node[order[end]].phase == phase;) end++;
        MST_TRY(sort_writers(plan, order + writers, end - writers));
        MST_TRY(visit_phase(c, order + k, end - k));
    }
    MST_TRY(drop_plain(c, order, count));
    return commit_all_staged(c);
}

/* Finds the state that numbers the steps: global_step, if this step changes it. */
static void find_step(mst_plan *plan) {
    for (int64_t i = 0; i < plan->num_nodes; i++) {
        const mst_plan_node *node = &plan->node[i];
        for (int k = 0; k < node->num_src && node->writer && !node->dead; k++) {
            if (!mst_plan_writes(node, k) || !mst_plan_is_variable(plan, node->src[k])) continue;
            const mst_plan_node *variable = &plan->node[plan->value[node->src[k]].node];
            const mst_variable_options *o = variable->options;
            if (o->kind == MST_STATE_STEP) plan->step_state = plan->value[node->src[k]].index;
        }
    }
}

mst_status mst_plan_commit(mst_plan *plan) {
    MST_TRY(mst_plan_sort(plan));
    committer c = {.plan = plan, .num_values = plan->num_values};
    const size_t values = (size_t)plan->num_values + 1;
    c.variable_of = malloc(values * sizeof *c.variable_of);
    c.accesses = malloc(values * sizeof *c.accesses);
    int32_t *order = calloc((size_t)plan->num_order + 1, sizeof *order);
    mst_status status = c.variable_of && c.accesses && order ? MST_OK : MST_NO_MEMORY("for a plan");
    if (!status) {
        memset(c.variable_of, -1, values * sizeof *c.variable_of);
        memset(c.accesses, -1, values * sizeof *c.accesses);
        status = commit_run(&c, order);
    }
    free(c.variable_of);
    free(c.accesses);
    free(c.links);
    free(order);
    if (!status) status = mst_plan_sweep(plan);
    find_step(plan);
    return status;
}
