/* Sorts the layers of a model by their distance from the outputs, as Keras' map_graph does
 * (keras/src/ops/function.py). */
#include "model/layer_order.h"

#include <stdlib.h>

#include "base/no_memory.h"

/* The state and the results of a depth-first search from the outputs back to the inputs. */
typedef struct walk {
    const mst_model *model;
    int64_t *stack, stack_size;        /* [nodes] nodes whose sources are being followed */
    int64_t *next_src;                 /* [nodes] index of the next source to follow; -1: node not visited */
    int64_t *finished, num_finished;   /* [nodes] visited nodes, each after all its sources */
    int64_t *node_depth, *layer_depth; /* [nodes], [layers] distance from the outputs; -1: not visited */
    int64_t *visit_rank, num_visited;  /* [layers] position in the order of first visits; -1: not visited */
} walk;

/* Layers are sorted by depth, the largest first, then by visit_rank. */
typedef struct sort_key {
    int64_t depth, visit_rank, layer;
} sort_key;

/* Visits NODE, which was not visited before: puts it on the stack and ranks its layer. */
static void enter(walk *w, int64_t node) {
    w->stack[w->stack_size++] = node;
    w->next_src[node] = 0;
    int64_t *rank = &w->visit_rank[w->model->node[node].layer];
    if (*rank < 0) *rank = w->num_visited++;
}

/* Visits OUTPUT and all nodes that it needs. Uses a stack instead of recursion, since models may be deep. */
static void search_from(walk *w, int64_t output) {
    if (w->next_src[output] >= 0) return;
    enter(w, output);
    while (w->stack_size > 0) {
        const int64_t at = w->stack[w->stack_size - 1];
        const mst_model_node *node = &w->model->node[at];
        if (w->next_src[at] == node->num_src) {
            w->finished[w->num_finished++] = at;
            w->stack_size--;
            continue;
        }
        const int64_t src = node->src[w->next_src[at]++];
        if (w->next_src[src] < 0) enter(w, src);
    }
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Sets the depths of nodes and layers. Each node is handled before its sources, whose depth is at least one more. A
 * layer with several nodes has the depth of its deepest node so far. Its nodes that are handled later are at least as
 * deep, as in Keras. */
static void set_depths(walk *w) {
    for (int64_t i = w->num_finished - 1; i >= 0; i--) {
        const mst_model_node *node = &w->model->node[w->finished[i]];
        int64_t *depth = &w->node_depth[w->finished[i]], *layer_depth = &w->layer_depth[node->layer];
        *depth = *layer_depth = larger(larger(*depth, *layer_depth), 0);
        for (int k = 0; k < node->num_src; k++) {
            int64_t *src_depth = &w->node_depth[node->src[k]];
            *src_depth = larger(*src_depth, *depth + 1);
        }
    }
    for (int64_t i = 0; i < w->model->num_inputs; i++) {
        const int64_t node = w->model->input[i].node, layer = w->model->node[node].layer;
        if (w->layer_depth[layer] < 0) w->layer_depth[layer] = w->node_depth[node] = 0; /* needed by no output */
    }
}

/* The order of two sort keys, for qsort. */
static int compare(const void *left, const void *right) {
    const sort_key *a = left, *b = right;
    if (a->depth != b->depth) return a->depth > b->depth ? -1 : 1;
    if (a->visit_rank != b->visit_rank) return a->visit_rank < b->visit_rank ? -1 : 1;
    return a->layer < b->layer ? -1 : a->layer > b->layer;
}

static mst_status sort_layers(const walk *w, mst_model_order *out) {
    sort_key *list = calloc((size_t)w->model->num_layers + 1, sizeof *list);
    if (!list) return MST_NO_MEMORY("for the order of a model's layers");
    for (int64_t i = 0; i < w->model->num_layers; i++)
        if (w->layer_depth[i] >= 0) list[out->num_layers++] = (sort_key){w->layer_depth[i], w->visit_rank[i], i};
    qsort(list, (size_t)out->num_layers, sizeof *list, compare);
    for (int64_t i = 0; i < out->num_layers; i++) out->layer[i] = list[i].layer;
    free(list);
    return MST_OK;
}

/* Sets has_node and is_chain of OUT. COUNT is scratch, zeroed: [num_nodes] nodes per depth, then [num_layers] nodes per
 * layer. */
static void classify_nodes(const walk *w, int64_t *count, mst_model_order *out) {
    int64_t *per_depth = count, *per_layer = count + w->model->num_nodes;
    out->is_chain = true;
    for (int64_t i = 0; i < w->model->num_nodes; i++) {
        out->has_node[i] = w->node_depth[i] >= 0;
        if (!out->has_node[i]) continue;
        const mst_model_node *node = &w->model->node[i];
        if (per_depth[w->node_depth[i]]++ || per_layer[node->layer]++ || node->num_src > 1) out->is_chain = false;
    }
}

mst_status mst_model_order_make(const mst_model *model, mst_model_order *out) {
    const size_t nodes = (size_t)model->num_nodes, layers = (size_t)model->num_layers;
    const mst_outputs outputs = mst_model_get_outputs(model);
    *out = (mst_model_order){.layer = calloc(layers + 1, sizeof *out->layer),
                             .has_node = calloc(nodes + 1, sizeof *out->has_node)};
    int64_t *memory = calloc(5 * nodes + 3 * layers + 1, sizeof *memory);
    if (!out->layer || !out->has_node || !memory) {
        free(memory);
        return MST_NO_MEMORY("for the order of a model's layers");
    }
    /* count per depth and per layer | stack | finished | next_src | node_depth | layer_depth | visit_rank;
     * all from next_src on begin as -1 */
    int64_t *count = memory;
    walk w = {.model = model, .stack = count + nodes + layers};
    w.finished = w.stack + nodes;
    w.next_src = w.finished + nodes;
    w.node_depth = w.next_src + nodes;
    w.layer_depth = w.node_depth + nodes;
    w.visit_rank = w.layer_depth + layers;
    for (int64_t *i = w.next_src; i < w.visit_rank + layers; i++) *i = -1;
    for (int i = 0; i < outputs.count; i++) search_from(&w, outputs.output[i].node);
    set_depths(&w);
    classify_nodes(&w, count, out);
    const mst_status status = sort_layers(&w, out);
    free(memory);
    return status;
}

void mst_model_order_free(mst_model_order *order) {
    free(order->layer);
    free(order->has_node);
    *order = (mst_model_order){0};
}
