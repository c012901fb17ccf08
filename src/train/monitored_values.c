#include "train/monitored_values.h"

#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "graph/graph.h"
#include "muster/minimize.h"
#include "muster/ops.h"
#include "run/session.h"
#include "store/store.h"

static const mst_variable_options *options_of(mst_value variable) {
    return mst_node_options(variable.node);
}

/* ---- the list, and the nodes that set it ---- */

static mst_status list_variables(const mst_graph *graph, mst_monitored_values *v) {
    const size_t most = (size_t)graph->num_nodes + 1;
    v->variable = calloc(most, sizeof *v->variable);
    if (!v->variable) return MST_NO_MEMORY("for a list of variables");
    for (int64_t i = 0; i < graph->num_nodes; i++)
        if (graph->node[i]->op->flags & MST_OP_VARIABLE) v->variable[v->count++] = (mst_value){.node = graph->node[i]};
    const size_t count = (size_t)v->count;
    v->input = calloc(count, sizeof *v->input);
    v->assign = calloc(count, sizeof *v->assign);
    v->has = calloc(count, sizeof *v->has);
    return v->input && v->assign && v->has ? MST_OK : MST_NO_MEMORY("for a list of variables");
}

static void add_setters(mst_graph *graph, mst_monitored_values *v) {
    mst_with_name (graph, "restore")
        for (int i = 0; i < v->count; i++) {
            const mst_spec spec = mst_value_spec(v->variable[i]);
            v->input[i] = mst_placeholder(graph, spec.dtype, spec.shape, .name = "value");
            v->assign[i] = mst_assign(v->variable[i], v->input[i]);
        }
}

static mst_status declare_entries(const mst_monitored_values *v) {
    mst_state *state;
    for (int i = 0; i < v->count; i++) {
        const mst_node *node = v->variable[i].node;
        const mst_variable_options *o = options_of(v->variable[i]);
        MST_TRY(mst_store_declare(v->kept, o->container, node->name, (mst_state_kind)o->kind, &node->dst[0], &state));
    }
    return MST_OK;
}

static mst_status open_values(mst_graph *graph, mst_monitored_values *v) {
    v->step = mst_global_step(graph);
    MST_TRY(mst_graph_check(graph));
    MST_TRY(list_variables(graph, v));
    add_setters(graph, v);
    MST_TRY(mst_graph_check(graph));
    MST_TRY(mst_store_create(&v->kept));
    return declare_entries(v);
}

mst_status mst_monitored_values_open(mst_graph *graph, mst_monitored_values *out) {
    *out = (mst_monitored_values){0};
    const mst_status status = open_values(graph, out);
    if (status) mst_monitored_values_free(out);
    return status;
}

void mst_monitored_values_free(mst_monitored_values *values) {
    free(values->variable);
    free(values->input);
    free(values->assign);
    free(values->has);
    mst_store_release(values->kept);
    *values = (mst_monitored_values){0};
}

/* ---- values ---- */

mst_status mst_monitored_values_missing(mst_monitored_values *values, mst_session *session, int *missing,
                                        const char **first) {
    MST_TRY(mst_session_have_values(session, values->variable, values->count, values->has));
    *missing = 0;
    for (int i = values->count - 1; i >= 0; i--)
        if (!values->has[i]) ++*missing, *first = values->variable[i].node->name;
    return MST_OK;
}

static mst_status keep_all(mst_monitored_values *v, mst_tensor *const *value) {
    v->is_whole = false;
    for (int i = 0; i < v->count; i++) {
        const mst_variable_options *o = options_of(v->variable[i]);
        MST_TRY(mst_store_set(v->kept, o->container, v->variable[i].node->name, (mst_state_kind)o->kind, value[i]));
    }
    v->is_whole = true;
    return MST_OK;
}

static void free_tensors(mst_tensor **tensor, int count) {
    for (int i = 0; i < count; i++) mst_tensor_release(tensor[i]);
    free(tensor);
}

mst_status mst_monitored_values_keep(mst_monitored_values *values, mst_session *session, int64_t *step) {
    mst_tensor **value = calloc((size_t)values->count, sizeof *value);
    if (!value) return MST_NO_MEMORY("for the values of variables");
    mst_status status = mst_session_run(session, NULL, 0, values->variable, values->count, value);
    if (!status) status = keep_all(values, value);
    for (int i = 0; i < values->count && !status; i++)
        if (values->variable[i].node == values->step.node) *step = (int64_t)mst_tensor_get(value[i], 0);
    free_tensors(value, values->count);
    return status;
}

mst_status mst_monitored_values_set(const mst_monitored_values *values, mst_session *session) {
    mst_feed *feed = calloc((size_t)values->count, sizeof *feed);
    mst_value *assign = calloc((size_t)values->count, sizeof *assign);
    mst_status status = feed && assign ? MST_OK : MST_NO_MEMORY("for the values of variables");
    int count = 0;
    for (int i = 0; i < values->count && !status; i++) {
        const mst_variable_options *o = options_of(values->variable[i]);
        status = mst_store_get(values->kept, o->container, values->variable[i].node->name, &feed[count].tensor);
        if (status == MST_NOT_FOUND) { /* the copy has no value of this variable */
            status = MST_OK;
            continue;
        }
        feed[count].value = values->input[i];
        assign[count++] = values->assign[i];
    }
    if (!status && count) status = mst_session_run(session, feed, count, assign, count, NULL);
    for (int i = 0; i < values->count && feed; i++) mst_tensor_release(feed[i].tensor);
    free(feed);
    free(assign);
    return status;
}

mst_status mst_monitored_values_step(const mst_monitored_values *values, mst_session *session, int64_t *step) {
    mst_tensor *value;
    MST_TRY(mst_session_get_variable(session, values->step, &value));
    *step = (int64_t)mst_tensor_get(value, 0);
    mst_tensor_release(value);
    return MST_OK;
}
