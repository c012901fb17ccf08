#include "run/bare_variables.h"

#include <stdlib.h>

#include "base/no_memory.h"
#include "muster/ops.h"

/* Fills BARE, by node: whether the node is a variable without a value, or is computed from one. Sources come before
 * their users in the graph. */
static void mark_bare(const mst_graph *graph, mst_is_bare is_bare, void *context, bool *bare) {
    for (int64_t id = 0; id < graph->num_nodes; id++) {
        const mst_node *node = graph->node[id];
        bare[id] = (node->op->flags & MST_OP_VARIABLE) && is_bare(context, node);
        for (int i = 0; i < node->num_src && !bare[id]; i++) bare[id] = bare[node->src[i].node->id];
        for (int i = 0; i < node->num_control && !bare[id]; i++) bare[id] = bare[node->control[i]->id];
    }
}

/* OUT has COUNT assignments. Moves those that are to run to its beginning, and returns their number. */
static int find_bare(const bool *bare, int count, mst_value *out) {
    int wanted = 0, ready = 0;
    for (int i = 0; i < count; i++)
        if (bare[out[i].node->src[0].node->id]) out[wanted++] = out[i];
    for (int i = 0; i < wanted; i++) {
        const mst_value assign = out[i];
        if (bare[assign.node->src[1].node->id]) continue;
        out[i] = out[ready];
        out[ready++] = assign;
    }
    return ready ? ready : wanted;
}

mst_status mst_list_bare(const mst_graph *graph, mst_is_bare is_bare, void *context, mst_value **out, int *wanted) {
    const int count = mst_collection(graph, MST_INITIALIZERS, NULL, NULL, 0);
    free(*out);
    *out = malloc(((size_t)count + 1) * sizeof **out);
    bool *bare = malloc((size_t)graph->num_nodes + 1);
    const mst_status status = *out && bare ? MST_OK : MST_NO_MEMORY("for initial values");
    if (!status) {
        mst_collection(graph, MST_INITIALIZERS, NULL, *out, count);
        mark_bare(graph, is_bare, context, bare);
        *wanted = find_bare(bare, count, *out);
    }
    free(bare);
    return status;
}
