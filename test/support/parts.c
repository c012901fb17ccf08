#include "support/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/session.h"
#include "support/engine.h"

/* ---- messages and votes ---- */

static mst_status send_message(void *context, int32_t to, uint64_t run, int32_t stream, const struct iovec *pieces,
                               int count) {
    one_part *part = context;
    parts *all = part->all;
    char bytes[1 << 16];
    size_t size = 0;
    const mst_status status = all->send ? all->send(all, to, stream) : MST_OK;
    if (status) return status == MST_NOT_FOUND ? MST_OK : status;
    for (int i = 0; i < count; i++) {
        if (size + pieces[i].iov_len > sizeof bytes) return MST_FAIL(MST_INTERNAL, "a large message");
        memcpy(bytes + size, pieces[i].iov_base, pieces[i].iov_len);
        size += pieces[i].iov_len;
    }
    pthread_mutex_lock(&all->lock);
    all->sent++;
    pthread_mutex_unlock(&all->lock);
    return mst_session_part_deliver(all->part[to].session, part->self, run, stream, bytes, size);
}

static void decide(parts *all, uint64_t run, const mst_failure *failure) {
    for (int32_t t = 0; t < all->num; t++) mst_session_part_decide(all->part[t].session, run, failure);
}

/* Whether the calling thread is the one that decides. */
static bool is_to_decide(parts *all, bool vote) {
    pthread_mutex_lock(&all->lock);
    const bool ready = !all->decided && (!vote || ++all->voted == all->wanted);
    all->decided |= ready;
    pthread_mutex_unlock(&all->lock);
    return ready;
}

static void vote(void *context, uint64_t run) {
    one_part *part = context;
    const mst_failure refusal = {.code = MST_CANCELLED, .message = "the coordinator says no"};
    if (!is_to_decide(part->all, true)) return;
    decide(part->all, run, part->all->refuses && part->all->refuses(part->all, run) ? &refusal : NULL);
}

/* ---- opening ---- */

static mst_status describe(const char *devices, int32_t task, mst_device_description *out, int32_t *count) {
    mst_device_name name;
    mst_devices own;
    MST_TRY(mst_device_name_of_task("t", task, &name));
    MST_TRY(mst_devices_create(devices, NULL, 0, &name, &own));
    *count = own.count;
    for (int i = 0; i < own.count; i++) out[i] = mst_device_describe(&own, i);
    mst_devices_free(&own);
    return MST_OK;
}

mst_status parts_open(parts *all, mst_graph *graph, int32_t num, const char *devices, bool check_numerics) {
    enum { MOST = 8 };
    mst_device_description description[MOST_PARTS][MOST];
    mst_task_devices task[MOST_PARTS];
    memset(all, 0, sizeof *all);
    devices = engine_here(devices);
    all->graph = graph;
    all->num = num;
    pthread_mutex_init(&all->lock, NULL);
    for (int32_t t = 0; t < num; t++) {
        MST_TRY(describe(devices, t, description[t], &task[t].count));
        task[t].device = description[t];
    }
    for (int32_t t = 0; t < num; t++) {
        one_part *part = &all->part[t];
        *part = (one_part){.all = all, .self = t};
        MST_TRY(mst_store_create(&part->store));
        const mst_session_options options = {.devices = devices,
                                             .job_name = "t",
                                             .task_index = t,
                                             .store = part->store,
                                             .check_numerics = check_numerics,
                                             .allow_soft_placement = true};
        const mst_session_part_options o = {
            .num_tasks = num, .self = t, .task = task, .host = {part, send_message, vote}};
        MST_TRY(mst_session_create_part(graph, &options, &o, &part->session));
    }
    return MST_OK;
}

void parts_close(parts *all) {
    for (int32_t t = 0; t < all->num; t++) {
        mst_session_destroy(all->part[t].session);
        mst_store_release(all->part[t].store);
    }
    pthread_mutex_destroy(&all->lock);
}

/* ---- running ---- */

static void *finish(void *context) {
    one_part *part = context;
    part->status = mst_session_part_finish(part->session, &part->derived, &part->overtaken);
    mst_failure_keep(&part->failure, part->status);
    if (part->status && !part->derived && is_to_decide(part->all, false))
        decide(part->all, part->all->run, &part->failure);
    return NULL;
}

static mst_status make_plans(parts *all, const mst_feed *feeds, int num_feeds, const mst_value *fetches,
                             int num_fetches, mst_session_part_plan_info *info) {
    for (int32_t t = 0; t < all->num; t++) {
        one_part *part = &all->part[t];
        MST_TRY(mst_session_part_make_plan(part->session, feeds, num_feeds, fetches, num_fetches, &part->plan));
        const mst_session_part_plan_info own = mst_session_part_describe_plan(part->plan);
        if (t > 0 && own.hash != info->hash) return MST_FAIL(MST_INTERNAL, "tasks have different plans");
        *info = own;
    }
    return MST_OK;
}

/* The status of the run: that of the task that failed first, where one did. */
static mst_status status_of(const parts *all, const mst_session_part_plan_info *info) {
    const one_part *failed = NULL;
    for (int32_t t = 0; t < all->num; t++) {
        const one_part *part = &all->part[t];
        if (!info->runs_on[t] || !part->status) continue;
        if (!failed || (failed->derived && !part->derived)) failed = part;
    }
    return failed ? mst_failure_restore(&failed->failure) : MST_OK;
}

static mst_status run(parts *all, bool initial, const mst_feed *feeds, int num_feeds, const mst_value *fetches,
                      int num_fetches, mst_tensor **outputs) {
    mst_session_part_plan_info info = {0};
    mst_tensor *feed[16] = {NULL}, *output[MOST_PARTS][16] = {{NULL}};
    mst_feed described[16];
    memset(described, 0, sizeof described);
    for (int i = 0; i < num_feeds; i++) {
        feed[i] = feeds[i].tensor;
        described[i] =
            (mst_feed){.value = feeds[i].value, .spec = {mst_tensor_dtype(feed[i]), mst_tensor_shape(feed[i])}};
    }
    mst_status status = make_plans(all, described, num_feeds, fetches, num_fetches, &info);
    all->run++;
    all->voted = all->wanted = 0;
    all->decided = false;
    for (int32_t t = 0; t < all->num && !status; t++) all->wanted += info.runs_on[t];
    const mst_session_part_run o = {.number = all->run,
                                    .seconds = all->seconds > 0 ? all->seconds : 60,
                                    .random = -(int64_t)all->run,
                                    .initial = initial,
                                    .feed = feed};
    for (int32_t t = 0; t < all->num && !status; t++) {
        mst_session_part_run own = o;
        own.output = outputs ? output[t] : NULL;
        if (info.runs_on[t]) status = mst_session_part_submit(all->part[t].session, all->part[t].plan, &own);
    }
    const bool submitted = !status;
    if (submitted && all->began) all->began(all, all->run);
    for (int32_t t = 0; t < all->num && submitted; t++)
        if (info.runs_on[t]) pthread_create(&all->part[t].thread, NULL, finish, &all->part[t]);
    for (int32_t t = 0; t < all->num && submitted; t++)
        if (info.runs_on[t]) pthread_join(all->part[t].thread, NULL);
    if (submitted) status = status_of(all, &info);
    for (int i = 0; i < num_fetches && outputs; i++) {
        mst_tensor_release(outputs[i]);
        outputs[i] = NULL;
        for (int32_t t = 0; t < all->num; t++) {
            if (output[t][i] && !status) outputs[i] = mst_tensor_retain(output[t][i]);
            mst_tensor_release(output[t][i]);
        }
    }
    for (int32_t t = 0; t < all->num; t++) {
        mst_session_part_release_plan(all->part[t].session, all->part[t].plan, false);
        all->part[t].plan = NULL;
    }
    return status;
}

mst_status parts_run(parts *all, const mst_feed *feeds, int num_feeds, const mst_value *fetches, int num_fetches,
                     mst_tensor **outputs) {
    return run(all, false, feeds, num_feeds, fetches, num_fetches, outputs);
}

mst_status parts_init_variables(parts *all) {
    enum { MOST = 256 };
    mst_value assign[MOST];
    const int count = mst_collection(all->graph, MST_INITIALIZERS, NULL, assign, MOST);
    for (int i = 0; i < count; i++) MST_TRY(run(all, true, NULL, 0, &assign[i], 1, NULL));
    return MST_OK;
}

mst_status parts_get_variable(parts *all, mst_value variable, mst_tensor **out) {
    mst_status status = MST_NOT_FOUND;
    for (int32_t t = 0; t < all->num && status == MST_NOT_FOUND; t++)
        status = mst_session_get_variable(all->part[t].session, variable, out);
    return status;
}
