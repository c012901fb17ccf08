#include "strategy/update_graph.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/no_memory.h"
#include "graph/graph.h"
#include "muster/ops.h"
#include "strategy/gradient_rows.h"

/* The same variable in GRAPH, with so many ROWS (-1: all); its first value does not matter. */
static mst_value copy_variable(mst_graph *graph, mst_value variable, int64_t rows) {
    mst_variable_options options = *(const mst_variable_options *)mst_node_options(variable.node);
    mst_spec spec = mst_value_spec(variable);
    if (rows >= 0) spec.shape.dim[0] = rows;
    options.graph = graph;
    options.name = mst_value_name(variable);
    options.initial = mst_fill(graph, spec.dtype, spec.shape, 0);
    options.mirrored = options.average = NULL;
    return mst_variable_with(options);
}

/* The gradient of VARIABLE, number V, which is fed. */
static mst_value feed_gradient(const mst_optimizer *optimizer, mst_value variable, int v, bool sparse) {
    const mst_spec spec = mst_value_spec(variable);
    char name[32];
    snprintf(name, sizeof name, "gradient_%d", v);
    return sparse ? mst_given_gradient_rows(optimizer, variable, name)
                  : mst_placeholder(mst_value_graph(variable), spec.dtype, spec.shape, name);
}

mst_status mst_update_graph_create(const mst_optimizer *optimizer, const mst_value *variables, const bool *sparse,
                                   const int64_t *rows, int count, mst_graph **out) {
    mst_value *variable = calloc((size_t)count * 2 + 1, sizeof *variable), *gradient = variable + count;
    mst_optimizer resolved;
    if (!variable) return MST_NO_MEMORY("for %d variables", count);
    mst_status status = mst_graph_create(out);
    const bool right = !status && mst_resolve_optimizer(*out, optimizer, &resolved);
    for (int v = 0; v < count && right; v++) {
        variable[v] = copy_variable(*out, variables[v], rows ? rows[v] : -1);
        gradient[v] = feed_gradient(&resolved, variable[v], v, sparse && sparse[v]);
    }
    if (!status) {
        if (right) mst_rename(mst_apply_gradients(optimizer, gradient, variable, count, MST_NONE), "train");
        status = mst_graph_check(*out);
        if (status) mst_graph_destroy(*out);
    }
    free(variable);
    return status;
}
