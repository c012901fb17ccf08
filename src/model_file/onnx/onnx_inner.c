/* Graphs inside nodes, such as the body of a loop. The nodes of such a graph are added to the outer graph, once for
 * each step of a loop. Nodes that compute with constants, such as the number of the step, are folded (onnx_fold.c).
 *
 * If a node has the same values as inputs as in the step before, the outputs of that step are used again. So constants,
 * and values that are computed from weights alone, exist once for all steps. */
#include <string.h>

#include "base/no_memory.h"
#include "model_file/onnx/onnx_limit.h"
#include "model_file/onnx/onnx_read.h"
#include "muster/ops.h"

typedef struct mst_onnx_unrolled {
    int64_t *initializer; /* [n_initializer] numbers of values; NULL: the graph has not been used yet */
    int64_t *known;       /* for each node: 1 if it was added; then the numbers of its inputs, and of its outputs */
} mst_onnx_unrolled;

mst_status mst_onnx_inner_of(mst_onnx_call *c, const char *name, int64_t *out) {
    const Muster__OnnxAttribute *a = mst_onnx_attribute(c, name, MST_ONNX_GRAPH);
    if (!a || a->i < 0)
        return MST_FAIL(MST_CORRUPT, "it has no graph in its attribute %s: export the model again", name);
    *out = a->i;
    return MST_OK;
}

mst_status mst_onnx_count_unrolled(mst_onnx_reader *r, int64_t count) {
    if (count <= MST_ONNX_MOST_UNROLLED - r->num_unrolled) {
        r->num_unrolled += count;
        return MST_OK;
    }
    return MST_FAIL(MST_UNIMPLEMENTED,
                    "its steps have too many nodes and values: %d are supported in all loops of a model, each step "
                    "counted: export the model with fewer steps",
                    MST_ONNX_MOST_UNROLLED);
}

mst_status mst_onnx_part(mst_onnx_reader *r, int64_t at, int axis, int64_t index, mst_value *out) {
    if (mst_value_is_none(r->value[at].parts) || r->value[at].parts_axis != axis) {
        mst_value whole;
        const mst_shape shape = mst_onnx_shape_at(r, at);
        MST_TRY(mst_onnx_count_unrolled(r, shape.dim[axis]));
        MST_TRY(mst_onnx_plain_at(r, at, &whole));
        r->value[at].parts = mst_unstack(whole, axis);
        r->value[at].parts_axis = axis;
        MST_TRY(mst_graph_check(r->graph));
    }
    *out = mst_value_output(r->value[at].parts, (int)index);
    return MST_OK;
}

/* ---- names ---- */

static mst_status begin_graph(mst_onnx_reader *r, const mst_onnx_inner *inner, mst_onnx_unrolled *u) {
    const Muster__OnnxGraph *graph = inner->graph;
    size_t size = 0;
    for (size_t i = 0; i < graph->n_node; i++) size += 1 + graph->node[i]->n_input + graph->node[i]->n_output;
    u->known = mst_arena_alloc(&r->arena, (size + 1) * sizeof *u->known);
    int64_t *at = mst_arena_alloc(&r->arena, (graph->n_initializer + 1) * sizeof *at);
    if (!u->known || !at) return MST_NO_MEMORY("for a model");
    for (size_t i = 0; i < graph->n_initializer; i++)
        MST_TRY(mst_onnx_add(r, (mst_onnx_value){.tensor = inner->tensor[i], .weight = graph->initializer[i]->name},
                             &at[i]));
    u->initializer = at;
    return MST_OK;
}

static void forget_name(mst_onnx_reader *r, const char *name, mst_status *status) {
    if (!*status && mst_names_get(&r->names, name) >= 0) *status = mst_names_set(&r->names, name, -1);
}

/* Removes the names of GRAPH's values, because other graphs may give these names to their values. */
static mst_status forget_names(mst_onnx_reader *r, const Muster__OnnxGraph *graph) {
    mst_status status = MST_OK;
    for (size_t i = 0; i < graph->n_input; i++) forget_name(r, graph->input[i]->name, &status);
    for (size_t i = 0; i < graph->n_initializer; i++) forget_name(r, graph->initializer[i]->name, &status);
    for (size_t i = 0; i < graph->n_node; i++)
        for (size_t k = 0; k < graph->node[i]->n_output; k++) forget_name(r, graph->node[i]->output[k], &status);
    return status;
}

/* ---- nodes ---- */

/* Sets NUMBER to the numbers of the COUNT values NAME; -1 for a missing one. Returns whether nothing changed. */
static bool note_numbers(const mst_onnx_reader *r, char *const *name, size_t count, int64_t *number) {
    bool same = true;
    for (size_t i = 0; i < count; i++) {
        const int64_t at = *name[i] ? mst_names_get(&r->names, name[i]) : -1;
        same &= number[i] == at;
        number[i] = at;
    }
    return same;
}

static bool has_graphs(const Muster__OnnxNode *node) {
    bool has = false;
    for (size_t i = 0; i < node->n_attribute; i++) has |= node->attribute[i]->type == MST_ONNX_GRAPH;
    return has;
}

static mst_status add_inner_node(mst_onnx_reader *r, const Muster__OnnxNode *node, int64_t *known) {
    int64_t *input = known + 1, *output = input + node->n_input;
    if (strcmp(node->domain, "ai.onnx.ml") == 0)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "operators of ai.onnx.ml, here '%.60s', are not supported in a graph inside a node",
                        node->op_type);
    const bool same = note_numbers(r, node->input, node->n_input, input);
    if (!known[0] || !same || has_graphs(node)) {
        MST_TRY(mst_onnx_build_node(r, node));
        note_numbers(r, node->output, node->n_output, output);
        known[0] = 1;
        return MST_OK;
    }
    for (size_t i = 0; i < node->n_output; i++)
        if (output[i] >= 0) MST_TRY(mst_onnx_name_value(r, node->output[i], output[i]));
    return MST_OK;
}

static mst_status add_nodes(mst_onnx_reader *r, const Muster__OnnxGraph *graph, mst_onnx_unrolled *u,
                            const int64_t *input, int64_t *output) {
    int64_t *known = u->known;
    for (size_t i = 0; i < graph->n_input; i++) MST_TRY(mst_onnx_name_value(r, graph->input[i]->name, input[i]));
    for (size_t i = 0; i < graph->n_initializer; i++)
        MST_TRY(mst_onnx_name_value(r, graph->initializer[i]->name, u->initializer[i]));
    for (size_t i = 0; i < graph->n_node; i++) {
        MST_TRY(add_inner_node(r, graph->node[i], known));
        known += 1 + graph->node[i]->n_input + graph->node[i]->n_output;
    }
    for (size_t i = 0; i < graph->n_output; i++) {
        output[i] = mst_names_get(&r->names, graph->output[i]->name);
        if (output[i] < 0)
            return MST_FAIL(MST_CORRUPT,
                            "the output '%.100s' of the graph inside it is made by no node: export the model again",
                            graph->output[i]->name);
    }
    return MST_OK;
}

mst_status mst_onnx_build_inner(mst_onnx_reader *r, int64_t number, const int64_t *input, size_t count,
                                int64_t *output) {
    const mst_onnx_inner *inner = &r->file->inner[number];
    const Muster__OnnxGraph *graph = inner->graph;
    if (!r->inner && !(r->inner = mst_arena_alloc(&r->arena, (size_t)r->file->num_inner * sizeof *r->inner)))
        return MST_NO_MEMORY("for a model");
    if (graph->n_input != count)
        return MST_FAIL(MST_CORRUPT, "the graph inside it has %zu inputs, and must have %zu: export the model again",
                        graph->n_input, count);
    MST_TRY(mst_onnx_count_unrolled(r, 1 + (int64_t)(graph->n_node + graph->n_input + graph->n_output)));
    if (!r->inner[number].initializer) MST_TRY(begin_graph(r, inner, &r->inner[number]));
    r->depth++;
    MST_TRY(add_nodes(r, graph, &r->inner[number], input, output));
    r->depth--;
    return forget_names(r, graph);
}
