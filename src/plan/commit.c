/* commit: what is written when.
 *
 * A step happens or does not. So everything that can fail runs in the body of the step, where no state changes; then
 * all devices go through a gate together, and behind it writers change the state, and nothing fails any more.
 *
 * What a reader sees is a matter of phases: the phase of a node is the most writers on any path of sources and control
 * sources to it, and a reader sees the writes of earlier phases and none of its own. A writer is a reader of the values
 * that it takes.
 *
 *   - A writer that may fail, or that something fallible comes after, is staged: it works on a copy, later phases read
 *     the copy, and behind the gate the variable takes its value.
 *   - The others write behind the gate, in place. What comes after them runs there too; where it reads or writes the
 *     same variables, control sources put it in order.
 *   - A value of a variable that is needed when the variable may have changed is copied in time. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "muster/ops.h"
#include "plan/plan.h"

extern const mst_op mst_op_assign, mst_op_identity;

/* What the nodes visited so far do to one variable. */
typedef struct access {
    int32_t staged;        /* value of its staged copy after the last write, which later phases read; -1 */
    int32_t last_writer;   /* node behind the gate, -1 */
    int32_t first_reader;  /* nodes behind the gate that read it since: a list in `links`, -1 */
    int32_t writers_phase; /* last phase seen so far in which a node writes it, -1 */
} access;

typedef struct link {
    int32_t node, next;
} link;

typedef struct committer {
    mst_plan *plan;
    int32_t last_phase;   /* writers of earlier phases are staged */
    int32_t *variable_of; /* by value: the variable whose memory it is, -1 */
    access *accesses;     /* by value of a variable */
    bool *after_write;    /* by node: comes after a writer that writes behind the gate */
    link *links;
    int64_t num_links, link_capacity;
    int64_t num_values, num_nodes; /* when the pass began */
} committer;

/* ---- what can fail ---- */

static bool crosses_domains(const mst_plan *plan, const mst_plan_node *node) {
    for (int i = 0; i < node->num_src; i++)
        if (!mst_plan_shape_only(node, i) && !plan->value[node->src[i]].constant &&
            mst_plan_value_domain(plan, node->src[i]) != mst_plan_domain(plan, node->device))
            return true;
    return false;
}

/* A view that writes its source has a kernel like any other. */
static bool kernel_may_fail(const mst_plan *plan, const mst_plan_node *node) {
    if (node->op->flags & MST_OP_INFALLIBLE || (node->op->flags & MST_OP_VIEW && !node->writer)) return false;
    if (!(node->op->flags & MST_OP_ELEMENTWISE)) return true;
    for (int i = 0; i < node->num_src; i++)
        if (!mst_dtype_is_float(plan->value[node->src[i]].spec.dtype)) return true;
    return false;
}

static bool may_fail(const mst_plan *plan, const mst_plan_node *node) {
    if (mst_plan_is_silent(plan, node)) return false;
    if (crosses_domains(plan, node) && node->op != &mst_op_fetch) return true;
    return kernel_may_fail(plan, node);
}

/* Writers of earlier phases than this one are staged on account of the node. A writer that may fail itself is staged
 * too; what it receives from another domain is there before it runs. */
static int32_t phase_to_stage(const mst_plan *plan, const mst_plan_node *node) {
    if (!may_fail(plan, node)) return 0;
    return node->phase + (node->writer && kernel_may_fail(plan, node));
}

/* ---- order ---- */

/* Live nodes by (phase, readers before writers, place in the order): a counting sort. */
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

/* Writers of one phase in the order of the graph, as they were made. */
static int by_number(const void *a, const void *b) {
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void sort_writers(const mst_plan *plan, int32_t *order, int64_t count) {
    for (int64_t k = 0; k < count;) {
        int64_t end = k + 1;
        const mst_plan_node *first = &plan->node[order[k]];
        while (end < count && plan->node[order[end]].phase == first->phase && plan->node[order[end]].writer) end++;
        if (first->writer) qsort(order + k, (size_t)(end - k), sizeof *order, by_number);
        k = end;
    }
}

/* ---- copies ---- */

/* Adds an identity of VALUE on its device: a copy or, where AFTER names a node, the same memory after that node. *OUT
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

/* Node N, behind the gate, reads variable A. */
static mst_status read_behind(committer *c, access *a, int32_t n) {
    if (a->last_writer >= 0) MST_TRY(mst_plan_add_control(c->plan, n, a->last_writer));
    return add_reader(c, a, n);
}

static mst_status write_behind(committer *c, access *a, int32_t n) {
    if (a->last_writer >= 0 && a->last_writer != n) MST_TRY(mst_plan_add_control(c->plan, n, a->last_writer));
    for (int32_t i = a->first_reader; i >= 0; i = c->links[i].next)
        if (c->links[i].node != n) MST_TRY(mst_plan_add_control(c->plan, n, c->links[i].node));
    a->first_reader = -1;
    a->last_writer = n;
    return MST_OK;
}

/* Writer N takes the value of source I, a variable (or a view of one) that is written in the same phase: it gets a copy
 * that is made before the writes. */
static mst_status read_before(committer *c, int32_t n, int i, access *a) {
    mst_plan *plan = c->plan;
    const int32_t value = plan->node[n].src[i];
    int32_t copy;
    const mst_region region = a->last_writer >= 0 ? MST_COMMIT : MST_BODY;
    MST_TRY(add_identity(c, value, "read", -1, plan->node[n].phase, region, &copy));
    if (region == MST_COMMIT) MST_TRY(read_behind(c, a, plan->value[copy].node));
    plan->node[n].src[i] = copy;
    return MST_OK;
}

/* ---- staged writers ---- */

/* The variable's value as the phases before left it. */
static int32_t current_value(const committer *c, int32_t variable) {
    return c->accesses[variable].staged >= 0 ? c->accesses[variable].staged : variable;
}

static mst_status stage(committer *c, int32_t n, int i, int32_t variable) {
    mst_plan *plan = c->plan;
    const int32_t phase = plan->node[n].phase;
    int32_t copy;
    MST_TRY(add_identity(c, current_value(c, variable), "staged", -1, phase, MST_BODY, &copy));
    plan->node[n].src[i] = copy;
    return add_identity(c, copy, "written", n, phase, MST_BODY, &c->accesses[variable].staged);
}

/* Behind the gate the variable takes its staged value. */
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
                                  .region = MST_COMMIT,
                                  .writer = true};
    const mst_spec spec = plan->value[v].spec;
    const int32_t src[2] = {v, a->staged};
    int32_t added;
    if (!assign.name) return MST_NO_MEMORY("for a plan");
    MST_TRY(mst_plan_add(plan, &assign, src, &spec, &added));
    MST_TRY(mst_plan_add_effect(plan, added));
    a->last_writer = added;
    a->staged = a->first_reader = -1;
    return MST_OK;
}

static mst_status commit_all_staged(committer *c) {
    for (int32_t v = 0; v < c->num_values; v++)
        if (variable_of(c, v) == v && c->accesses[v].staged >= 0) MST_TRY(commit_staged(c, v));
    return MST_OK;
}

/* ---- nodes in the order of phases ---- */

static bool comes_after_write(const committer *c, const mst_plan_node *node) {
    for (int k = 0; k < node->num_src + node->num_control; k++) {
        const int32_t from = k < node->num_src ? c->plan->value[node->src[k]].node : node->control[k - node->num_src];
        if (k < node->num_src && mst_plan_shape_only(node, k)) continue;
        if (from < c->num_nodes && c->after_write[from]) return true;
    }
    return false;
}

static mst_status visit_source(committer *c, int32_t n, int i) {
    mst_plan *plan = c->plan;
    const int32_t value = plan->node[n].src[i], variable = variable_of(c, value);
    if (variable < 0 || mst_plan_shape_only(&plan->node[n], i)) return MST_OK;
    access *a = &c->accesses[variable];
    const bool behind = plan->node[n].region == MST_COMMIT, writes = mst_plan_writes(&plan->node[n], i);
    if (writes && !behind) return stage(c, n, i, variable);
    if (writes) {
        if (a->staged >= 0) MST_TRY(commit_staged(c, variable));
        return write_behind(c, a, n);
    }
    if (a->staged >= 0 && mst_plan_is_variable(plan, value)) {
        plan->node[n].src[i] = a->staged;
        return MST_OK;
    }
    if (!behind || mst_plan_is_silent(plan, &plan->node[n])) return MST_OK;
    if (plan->node[n].writer && a->writers_phase == plan->node[n].phase) return read_before(c, n, i, a);
    return read_behind(c, a, n);
}

static mst_status visit_reads(committer *c, int32_t n) {
    mst_plan_node *node = &c->plan->node[n];
    const bool after = comes_after_write(c, node);
    node->fallible = may_fail(c->plan, node);
    node->region = after || (node->writer && node->phase >= c->last_phase) ? MST_COMMIT : MST_BODY;
    c->after_write[n] = node->region == MST_COMMIT;
    c->plan->commits |= node->writer;
    for (int i = 0; i < c->plan->node[n].num_src; i++)
        if (!mst_plan_writes(&c->plan->node[n], i)) MST_TRY(visit_source(c, n, i));
    return MST_OK;
}

static mst_status visit_writes(committer *c, int32_t n) {
    for (int i = 0; i < c->plan->node[n].num_src && c->plan->node[n].writer; i++)
        if (mst_plan_writes(&c->plan->node[n], i)) MST_TRY(visit_source(c, n, i));
    return MST_OK;
}

/* Visits the nodes of one phase: all that they read, then all that they write. */
static mst_status visit_phase(committer *c, const int32_t *order, int64_t count) {
    const mst_plan *plan = c->plan;
    for (int64_t k = 0; k < count; k++) {
        const mst_plan_node *node = &plan->node[order[k]];
        for (int i = 0; i < node->num_src && node->writer; i++)
            if (mst_plan_writes(node, i) && variable_of(c, node->src[i]) >= 0)
                c->accesses[variable_of(c, node->src[i])].writers_phase = node->phase;
    }
    for (int64_t k = 0; k < count; k++) MST_TRY(visit_reads(c, order[k]));
    for (int64_t k = 0; k < count; k++) MST_TRY(visit_writes(c, order[k]));
    return MST_OK;
}

/* Values that are the memory of a variable: its own, those of views, of writers. A view that is used in a later phase
 * than its own keeps the old value where there are writes: it becomes a copy. */
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
    /* only views of variables had to be copied */
    for (int64_t k = 0; k < plan->num_order; k++) {
        mst_plan_node *node = &plan->node[plan->order[k]];
        if ((node->op->flags & MST_OP_VIEW) && node->materialize && node->num_src && c->variable_of[node->src[0]] < 0)
            node->materialize = false;
    }
}

static mst_status run(committer *c, int32_t *order) {
    mst_plan *plan = c->plan;
    const int64_t count = plan->num_order;
    mst_plan_phases(plan);
    for (int64_t k = 0; k < count; k++) {
        const int32_t phase = phase_to_stage(plan, &plan->node[plan->order[k]]);
        if (phase > c->last_phase) c->last_phase = phase;
    }
    find_variables(c);
    MST_TRY(sort_by_phase(plan, order));
    sort_writers(plan, order, count);
    for (int64_t k = 0, end; k < count; k = end) {
        for (end = k + 1; end < count && plan->node[order[end]].phase == plan->node[order[k]].phase;) end++;
        MST_TRY(visit_phase(c, order + k, end - k));
    }
    return commit_all_staged(c);
}

/* The state that numbers the step: global_step, where the step changes it. */
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
    committer c = {.plan = plan, .num_values = plan->num_values, .num_nodes = plan->num_nodes};
    const size_t values = (size_t)plan->num_values + 1;
    c.variable_of = malloc(values * sizeof *c.variable_of);
    c.accesses = malloc(values * sizeof *c.accesses);
    c.after_write = calloc((size_t)plan->num_nodes + 1, sizeof *c.after_write);
    int32_t *order = calloc((size_t)plan->num_order + 1, sizeof *order);
    mst_status status = c.variable_of && c.accesses && c.after_write && order ? MST_OK : MST_NO_MEMORY("for a plan");
    if (!status) {
        memset(c.variable_of, -1, values * sizeof *c.variable_of);
        memset(c.accesses, -1, values * sizeof *c.accesses);
        status = run(&c, order);
    }
    free(c.variable_of);
    free(c.accesses);
    free(c.after_write);
    free(c.links);
    free(order);
    if (!status) status = mst_plan_sweep(plan);
    find_step(plan);
    return status;
}
