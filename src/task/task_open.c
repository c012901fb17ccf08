/* Opening and closing of a task. The options are checked first. With parameter servers, the connections to them are
 * opened. Without, a transport is opened, and then a member (membership/members.h), which uses it. */
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/clock.h"
#include "base/no_memory.h"
#include "base/thread.h"
#include "cluster/cluster_spec.h"
#include "cluster/task_transport.h"
#include "store/store.h"
#include "task/task_inside.h"
#include "transport/time_limits.h"
#include "transport/transport_row.h"

/* The row of the transport that OPTIONS name. NULL: they name none, or one that does not exist. */
static const mst_transport_row *find_transport(const mst_task_options *options) {
    return options->transport ? mst_transport_row_find(options->transport) : NULL;
}

static mst_status check_transport(const mst_task_options *options) {
    const char *name = options->transport;
    const mst_transport_row *row = find_transport(options);
    char names[MST_TRANSPORT_LIST];
    if (name && (!row || row->use == MST_TRANSPORT_FOR_TESTS))
        return MST_FAIL(MST_NOT_FOUND, "task: unknown transport '%s': take %s", name,
                        mst_transport_list(mst_transport_worker_name, names));
    if (row && row->use == MST_TRANSPORT_FOR_WORKERS && mst_cluster_num_ps(options->cluster) > 0)
        return MST_FAIL(MST_INVALID, "task: transport %s is for workers without parameter servers: take %s", name,
                        mst_transport_list(mst_transport_name, names));
    return MST_OK;
}

static mst_status check_elastic(const mst_task_options *o) {
    const int workers = mst_cluster_num_workers(o->cluster);
    const mst_transport_row *row = find_transport(o);
    char names[MST_TRANSPORT_LIST];
    if (o->elastic_min < 0) return MST_FAIL(MST_INVALID, "task: elastic_min is %d, must be at least 1", o->elastic_min);
    if (!o->elastic_min) return MST_OK;
    if (mst_cluster_num_ps(o->cluster) > 0)
        return MST_FAIL(MST_INVALID,
                        "task: elastic_min is for workers without parameter servers, which go on without a lost "
                        "worker where they are asynchronous: leave it out");
    if (row && row->has_fixed_tasks)
        return MST_FAIL(MST_INVALID, "task: elastic_min is not for transport %s, whose workers stay the same: take %s",
                        o->transport, mst_transport_list(mst_transport_name, names));
    if (workers > MST_ELASTIC_TASKS_MOST)
        return MST_FAIL(MST_INVALID, "task: elastic_min is for at most %d workers, the cluster has %d",
                        MST_ELASTIC_TASKS_MOST, workers);
    if (o->elastic_min > workers)
        return MST_FAIL(MST_INVALID, "task: elastic_min is %d, but the cluster has %d workers: take at most as many",
                        o->elastic_min, workers);
    return MST_OK;
}

static mst_status check_cluster(const mst_cluster *cluster) {
    const int workers = mst_cluster_num_workers(cluster), self = mst_cluster_self(cluster);
    const mst_task_info info = mst_cluster_task(cluster, self);
    const bool alone = workers < 2 && mst_cluster_num_ps(cluster) == 0;
    if (alone)
        return MST_FAIL(MST_INVALID,
                        "task: the cluster has one worker, and a task is for several: to train alone, call mst_compile "
                        "without .task and with another strategy than multi_worker");
    if (self >= workers)
        return MST_FAIL(MST_INVALID, "task: %s:%d is not a worker, and only workers train", info.job, (int)info.index);
    if (mst_cluster_is_sparse(cluster)) return MST_FAIL(MST_INVALID, "task: " MST_SPARSE_CLUSTER);
    for (int i = 0; i < workers; i++)
        if (!mst_cluster_task(cluster, i).address)
            return MST_FAIL(
                MST_INVALID,
                "task: the address of worker %d is not known: give TF_CONFIG the whole list, or mpiexec of Open MPI on "
                "several hosts -x MASTER_ADDR=HOST -x MASTER_PORT=PORT, where worker 0 is to listen",
                i);
    return MST_OK;
}

static mst_status name_tasks(mst_task *task) {
    enum { NAME = 64 };
    const size_t workers = (size_t)task->num_workers;
    task->name = calloc(workers, sizeof *task->name);
    task->address = calloc(workers, sizeof *task->address);
    task->copiers = calloc(workers, sizeof *task->copiers);
    task->member = calloc(workers, sizeof *task->member);
    task->instance = calloc(workers, sizeof *task->instance);
    task->back = calloc(workers, sizeof *task->back);
    task->names = calloc(workers, NAME);
    if (!task->name || !task->address || !task->copiers || !task->member || !task->instance || !task->back ||
        !task->names)
        return MST_NO_MEMORY("for a task");
    for (int32_t i = 0; i < task->num_workers; i++) {
        const mst_task_info info = mst_cluster_task(task->cluster, i);
        task->name[i] = task->names + (size_t)i * NAME;
        task->address[i] = info.address;
        snprintf(task->names + (size_t)i * NAME, NAME, "%s:%d", info.job, (int)info.index);
        task->member[task->num_members++] = i;
    }
    return MST_OK;
}

enum { LEADER = 0 /* the first worker */ };
static const double REPORT = 2; /* seconds between lines that say for whom the task waits */

static mst_status open_members(mst_task *task, uint64_t instance) {
    const mst_members_options options = {.num_tasks = task->num_workers,
                                         .self = task->self,
                                         .leader = LEADER,
                                         .chief = CHIEF,
                                         .name = task->name,
                                         .address = task->address,
                                         .instance = instance,
                                         .now = mst_clock_now(),
                                         .recovery_timeout = task->options.recovery_timeout,
                                         .no_return = task->type->no_return,
                                         .refusal_timeout = 1.5 * task->options.timeout, /* more than the timeout */
                                         .report = REPORT,
                                         .elastic_min = task->options.elastic_min,
                                         .start_wait = task->options.timeout,
                                         .events = mst_task_members_events(task)};
    pthread_mutex_lock(&task->lock);
    const mst_status status = mst_members_create(&options, &task->members);
    pthread_mutex_unlock(&task->lock);
    return status;
}

/* This task cannot join because of the calling thread's error, whose code is STATUS. Tells that to the leader, or to
 * all others if this task should lead. Returns STATUS. */
static mst_status tell_cannot_join(const mst_task *task, const mst_task_transport *which,
                                   const mst_transport_options *options, mst_status status) {
    mst_failure failure;
    mst_member_message message = {.kind = MST_MEMBER_CANNOT_JOIN};
    uint8_t *bytes = malloc(MST_MEMBER_MESSAGE_MOST(task->num_workers));
    mst_failure_keep(&failure, status);
    const bool is_double = mst_task_transport_is_double(which, options);
    const size_t used = strlen(failure.message);
    if (is_double)
        snprintf(failure.message + used, sizeof failure.message - used,
                 "; it is %s of a job too: give each task its own index", task->name[task->self]);
    mst_task_failure_from(&message.failure, &failure, task->self, MST_NO_STATE);
    const size_t size = bytes ? mst_member_message_encode(&message, task->num_workers, bytes) : 0;
    if (bytes && is_double) mst_task_transport_tell(which, options, task->self, task->self + 1, true, bytes, size);
    if (bytes)
        mst_task_transport_tell(which, options, LEADER, task->self == LEADER ? task->num_workers : LEADER + 1, false,
                                bytes, size);
    free(bytes);
    return mst_failure_restore(&failure);
}

static mst_status open_transport(mst_task *task, uint64_t instance) {
    const mst_task_options *o = &task->options;
    const mst_task_transport which = {.name = o->transport,
                                      .key_file = o->key_file,
                                      .log = o->log,
                                      .cluster = task->cluster,
                                      .name_seconds = MST_NAME_SECONDS,
                                      .stop = o->stop,
                                      .context = o->context};
    char lists[MST_CLUSTER_LISTS];
    mst_transport_options options = {.num_tasks = task->num_workers,
                                     .lists = mst_cluster_lists(task->cluster, lists),
                                     .self = task->self,
                                     .address = task->address,
                                     .bind = o->bind,
                                     .insecure = o->insecure,
                                     .instance = instance,
                                     .timeout = o->timeout,
                                     .report = mst_task_status_reporter(&task->status),
                                     .events = mst_task_transport_events(task)};
    const mst_status status = mst_task_transport_open(&which, &options, &task->type, &task->transport);
    return status ? tell_cannot_join(task, &which, &options, status) : MST_OK;
}

static mst_status send_control(void *context, int32_t to, const void *data, size_t bytes) {
    mst_task *task = context;
    return task->type->control(task->transport, to, data, bytes);
}

static mst_status create_executables(mst_task *task) {
    const mst_task_executables_options options = {.num_tasks = task->num_workers,
                                                  .self = task->self,
                                                  .chief = CHIEF,
                                                  .name = task->name,
                                                  .patience = task->options.timeout,
                                                  .send = send_control,
                                                  .context = task};
    return mst_task_executables_create(&options, &task->executables);
}

static mst_status task_open(mst_task *task) {
    const mst_task_options *o = &task->options;
    uint64_t instance = 0;
    MST_TRY(mst_task_status_init(&task->status, o->cluster));
    mst_mail_options mail = MST_MAIL_OPTIONS(o);
    mail.status = &task->status;
    /* with parameter servers nothing else is needed: the servers keep track of the workers */
    if (mst_cluster_num_ps(o->cluster) > 0) return mst_ps_client_open(o, &mail, &task->servers);
    if (sodium_init() < 0) return MST_FAIL(MST_IO, "task: the system gives no random numbers");
    while (!instance) randombytes_buf(&instance, sizeof instance);
    MST_TRY(name_tasks(task));
    MST_TRY(create_executables(task));
    MST_TRY(open_transport(task, instance));
    MST_TRY(open_members(task, instance));
    MST_TRY(mst_task_start_clock(task));
    mst_task_executables_open(task->executables, true);
    return MST_OK;
}

mst_status mst_task_open_with(const mst_task_options *options, mst_task **out) {
    if (MST_IS_NULL(options) || MST_IS_NULL(out) || MST_IS_NULL(options->cluster)) return MST_INVALID;
    *out = NULL;
    MST_TRY(check_transport(options));
    if (options->timeout < 0 || options->recovery_timeout < 0 || options->collective_timeout < 0)
        return MST_FAIL(MST_INVALID, "task: timeouts must not be negative");
    MST_TRY(check_cluster(options->cluster));
    MST_TRY(check_elastic(options));
    mst_task *task = calloc(1, sizeof *task);
    if (!task) return MST_NO_MEMORY("for a task");
    task->cluster = mst_cluster_retain((mst_cluster *)(uintptr_t)options->cluster);
    task->options = *options;
    if (task->options.timeout == 0) task->options.timeout = MST_TASK_TIMEOUT;
    if (task->options.recovery_timeout == 0) task->options.recovery_timeout = MST_TASK_RECOVERY_TIMEOUT;
    if (task->options.collective_timeout == 0) task->options.collective_timeout = MST_TASK_STEP_TIMEOUT;
    task->num_workers = mst_cluster_num_workers(options->cluster);
    task->self = mst_cluster_self(options->cluster);
    task->stopped_at = task->ended_at = MST_NO_STATE;
    task->restarted = getenv(MST_RESTARTED);
    pthread_mutex_init(&task->lock, NULL);
    mst_condition_init(&task->changed);
    const mst_status status = task_open(task);
    if (status)
        mst_task_close(task);
    else
        *out = task;
    return status;
}

void mst_task_close(mst_task *task) {
    if (!task) return;
    mst_task_executables_close(task->executables);
    pthread_mutex_lock(&task->lock);
    task->closing = true;
    pthread_cond_broadcast(&task->changed);
    pthread_mutex_unlock(&task->lock);
    if (task->has_clock) pthread_join(task->clock, NULL);
    pthread_mutex_lock(&task->lock);
    mst_members *members = task->members;
    const bool left = task->phase == ALL_LEFT;
    task->members = NULL; /* from now on events of the transport change nothing (task.c): they would use the group */
    pthread_mutex_unlock(&task->lock);
    mst_group_destroy(task->group);
    if (task->transport && left && task->type->leave) task->type->leave(task->transport);
    if (task->transport) task->type->close(task->transport, 1 /* seconds */);
    mst_ps_client_close(task->servers);
    mst_members_destroy(members);
    mst_task_executables_release(task->executables);
    mst_store_release(task->state.store);
    mst_cluster_release((mst_cluster *)(uintptr_t)task->cluster);
    pthread_mutex_destroy(&task->lock);
    pthread_cond_destroy(&task->changed);
    mst_task_status_free(&task->status);
    free(task->name);
    free(task->address);
    free(task->copiers);
    free(task->member);
    free(task->instance);
    free(task->back);
    free(task->names);
    free(task);
}
