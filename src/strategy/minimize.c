/* mst_apply_gradients and mst_minimize: add an update, and the gradients for it, to a graph that the user has built. */
#include <stdlib.h>

#include "graph/graph.h"
#include "strategy/apply.h"

mst_value mst_apply_gradients(const mst_optimizer *optimizer, const mst_value *gradients, const mst_value *variables,
                              int num_variables, mst_value global_step) {
    if (MST_IS_NULL(optimizer)) return MST_NONE;
    if (num_variables > 0 && (MST_IS_NULL(gradients) || MST_IS_NULL(variables))) return MST_NONE;
    mst_graph *graph = num_variables > 0 ? mst_value_graph(variables[0]) : mst_value_graph(global_step);
    if (!graph) return mst_value_fail(NULL, MST_INVALID, "apply_gradients: there is no variable, and no global step");
    if (num_variables < 0)
        return mst_value_fail(graph, MST_INVALID, "apply_gradients: %d variables, must be 0 or more", num_variables);
    mst_value *used = calloc(2 * ((size_t)num_variables + 1), sizeof *used);
    if (!used) return MST_VALUE_NO_MEMORY(graph, "for an update");
    mst_value *gradient = used + num_variables + 1;
    int count = 0;
    bool failed = false;
    for (int v = 0; v < num_variables; v++) {
        failed |= gradients[v].node && mst_value_is_none(gradients[v]); /* an expression that failed */
        if (mst_value_is_none(gradients[v])) continue;
        used[count] = variables[v];
        gradient[count++] = gradients[v];
    }
    mst_update_values values = {.train = mst_graph_error_value(graph)};
    mst_optimizer resolved;
    failed |= !mst_resolve_optimizer(graph, optimizer, &resolved);
    const mst_update update = {.graph = graph,
                               .optimizer = &resolved,
                               .num_variables = count,
                               .num_shards = 1,
                               .variables = used,
                               .gradients = gradient,
                               .global_step = mst_value_is_none(global_step) ? mst_global_step(graph) : global_step};
    if (!failed) mst_build_update(&update, &values);
    free(used);
    return values.train;
}

mst_value mst_minimize(const mst_optimizer *optimizer, mst_value loss, const mst_value *variables, int num_variables,
                       mst_value global_step) {
    mst_graph *graph = mst_value_graph(loss);
    if (!graph) return mst_value_fail(NULL, MST_INVALID, "minimize: the loss is no value");
    if (mst_value_is_none(loss)) return loss;
    if (MST_IS_NULL_IN(graph, optimizer)) return mst_graph_error_value(graph);
    if (variables && num_variables < 0)
        return mst_value_fail(graph, MST_INVALID, "minimize: %d variables, must be 0 or more", num_variables);
    if (!variables) num_variables = mst_collection(graph, MST_TRAINABLE, NULL, NULL, 0);
    if (num_variables == 0) return mst_value_fail(graph, MST_INVALID, "minimize: there is no trainable variable");
    mst_value *all = calloc(2 * ((size_t)num_variables + 1), sizeof *all);
    if (!all) return MST_VALUE_NO_MEMORY(graph, "for an update");
    mst_value *gradients = all + num_variables + 1;
    if (variables)
        for (int v = 0; v < num_variables; v++) all[v] = variables[v];
    else
        mst_collection(graph, MST_TRAINABLE, NULL, all, num_variables);
    mst_gradients(loss, all, num_variables, gradients);
    mst_value train = mst_apply_gradients(optimizer, gradients, all, num_variables, global_step);
    free(all);
    return train;
}

mst_value mst_state_updates(mst_graph *graph) {
    if (MST_IS_NULL(graph)) return MST_NONE;
    const int count = mst_collection(graph, MST_UPDATES, NULL, NULL, 0);
    mst_value *pairs = calloc((size_t)count + 1, sizeof *pairs);
    if (!pairs) return MST_VALUE_NO_MEMORY(graph, "for updates");
    mst_collection(graph, MST_UPDATES, NULL, pairs, count);
    for (int i = 0; i < count / 2; i++) pairs[i] = mst_assign(pairs[2 * i], pairs[2 * i + 1]);
    const mst_value all = count > 1 ? mst_group(pairs, count / 2) : mst_no_op(graph);
    free(pairs);
    return all;
}
