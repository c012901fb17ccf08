/* schedule: puts all nodes into one order; each device keeps it for its own nodes. The whole body comes before
 * everything that is behind the gate.
 *
 * This is a list schedule: a node is ready when all of its sources have their places in the order, and the next place
 * goes to a ready node. A node that frees at least as much memory as it takes goes first, else the node that became
 * ready last. So one shard runs forward and backward before the next begins, and the sums of two shards are added as
 * soon as both are there. Ties are broken by the order in which a walk back from the fetches meets the nodes.
 *
 * A receive waits, and may fail. So it is put off until a node needs its value, but never behind the gate. There
 * nothing may fail, and devices assume that the whole body is done.
 *
 * A value that another task waits for is sent as soon as it is made. An exchange with other tasks starts as soon as
 * possible, and is waited for only when nothing else is ready. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "plan/plan.h"

/* A node that is ready. An entry is stale once the node has its place in the order, or a better entry. */
typedef struct entry {
    bool waits; /* the node waits for other tasks */
    bool frees;
    int32_t node;
    int64_t ready; /* when it became ready: later goes first */
    int32_t place; /* in the walk back from the fetches: lower goes first */
} entry;

typedef struct scheduler {
    mst_plan *plan;
    mst_region region;
    int32_t *place;             /* by node: its place in the walk */
    int32_t *missing;           /* by node: sources and control sources that have no place in the order yet */
    int32_t *uses_left;         /* by root value: live uses that have no place in the order yet */
    int32_t *root;              /* by value */
    bool *gone;                 /* by node: it has its place in the order */
    int64_t *ready;             /* by node: when it became ready; -1: not ready yet */
    int32_t *user_start, *user; /* users of each node, one entry for each source */
    entry *heap;
    int64_t num_entries, heap_capacity;
    int32_t *order;
    int64_t num_order;
    int64_t clock; /* counts the nodes that have their places, receives not included */
} scheduler;

/* ---- the heap ---- */

static bool goes_before(const entry *a, const entry *b) {
    if (a->waits != b->waits) return b->waits;
    if (a->frees != b->frees) return a->frees;
    if (a->ready != b->ready) return a->ready > b->ready;
    return a->place < b->place;
}

static mst_status push(scheduler *s, entry added) {
    MST_TRY(mst_grow(&s->heap, sizeof *s->heap, s->num_entries + 1, &s->heap_capacity));
    int64_t i = s->num_entries++;
    for (; i > 0 && goes_before(&added, &s->heap[(i - 1) / 2]); i = (i - 1) / 2) s->heap[i] = s->heap[(i - 1) / 2];
    s->heap[i] = added;
    return MST_OK;
}

static entry pop(scheduler *s) {
    const entry first = s->heap[0], last = s->heap[--s->num_entries];
    int64_t i = 0;
    for (;;) {
        int64_t child = 2 * i + 1;
        if (child >= s->num_entries) break;
        if (child + 1 < s->num_entries && goes_before(&s->heap[child + 1], &s->heap[child])) child++;
        if (!goes_before(&s->heap[child], &last)) break;
        s->heap[i] = s->heap[child];
        i = child;
    }
    if (s->num_entries) s->heap[i] = last;
    return first;
}

/* ---- which node needs which ---- */

static int32_t source_of(const mst_plan *plan, const mst_plan_node *node, int k) {
    if (k >= node->num_src) return node->control[k - node->num_src];
    return mst_plan_shape_only(node, k) ? -1 : plan->value[node->src[k]].node;
}

static mst_status find_users(scheduler *s) {
    const mst_plan *plan = s->plan;
    int64_t total = 0;
    for (int64_t k = 0; k < plan->num_order; k++) {
        const mst_plan_node *node = &plan->node[plan->order[k]];
        total += node->num_src + node->num_control;
    }
    s->user_start = calloc((size_t)plan->num_nodes + 2, sizeof *s->user_start);
    s->user = malloc(((size_t)total + 1) * sizeof *s->user);
    if (!s->user_start || !s->user) return MST_NO_MEMORY("for a plan");
    /* The count of node n is at n + 2. Filling then advances the entry at n + 1, which ends as the start of node n +
     * 1. */
    for (int64_t k = 0; k < plan->num_order; k++) {
        const mst_plan_node *node = &plan->node[plan->order[k]];
        for (int i = 0; i < node->num_src + node->num_control; i++)
            if (source_of(plan, node, i) >= 0) s->user_start[source_of(plan, node, i) + 2]++;
    }
    for (int64_t n = 2; n <= plan->num_nodes + 1; n++) s->user_start[n] += s->user_start[n - 1];
    for (int64_t k = 0; k < plan->num_order; k++) {
        const mst_plan_node *node = &plan->node[plan->order[k]];
        for (int i = 0; i < node->num_src + node->num_control; i++)
            if (source_of(plan, node, i) >= 0) s->user[s->user_start[source_of(plan, node, i) + 1]++] = plan->order[k];
    }
    return MST_OK;
}

/* Finds the root of each value: the value whose memory it uses. Sources come before their users in the order. */
static void find_roots(scheduler *s) {
    const mst_plan *plan = s->plan;
    for (int64_t v = 0; v < plan->num_values; v++) s->root[v] = (int32_t)v;
    for (int64_t k = 0; k < plan->num_order; k++) {
        const mst_plan_node *node = &plan->node[plan->order[k]];
        if (mst_plan_is_view(node) && node->num_dst) s->root[node->dst] = s->root[node->src[0]];
        for (int i = 0; i < node->num_src; i++)
            if (!mst_plan_shape_only(node, i)) s->uses_left[s->root[node->src[i]]]++;
    }
}

/* ---- memory ---- */

static bool takes_memory(const mst_plan *plan, int32_t value) {
    const mst_plan_value *v = &plan->value[value];
    return v->space == MST_IN_ARENA && !v->constant && !(plan->node[v->node].op->flags & MST_OP_NO_VALUE);
}

/* Whether the node takes no more memory than it frees. It frees the memory of the sources that have their last use
 * there. A constant takes none and frees none, which counts as freeing memory, so that it is scheduled at once. */
static bool frees_memory(const scheduler *s, const mst_plan_node *node) {
    const mst_plan *plan = s->plan;
    if (node->num_src == 0 && mst_plan_is_silent(plan, node)) return true;
    int64_t bytes = 0;
    bool any = false;
    for (int i = 0; i < node->num_dst; i++)
        if (s->root[node->dst + i] == node->dst + i && takes_memory(plan, node->dst + i))
            bytes += mst_plan_bytes(&plan->value[node->dst + i]);
    for (int i = 0; i < node->num_src; i++) {
        if (mst_plan_shape_only(node, i)) continue;
        const int32_t root = s->root[node->src[i]];
        if (s->uses_left[root] != 1 || !takes_memory(plan, root)) continue;
        bytes -= mst_plan_bytes(&plan->value[root]);
        any = true;
    }
    return any && bytes <= 0;
}

/* ---- placing nodes in the order ---- */

static mst_status offer(scheduler *s, int32_t n) {
    const mst_plan_node *node = &s->plan->node[n];
    return push(s, (entry){.waits = node->op == &mst_op_exchange_wait,
                           .frees = node->op == &mst_op_exchange_start || node->stream || frees_memory(s, node),
                           .node = n,
                           .ready = s->ready[n],
                           .place = s->place[n]});
}

static mst_status schedule_finish(scheduler *s, int32_t n);

/* Notes that all sources of N have their places. A receive gets its own place just before its first user; until then it
 * counts as placed. */
static mst_status become_ready(scheduler *s, int32_t n) {
    s->ready[n] = s->clock;
    if (s->plan->node[n].op == &mst_op_receive) return schedule_finish(s, n);
    return s->plan->node[n].region == s->region ? offer(s, n) : MST_OK;
}

/* Notes that N has its place: nodes that waited for it may be ready now. */
static mst_status schedule_finish(scheduler *s, int32_t n) {
    for (int32_t k = s->user_start[n]; k < s->user_start[n + 1]; k++)
        if (--s->missing[s->user[k]] == 0) MST_TRY(become_ready(s, s->user[k]));
    return MST_OK;
}

/* Gives new entries to the nodes that are ready and use an output of NODE, directly or through views. */
static mst_status offer_users(scheduler *s, int32_t node) {
    const mst_plan *plan = s->plan;
    for (int32_t k = s->user_start[node]; k < s->user_start[node + 1]; k++) {
        const int32_t n = s->user[k];
        const mst_plan_node *user = &plan->node[n];
        if (s->gone[n] && mst_plan_is_view(user))
            MST_TRY(offer_users(s, n));
        else if (!s->gone[n] && s->ready[n] >= 0 && user->region == s->region && user->op != &mst_op_receive)
            MST_TRY(offer(s, n));
    }
    return MST_OK;
}

/* Notes that NODE has its place. If a source of NODE has one user left, that user would now free it, so it gets a new
 * entry. */
static mst_status release_sources(scheduler *s, const mst_plan_node *node) {
    for (int i = 0; i < node->num_src; i++) {
        if (mst_plan_shape_only(node, i)) continue;
        const int32_t root = s->root[node->src[i]];
        if (--s->uses_left[root] != 1) continue;
        MST_TRY(offer_users(s, s->plan->value[root].node));
    }
    return MST_OK;
}

static void emit(scheduler *s, int32_t n) {
    s->gone[n] = true;
    s->plan->node[n].position = (int32_t)s->num_order;
    s->order[s->num_order++] = n;
}

static mst_status go(scheduler *s, int32_t n) {
    const mst_plan_node *node = &s->plan->node[n];
    for (int i = 0; i < node->num_src + node->num_control; i++) {
        const int32_t from = source_of(s->plan, node, i);
        if (from >= 0 && s->plan->node[from].op == &mst_op_receive && !s->gone[from]) emit(s, from);
    }
    emit(s, n);
    s->clock++;
    MST_TRY(release_sources(s, node));
    return schedule_finish(s, n);
}

static mst_status run_region(scheduler *s, mst_region region) {
    const mst_plan *plan = s->plan;
    s->region = region;
    s->num_entries = 0;
    for (int64_t k = 0; k < plan->num_order; k++) {
        const int32_t n = plan->order[k];
        if (s->gone[n] || s->missing[n] || plan->node[n].region != region) continue;
        if (s->ready[n] < 0)
            MST_TRY(become_ready(s, n));
        else if (plan->node[n].op != &mst_op_receive)
            MST_TRY(offer(s, n));
    }
    while (s->num_entries) {
        const entry next = pop(s);
        if (!s->gone[next.node]) MST_TRY(go(s, next.node));
    }
    return MST_OK;
}

/* Places the receives that only nodes behind the gate use: the last nodes of the body. */
static void receive_all(scheduler *s) {
    for (int64_t k = 0; k < s->plan->num_order; k++) {
        const int32_t n = s->plan->order[k];
        const mst_plan_node *node = &s->plan->node[n];
        if (node->op == &mst_op_receive && node->region == MST_BODY && s->ready[n] >= 0 && !s->gone[n]) emit(s, n);
    }
}

/* Sets `place`: numbers the nodes in the order in which a depth-first walk back from the fetches finishes them. Ties
 * are broken by these numbers. */
static mst_status find_places(scheduler *s) {
    MST_TRY(mst_plan_sort(s->plan));
    for (int64_t k = 0; k < s->plan->num_order; k++) s->place[s->plan->order[k]] = (int32_t)k;
    return MST_OK;
}

static mst_status schedule(scheduler *s) {
    mst_plan *plan = s->plan;
    const size_t nodes = (size_t)plan->num_nodes + 1, values = (size_t)plan->num_values + 1;
    s->place = malloc(nodes * sizeof *s->place);
    s->missing = calloc(nodes, sizeof *s->missing);
    s->uses_left = calloc(values, sizeof *s->uses_left);
    s->root = malloc(values * sizeof *s->root);
    s->gone = calloc(nodes, sizeof *s->gone);
    s->ready = malloc(nodes * sizeof *s->ready);
    s->order = malloc(nodes * sizeof *s->order);
    if (!s->place || !s->missing || !s->uses_left || !s->root || !s->gone || !s->ready || !s->order)
        return MST_NO_MEMORY("for a plan");
    memset(s->ready, -1, nodes * sizeof *s->ready);
    MST_TRY(find_places(s));
    MST_TRY(find_users(s));
    find_roots(s);
    for (int64_t k = 0; k < plan->num_order; k++) {
        const mst_plan_node *node = &plan->node[plan->order[k]];
        for (int i = 0; i < node->num_src + node->num_control; i++)
            s->missing[plan->order[k]] += source_of(plan, node, i) >= 0;
    }
    MST_TRY(run_region(s, MST_BODY));
    receive_all(s);
    MST_TRY(run_region(s, MST_COMMIT));
    if (s->num_order != plan->num_order)
        return MST_FAIL(MST_INTERNAL, "plan: %lld of %lld nodes wait for each other",
                        (long long)(plan->num_order - s->num_order), (long long)plan->num_order);
    memcpy(plan->order, s->order, (size_t)s->num_order * sizeof *s->order);
    return MST_OK;
}

mst_status mst_plan_schedule(mst_plan *plan) {
    scheduler s = {.plan = plan};
    mst_status status = schedule(&s);
    free(s.place);
    free(s.missing);
    free(s.uses_left);
    free(s.root);
    free(s.gone);
    free(s.ready);
    free(s.order);
    free(s.user_start);
    free(s.user);
    free(s.heap);
    return status;
}
