/* Reverse-mode differentiation of a graph by its own ops.
 *
 * Only nodes that a target depends on are visited, and only nodes on a path from a source to a target get gradients. So
 * the time for a graph of many replicas grows linearly with their number. Nodes are visited from the newest to the
 * oldest, so each node comes after all nodes that use its outputs. Each visit turns the gradients of the node's outputs
 * into gradients of its sources. If a value has several gradients, an add_n sums them in the order of the visits, so
 * the sum is always the same. */
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "graph/graph.h"
#include "graph/spec.h"
#include "muster/ops.h"

/* gradients that reached one value */
typedef struct terms {
    mst_value *value;
    int64_t count, capacity;
} terms;

/* A node that a target depends on. */
typedef struct step {
    mst_node *node;
    bool reached; /* it depends on a source */
    terms *terms; /* one for each output; NULL: no gradient has reached an output */
} step;

typedef struct walk {
    mst_graph *graph;
    int64_t number; /* number of this walk; each node with a step has this number as its `walk` */
    step *steps;    /* [num_steps], sorted by the ids of their nodes */
    int64_t num_steps, capacity;
    mst_arena memory; /* holds all terms */
} walk;

/* The step of a node; NULL if no target depends on it. */
static step *step_of(const walk *w, const mst_node *node) {
    return node->walk == w->number ? &w->steps[node->place] : NULL;
}

static mst_status add_term(walk *w, mst_value to, mst_value gradient) {
    step *s = step_of(w, to.node);
    if (!s->terms) s->terms = mst_arena_alloc(&w->memory, (size_t)to.node->num_dst * sizeof *s->terms);
    if (!s->terms) return MST_NO_MEMORY("for gradients");
    terms *t = &s->terms[to.index];
    if (t->count == t->capacity) {
        t->capacity = t->capacity ? 2 * t->capacity : 2;
        mst_value *larger = mst_arena_alloc(&w->memory, (size_t)t->capacity * sizeof *larger);
        if (!larger) return MST_NO_MEMORY("for gradients");
        for (int64_t i = 0; i < t->count; i++) larger[i] = t->value[i];
        t->value = larger;
    }
    t->value[t->count++] = gradient;
    return MST_OK;
}

/* The gradient of one value: the sum of its terms, which replaces them. MST_NONE if it has no terms. */
static mst_value sum_terms(walk *w, mst_value of) {
    const step *s = step_of(w, of.node);
    if (!s || !s->terms || !s->terms[of.index].count) return MST_NONE;
    terms *t = &s->terms[of.index];
    if (t->count > 1) {
        const char *device = w->graph->current.device;
        w->graph->current.device = t->value[0].node->device; /* that of the first term, even if OF is a variable on
                                                              * another device */
        t->value[0] = mst_add_n(t->value, (int)t->count);
        w->graph->current.device = device;
        t->count = 1;
    }
    return t->value[0];
}

static int by_id(const void *a, const void *b) {
    const int64_t x = ((const step *)a)->node->id, y = ((const step *)b)->node->id;
    return (x > y) - (x < y);
}

static mst_status meet(walk *w, mst_node *node) {
    if (node->walk == w->number) return MST_OK;
    node->walk = w->number;
    MST_TRY(mst_grow(&w->steps, sizeof *w->steps, w->num_steps + 1, &w->capacity));
    w->steps[w->num_steps++] = (step){.node = node};
    return MST_OK;
}

/* Makes a step for each node that the targets depend on through ops that have a gradient. */
static mst_status find_steps(walk *w, const mst_value *targets, int num_targets) {
    w->number = ++w->graph->num_walks;
    for (int i = 0; i < num_targets; i++) MST_TRY(meet(w, targets[i].node));
    for (int64_t i = 0; i < w->num_steps; i++) {
        const mst_node *node = w->steps[i].node;
        for (int k = 0; k < node->num_src && node->op->grad; k++) MST_TRY(meet(w, node->src[k].node));
    }
    if (w->num_steps) qsort(w->steps, (size_t)w->num_steps, sizeof *w->steps, by_id);
    for (int64_t i = 0; i < w->num_steps; i++) w->steps[i].node->place = i;
    return MST_OK;
}

static void mark_reached(walk *w, const mst_value *src, int num_src) {
    for (int i = 0; i < num_src; i++) {
        step *s = mst_value_is_none(src[i]) ? NULL : step_of(w, src[i].node);
        if (s) s->reached = true;
    }
    for (int64_t i = 0; i < w->num_steps; i++) {
        step *s = &w->steps[i];
        for (int k = 0; k < s->node->num_src && !s->reached && s->node->op->grad; k++)
            s->reached = step_of(w, s->node->src[k].node)->reached;
    }
}

static void differentiate(const mst_value *targets, const mst_value *gradients, int num_targets, const mst_value *src,
                          int num_src, mst_value *out);

static mst_status visit(walk *w, mst_node *node) {
    enum { FEW = 8 };
    mst_value few[2 * FEW], *dst = few;
    if (node->num_dst > FEW && !(dst = calloc(2 * (size_t)node->num_dst, sizeof *dst)))
        return MST_NO_MEMORY("for gradients");
    mst_value *ddst = dst + node->num_dst;
    for (int k = 0; k < node->num_dst; k++) {
        dst[k] = (mst_value){node, k};
        ddst[k] = sum_terms(w, dst[k]);
    }
    mst_grad c = {.graph = w->graph,
                  .op = node->op,
                  .options = node->options,
                  .num_src = node->num_src,
                  .src = node->src,
                  .num_dst = node->num_dst,
                  .dst = dst,
                  .ddst = ddst,
                  .gradients = differentiate};
    mst_status status = MST_OK;
    for (int i = 0; i < node->num_src && !status; i++) {
        mst_value src = node->src[i];
        if (!step_of(w, src.node)->reached || !mst_dtype_is_float(mst_value_spec(src).dtype)) continue;
        mst_value gradient = node->op->grad(&c, i);
        if (!mst_value_is_none(gradient)) status = add_term(w, src, gradient);
    }
    if (dst != few) free(dst);
    return status;
}

static mst_status gradients_run(walk *w, const mst_value *targets, const mst_value *gradients, int num_targets,
                                const mst_value *src, int num_src, mst_value *out) {
    MST_TRY(find_steps(w, targets, num_targets));
    mark_reached(w, src, num_src);
    for (int i = 0; i < num_targets; i++) MST_TRY(add_term(w, targets[i], gradients[i]));
    for (int64_t i = w->num_steps - 1; i >= 0; i--) {
        const step *s = &w->steps[i];
        if (!s->reached || !s->terms || !s->node->op->grad) continue;
        w->graph->current.device = s->node->device; /* restored when the name scope of `differentiate` is closed */
        MST_TRY(visit(w, s->node));
    }
    for (int i = 0; i < num_src; i++)
        if (!mst_value_is_none(src[i])) out[i] = sum_terms(w, src[i]);
    return MST_OK;
}

/* Whether an argument is wrong. The error is then kept on the graph. */
static bool is_wrong(mst_graph *graph, mst_value target, mst_value gradient, const mst_value *src, int num_src) {
    const mst_spec spec = mst_value_spec(target), given = mst_value_spec(gradient);
    const bool fits = mst_spec_agrees(&given, &spec);
    const bool is_float = spec.dtype == MST_F32 || spec.dtype == MST_F64;
    char have[MST_SPEC_TEXT], want[MST_SPEC_TEXT];
    if (!is_float)
        mst_value_fail(graph, MST_INVALID, "gradients: the target '%s' is %s, must be f32 or f64",
                       mst_value_name(target), mst_dtype_name(spec.dtype));
    else if (!fits)
        mst_value_fail(graph, MST_INVALID, "gradients: the gradient '%s' is %s, the target '%s' %s",
                       mst_value_name(gradient), mst_spec_print(&given, have, sizeof have), mst_value_name(target),
                       mst_spec_print(&spec, want, sizeof want));
    bool wrong = !fits || !is_float;
    for (int i = 0; i < num_src && !wrong; i++) {
        wrong = !mst_value_is_none(src[i]) && mst_value_graph(src[i]) != graph;
        if (wrong)
            mst_value_fail(graph, MST_INVALID, "gradients: source %d, '%s', is of another graph", i,
                           mst_value_name(src[i]));
    }
    return wrong;
}

/* Sets OUT[i] to the gradient with respect to SRC[i] of all TARGETS, whose gradients are GRADIENTS. OUT must not be
 * SRC, and all its elements must be MST_NONE before. */
static void differentiate(const mst_value *targets, const mst_value *gradients, int num_targets, const mst_value *src,
                          int num_src, mst_value *out) {
    mst_graph *graph = num_targets ? mst_value_graph(targets[0]) : NULL;
    if (!graph) return;
    for (int i = 0; i < num_targets; i++) {
        if (mst_value_is_none(targets[i]) || mst_value_is_none(gradients[i])) return; /* their error is on the graph */
        if (is_wrong(graph, targets[i], gradients[i], src, num_src)) return;
    }
    const mst_claim claim = mst_graph_claim(graph); /* because the walk marks its nodes */
    if (!claim) return;
    walk w = {.graph = graph};
    graph->differentiates = true;
    mst_with_name (graph, "gradients") {
        if (gradients_run(&w, targets, gradients, num_targets, src, num_src, out)) mst_graph_keep_error(graph);
    }
    graph->differentiates = false;
    mst_graph_yield(graph, claim);
    mst_arena_free(&w.memory);
    free(w.steps);
}

/* Whether the number of sources is negative, or TARGET or GRADIENT is MST_NONE. The graph of these arguments, if there
 * is one, keeps the error. */
static bool is_missing(mst_value target, mst_value gradient, const mst_value *src, int num_src) {
    mst_graph *graph = mst_value_graph(target.node ? target : gradient);
    for (int i = 0; i < num_src && !graph; i++) graph = mst_value_graph(src[i]);
    if (num_src < 0)
        mst_value_fail(graph, MST_INVALID, "gradients: %d sources, must be 0 or more", num_src);
    else if (!target.node || !gradient.node)
        mst_value_fail(graph, MST_INVALID, "gradients: the %s is no value", target.node ? "gradient" : "target");
    return num_src < 0 || !target.node || !gradient.node;
}

void mst_gradients_from(mst_value target, mst_value gradient, const mst_value *src, int num_src, mst_value *out) {
    if (num_src > 0 && (MST_IS_NULL(src) || MST_IS_NULL(out))) return;
    const bool missing = is_missing(target, gradient, src, num_src);
    if (num_src < 1) return;
    mst_value *copy = malloc((size_t)num_src * sizeof *copy); /* OUT may be SRC */
    if (copy) memcpy(copy, src, (size_t)num_src * sizeof *copy);
    for (int i = 0; i < num_src; i++) out[i] = MST_NONE;
    if (!copy)
        MST_VALUE_NO_MEMORY(mst_value_graph(target), "for gradients");
    else if (!missing)
        differentiate(&target, &gradient, 1, copy, num_src, out);
    free(copy);
}

void mst_gradients(mst_value target, const mst_value *src, int num_src, mst_value *out) {
    if (num_src > 0 && (MST_IS_NULL(src) || MST_IS_NULL(out))) return;
    mst_gradients_from(target, target.node ? mst_ones_like(target) : target, src, num_src, out);
}
