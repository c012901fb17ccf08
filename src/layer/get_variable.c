#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"
#include "graph/spec.h"
#include "muster/layer.h"
#include "muster/ops.h"

static mst_value found(mst_graph *graph, mst_node *node, const mst_get_variable_options *o) {
    mst_value variable = {.node = node};
    mst_spec spec = mst_value_spec(variable);
    const mst_spec wanted = {o->dtype, o->shape};
    char have[MST_SPEC_TEXT], want[MST_SPEC_TEXT];
    if (!mst_is_variable(variable))
        return mst_value_fail(graph, MST_EXISTS, "variable '%s': the name is taken by a node of op %s", node->name,
                              node->op->name);
    if (!mst_spec_equal(&spec, &wanted))
        return mst_value_fail(graph, MST_INVALID, "variable '%s' is %s, and is asked for as %s", node->name,
                              mst_spec_print(&spec, have, sizeof have), mst_spec_print(&wanted, want, sizeof want));
    return variable;
}

static mst_value get_variable_create(mst_graph *graph, const char *name, const mst_get_variable_options *o) {
    char *scope = NULL;
    if (asprintf(&scope, "%s/initial_value", name) < 0) return MST_VALUE_NO_MEMORY(graph, "for a variable");
    mst_value initial = MST_NONE;
    mst_name_scope_enter(graph, scope);
    mst_control_clear(graph);
    initial = mst_initializer_value(graph, o->initializer, o->dtype, o->shape);
    mst_name_scope_pop(graph);
    free(scope);
    return mst_variable(graph, name, initial, .not_trainable = o->not_trainable, .l1 = o->l1, .l2 = o->l2,
                        .constraint = o->constraint);
}

/* The existing variable with the name FULL, or a new one. The `reuse` of the innermost scope decides which. */
static mst_value get(mst_graph *graph, const char *full, const mst_get_variable_options *o) {
    mst_node *node = mst_graph_find(graph, full);
    const mst_reuse reuse = graph->current.reuse;
    if (node && reuse == MST_REUSE_INHERIT)
        return mst_value_fail(graph, MST_EXISTS,
                              "variable '%s' is there already: share it in a variable scope with reuse", full);
    if (!node && reuse == MST_REUSE_TRUE)
        return mst_value_fail(graph, MST_NOT_FOUND, "variable '%s' is to be reused, but is not there: make it first",
                              full);
    return node ? found(graph, node, o) : get_variable_create(graph, full, o);
}

mst_value mst_get_variable_with(mst_get_variable_options o) {
    mst_graph *graph = o.graph;
    const char *name = o.name;
    if (MST_IS_NULL(graph)) return MST_NONE;
    if (!o.dtype) o.dtype = MST_F32;
    if (MST_IS_NULL_IN(graph, name)) return mst_graph_error_value(graph);
    char *full = NULL;
    if (asprintf(&full, "%s%s", graph->current.variable_prefix, name) < 0)
        return MST_VALUE_NO_MEMORY(graph, "for a variable");
    const mst_value variable = get(graph, full, &o);
    free(full);
    return variable;
}
