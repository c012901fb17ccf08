/* Access to variables outside of a step: reading and setting a value, which the store does, and first values.
 *
 * First values are computed by a run of the assignments of all variables that have no value. A first value that is
 * computed from another variable is assigned in a later run. Another session of the store may do the same at the same
 * time: the second session keeps values that exist already. A run has its values in memory twice. If memory has no room
 * for that, the next run has half as many assignments. */
#include "run/session.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/clock.h"
#include "base/failure.h"
#include "base/no_memory.h"
#include "graph/spec.h"
#include "muster/ops.h"
#include "run/bare_variables.h"

static const mst_variable_options *variable_options(mst_value variable) {
    return mst_node_options(variable.node);
}

mst_status mst_session_get_variable(mst_session *session, mst_value variable, mst_tensor **out) {
    if (MST_IS_NULL(session) || MST_IS_NULL(out)) return MST_INVALID;
    *out = NULL;
    if (!mst_is_variable(variable))
        return MST_FAIL(MST_INVALID, "get_variable: '%s' is no variable", mst_value_name(variable));
    MST_TRY(mst_session_enter(session));
    mst_status status;
    if (session->other_tasks)
        status = session->other_tasks->get_variable(session->other_tasks_context, variable, out);
    else
        status = mst_store_read(session->store, variable_options(variable)->container, variable.node->name,
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
    mst_status status;
    if (session->other_tasks)
        status = session->other_tasks->set_variable(session->other_tasks_context, variable, value);
    else
        status = mst_store_write(session->store, o->container, variable.node->name, (mst_state_kind)o->kind, value,
                                 mst_clock_after(session->options.timeout));
    mst_session_leave(session);
    return status;
}

static bool is_bare(void *context, const mst_node *variable) {
    const mst_session *session = context;
    const mst_variable_options *o = variable->options;
    const mst_state *state = mst_store_find(session->store, o->container, variable->name);
    return !state || !mst_state_has_value(session->store, state);
}

mst_status mst_session_have_values(mst_session *session, const mst_value *variable, int count, unsigned char *has) {
    mst_status status = MST_OK;
    MST_TRY(mst_session_enter(session));
    if (session->other_tasks)
        status = session->other_tasks->have_values(session->other_tasks_context, variable, count, has);
    else
        for (int i = 0; i < count; i++) has[i] = !is_bare(session, variable[i].node);
    mst_session_leave(session);
    return status;
}

static mst_status init_variables(mst_session *session) {
    mst_value *assigns = NULL;
    mst_status status;
    int wanted, most = INT_MAX;
    mst_failure first = {.code = MST_OK}; /* the first MST_OUT_OF_MEMORY: it says what all values together need */
    /* Repeats for first values that depend on other variables. Also repeats if another session of the store has given
     * some of these variables values in the meantime. */
    do {
        if ((status = mst_graph_read_begin(session->graph))) break;
        status = mst_list_bare(session->graph, is_bare, session, &assigns, &wanted);
        mst_graph_read_end(session->graph);
        if (status || wanted == 0) break;
        mst_call_purpose purpose = {.initial = true, .once = true};
        if (wanted > most) wanted = most;
        status = mst_session_call(session, &purpose, NULL, 0, assigns, wanted, NULL);
        if (purpose.overtaken) status = MST_OK;
        if (status == MST_OUT_OF_MEMORY && !first.code) mst_failure_keep(&first, status);
        if (status == MST_OUT_OF_MEMORY && wanted > 1) {
            most = wanted / 2;
            status = MST_OK;
        }
    } while (!status);
    if (status == MST_OUT_OF_MEMORY) status = mst_failure_restore(&first);
    free(assigns);
    return status;
}

mst_status mst_session_init_variables(mst_session *session) {
    if (MST_IS_NULL(session)) return MST_INVALID;
    MST_TRY(mst_session_enter(session));
    const mst_status status = session->other_tasks ? session->other_tasks->init_variables(session->other_tasks_context)
                                                   : init_variables(session);
    mst_session_leave(session);
    return status;
}
