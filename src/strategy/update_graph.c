#include "strategy/update_graph.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/no_memory.h"
#include "graph/graph.h"
#include "muster/ops.h"
#include "strategy/gradient_rows.h"

/* Copies variable V of U to GRAPH. Its value in U becomes the initial value, with which moving averages and masters
 * begin. If U has no value, the initial value is 0 and is never used. */
static mst_value copy_variable(mst_graph *graph, const mst_update_graph_variables *u, int v) {
    const mst_value variable = u->variable[v];
    const mst_join_kind join = u->join ? u->join[v] : MST_JOIN_DEFAULT;
    mst_variable_options options = *(const mst_variable_options *)mst_node_options(variable.node);
    mst_spec spec = mst_value_spec(variable);
    if (u->rows && u->rows[v] >= 0) spec.shape.dim[0] = u->rows[v];
    options.graph = graph;
    options.name = mst_value_name(variable);
    options.initial =
        u->value && u->value[v] ? mst_constant(graph, u->value[v]) : mst_fill(graph, spec.dtype, spec.shape, 0);
    options.mirrored = options.average = NULL;
    if (join) options.join = (int)join;
    return mst_variable_with(options);
}

/* Makes the placeholders for the gradient of VARIABLE, which has number V. */
static mst_value feed_gradient(const mst_optimizer *optimizer, mst_value variable, int v, bool sparse) {
    const mst_spec spec = mst_value_spec(variable);
    char name[32];
    snprintf(name, sizeof name, "gradient_%d", v);
    return sparse ? mst_given_gradient_rows(optimizer, variable, name)
                  : mst_placeholder(mst_value_graph(variable), spec.dtype, spec.shape, name);
}

/* Sets VARIABLE, which is not trained, from FED: the sum of the values of NUM_SHARDS shards; or if NUM_SHARDS is 0, the
 * change of the variable on some shards. */
static mst_value take_update(mst_value variable, mst_value fed, mst_join_kind join, int num_shards) {
    if (num_shards == 0 || join == MST_JOIN_ADD) return mst_assign_add(variable, fed);
    const mst_dtype dtype = mst_value_spec(variable).dtype;
    if (join == MST_JOIN_MEAN) fed = mst_div(fed, mst_scalar(mst_value_graph(variable), dtype, num_shards));
    return mst_assign(variable, fed);
}

/* VALUES: [3][count]. */
static void build(mst_graph *graph, const mst_optimizer *optimizer, const mst_update_graph_variables *u,
                  mst_value *values) {
    mst_value *variable = values, *gradient = values + u->count, *all = values + 2 * (ptrdiff_t)u->count;
    mst_optimizer resolved;
    if (!mst_resolve_optimizer(graph, optimizer, &resolved)) return;
    int trained = 0, others = 0;
    for (int v = 0; v < u->count; v++) {
        const mst_join_kind join = u->join ? u->join[v] : MST_JOIN_DEFAULT;
        const mst_value copy = copy_variable(graph, u, v);
        const mst_value fed = feed_gradient(&resolved, copy, v, u->sparse && u->sparse[v]);
        mst_collect(graph, MST_UPDATED, copy);
        if (join) {
            all[1 + others++] = take_update(copy, fed, join, u->num_shards);
            continue;
        }
        variable[trained] = copy;
        gradient[trained++] = fed;
    }
    all[0] = mst_apply_gradients(optimizer, gradient, variable, trained, MST_NONE);
    mst_rename(others ? mst_group(all, 1 + others) : all[0], "train");
}

mst_status mst_update_graph_create(const mst_optimizer *optimizer, const mst_update_graph_variables *updated,
                                   mst_graph **out) {
    mst_value *values = calloc((size_t)updated->count * 3 + 1, sizeof *values);
    if (!values) return MST_NO_MEMORY("for %d variables", updated->count);
    mst_status status = mst_graph_create(out);
    if (!status) {
        build(*out, optimizer, updated, values);
        status = mst_graph_check(*out);
        if (status) mst_graph_destroy(*out);
    }
    free(values);
    return status;
}
