#include <stdio.h>
#include <string.h>

#include "graph/graph.h"
#include "muster/layer.h"
#include "muster/ops.h"

static mst_value found(mst_graph *graph, mst_node *node, const mst_get_variable_options *o) {
    mst_value variable = {.node = node};
    mst_spec spec = mst_value_spec(variable);
    char have[MST_SHAPE_TEXT], want[MST_SHAPE_TEXT];
    if (!mst_is_variable(variable))
        return mst_value_fail(graph, MST_EXISTS, "variable '%s': the name is taken by a node of op %s", node->name,
                              node->op->name);
    if (spec.dtype != o->dtype || !mst_shape_equal(spec.shape, o->shape))
        return mst_value_fail(graph, MST_INVALID, "variable '%s' is %s%s, and is asked for as %s%s", node->name,
                              mst_dtype_name(spec.dtype), mst_shape_print(spec.shape, have, sizeof have),
                              mst_dtype_name(o->dtype), mst_shape_print(o->shape, want, sizeof want));
    return variable;
}

static mst_value create(mst_graph *graph, const char *name, const mst_get_variable_options *o) {
    char scope[512];
    snprintf(scope, sizeof scope, "%s/initial_value", name);
    mst_value initial = MST_NONE;
    mst_name_scope_enter(graph, scope);
    mst_control_clear(graph);
    initial = mst_initializer_value(graph, o->initializer, o->dtype, o->shape);
    mst_name_scope_pop(graph);
    return mst_variable(graph, name, initial, .not_trainable = o->not_trainable, .l1 = o->l1, .l2 = o->l2);
}

mst_value mst_get_variable_with(mst_get_variable_options o) {
    mst_graph *graph = o.graph;
    if (!graph) return mst_value_fail(NULL, MST_INVALID, "get_variable '%s': no graph", o.name ? o.name : "");
    if (!o.dtype) o.dtype = MST_F32;
    if (!o.name) return mst_value_fail(graph, MST_INVALID, "get_variable: no name");
    char name[512];
    snprintf(name, sizeof name, "%s%s", graph->current.variable_prefix, o.name);
    mst_node *node = mst_graph_find(graph, name);
    mst_reuse reuse = graph->current.reuse;
    if (node && reuse == MST_REUSE_INHERIT)
        return mst_value_fail(graph, MST_EXISTS,
                              "variable '%s' is there already: share it in a variable scope with reuse", name);
    if (!node && reuse == MST_REUSE_TRUE)
        return mst_value_fail(graph, MST_NOT_FOUND, "variable '%s' is to be reused, but is not there: make it first",
                              name);
    return node ? found(graph, node, &o) : create(graph, name, &o);
}
