/* mst_session_create: makes a session on the devices of this process, or of the task servers at its target. */
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/no_memory.h"
#include "graph/graph.h"
#include "run/session.h"
#include "sessions/remote_inside.h"
#include "store/store.h"

static const double PATIENCE = 10; /* seconds for the target to answer */

static void free_remote(mst_remote_session *rs) {
    mst_remote_forget(rs);
    mst_remote_client_close(rs->client);
    for (int i = 0; i < rs->num_devices; i++) free(rs->device[i]);
    free(rs->device);
    pthread_mutex_destroy(&rs->lock);
    free(rs);
}

static void other_tasks_destroy(void *context) {
    free_remote(context);
}

static int other_tasks_num_devices(const void *context) {
    return ((const mst_remote_session *)context)->num_devices;
}

static const char *other_tasks_device(const void *context, int i) {
    const mst_remote_session *rs = context;
    return i >= 0 && i < rs->num_devices ? rs->device[i] : "";
}

static mst_status other_tasks_init_variables(void *context) {
    return mst_remote_init_variables(context);
}

static mst_status other_tasks_run(void *context, const mst_feed *feeds, int num_feeds, const mst_value *fetches,
                                  int num_fetches, mst_tensor **outputs) {
    mst_remote_session *rs = context;
    MST_TRY(mst_session_check_call(rs->graph, feeds, num_feeds, fetches, num_fetches));
    pthread_mutex_lock(&rs->lock);
    const mst_status status =
        mst_remote_run(rs, &(mst_remote_call){0}, feeds, num_feeds, fetches, num_fetches, outputs);
    pthread_mutex_unlock(&rs->lock);
    return status;
}

static mst_status other_tasks_get_variable(void *context, mst_value variable, mst_tensor **out) {
    return mst_remote_get_variable(context, variable, out);
}

static mst_status other_tasks_set_variable(void *context, mst_value variable, const mst_tensor *value) {
    return mst_remote_set_variable(context, variable, value);
}

static mst_status other_tasks_have_values(void *context, const mst_value *variable, int count, unsigned char *has) {
    return mst_remote_have_values(context, variable, count, has);
}

static int64_t other_tasks_num_plans(void *context) {
    mst_remote_session *rs = context;
    pthread_mutex_lock(&rs->lock);
    const int64_t count = rs->plans_made;
    pthread_mutex_unlock(&rs->lock);
    return count;
}

static const mst_other_tasks_type task_servers = {.destroy = other_tasks_destroy,
                                                  .num_devices = other_tasks_num_devices,
                                                  .device = other_tasks_device,
                                                  .init_variables = other_tasks_init_variables,
                                                  .run = other_tasks_run,
                                                  .get_variable = other_tasks_get_variable,
                                                  .set_variable = other_tasks_set_variable,
                                                  .have_values = other_tasks_have_values,
                                                  .num_plans = other_tasks_num_plans};

static mst_status check_given(const mst_session_options *o) {
    const char *const wrong = o->devices                   ? "devices"
                              : o->visible_devices         ? "visible_devices"
                              : o->store                   ? "store"
                              : o->job_name                ? "job_name"
                              : o->pin_threads             ? "pin_threads"
                              : o->recompute               ? "recompute"
                              : o->precision > MST_FLOAT32 ? "precision"
                                                           : NULL;
    if (!wrong) return MST_OK;
    return MST_FAIL(
        MST_INVALID,
        "session: leave '%s' out when there is a target: the task servers have their own, given when they were started",
        wrong);
}

/* Makes a session on the task servers at the target. PLAN_PASS: `plan_pass` of O, as a string that lives as long as the
 * session. */
static mst_status make_remote(mst_graph *graph, const mst_session_options *o, const char *plan_pass,
                              mst_remote_session **out) {
    const double timeout = o->timeout > 0 ? o->timeout : MST_DEFAULT_TIMEOUT;
    MST_TRY(check_given(o));
    mst_remote_session *rs = calloc(1, sizeof *rs);
    if (!rs) return MST_NO_MEMORY("for a session");
    rs->graph = graph;
    rs->options = *o;
    rs->options.timeout = timeout;
    rs->options.target = rs->options.key_file = NULL;
    rs->options.plan_pass = plan_pass;
    pthread_mutex_init(&rs->lock, NULL);
    mst_status status = mst_remote_client_open(o->target, o->key_file, o->insecure,
                                               timeout < PATIENCE ? timeout : PATIENCE, &rs->client);
    if (!status) status = mst_remote_prepare(rs);
    if (status)
        free_remote(rs);
    else
        *out = rs;
    return status;
}

mst_status mst_session_create(mst_graph *graph, const mst_session_options *options, mst_session **out) {
    if (MST_IS_NULL(graph) || MST_IS_NULL(out)) return MST_INVALID;
    *out = NULL;
    if (!options || !options->target || !*options->target) return mst_session_create_here(graph, options, out);
    mst_session_options own = *options;
    mst_remote_session *rs;
    own.target = own.key_file = NULL; /* these strings belong to the caller: not kept */
    MST_TRY(mst_session_create_in_other_tasks(graph, &own, &task_servers, NULL, out));
    const mst_status status = make_remote(graph, options, (*out)->plan_pass, &rs);
    if (status) {
        (*out)->other_tasks = NULL;
        mst_session_destroy(*out);
        *out = NULL;
        return status;
    }
    (*out)->other_tasks_context = rs;
    return MST_OK;
}
