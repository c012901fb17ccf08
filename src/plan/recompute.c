/* recompute: keeps only a few of the values of the forward pass that the backward pass reads. The others are computed
 * again from these when the backward pass needs them (Chen et al., "Training Deep Nets with Sublinear Memory Cost",
 * 2016).
 *
 * The forward pass of each shard is cut into segments. Values that a later segment reads are kept. Values that only a
 * gradient reads are computed again by copies of the nodes. The copies wait for the first gradient that reaches the
 * segment:
 *
 *     forward    x --> a --> b --|--> c --> d --> loss        "|": the cut; b is kept, a is not kept
 *     backward         a' <-- x                               as soon as db is there
 *                dx <-- da <-- db <------ dc <--- dd
 *
 * So a step needs memory for the kept values and for one segment. Cuts lie where few bytes cross them, and their
 * distance is chosen to minimize the sum of these two amounts. The backward pass reads the last segment first, so that
 * one is kept whole. The bits are the same with and without this pass. This includes dropouts, whose random numbers
 * follow from their names. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "graph/graph.h"
#include "op/list.h"
#include "op/op.h"
#include "plan/plan.h"

enum { LEAST_BYTES = 16384 /* values of fewer bytes are kept */ };

/* Forward nodes that are connected by large values, such as those of one shard: a range of `node`. */
typedef struct component {
    int64_t begin, end;
} component;

typedef struct recompute {
    mst_plan *plan;
    int64_t num_nodes, num_values; /* numbers before copies are added */
    bool *backward;                /* by node: it belongs to a gradient, or depends on one */
    int32_t *root;                 /* by value: the value in whose memory it lies */
    bool *kept;                    /* by root: it is not computed again, because that is unnecessary or not possible */
    bool *saved;                   /* by root: a backward node reads it */
    int32_t *parent;               /* by node: next node towards the one that stands for its component */
    int32_t *place;                /* by node: its place in `node` */
    int32_t *last;                 /* by root: place of its last forward reader; -1: none */
    int32_t *segment;              /* by place */
    int64_t *crossing;             /* by place: bytes that earlier places make and this or a later place reads */
    int64_t *bytes;                /* by place: bytes that the node makes and the backward pass reads */
    int64_t *sum;                  /* by segment: its bytes; or by place: bytes that have their last reader there */
    int32_t *node;                 /* forward nodes, component after component, each in the order of execution */
    int64_t num_forward;
    int32_t *copy;        /* by node: its copy; -1: none */
    bool *needed;         /* by node: it gets a copy */
    int32_t num_segments; /* number of segments of all components */
    int32_t *after;       /* by segment: position of the last gradient for which the copies wait; -1: there is none */
    int32_t *reader;      /* by segment: the backward node that reads the segment first */
} recompute;

/* ---- values that can be computed again ---- */

/* Whether NODE may run twice in a step. An op that may give other values for the same sources may not. A dropout may:
 * it draws the same numbers again. */
static bool can_repeat(const mst_plan_node *node) {
    if ((node->op->flags & MST_OP_STATEFUL) && node->op != &mst_op_dropout) return false;
    const unsigned storage = MST_OP_VARIABLE | MST_OP_PLACEHOLDER | MST_OP_CONSTANT | MST_OP_NO_VALUE;
    return node->region == MST_BODY && node->group < 0 && !node->writer && node->num_src && !node->materialize &&
           !(node->op->flags & storage);
}

static bool is_large(const mst_plan *plan, int32_t value) {
    const mst_plan_value *v = &plan->value[value];
    return v->space == MST_IN_ARENA && !v->constant && v->counted_by < 0 && v->spec.dtype != MST_STRING &&
           mst_plan_bytes(v) >= LEAST_BYTES;
}

/* Finds the root of each value, and which values are kept. Kept are small values, values that cannot be computed again,
 * and values that another device, a fetch or a node behind the gate reads. */
static void find_values(recompute *r) {
    const mst_plan *plan = r->plan;
    for (int64_t v = 0; v < plan->num_values; v++) {
        const int32_t maker = plan->value[v].node;
        r->root[v] = (int32_t)v;
        r->last[v] = -1;
        r->kept[v] = r->backward[maker] || !can_repeat(&plan->node[maker]) || !is_large(plan, (int32_t)v);
    }
    for (int64_t k = 0; k < plan->num_order; k++) {
        const int32_t n = plan->order[k];
        const mst_plan_node *node = &plan->node[n];
        if (mst_plan_is_view(node) && node->num_dst) {
            r->root[node->dst] = r->root[node->src[0]];
            if (!can_repeat(node)) r->kept[r->root[node->dst]] = true;
        }
        for (int i = 0; i < node->num_src; i++) {
            const int32_t root = r->root[node->src[i]];
            if (mst_plan_shape_only(node, i)) continue;
            r->saved[root] |= r->backward[n];
            if (node->device != plan->node[plan->value[root].node].device || node->region != MST_BODY ||
                node->group >= 0 || node->op == &mst_op_fetch)
                r->kept[root] = true;
        }
    }
}

/* ---- components ---- */

/* The node that stands for the component of NODE: union-find, with path halving. */
static int32_t find_parent(recompute *r, int32_t node) {
    while (r->parent[node] != node) node = r->parent[node] = r->parent[r->parent[node]];
    return node;
}

/* Calls VISIT for each forward node and each root it reads that is not kept. */
static void each_reader(recompute *r, void (*visit)(recompute *r, int32_t reader, int32_t root)) {
    const mst_plan *plan = r->plan;
    for (int64_t k = 0; k < plan->num_order; k++) {
        const int32_t n = plan->order[k];
        const mst_plan_node *node = &plan->node[n];
        for (int i = 0; i < node->num_src && !r->backward[n]; i++) {
            const int32_t root = r->root[node->src[i]];
            if (!mst_plan_shape_only(node, i) && !r->kept[root]) visit(r, n, root);
        }
    }
}

static void join_components(recompute *r, int32_t reader, int32_t root) {
    r->parent[find_parent(r, reader)] = find_parent(r, r->plan->value[root].node);
}

static void note_last(recompute *r, int32_t reader, int32_t root) {
    if (r->place[reader] > r->last[root]) r->last[root] = r->place[reader];
}

/* Fills `node`: the forward nodes, sorted by component. */
static void list_forward(recompute *r) {
    const mst_plan *plan = r->plan;
    int32_t *begin = r->after; /* not used for that yet */
    for (int64_t n = 0; n < r->num_nodes; n++) r->parent[n] = (int32_t)n;
    each_reader(r, join_components);
    for (int64_t k = 0; k < plan->num_order; k++)
        if (!r->backward[plan->order[k]]) begin[find_parent(r, plan->order[k]) + 1]++;
    for (int64_t n = 0; n < r->num_nodes; n++) begin[n + 1] += begin[n];
    r->num_forward = begin[r->num_nodes];
    for (int64_t k = 0; k < plan->num_order; k++) {
        const int32_t n = plan->order[k];
        if (r->backward[n]) continue;
        r->place[n] = begin[find_parent(r, n)]++;
        r->node[r->place[n]] = n;
    }
    each_reader(r, note_last);
}

/* ---- segments ---- */

/* Whether VALUE is a root that may be computed again. */
static bool is_open(const recompute *r, int32_t value) {
    return r->root[value] == value && !r->kept[value];
}

static void weigh(recompute *r, component c) {
    int64_t open = 0;                                         /* bytes that cross the border before place K */
    for (int64_t k = c.begin; k <= c.end; k++) r->sum[k] = 0; /* bytes that have their last reader at K */
    for (int64_t k = c.begin; k < c.end; k++) {
        const mst_plan_node *node = &r->plan->node[r->node[k]];
        r->crossing[k] = open;
        r->bytes[k] = 0;
        for (int32_t v = node->dst; v < node->dst + node->num_dst; v++) {
            const int64_t bytes = is_open(r, v) ? mst_plan_bytes(&r->plan->value[v]) : 0;
            if (r->saved[v]) r->bytes[k] += bytes;
            if (r->last[v] <= k) continue;
            open += bytes;
            r->sum[r->last[v]] += bytes;
        }
        open -= r->sum[k];
    }
}

/* Cuts the component where the fewest bytes cross, before a segment has more than LIMIT bytes. A segment of less than
 * half of LIMIT is not cut off. Returns the number of segments. */
static int32_t cut_to_limit(recompute *r, component c, int64_t limit) {
    int32_t segment = 0;
    int64_t held = 0, border = -1; /* the best border of this segment so far */
    for (int64_t k = c.begin, begin = k; k < c.end; k++) {
        if (2 * held >= limit && (border < 0 || r->crossing[k] <= r->crossing[border])) border = k;
        if (held + r->bytes[k] > limit && border > begin) {
            segment++;
            held = 0;
            begin = border;
            for (int64_t i = border; i < k; i++) {
                r->segment[i] = segment;
                held += r->bytes[i];
            }
            border = -1;
        }
        r->segment[k] = segment;
        held += r->bytes[k];
    }
    return segment + 1;
}

/* Whether value V, made at PLACE, is read in a later segment. */
static bool crosses(const recompute *r, int64_t place, int32_t v) {
    return r->last[v] >= 0 && r->segment[r->last[v]] != r->segment[place];
}

/* Bytes that a step takes with these segments: the kept values and the largest segment. */
static int64_t peak_bytes(recompute *r, component c, int32_t num_segments) {
    int64_t kept = 0, largest = 0;
    memset(r->sum, 0, (size_t)num_segments * sizeof *r->sum);
    for (int64_t k = c.begin; k < c.end; k++) {
        const mst_plan_node *node = &r->plan->node[r->node[k]];
        for (int32_t v = node->dst; v < node->dst + node->num_dst; v++) {
            const int64_t bytes = is_open(r, v) ? mst_plan_bytes(&r->plan->value[v]) : 0;
            if (crosses(r, k, v))
                kept += bytes;
            else if (r->saved[v])
                r->sum[r->segment[k]] += bytes;
        }
    }
    for (int32_t s = 0; s < num_segments; s++)
        if (r->sum[s] > largest) largest = r->sum[s];
    return kept + largest;
}

/* Cuts the component into the segments with which a step takes the fewest bytes. There is one segment if cutting does
 * not save enough to be worth its time. */
static int32_t choose_segments(recompute *r, component c) {
    enum { MOST_SEGMENTS = 64 };
    weigh(r, c);
    int64_t all = 0, best = 0, least;
    for (int64_t k = c.begin; k < c.end; k++) all += r->bytes[k];
    least = all - all / 8; /* copies take time: they must save an eighth at least */
    for (int64_t parts = 2; parts <= MOST_SEGMENTS; parts++) {
        const int64_t peak = peak_bytes(r, c, cut_to_limit(r, c, all / parts));
        if (peak < least) {
            least = peak;
            best = parts;
        }
    }
    return cut_to_limit(r, c, best ? all / best : INT64_MAX);
}

/* Cuts each component. Values that a later segment reads are kept. So are all values of the last segment, because its
 * gradient runs right after it. */
static void cut_components(recompute *r) {
    for (component c = {0}; c.begin < r->num_forward; c.begin = c.end) {
        const int32_t stands = find_parent(r, r->node[c.begin]);
        while (c.end < r->num_forward && find_parent(r, r->node[c.end]) == stands) c.end++;
        const int32_t num_segments = choose_segments(r, c);
        for (int64_t k = c.begin; k < c.end; k++) {
            const mst_plan_node *node = &r->plan->node[r->node[k]];
            for (int32_t v = node->dst; v < node->dst + node->num_dst; v++)
                r->kept[v] |= r->segment[k] == num_segments - 1 || crosses(r, k, v);
        }
        for (int64_t k = c.begin; k < c.end; k++) r->segment[k] += r->num_segments;
        r->num_segments += num_segments;
    }
}

/* ---- copies ---- */

/* The maker of source I of node N, if N is a backward node and the source has to be computed again; else -1. */
static int32_t made_again(const recompute *r, int32_t n, int i) {
    const mst_plan_node *node = &r->plan->node[n];
    if (!r->backward[n] || mst_plan_shape_only(node, i) || r->kept[r->root[node->src[i]]]) return -1;
    return r->plan->value[node->src[i]].node;
}

/* Finds when the first gradient reaches each segment, and which node then reads the segment. Positions are places in
 * the order without copies, so all readers of a segment come after the nodes for which its copies wait. */
static void find_waits(recompute *r) {
    const mst_plan *plan = r->plan;
    for (int32_t s = 0; s < r->num_segments; s++) r->after[s] = INT32_MAX;
    for (int64_t k = 0; k < plan->num_order; k++) {
        const int32_t n = plan->order[k];
        const mst_plan_node *node = &plan->node[n];
        int32_t latest = -1;
        for (int i = 0; i < node->num_src && r->backward[n]; i++) {
            const int32_t maker = plan->value[node->src[i]].node;
            if (!mst_plan_shape_only(node, i) && r->backward[maker] && plan->node[maker].position > latest)
                latest = plan->node[maker].position;
        }
        for (int i = 0; i < node->num_src; i++) {
            const int32_t maker = made_again(r, n, i);
            if (maker < 0 || latest >= r->after[r->segment[r->place[maker]]]) continue;
            r->after[r->segment[r->place[maker]]] = latest;
            r->reader[r->segment[r->place[maker]]] = n;
        }
    }
}

/* Marks the nodes that get a copy. These are the makers of values that backward nodes read and that are not kept, then
 * the makers of their sources, and so on. */
static void find_needed(recompute *r) {
    const mst_plan *plan = r->plan;
    for (int64_t k = 0; k < plan->num_order; k++)
        for (int i = 0; i < plan->node[plan->order[k]].num_src; i++) {
            const int32_t maker = made_again(r, plan->order[k], i);
            if (maker >= 0) r->needed[maker] = true;
        }
    for (int64_t k = r->num_forward - 1; k >= 0; k--) {
        const mst_plan_node *node = &plan->node[r->node[k]];
        for (int i = 0; i < node->num_src && r->needed[r->node[k]]; i++)
            if (!mst_plan_shape_only(node, i) && !r->kept[r->root[node->src[i]]])
                r->needed[plan->value[node->src[i]].node] = true;
    }
}

/* The value to read instead of VALUE: the output of the copy of its node, if there is a copy. */
static int32_t copy_of(const recompute *r, int32_t value) {
    const int32_t maker = r->plan->value[value].node;
    if (value >= r->num_values || r->kept[r->root[value]] || r->copy[maker] < 0) return value;
    return r->plan->node[r->copy[maker]].dst + (value - r->plan->node[maker].dst);
}

/* Makes COPY wait for the gradients that READER reads. */
static mst_status wait_for_gradients(recompute *r, int32_t copy, int32_t reader) {
    const mst_plan *plan = r->plan;
    for (int i = 0; i < plan->node[reader].num_src; i++) {
        const int32_t maker = plan->value[plan->node[reader].src[i]].node;
        if (mst_plan_shape_only(&plan->node[reader], i) || maker >= r->num_nodes || !r->backward[maker]) continue;
        MST_TRY(mst_plan_add_control(r->plan, copy, maker));
    }
    return MST_OK;
}

static mst_status add_copy(recompute *r, int32_t n, int32_t reader) {
    mst_plan *plan = r->plan;
    const mst_plan_node node = plan->node[n];
    int32_t *src = malloc(((size_t)node.num_src + 1) * sizeof *src);
    mst_spec *dst = malloc(((size_t)node.num_dst + 1) * sizeof *dst);
    mst_status status = src && dst ? MST_OK : MST_NO_MEMORY("for a plan");
    bool first = true; /* the copy is the first of its segment: none of its sources is computed again */
    for (int i = 0; i < node.num_src && !status; i++) {
        src[i] = mst_plan_shape_only(&node, i) ? node.src[i] : copy_of(r, node.src[i]);
        first &= src[i] == node.src[i];
    }
    for (int i = 0; i < node.num_dst && !status; i++) dst[i] = plan->value[node.dst + i].spec;
    if (!status) status = mst_plan_add(plan, &node, src, dst, &r->copy[n]);
    if (!status) plan->node[r->copy[n]].again = first;
    if (!status && first) status = wait_for_gradients(r, r->copy[n], reader);
    free(src);
    free(dst);
    return status;
}

/* Makes backward nodes read the copies. */
static void read_copies(recompute *r) {
    for (int64_t n = 0; n < r->num_nodes; n++) {
        mst_plan_node *node = &r->plan->node[n];
        for (int i = 0; i < node->num_src && r->backward[n] && !node->dead; i++)
            if (!mst_plan_shape_only(node, i)) node->src[i] = copy_of(r, node->src[i]);
    }
}

static mst_status repeat(recompute *r) {
    const mst_plan *plan = r->plan;
    find_waits(r);
    for (int64_t k = 0; k < r->num_forward; k++) {
        if (r->after[r->segment[k]] >= 0) continue;
        /* Without a gradient to wait for, the copy would run right after the forward pass. So the values are kept. */
        const mst_plan_node *node = &plan->node[r->node[k]];
        for (int32_t v = node->dst; v < node->dst + node->num_dst; v++) r->kept[v] = true;
    }
    find_needed(r);
    for (int64_t k = 0; k < r->num_forward; k++)
        if (r->needed[r->node[k]]) MST_TRY(add_copy(r, r->node[k], r->reader[r->segment[k]]));
    read_copies(r);
    MST_TRY(mst_plan_sweep(r->plan));
    return mst_plan_sort(r->plan);
}

static mst_status recompute_allocate(recompute *r) {
    const size_t nodes = (size_t)r->num_nodes + 2, values = (size_t)r->num_values + 1;
    r->backward = calloc(nodes, sizeof *r->backward);
    r->root = calloc(values, sizeof *r->root);
    r->kept = calloc(values, sizeof *r->kept);
    r->saved = calloc(values, sizeof *r->saved);
    r->parent = calloc(nodes, sizeof *r->parent);
    r->place = calloc(nodes, sizeof *r->place);
    r->last = calloc(values, sizeof *r->last);
    r->segment = calloc(nodes, sizeof *r->segment);
    r->crossing = calloc(nodes, sizeof *r->crossing);
    r->bytes = calloc(nodes, sizeof *r->bytes);
    r->sum = calloc(nodes, sizeof *r->sum);
    r->node = calloc(nodes, sizeof *r->node);
    r->copy = malloc(nodes * sizeof *r->copy);
    r->needed = calloc(nodes, sizeof *r->needed);
    r->after = calloc(nodes, sizeof *r->after);
    r->reader = calloc(nodes, sizeof *r->reader);
    const bool whole = r->backward && r->root && r->kept && r->saved && r->parent && r->place && r->last &&
                       r->segment && r->crossing && r->bytes && r->sum && r->node && r->copy && r->needed && r->after &&
                       r->reader;
    if (whole) memset(r->copy, -1, nodes * sizeof *r->copy);
    return whole ? MST_OK : MST_NO_MEMORY("for a plan");
}

static void recompute_free(recompute *r) {
    free(r->backward);
    free(r->root);
    free(r->kept);
    free(r->saved);
    free(r->parent);
    free(r->place);
    free(r->last);
    free(r->segment);
    free(r->crossing);
    free(r->bytes);
    free(r->sum);
    free(r->node);
    free(r->copy);
    free(r->needed);
    free(r->after);
    free(r->reader);
}

mst_status mst_plan_recompute(mst_plan *plan) {
    if (!plan->host->options->recompute) return MST_OK;
    recompute r = {.plan = plan, .num_nodes = plan->num_nodes, .num_values = plan->num_values};
    mst_status status = mst_plan_sort(plan);
    if (!status) status = recompute_allocate(&r);
    if (!status) {
        mst_plan_find_backward(plan, r.backward);
        find_values(&r);
        list_forward(&r);
        cut_components(&r);
        status = repeat(&r);
    }
    recompute_free(&r);
    return status;
}
