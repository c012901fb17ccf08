#include "run/session.h"

#include <stdlib.h>
#include <string.h>

#include "tensor/buffer.h"
#include "tensor/spec.h"

static const double DEFAULT_TIMEOUT = 600, MOST_TIMEOUT = 1e9; /* seconds */

static int64_t held_bytes(void *context, int device) {
    return mst_session_device_memory(context, device);
}

mst_status mst_session_create(mst_graph *graph, const mst_session_options *options, mst_session **out) {
    *out = NULL;
    mst_session *session = calloc(1, sizeof *session);
    if (!session) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for a session");
    if (options) session->options = *options;
    session->graph = graph;
    mst_status status = MST_OK;
    if (!(session->options.timeout >= 0 && session->options.timeout <= MOST_TIMEOUT))
        status = MST_FAIL(MST_INVALID, "session: timeout is %g s, must be from 0 (the default, %g) to %g",
                          session->options.timeout, DEFAULT_TIMEOUT, MOST_TIMEOUT);
    if (session->options.memory_limit < 0) status = MST_FAIL(MST_INVALID, "session: memory_limit must not be negative");
    if (session->options.timeout == 0) session->options.timeout = DEFAULT_TIMEOUT;
    if (!status) status = mst_devices_parse(session->options.devices, session->options.memory_limit, &session->devices);
    if (!status) status = mst_devices_show(&session->devices, session->options.visible_devices);
    session->options.devices = session->options.visible_devices = NULL; /* the strings are the caller's */
    if (!status) status = mst_executor_create(&session->devices, &session->options, &session->executor);
    if (!status) {
        session->variable_bytes = calloc((size_t)session->devices.count, sizeof *session->variable_bytes);
        if (!session->variable_bytes) status = MST_FAIL(MST_OUT_OF_MEMORY, "cannot get memory for a session");
    }
    session->host = (mst_plan_host){.devices = &session->devices,
                                    .options = &session->options,
                                    .context = session,
                                    .store = mst_session_store,
                                    .variable = mst_session_variable,
                                    .held_bytes = held_bytes,
                                    .feed = mst_port_feed,
                                    .fetch = mst_port_fetch,
                                    .send = mst_port_send,
                                    .receive = mst_port_receive};
    if (status)
        mst_session_destroy(session);
    else
        *out = session;
    return status;
}

void mst_session_destroy(mst_session *session) {
    if (!session) return;
    mst_executor_destroy(session->executor);
    for (int64_t i = 0; i < session->num_plans; i++) mst_cached_plan_destroy(session->plans[i]);
    for (int64_t i = 0; i < session->num_blocks; i++) mst_buffer_free(session->blocks[i]);
    mst_devices_free(&session->devices);
    free(session->plans);
    free(session->blocks);
    free(session->storage);
    free(session->storage_of);
    free(session->variable_bytes);
    free(session);
}

static mst_status check_call(const mst_session *session, const mst_feed *feeds, int num_feeds, const mst_value *fetches,
                             int num_fetches) {
    MST_TRY(mst_graph_check(session->graph));
    for (int i = 0; i < num_feeds; i++) {
        if (mst_value_is_none(feeds[i].value) || mst_value_graph(feeds[i].value) != session->graph)
            return MST_FAIL(MST_INVALID, "run: feed %d is no value of the session's graph", i);
        if (!feeds[i].tensor == !feeds[i].fill)
            return MST_FAIL(MST_INVALID, "run: the feed of '%s' needs a tensor or a fill function, and not both",
                            mst_value_name(feeds[i].value));
        int64_t count;
        if (feeds[i].fill && mst_tensor_check(feeds[i].spec.dtype, feeds[i].spec.shape, &count))
            return mst_error_prefix("run: the feed of '%s'", mst_value_name(feeds[i].value));
        for (int k = 0; k < i; k++)
            if (mst_value_equal(feeds[i].value, feeds[k].value))
                return MST_FAIL(MST_INVALID, "run: '%s' is fed twice", mst_value_name(feeds[i].value));
    }
    for (int i = 0; i < num_fetches; i++)
        if (mst_value_is_none(fetches[i]) || mst_value_graph(fetches[i]) != session->graph)
            return MST_FAIL(MST_INVALID, "run: fetch %d is no value of the session's graph", i);
    return MST_OK;
}

/* A tensor for each fetch that has a value, the caller's own where it fits. */
static mst_status prepare_outputs(const mst_plan *plan, mst_tensor **outputs) {
    for (int i = 0; outputs && i < plan->num_fetches; i++) {
        const mst_plan_node *fetch = &plan->node[plan->fetch_node[i]];
        mst_tensor *output = outputs[i];
        if (fetch->num_src) {
            const mst_spec *spec = &plan->value[fetch->src[0]].spec;
            if (output && mst_tensor_references(output) == 1 && mst_tensor_dtype(output) == spec->dtype &&
                mst_shape_equal(mst_tensor_shape(output), spec->shape))
                continue;
            mst_tensor *fresh;
            MST_TRY(mst_tensor_create(spec->dtype, spec->shape, &fresh));
            outputs[i] = fresh;
        } else {
            outputs[i] = NULL;
        }
        mst_tensor_release(output);
    }
    return MST_OK;
}

static mst_status check_initialized(mst_session *session, mst_plan *plan) {
    for (int64_t i = 0; i < plan->num_read && !plan->reads_initialized; i++) {
        const mst_storage *storage = mst_session_storage(session, plan->read[i]);
        if (storage && storage->initialized) continue;
        MST_FAIL(MST_INVALID, "variable '%s' is read, but has no value: call mst_session_init_variables first",
                 plan->read[i]->name);
        return mst_error_at(plan->read[i]->name, NULL);
    }
    plan->reads_initialized = true; /* a variable never loses its value */
    return MST_OK;
}

mst_status mst_session_run(mst_session *session, const mst_feed *feeds, int num_feeds, const mst_value *fetches,
                           int num_fetches, mst_tensor **outputs) {
    MST_TRY(check_call(session, feeds, num_feeds, fetches, num_fetches));
    mst_cached_plan *cached;
    MST_TRY(mst_session_plan(session, feeds, num_feeds, fetches, num_fetches, &cached));
    mst_plan *plan = cached->plan;
    MST_TRY(check_initialized(session, plan));
    /* an output that is fed too must neither be written in place nor go before the end */
    for (int i = 0; i < num_feeds; i++)
        if (feeds[i].tensor) mst_tensor_retain(feeds[i].tensor);
    mst_status status = prepare_outputs(plan, outputs);
    cached->ports.feeds = feeds;
    cached->ports.outputs = outputs;
    for (int64_t i = 0; i < plan->num_patches; i++)
        *plan->patch[i].data = mst_tensor_data(feeds[plan->patch[i].feed].tensor);
    mst_step step = {.seed = mst_graph_seed(session->graph), .number = session->step};
    if (!status) status = mst_executor_run(session->executor, plan, cached->ports.rendezvous, &step);
    for (int i = 0; i < num_feeds; i++) mst_tensor_release(feeds[i].tensor);
    if (status) return status;
    for (int64_t i = 0; i < plan->num_written; i++) mst_session_storage(session, plan->written[i])->initialized = true;
    session->step++;
    return MST_OK;
}

void mst_session_set_step(mst_session *session, int64_t step) {
    session->step = step;
}

int64_t mst_session_step(const mst_session *session) {
    return session->step;
}

int mst_session_num_devices(const mst_session *session) {
    return session->devices.count;
}

const char *mst_session_device(const mst_session *session, int i) {
    return i >= 0 && i < session->devices.count ? session->devices.device[i].text : "";
}

int64_t mst_session_device_memory(const mst_session *session, int i) {
    if (i < 0 || i >= session->devices.count) return 0;
    int64_t bytes = session->variable_bytes[i];
    for (int64_t k = 0; k < session->num_plans; k++) {
        const mst_program *program = &session->plans[k]->plan->program[i];
        bytes += program->arena_bytes + program->workspace_bytes;
    }
    return bytes;
}

int64_t mst_session_num_plans(const mst_session *session) {
    return session->plans_made;
}
