#include "strategy/gradient_rows.h"

#include <stdio.h>
#include <stdlib.h>

#include "graph/graph.h"
#include "muster/ops.h"
#include "op/index/gather.h"
#include "op/list.h"
#include "rule/rule.h"

static bool is_sum(const mst_node *node) {
    return node->op == &mst_op_add || node->op == &mst_op_add_n;
}

/* Whether GRADIENT is a gradient of gathered rows, or a sum of such gradients. For an update in the same graph the plan
 * decides in the same way. */
static bool is_row_gradient(mst_value gradient) {
    const mst_node *node = gradient.node;
    if (mst_value_is_none(gradient) || node->num_control > 0) return false;
    if (node->op == &mst_op_gather_grad) return ((const mst_gather_options *)node->options)->axis == 0;
    bool sparse = is_sum(node);
    for (int i = 0; i < node->num_src && sparse; i++) sparse = is_row_gradient(node->src[i]);
    return sparse;
}

static mst_value gradient_of(const mst_update *u, int v, int shard) {
    return u->gradients[(ptrdiff_t)(shard - u->window.first) * u->num_variables + v];
}

/* Returns how many sources GRADIENT gives to leaf_rows. Writes them to SRC unless that is NULL. */
static int list_sources(mst_value gradient, mst_value *src) {
    const mst_node *node = gradient.node;
    int count = 0;
    if (!is_sum(node)) {
        for (int k = 0; k < 2 && src; k++) src[k] = node->src[k];
        return 2;
    }
    for (int i = 0; i < node->num_src; i++) count += list_sources(node->src[i], src ? src + count : NULL);
    return count;
}

bool mst_has_gradient_rows(const mst_update *u, int v) {
    const mst_spec spec = mst_value_spec(u->variables[v]);
    const int end = u->window.first + u->window.count;
    bool sparse = (spec.dtype == MST_F32 || spec.dtype == MST_F64) && mst_shape_count(spec.shape) > 0;
    for (int s = u->window.first; s < end && sparse; s++)
        sparse = is_row_gradient(gradient_of(u, v, s)) &&
                 list_sources(gradient_of(u, v, s), NULL) == list_sources(gradient_of(u, v, u->window.first), NULL);
    return sparse;
}

static mst_row_steps steps_of(const mst_optimizer *optimizer, mst_value variable) {
    const mst_variable_options *o = mst_node_options(variable.node);
    return mst_rule_row_steps(optimizer, o->l1 != 0 || o->l2 != 0);
}

mst_row_values mst_sum_gradient_rows(const mst_update *u, int v, mst_shards shards) {
    const int each = list_sources(gradient_of(u, v, shards.first), NULL);
    const mst_row_steps steps = steps_of(u->optimizer, u->variables[v]);
    const mst_leaf_rows_options options = {.num_rows = mst_value_spec(u->variables[v]).shape.dim[0],
                                           .num_shards = shards.count,
                                           .squares = steps.squares,
                                           .clip = steps.clip};
    mst_value *src = calloc((size_t)shards.count * (size_t)each + 1, sizeof *src);
    if (!src) {
        const mst_value failed = MST_VALUE_NO_MEMORY(u->graph, "for gradients");
        return (mst_row_values){failed, failed};
    }
    for (int s = 0; s < shards.count; s++) list_sources(gradient_of(u, v, shards.first + s), src + (ptrdiff_t)s * each);
    const mst_row_values rows = mst_leaf_rows(src, shards.count * each, &options);
    free(src);
    return rows;
}

mst_value mst_given_gradient_rows(const mst_optimizer *optimizer, mst_value variable, const char *name) {
    mst_graph *graph = mst_value_graph(variable);
    const mst_spec spec = mst_value_spec(variable);
    const mst_row_steps steps = steps_of(optimizer, variable);
    const int64_t columns = mst_shape_count(spec.shape) / spec.shape.dim[0];
    char numbers[64];
    snprintf(numbers, sizeof numbers, "%s_rows", name);
    const mst_row_values given = {
        mst_placeholder(graph, spec.dtype, MST_SHAPE(-1, steps.squares ? 2 * columns : columns), name),
        mst_placeholder(graph, MST_I64, MST_SHAPE(-1), numbers)};
    const mst_sparse_gradient_options options = {.squares = steps.squares, .clipped = steps.clip > 0};
    return mst_sparse_gradient(given, variable, &options);
}
