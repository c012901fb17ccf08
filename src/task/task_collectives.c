/* The collectives that a program calls on its task (muster/task.h).
 *
 *      enter      at the first call: all tasks come together
 *      compare    each task tells all others what it calls
 *      move       the data, through the group (collective/collectives.h)
 *
 * No data move before all tasks are known to make the same call. If a task calls something else, or uses another size,
 * all tasks get an error that says who calls what. Nobody waits for bytes that nobody sends. */
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/clock.h"
#include "base/no_memory.h"
#include "base/rng.h"
#include "collective/collectives.h"
#include "muster/version.h"
#include "task/task_inside.h"

static const char *const call_names[MST_NUM_CALLS] = {"barrier",        "broadcast", "all_reduce", "all_gather",
                                                      "reduce_scatter", "mst_fit",   "leave"};

/* ---- descriptions of calls ---- */

enum { CALL_TEXT = 128 };

/* Writes CALL as "all_reduce of 10 f32". It may have come from another task, with any numbers in it. */
static const char *print_call(const mst_task *task, const mst_task_call *call, char text[CALL_TEXT]) {
    const bool known = call->kind < MST_NUM_CALLS && call->dtype < MST_NUM_DTYPES;
    const char *name = known ? call_names[call->kind] : "another call";
    const bool has_data = known && call->kind >= MST_CALL_BROADCAST && call->kind <= MST_CALL_REDUCE_SCATTER;
    const bool has_root =
        known && call->kind == MST_CALL_BROADCAST && call->root >= 0 && call->root < task->num_workers;
    if (!has_data)
        snprintf(text, CALL_TEXT, "%s", name);
    else
        snprintf(text, CALL_TEXT, "%s of %lld %s%s%s", name, (long long)call->count,
                 mst_dtype_name((mst_dtype)call->dtype), has_root ? " from " : "",
                 has_root ? task->name[call->root] : "");
    return text;
}

static bool is_sum(const mst_task_call *call) {
    return call->kind == MST_CALL_ALL_REDUCE || call->kind == MST_CALL_REDUCE_SCATTER;
}

/* Checks the arguments of this task. */
static mst_status check_call(const mst_task *task, const mst_task_call *call, const void *src, const void *dst) {
    if (task->servers) return MST_FAIL(MST_UNIMPLEMENTED, "workers of parameter servers have no collectives");
    if (task->options.elastic_min)
        return MST_FAIL(MST_UNIMPLEMENTED, "collectives are of all workers, and with elastic_min fewer may train");
    const mst_dtype dtype = (mst_dtype)call->dtype;
    /* elements for which the number of bytes does not overflow */
    const int64_t most = INT64_MAX / 16 / task->num_workers;
    if (call->root < 0 || call->root >= task->num_workers)
        return MST_FAIL(MST_INVALID, "there is no worker %lld of %d", (long long)call->root, task->num_workers);
    if (call->kind == MST_CALL_BARRIER) return MST_OK;
    if (dtype <= MST_NO_DTYPE || dtype >= MST_NUM_DTYPES || dtype == MST_STRING)
        return MST_FAIL(MST_INVALID, "elements must be numbers or bool");
    if (is_sum(call) && dtype != MST_F32 && dtype != MST_F64 && dtype != MST_I32 && dtype != MST_I64)
        return MST_FAIL(MST_INVALID, "only f32, f64, i32 and i64 are summed, not %s", mst_dtype_name(dtype));
    if (call->count < 0 || call->count > most)
        return MST_FAIL(MST_INVALID, "the number of elements is %lld, must be 0 to %lld", (long long)call->count,
                        (long long)most);
    if (call->count > 0 && (!src || !dst)) return MST_FAIL(MST_INVALID, "there are elements, but the data is NULL");
    return MST_OK;
}

/* ---- coming together ---- */

/* For the first collective the tasks come together, as for training, but without a state. */
static mst_status join_by_call(mst_task *task) {
    const mst_fingerprint fingerprint[] = {{.name = "version", .hash = mst_rng_hash_name(mst_version())},
                                           {.name = "calls"}};
    mst_task_state state = {.fingerprint = fingerprint, .num_fingerprints = 2};
    mst_task_joined joined;
    MST_TRY(mst_store_create(&state.store));
    const mst_status status = mst_task_join(task, &state, &joined);
    mst_store_release(state.store);
    task->by_call = !status;
    return status;
}

static bool have_all_left(mst_task *task) {
    pthread_mutex_lock(&task->lock);
    const bool left = task->phase == ALL_LEFT;
    pthread_mutex_unlock(&task->lock);
    return left;
}

static mst_status enter_call(mst_task *task) {
    if (!task->group) MST_TRY(mst_task_cut_shards(task, task->num_workers));
    if (!task->state.store) MST_TRY(join_by_call(task));
    if (have_all_left(task))
        return MST_FAIL(MST_INVALID,
                        "the tasks have left the cluster (mst_task_leave), after which they make no more calls");
    return mst_group_check(task->group);
}

/* ---- comparing ---- */

/* Finds the first call that differs from that of task 0. All tasks find the same one. */
static mst_status find_difference(const mst_task *task, const mst_task_call *all) {
    char first[CALL_TEXT], other[CALL_TEXT];
    for (int32_t i = 1; i < task->num_workers; i++)
        if (memcmp(&all[i], &all[0], sizeof all[0]) != 0)
            return MST_FAIL(MST_INVALID,
                            "%s calls %s, and %s %s: all tasks must make the same calls in the same order, with data "
                            "of the same size",
                            task->name[0], print_call(task, &all[0], first), task->name[i],
                            print_call(task, &all[i], other));
    return MST_OK;
}

static mst_status compare_calls(mst_task *task, const mst_task_call *call, int64_t deadline) {
    const size_t n = (size_t)task->num_workers;
    mst_task_call *all = calloc(n, sizeof *all);
    size_t *bytes = calloc(n, sizeof *bytes);
    mst_status status = all && bytes ? MST_OK : MST_NO_MEMORY("for a collective of %zu tasks", n);
    for (size_t i = 0; i < n && !status; i++) bytes[i] = sizeof *all;
    if (!status) all[task->self] = *call;
    if (!status) status = mst_group_all_gather(task->group, bytes, all, deadline);
    if (status == MST_DEADLINE)
        status =
            MST_FAIL(MST_DEADLINE, "not all tasks have made this call within %g s", task->options.collective_timeout);
    if (!status) status = find_difference(task, all);
    free(all);
    free(bytes);
    return status;
}

/* ---- the data ---- */

static mst_status gather_data(mst_task *task, const mst_task_call *call, const void *src, char *dst, int64_t deadline) {
    const size_t n = (size_t)task->num_workers, part = (size_t)call->count * mst_dtype_size((mst_dtype)call->dtype);
    size_t *bytes = calloc(n, sizeof *bytes);
    if (!bytes) return MST_NO_MEMORY("for a collective of %zu tasks", n);
    for (size_t i = 0; i < n; i++) bytes[i] = part;
    if (part) memmove(dst + part * (size_t)task->self, src, part);
    const mst_status status = mst_group_all_gather(task->group, bytes, dst, deadline);
    free(bytes);
    return status;
}

static mst_status scatter_data(mst_task *task, const mst_task_call *call, const void *src, void *dst,
                               int64_t deadline) {
    const size_t n = (size_t)task->num_workers;
    int64_t *count = calloc(n, sizeof *count);
    if (!count) return MST_NO_MEMORY("for a collective of %zu tasks", n);
    for (size_t i = 0; i < n; i++) count[i] = call->count;
    const mst_status status = mst_group_reduce_scatter(task->group, (mst_dtype)call->dtype, count, src, dst, deadline);
    free(count);
    return status;
}

static mst_status move_data(mst_task *task, const mst_task_call *call, const void *src, void *dst, int64_t deadline) {
    const mst_dtype dtype = (mst_dtype)call->dtype;
    switch (call->kind) {
        case MST_CALL_BROADCAST:
            return mst_group_broadcast(task->group, (int32_t)call->root, dst,
                                       (size_t)call->count * mst_dtype_size(dtype), deadline);
        case MST_CALL_ALL_REDUCE: return mst_group_all_reduce(task->group, dtype, dst, call->count, deadline);
        case MST_CALL_ALL_GATHER: return gather_data(task, call, src, dst, deadline);
        case MST_CALL_REDUCE_SCATTER: return scatter_data(task, call, src, dst, deadline);
        default: return MST_OK; /* no data: the comparison has shown that all tasks are here */
    }
}

/* ---- the end of a call ---- */

/* The error if a task is lost. The lost task cannot come back: its program would start with its first call, while the
 * others are at a later one. */
static mst_status lose_by_call(void) {
    char message[800];
    snprintf(message, sizeof message, "%s", mst_error()->message);
    return MST_FAIL(MST_UNAVAILABLE, "%s: start all tasks again", message);
}

/* Ends CALL with STATUS, and tells the other tasks of an error. They are not told that a task was lost, since they
 * notice it themselves. */
static mst_status end_call(mst_task *task, const mst_task_call *call, mst_status status) {
    if (!status) return MST_OK;
    status = mst_error_prefix("%s", call_names[call->kind]);
    if (status == MST_UNAVAILABLE && !mst_task_is_joined(task)) return task->by_call ? lose_by_call() : status;
    return status == MST_CANCELLED || task->servers ? status : mst_task_fail(task, status);
}

static mst_status make_call(mst_task *task, const mst_task_call *call, const void *src, void *dst) {
    mst_status status = check_call(task, call, src, dst);
    if (!status) status = enter_call(task);
    const int64_t deadline = mst_clock_after(task->options.collective_timeout);
    if (!status) status = compare_calls(task, call, deadline);
    if (!status) status = move_data(task, call, src, dst, deadline);
    return end_call(task, call, status);
}

mst_status mst_task_meet(mst_task *task, const mst_task_call *call) {
    if (call->kind == MST_CALL_LEAVE && have_all_left(task)) return MST_OK;
    mst_status status = mst_group_check(task->group);
    if (!status) status = compare_calls(task, call, mst_clock_after(task->options.collective_timeout));
    return end_call(task, call, status);
}

mst_status mst_task_barrier(mst_task *task) {
    if (MST_IS_NULL(task)) return MST_INVALID;
    const mst_task_call call = {.kind = MST_CALL_BARRIER};
    return make_call(task, &call, NULL, NULL);
}

mst_status mst_task_broadcast(mst_task *task, int root, mst_dtype dtype, void *data, int64_t count) {
    if (MST_IS_NULL(task)) return MST_INVALID;
    const mst_task_call call = {.kind = MST_CALL_BROADCAST, .dtype = (uint32_t)dtype, .root = root, .count = count};
    return make_call(task, &call, data, data);
}

mst_status mst_task_all_reduce(mst_task *task, mst_dtype dtype, void *data, int64_t count) {
    if (MST_IS_NULL(task)) return MST_INVALID;
    const mst_task_call call = {.kind = MST_CALL_ALL_REDUCE, .dtype = (uint32_t)dtype, .count = count};
    return make_call(task, &call, data, data);
}

mst_status mst_task_all_gather(mst_task *task, mst_dtype dtype, const void *src, int64_t count, void *dst) {
    if (MST_IS_NULL(task)) return MST_INVALID;
    const mst_task_call call = {.kind = MST_CALL_ALL_GATHER, .dtype = (uint32_t)dtype, .count = count};
    return make_call(task, &call, src, dst);
}

mst_status mst_task_reduce_scatter(mst_task *task, mst_dtype dtype, const void *src, int64_t count, void *dst) {
    if (MST_IS_NULL(task)) return MST_INVALID;
    const mst_task_call call = {.kind = MST_CALL_REDUCE_SCATTER, .dtype = (uint32_t)dtype, .count = count};
    return make_call(task, &call, src, dst);
}
