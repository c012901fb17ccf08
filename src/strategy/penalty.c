#include "strategy/penalty.h"

#include <stdlib.h>

#include "graph/graph.h"
#include "muster/loss.h"

/* l1 * sum |w| + l2 / 2 * sum w^2 */
static mst_regularizer regularizer_of(mst_value variable) {
    float l1, l2;
    mst_variable_penalty(variable, &l1, &l2);
    return (mst_regularizer){.l1 = (double)l1, .l2 = (double)l2, .half = true};
}

bool mst_has_penalty(mst_value variable) {
    const mst_regularizer r = regularizer_of(variable);
    return r.l1 != 0 || r.l2 != 0;
}

mst_value mst_penalties(mst_graph *graph) {
    const int count = mst_collection(graph, MST_TRAINABLE, NULL, NULL, 0);
    int terms = 0;
    mst_value *values = calloc((size_t)count + 1, sizeof *values);
    if (!values) return MST_VALUE_NO_MEMORY(graph, "for penalties");
    mst_collection(graph, MST_TRAINABLE, NULL, values, count);
    for (int v = 0; v < count; v++) {
        const mst_regularizer r = regularizer_of(values[v]);
        if (mst_has_penalty(values[v])) values[terms++] = mst_regularizer_value(&r, values[v]);
    }
    const mst_value sum = terms > 1 ? mst_add_n(values, terms) : terms == 1 ? values[0] : MST_NONE;
    free(values);
    return sum;
}
