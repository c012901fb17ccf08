/* Requests of a session to its leader: opening, plans, runs. */
#include <stdlib.h>
#include <string.h>

#include "base/no_memory.h"
#include "graph/graph.h"
#include "graph/spec.h"
#include "sessions/remote_inside.h"
#include "tensor/string.h"

/* factor, seconds: so long that the leader gives up before its client does */
static const double LONGER = 2, GRACE = 15;
enum { MOST_PLANS = 64 };

mst_status mst_remote_ask(mst_remote_session *rs, int32_t kind, mst_wire_writer *w, mst_task_message **message,
                          mst_wire_reader *r, mst_failure *failure) {
    mst_failure own, *f = failure ? failure : &own;
    const mst_status status =
        mst_remote_client_ask(rs->client, kind, rs->id, w, LONGER * rs->options.timeout + GRACE, message);
    mst_wire_free(w);
    if (status) rs->is_open = false;
    MST_TRY(status);
    *r = (mst_wire_reader){.at = (*message)->body, .left = (*message)->bytes};
    mst_wire_get_failure(r, f);
    if (failure || !f->code) return MST_OK;
    mst_task_message_free(*message);
    return mst_failure_restore(f);
}

/* ---- opening ---- */

static mst_status read_devices(mst_remote_session *rs, mst_wire_reader *r) {
    enum { EACH = 16 };
    const int32_t count = mst_wire_get_count(r, EACH);
    char **device = calloc((size_t)count + 1, sizeof *device);
    bool whole = device;
    for (int32_t i = 0; i < count && device; i++) whole &= (device[i] = strdup(mst_wire_get_text(r))) != NULL;
    const mst_status status = whole ? mst_wire_check_read(r, "the leader") : MST_NO_MEMORY("for a session");
    if (status || rs->device) { /* names of an earlier session stay: other threads may be reading them */
        for (int32_t i = 0; i < count && device; i++) free(device[i]);
        free(device);
        return status;
    }
    rs->device = device;
    rs->num_devices = count;
    return MST_OK;
}

static mst_status open_session(mst_remote_session *rs) {
    const mst_session_options *o = &rs->options;
    mst_wire_writer w = {0};
    mst_wire_reader r;
    mst_task_message *message;
    void *data = NULL;
    size_t size = 0;
    MST_TRY(mst_graph_read_begin(rs->graph));
    rs->graph_version = mst_graph_version(rs->graph);
    mst_status status = rs->graph->num_nodes ? mst_graph_encode(rs->graph, &data, &size) : MST_OK;
    mst_graph_read_end(rs->graph);
    MST_TRY(status);
    const mst_open_message open = {.first = mst_remote_client_target(rs->client),
                                   .soft_placement = o->allow_soft_placement,
                                   .check_numerics = o->check_numerics,
                                   .logs = o->placement_log != NULL,
                                   .plans = o->plan_log != NULL,
                                   .plan_pass = o->plan_pass,
                                   .memory_limit = o->memory_limit,
                                   .runs = rs->runs,
                                   .timeout = o->timeout,
                                   .graph = data,
                                   .graph_bytes = size};
    mst_open_message_put(&w, &open);
    free(data);
    MST_TRY(mst_remote_ask(rs, MST_SESSION_OPEN, &w, &message, &r, NULL));
    status = read_devices(rs, &r);
    rs->id = (uint64_t)message->head.number;
    rs->is_open = !status;
    mst_task_message_free(message);
    return status;
}

mst_status mst_remote_prepare(mst_remote_session *rs) {
    const uint64_t losses = mst_remote_client_losses(rs->client);
    if (losses != rs->losses) rs->is_open = false;
    rs->losses = losses;
    if (rs->is_open && mst_graph_version(rs->graph) == rs->graph_version) return MST_OK;
    mst_remote_forget(rs);
    return open_session(rs);
}

void mst_remote_forget(mst_remote_session *rs) {
    if (rs->is_open) mst_remote_client_tell(rs->client, MST_SESSION_CLOSE, rs->id, 0);
    rs->is_open = false;
    mst_remote_plans_free(rs);
}

/* ---- plans ---- */

static void free_plan(mst_remote_plan *plan) {
    free(plan->feeds);
    free(plan->fetches);
    free(plan->feed_task);
    free(plan->fetch_task);
    free(plan);
}

void mst_remote_plans_free(mst_remote_session *rs) {
    while (rs->plans) {
        mst_remote_plan *plan = rs->plans;
        rs->plans = plan->next;
        free_plan(plan);
    }
    rs->num_plans = 0;
}

static mst_spec spec_of_feed(const mst_feed *feed) {
    return feed->tensor ? mst_spec_of(feed->tensor) : feed->spec;
}

static bool same_value(mst_value a, mst_value b) {
    return a.node == b.node && a.index == b.index;
}

static bool is_plan_of(const mst_remote_plan *plan, const mst_feed *feeds, int num_feeds, const mst_value *fetches,
                       int num_fetches) {
    if (plan->num_feeds != num_feeds || plan->num_fetches != num_fetches) return false;
    for (int i = 0; i < num_fetches; i++)
        if (!same_value(plan->fetches[i], fetches[i])) return false;
    for (int i = 0; i < num_feeds; i++) {
        const mst_spec spec = spec_of_feed(&feeds[i]);
        if (!same_value(plan->feeds[i].value, feeds[i].value) || !mst_spec_equal(&plan->feeds[i].spec, &spec))
            return false;
    }
    return true;
}

static mst_remote_plan *make_plan(const mst_feed *feeds, int num_feeds, const mst_value *fetches, int num_fetches) {
    mst_remote_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return NULL;
    *plan = (mst_remote_plan){.num_feeds = num_feeds, .num_fetches = num_fetches};
    plan->feeds = calloc((size_t)num_feeds + 1, sizeof *plan->feeds);
    plan->fetches = calloc((size_t)num_fetches + 1, sizeof *plan->fetches);
    plan->feed_task = calloc((size_t)num_feeds + 1, sizeof *plan->feed_task);
    plan->fetch_task = calloc((size_t)num_fetches + 1, sizeof *plan->fetch_task);
    if (!plan->feeds || !plan->fetches || !plan->feed_task || !plan->fetch_task) {
        free_plan(plan);
        return NULL;
    }
    for (int i = 0; i < num_feeds; i++)
        plan->feeds[i] = (mst_feed){.value = feeds[i].value, .spec = spec_of_feed(&feeds[i])};
    for (int i = 0; i < num_fetches; i++) plan->fetches[i] = fetches[i];
    return plan;
}

/* Writes "node", or "node:1" for an output other than the first. */
static mst_status put_value(mst_wire_writer *w, mst_value value) {
    char text[1024];
    const int length = value.index ? snprintf(text, sizeof text, "%s:%d", value.node->name, (int)value.index)
                                   : snprintf(text, sizeof text, "%s", value.node->name);
    if (length >= (int)sizeof text)
        return MST_FAIL(MST_INVALID,
                        "run: the name '%.40s...' is too long to be fetched or fed through a session with a target",
                        value.node->name);
    mst_wire_put_text(w, text);
    return MST_OK;
}

static mst_status put_call(mst_wire_writer *w, const mst_remote_plan *plan) {
    mst_wire_put_number(w, (uint64_t)plan->num_feeds);
    for (int i = 0; i < plan->num_feeds; i++) {
        MST_TRY(put_value(w, plan->feeds[i].value));
        mst_wire_put_spec(w, &plan->feeds[i].spec);
    }
    mst_wire_put_number(w, (uint64_t)plan->num_fetches);
    for (int i = 0; i < plan->num_fetches; i++) MST_TRY(put_value(w, plan->fetches[i]));
    return MST_OK;
}

static mst_status ask_plan(mst_remote_session *rs, mst_remote_plan *plan) {
    mst_wire_writer w = {0};
    mst_wire_reader r;
    mst_task_message *message;
    if (put_call(&w, plan)) {
        mst_wire_free(&w);
        return MST_INVALID;
    }
    MST_TRY(mst_remote_ask(rs, MST_SESSION_PLAN, &w, &message, &r, NULL));
    for (int i = 0; i < plan->num_feeds; i++) plan->feed_task[i] = (int32_t)mst_wire_get_within(&r, -1, INT32_MAX);
    for (int i = 0; i < plan->num_fetches; i++) plan->fetch_task[i] = (int32_t)mst_wire_get_within(&r, -1, INT32_MAX);
    const char *log = mst_wire_get_text(&r), *made = mst_wire_get_text(&r);
    const mst_status status = mst_wire_check_read(&r, "the leader");
    if (!status && rs->options.placement_log) fputs(log, rs->options.placement_log);
    if (!status && rs->options.plan_log) fputs(made, rs->options.plan_log);
    plan->number = (uint64_t)message->head.step;
    mst_task_message_free(message);
    return status;
}

static void drop_last(mst_remote_session *rs) {
    mst_remote_plan **at = &rs->plans;
    if (!*at) return;
    while ((*at)->next) at = &(*at)->next;
    mst_remote_client_tell(rs->client, MST_SESSION_FORGET, rs->id, (*at)->number);
    free_plan(*at);
    *at = NULL;
    rs->num_plans--;
}

mst_status mst_remote_plan_get(mst_remote_session *rs, const mst_feed *feeds, int num_feeds, const mst_value *fetches,
                               int num_fetches, mst_remote_plan **out) {
    mst_remote_plan **at = &rs->plans;
    while (*at && !is_plan_of(*at, feeds, num_feeds, fetches, num_fetches)) at = &(*at)->next;
    mst_remote_plan *plan = *at;
    if (plan) {
        *at = plan->next;
        rs->num_plans--;
    } else {
        plan = make_plan(feeds, num_feeds, fetches, num_fetches);
        if (!plan) return MST_NO_MEMORY("for a plan");
        const mst_status status = ask_plan(rs, plan);
        if (status) {
            free_plan(plan);
            return status;
        }
        rs->plans_made++;
    }
    if (rs->num_plans == MOST_PLANS) drop_last(rs);
    plan->next = rs->plans;
    rs->plans = plan;
    rs->num_plans++;
    *out = plan;
    return MST_OK;
}

/* ---- runs ---- */

/* As fill_feed, for a feed of strings. The caller's function still owns the bytes of the strings, so they are
 * copied. */
static mst_status fill_strings(const mst_feed *feed, mst_tensor **out) {
    const uint64_t before = mst_error_count();
    mst_string *strings = calloc((size_t)mst_shape_count(feed->spec.shape) + 1, sizeof *strings);
    if (!strings) return MST_NO_MEMORY("for the feed of '%s'", mst_value_name(feed->value));
    mst_status status = mst_error_complete(feed->fill(feed->context, &feed->spec, 0, strings), before);
    if (!status) status = mst_tensor_copy(MST_STRING, feed->spec.shape, strings, out);
    free(strings);
    return status;
}

/* The tensor of a feed that a function of the caller fills. */
static mst_status fill_feed(const mst_feed *feed, mst_tensor **out) {
    mst_tensor *tensor;
    const uint64_t before = mst_error_count();
    if (feed->spec.dtype == MST_STRING) return fill_strings(feed, out);
    MST_TRY(mst_tensor_create(feed->spec.dtype, feed->spec.shape, &tensor));
    const mst_status status = feed->fill(feed->context, &feed->spec, 0, mst_tensor_data(tensor));
    if (status) {
        mst_tensor_release(tensor);
        return mst_error_complete(status, before);
    }
    *out = tensor;
    return MST_OK;
}

static mst_status put_feed(mst_wire_writer *w, const mst_feed *feed, bool wanted) {
    mst_tensor *filled = NULL;
    if (wanted && !feed->tensor) MST_TRY(fill_feed(feed, &filled));
    mst_wire_put_optional(w, !wanted ? NULL : filled ? filled : feed->tensor);
    mst_tensor_release(filled);
    return MST_OK;
}

/* Gives VALUE to the caller, in OUTPUT's own tensor if that fits. Takes ownership of VALUE. */
static void give_output(mst_tensor **output, mst_tensor *value) {
    const mst_spec own = *output ? mst_spec_of(*output) : (mst_spec){0}, given = mst_spec_of(value);
    const bool fits = *output && mst_spec_equal(&own, &given) && mst_tensor_owns(*output) &&
                      mst_tensor_references(*output) == 1 && own.dtype != MST_STRING;
    if (!fits) {
        mst_tensor_release(*output);
        *output = value;
        return;
    }
    if (mst_tensor_bytes(value)) memcpy(mst_tensor_data(*output), mst_tensor_data(value), mst_tensor_bytes(value));
    mst_tensor_release(value);
}

static mst_status take_result(mst_remote_session *rs, mst_remote_call *call, const mst_remote_plan *plan,
                              mst_wire_reader *r, const mst_failure *failure, mst_tensor **outputs) {
    int32_t count;
    call->overtaken = mst_wire_get_within(r, 0, 1);
    const int64_t runs = mst_wire_get_within(r, 0, INT64_MAX / 2);
    mst_tensor **value = mst_tensors_get(r, &count);
    mst_status status = mst_wire_check_read(r, "the leader");
    if (!status) status = mst_failure_restore(failure);
    if (!status && count != plan->num_fetches)
        status = MST_FAIL(MST_CORRUPT,
                          "a message from the task server is damaged: run the same version of Muster on both sides");
    if (!status) rs->runs = runs;
    for (int i = 0; i < count && !status; i++)
        if (plan->fetch_task[i] >= 0 && !value[i])
            status = MST_FAIL(MST_CORRUPT, "the task server has not sent all fetched values");
    for (int i = 0; i < count && !status && outputs; i++) {
        if (value[i])
            give_output(&outputs[i], value[i]);
        else
            mst_tensor_release(outputs[i]);
        if (!value[i]) outputs[i] = NULL;
        value[i] = NULL;
    }
    mst_tensors_free(value, count);
    return status;
}

mst_status mst_remote_run(mst_remote_session *rs, mst_remote_call *call, const mst_feed *feeds, int num_feeds,
                          const mst_value *fetches, int num_fetches, mst_tensor **outputs) {
    mst_remote_plan *plan;
    mst_wire_writer w = {0};
    mst_wire_reader r;
    mst_task_message *message;
    mst_failure failure;
    MST_TRY(mst_remote_prepare(rs));
    MST_TRY(mst_remote_plan_get(rs, feeds, num_feeds, fetches, num_fetches, &plan));
    mst_wire_put_number(&w, plan->number);
    mst_wire_put_number(&w, call->initial);
    mst_wire_put_number(&w, call->uncounted);
    mst_wire_put_number(&w, (uint64_t)num_feeds);
    mst_status status = MST_OK;
    for (int i = 0; i < num_feeds && !status; i++) status = put_feed(&w, &feeds[i], plan->feed_task[i] >= 0);
    if (status) {
        mst_wire_free(&w);
        return status;
    }
    MST_TRY(mst_remote_ask(rs, MST_SESSION_RUN, &w, &message, &r, &failure));
    /* the leader no longer has the session: the next call opens another one */
    if (message->head.number == 0) rs->is_open = false;
    status = take_result(rs, call, plan, &r, &failure, outputs);
    mst_task_message_free(message);
    return status;
}
