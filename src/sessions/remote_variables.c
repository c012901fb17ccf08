/* Variables of a session with a target. Each variable is in the store of a task. To find out which, the session makes a
 * plan that fetches the variable. */
#include <stdlib.h>

#include "base/no_memory.h"
#include "graph/graph.h"
#include "muster/ops.h"
#include "run/bare_variables.h"
#include "sessions/remote_inside.h"

/* Asks whether each of COUNT variables has a value: HAS[i]. If VALUE is not NULL, COUNT must be 1, and the variable is
 * set. */
static mst_status ask_states(mst_remote_session *rs, const mst_value *variable, int count, const mst_tensor *value,
                             unsigned char *has) {
    mst_remote_plan *plan;
    mst_wire_writer w = {0};
    mst_wire_reader r;
    mst_task_message *message;
    size_t bytes;
    MST_TRY(mst_remote_prepare(rs));
    MST_TRY(mst_remote_plan_get(rs, NULL, 0, variable, count, &plan));
    mst_wire_put_number(&w, (uint64_t)count);
    for (int i = 0; i < count; i++) {
        const mst_variable_options *o = mst_node_options(variable[i].node);
        mst_wire_put_number(&w, (uint64_t)(plan->fetch_task[i] >= 0 ? plan->fetch_task[i] : 0));
        mst_wire_put_text(&w, o->container ? o->container : "");
        mst_wire_put_text(&w, variable[i].node->name);
        mst_wire_put_number(&w, (uint64_t)o->kind);
        mst_wire_put_optional(&w, value);
    }
    MST_TRY(mst_remote_ask(rs, MST_SESSION_STATE, &w, &message, &r, NULL));
    const unsigned char *answer = mst_wire_get_bytes(&r, &bytes);
    mst_status status = mst_wire_check_read(&r, "the leader");
    if (!status && bytes != (size_t)count)
        status = MST_FAIL(MST_CORRUPT,
                          "a message from the task server is damaged: run the same version of Muster on both sides");
    for (int i = 0; i < count && !status; i++) has[i] = answer[i];
    mst_task_message_free(message);
    return status;
}

/* ---- one variable ---- */

mst_status mst_remote_get_variable(mst_remote_session *rs, mst_value variable, mst_tensor **out) {
    unsigned char has = 1;
    mst_tensor *value = NULL;
    mst_failure failure;
    pthread_mutex_lock(&rs->lock);
    mst_status status = mst_remote_run(rs, &(mst_remote_call){.uncounted = true}, NULL, 0, &variable, 1, &value);
    if (status) {
        mst_failure_keep(&failure, status);
        if (ask_states(rs, &variable, 1, NULL, &has)) has = 1;
        status = has ? mst_failure_restore(&failure) : MST_NOT_FOUND;
    }
    pthread_mutex_unlock(&rs->lock);
    if (!status) *out = value;
    return status;
}

mst_status mst_remote_set_variable(mst_remote_session *rs, mst_value variable, const mst_tensor *value) {
    unsigned char has;
    pthread_mutex_lock(&rs->lock);
    const mst_status status = ask_states(rs, &variable, 1, value, &has);
    pthread_mutex_unlock(&rs->lock);
    return status;
}

mst_status mst_remote_have_values(mst_remote_session *rs, const mst_value *variable, int count, unsigned char *has) {
    pthread_mutex_lock(&rs->lock);
    const mst_status status = ask_states(rs, variable, count, NULL, has);
    pthread_mutex_unlock(&rs->lock);
    return status;
}

/* ---- first values ---- */

typedef struct variable_list {
    mst_value *variable; /* in the order of their ids */
    unsigned char *has;
    int count;
} variable_list;

static bool is_bare_in_other_tasks(void *context, const mst_node *variable) {
    const variable_list *list = context;
    int first = 0, end = list->count;
    while (end - first > 1) {
        const int middle = first + (end - first) / 2;
        if (list->variable[middle].node->id <= variable->id)
            first = middle;
        else
            end = middle;
    }
    return end > first && list->variable[first].node == variable && !list->has[first];
}

static mst_status list_variables(const mst_graph *graph, variable_list *list) {
    list->count = 0;
    list->variable = calloc((size_t)graph->num_nodes + 1, sizeof *list->variable);
    list->has = calloc((size_t)graph->num_nodes + 1, sizeof *list->has);
    if (!list->variable || !list->has) return MST_NO_MEMORY("for initial values");
    for (int64_t id = 0; id < graph->num_nodes; id++)
        if (graph->node[id]->op->flags & MST_OP_VARIABLE)
            list->variable[list->count++] = (mst_value){.node = graph->node[id]};
    return MST_OK;
}

/* Runs the initial values of the variables that have no value yet. *WANTED: the number of these variables. */
static mst_status init_some(mst_remote_session *rs, int *wanted) {
    variable_list list = {0};
    mst_value *assigns = NULL;
    mst_remote_call call = {.initial = true, .uncounted = true};
    *wanted = 0;
    MST_TRY(mst_graph_read_begin(rs->graph));
    mst_status status = list_variables(rs->graph, &list);
    mst_graph_read_end(rs->graph);
    if (!status && list.count) status = ask_states(rs, list.variable, list.count, NULL, list.has);
    if (!status) status = mst_graph_read_begin(rs->graph);
    if (!status) {
        status = mst_list_bare(rs->graph, is_bare_in_other_tasks, &list, &assigns, wanted);
        mst_graph_read_end(rs->graph);
    }
    if (!status && *wanted) status = mst_remote_run(rs, &call, NULL, 0, assigns, *wanted, NULL);
    free(list.variable);
    free(list.has);
    free(assigns);
    return call.overtaken ? MST_OK : status;
}

mst_status mst_remote_init_variables(mst_remote_session *rs) {
    mst_status status;
    int wanted;
    pthread_mutex_lock(&rs->lock);
    /* again until none is left: some initial values are computed from variables, and another session may give some
     * variables values meanwhile */
    do {
        status = init_some(rs, &wanted);
    } while (!status && wanted);
    pthread_mutex_unlock(&rs->lock);
    return status;
}
