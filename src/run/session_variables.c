/* Variables from outside of a step: reading and setting one, which the store does, and first values.
 *
 * First values are computed by a run of the assignments of all variables that have none. A first value that is computed
 * from another variable is for a later run of them. Another session of the store may do the same at the same time: who
 * comes second leaves what is there. */
#include "run/session.h"

#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/clock.h"
#include "base/no_memory.h"
#include "graph/spec.h"
#include "muster/ops.h"

static const mst_variable_options *variable_options(mst_value variable) {
    return mst_node_options(variable.node);
}

mst_status mst_session_get_variable(mst_session *session, mst_value variable, mst_tensor **out) {
    if (MST_IS_NULL(session) || MST_IS_NULL(out)) return MST_INVALID;
    *out = NULL;
    if (!mst_is_variable(variable))
        return MST_FAIL(MST_INVALID, "get_variable: '%s' is no variable", mst_value_name(variable));
    MST_TRY(mst_session_enter(session));
    mst_status status = mst_store_read(session->store, variable_options(variable)->container, variable.node->name,
                                       mst_clock_after(session->options.timeout), out);
    mst_session_leave(session);
    if (status != MST_NOT_FOUND) return status;
    return MST_FAIL(MST_NOT_FOUND, "variable '%s' has no value yet: call mst_session_init_variables first",
                    variable.node->name);
}

mst_status mst_session_set_variable(mst_session *session, mst_value variable, const mst_tensor *value) {
    if (MST_IS_NULL(session) || MST_IS_NULL(value)) return MST_INVALID;
    if (!mst_is_variable(variable))
        return MST_FAIL(MST_INVALID, "set_variable: '%s' is no variable", mst_value_name(variable));
    const mst_spec *spec = &variable.node->dst[0], given = mst_spec_of(value);
    if (!mst_spec_equal(&given, spec)) {
        char have[MST_SPEC_TEXT], want[MST_SPEC_TEXT];
        return MST_FAIL(MST_INVALID, "set_variable: '%s' is %s, the value is %s", variable.node->name,
                        mst_spec_print(spec, want, sizeof want), mst_spec_print(&given, have, sizeof have));
    }
    MST_TRY(mst_graph_check(session->graph));
    MST_TRY(mst_session_enter(session));
    const mst_variable_options *o = variable_options(variable);
    const mst_status status =
        mst_store_write(session->store, o->container, variable.node->name, (mst_state_kind)o->kind, value,
                        mst_clock_after(session->options.timeout));
    mst_session_leave(session);
    return status;
}

static bool is_bare(mst_session *session, const mst_node *variable) {
    const mst_variable_options *o = variable->options;
    const mst_state *state = mst_store_find(session->store, o->container, variable->name);
    return !state || !mst_state_has_value(session->store, state);
}

/* Fills BARE: by node, whether it is computed from a variable that has no value. Sources come before what uses them. */
static void mark_bare(mst_session *session, bool *bare) {
    for (int64_t id = 0; id < session->graph->num_nodes; id++) {
        const mst_node *node = session->graph->node[id];
        bare[id] = (node->op->flags & MST_OP_VARIABLE) && is_bare(session, node);
        for (int i = 0; i < node->num_src && !bare[id]; i++) bare[id] = bare[node->src[i].node->id];
        for (int i = 0; i < node->num_control && !bare[id]; i++) bare[id] = bare[node->control[i]->id];
    }
}

/* Assignments of first values to the variables that have none, of those whose first value can be computed now. Where
 * there is none of these, all: the run says what is missing. */
static int find_bare(mst_session *session, int count, mst_value *out, bool *bare) {
    int wanted = 0, ready = 0;
    mst_collection(session->graph, MST_INITIALIZERS, NULL, out, count);
    mark_bare(session, bare);
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

/* The same as a list, which takes the place of *OUT. */
static mst_status list_bare(mst_session *session, mst_value **out, int *wanted) {
    const int count = mst_collection(session->graph, MST_INITIALIZERS, NULL, NULL, 0);
    free(*out);
    *out = malloc(((size_t)count + 1) * sizeof **out);
    bool *bare = malloc((size_t)session->graph->num_nodes + 1);
    const mst_status status = *out && bare ? MST_OK : MST_NO_MEMORY("for initial values");
    if (!status) *wanted = find_bare(session, count, *out, bare);
    free(bare);
    return status;
}

static mst_status init_variables(mst_session *session) {
    mst_value *assigns = NULL;
    mst_status status;
    int wanted;
    /* Again for those that are computed from the first ones, and where another session of the store was faster with
     * some of them, and has trained since. */
    do {
        if ((status = mst_graph_read_begin(session->graph))) break;
        status = list_bare(session, &assigns, &wanted);
        mst_graph_read_end(session->graph);
        if (status || wanted == 0) break;
        mst_call_purpose purpose = {.initial = true, .once = true};
        status = mst_session_call(session, &purpose, NULL, 0, assigns, wanted, NULL);
        if (purpose.overtaken) status = MST_OK;
    } while (!status);
    free(assigns);
    return status;
}

mst_status mst_session_init_variables(mst_session *session) {
    if (MST_IS_NULL(session)) return MST_INVALID;
    MST_TRY(mst_session_enter(session));
    const mst_status status = init_variables(session);
    mst_session_leave(session);
    return status;
}
