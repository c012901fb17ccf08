/* partition: the order cut by devices. Where a value crosses, the device that makes it sends it right after and the
 * device that uses it receives it right before its first use. Constants, variables and fed tensors are there when the
 * step begins and need no message, but writes of a variable and its readers on other devices must not overlap: there
 * one device tells the other that it is done.
 *
 * All waits go from a later place of the common order to an earlier one, so devices cannot wait for each other in a
 * circle. */
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"

/* Who touched a variable, by device; -1 for nobody. */
typedef struct access {
    int32_t *reader;     /* last readers since the last write */
    int32_t *old_reader; /* last readers before it */
    int32_t *writer;     /* last writers */
    const void *group;   /* key of the last writers, which do not meet; NULL where the next may meet them */
} access;

typedef struct link {
    int32_t node, next;
} link;

typedef struct cut {
    mst_plan *plan;
    int devices;
    int32_t *variable_of;    /* by value: the variable whose memory it is, -1 */
    access *accesses;        /* by value of a variable */
    int32_t **received;      /* by value: on each device the received value, -1; NULL where none */
    int32_t *waited;         /* [to * devices + from]: position up to which `to` knows `from` to be done */
    int32_t *before, *after; /* by node: lists of receives and sends */
    link *links;
    int64_t num_links, link_capacity;
} cut;

static mst_status no_memory(void) {
    return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for a plan");
}

static mst_status push_link(cut *c, int32_t *list, int32_t node) {
    MST_TRY(mst_grow(&c->links, sizeof *c->links, c->num_links + 1, &c->link_capacity));
    c->links[c->num_links] = (link){node, *list};
    *list = (int32_t)c->num_links++;
    return MST_OK;
}

/* A send after node FROM and a receive before node TO; VALUE is -1 for a mere message. */
static mst_status cross(cut *c, int32_t value, int32_t from, int32_t to, int32_t *received) {
    mst_plan *plan = c->plan;
    int32_t source = plan->node[from].device, target = plan->node[to].device;
    const char *name = plan->node[from].name;
    MST_TRY(mst_grow(&plan->crossing, sizeof *plan->crossing, plan->num_crossings + 1, &plan->crossing_capacity));
    int32_t index = (int32_t)plan->num_crossings++;
    plan->crossing[index] =
        (mst_crossing){.key = mst_arena_print(&plan->memory, "%s;%s;%s", name, plan->host->devices->device[source].text,
                                              plan->host->devices->device[target].text),
                       .from = source,
                       .to = target};
    mst_plan_node send = {.op = &mst_op_send,
                          .name = mst_arena_print(&plan->memory, "%s/send", name),
                          .asked = "",
                          .num_src = value >= 0,
                          .device = source},
                  receive = {.op = &mst_op_receive,
                             .name = mst_arena_print(&plan->memory, "%s/receive", name),
                             .asked = "",
                             .num_src = value >= 0,
                             .num_dst = value >= 0,
                             .device = target};
    if (!plan->crossing[index].key || !send.name || !receive.name) return no_memory();
    int32_t added;
    MST_TRY(mst_plan_add(plan, &send, &value, NULL, &added));
    MST_TRY(mst_plan_add_port(plan, added, index));
    MST_TRY(push_link(c, &c->after[from], added));
    mst_spec spec = value >= 0 ? plan->value[value].spec : (mst_spec){0};
    MST_TRY(mst_plan_add(plan, &receive, &value, &spec, &added));
    MST_TRY(mst_plan_add_port(plan, added, index));
    MST_TRY(push_link(c, &c->before[to], added));
    if (received) *received = plan->node[added].dst;
    int32_t *known = &c->waited[target * c->devices + source];
    if (plan->node[from].position > *known) *known = plan->node[from].position;
    return MST_OK;
}

/* TO must run after FROM, wherever they are. */
static mst_status order(cut *c, int32_t from, int32_t to) {
    if (from < 0) return MST_OK;
    const mst_plan_node *a = &c->plan->node[from], *b = &c->plan->node[to];
    if (a->device == b->device || c->waited[b->device * c->devices + a->device] >= a->position) return MST_OK;
    return cross(c, -1, from, to, NULL);
}

static mst_status find_access(cut *c, int32_t variable, access **out) {
    access *a = &c->accesses[variable];
    if (!a->reader) {
        a->reader = mst_arena_alloc(&c->plan->memory, 3 * (size_t)c->devices * sizeof *a->reader);
        if (!a->reader) return no_memory();
        a->old_reader = a->reader + c->devices;
        a->writer = a->old_reader + c->devices;
        memset(a->reader, -1, 3 * (size_t)c->devices * sizeof *a->reader);
    }
    *out = a;
    return MST_OK;
}

static mst_status reads_variable(cut *c, int32_t node, int32_t variable) {
    access *a;
    MST_TRY(find_access(c, variable, &a));
    for (int d = 0; d < c->devices; d++) MST_TRY(order(c, a->writer[d], node));
    a->reader[c->plan->node[node].device] = node;
    a->group = NULL;
    return MST_OK;
}

static mst_status writes_variable(cut *c, int32_t node, int32_t variable) {
    const mst_plan_node *writer = &c->plan->node[node];
    int32_t device = writer->device;
    const void *key = writer->op->write_key ? writer->op->write_key(writer->options) : NULL;
    access *a;
    MST_TRY(find_access(c, variable, &a));
    if (!key || a->group != key) {
        for (int d = 0; d < c->devices; d++) {
            MST_TRY(order(c, a->writer[d], node));
            a->old_reader[d] = a->reader[d];
            a->reader[d] = a->writer[d] = -1;
        }
        a->group = key;
    }
    for (int d = 0; d < c->devices; d++) MST_TRY(order(c, a->old_reader[d], node));
    a->writer[device] = node;
    return MST_OK;
}

static mst_status receive_source(cut *c, int32_t n, int i) {
    mst_plan *plan = c->plan;
    int32_t value = plan->node[n].src[i], from = plan->value[value].node, device = plan->node[n].device;
    if (plan->node[from].device == device || plan->value[value].constant || plan->value[value].where == MST_IN_FEED ||
        mst_plan_is_variable(plan, value))
        return MST_OK;
    if (!c->received[value]) {
        c->received[value] = mst_arena_alloc(&plan->memory, (size_t)c->devices * sizeof **c->received);
        if (!c->received[value]) return no_memory();
        memset(c->received[value], -1, (size_t)c->devices * sizeof **c->received);
    }
    int32_t *there = &c->received[value][device];
    if (*there < 0) MST_TRY(cross(c, value, from, n, there));
    plan->node[n].src[i] = *there;
    return MST_OK;
}

static mst_status visit(cut *c, int32_t n) {
    mst_plan *plan = c->plan;
    for (int i = 0; i < plan->node[n].num_src; i++) {
        if (mst_plan_shape_only(&plan->node[n], i)) continue;
        int32_t variable = c->variable_of[plan->node[n].src[i]];
        if (variable >= 0 && mst_plan_writes(&plan->node[n], i))
            MST_TRY(writes_variable(c, n, variable));
        else if (variable >= 0 && !mst_plan_is_silent(plan, &plan->node[n]))
            MST_TRY(reads_variable(c, n, variable));
        MST_TRY(receive_source(c, n, i));
    }
    for (int i = 0; i < plan->node[n].num_control; i++) MST_TRY(order(c, plan->node[n].control[i], n));
    return MST_OK;
}

/* Values that are the memory of a variable: its own, those of views, of writers. A view that is used in a later phase
 * than its own must keep the old value where the variable is written meanwhile: it becomes a copy. */
static mst_status find_variables(cut *c) {
    mst_plan *plan = c->plan;
    int32_t *last_phase = calloc((size_t)plan->num_values + 1, sizeof *last_phase);
    if (!last_phase) return no_memory();
    bool writes = false;
    for (int64_t k = 0; k < plan->num_order; k++) {
        const mst_plan_node *node = &plan->node[plan->order[k]];
        writes |= node->writer;
        for (int i = 0; i < node->num_src; i++)
            if (node->phase > last_phase[node->src[i]]) last_phase[node->src[i]] = node->phase;
    }
    for (int64_t k = 0; k < plan->num_order; k++) {
        mst_plan_node *node = &plan->node[plan->order[k]];
        if (node->op->flags & MST_OP_VARIABLE) c->variable_of[node->dst] = node->dst;
        if (!(node->op->flags & MST_OP_VIEW) || c->variable_of[node->src[0]] < 0) continue;
        if (node->materialize || (!node->writer && writes && last_phase[node->dst] > node->phase))
            node->materialize = true;
        else
            c->variable_of[node->dst] = c->variable_of[node->src[0]];
    }
    free(last_phase);
    return MST_OK;
}

static mst_status append(cut *c, int32_t n) {
    mst_program *program = &c->plan->program[c->plan->node[n].device];
    MST_TRY(mst_grow(&program->node, sizeof *program->node, program->num_nodes + 1, &program->node_capacity));
    program->node[program->num_nodes++] = n;
    return MST_OK;
}

static mst_status emit(cut *c) {
    mst_plan *plan = c->plan;
    plan->program = calloc((size_t)c->devices, sizeof *plan->program);
    if (!plan->program) return no_memory();
    for (int64_t k = 0; k < plan->num_order; k++) {
        int32_t n = plan->order[k];
        for (int32_t l = c->before[n]; l >= 0; l = c->links[l].next) MST_TRY(append(c, c->links[l].node));
        MST_TRY(append(c, n));
        for (int32_t l = c->after[n]; l >= 0; l = c->links[l].next) MST_TRY(append(c, c->links[l].node));
    }
    return MST_OK;
}

static mst_status run(cut *c) {
    mst_plan *plan = c->plan;
    size_t values = (size_t)plan->num_values + 1, nodes = (size_t)plan->num_nodes + 1;
    c->variable_of = malloc(values * sizeof *c->variable_of);
    c->accesses = calloc(values, sizeof *c->accesses);
    c->received = calloc(values, sizeof *c->received);
    c->waited = malloc((size_t)(c->devices * c->devices) * sizeof *c->waited);
    c->before = malloc(nodes * sizeof *c->before);
    c->after = malloc(nodes * sizeof *c->after);
    if (!c->variable_of || !c->accesses || !c->received || !c->waited || !c->before || !c->after) return no_memory();
    memset(c->variable_of, -1, values * sizeof *c->variable_of);
    memset(c->waited, -1, (size_t)(c->devices * c->devices) * sizeof *c->waited);
    memset(c->before, -1, nodes * sizeof *c->before);
    memset(c->after, -1, nodes * sizeof *c->after);
    MST_TRY(mst_grow(&c->links, sizeof *c->links, 1, &c->link_capacity));
    MST_TRY(find_variables(c));
    if (c->devices > 1)
        for (int64_t k = 0; k < plan->num_order; k++) MST_TRY(visit(c, plan->order[k]));
    return emit(c);
}

mst_status mst_plan_partition(mst_plan *plan) {
    cut c = {.plan = plan, .devices = plan->host->devices->count};
    mst_status status = run(&c);
    free(c.variable_of);
    free(c.accesses);
    free(c.received);
    free(c.waited);
    free(c.before);
    free(c.after);
    free(c.links);
    return status;
}
