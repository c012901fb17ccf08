/* A task: this process as a member of a cluster.
 *
 *      transport, events    connected, lost, control ----+
 *      clock thread         ticks -----------------------+--> members: who is there (membership/members.h)
 *      program              ready, committed, left ------+        |
 *                                                                 v
 *                                      begun, ended: begin and end generations of transport and group; wake the program
 *
 * The lock guards the members and their events. Functions of the transport and of the group that are called under it do
 * not wait. A program that joins waits on `changed`. When a generation ends, the sums of a step end with an error
 * (collective/group.h), and then the program joins again. */
#include "task/task.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/clock.h"
#include "base/no_memory.h"
#include "base/shard_rows.h"
#include "base/thread.h"
#include "cluster/cluster_spec.h"
#include "cluster/task_log.h"
#include "cluster/task_transport.h"
#include "store/store.h"
#include "task/task_inside.h"

/* ---- the log ---- */

void mst_task_say(const mst_task *task, const char *format, ...) {
    va_list list;
    va_start(list, format);
    mst_task_log(task->options.log, task->cluster, format, list);
    va_end(list);
}

/* Says that the chief's state counts, although another task has come with a later one. */
static void say_what_counts(const mst_task *task, const mst_generation *generation) {
    const mst_member_status *source = &generation->member_status[generation->source];
    for (int32_t i = 0; i < task->num_workers; i++) {
        const mst_member_status *other = &generation->member_status[i];
        if (other->state_number <= source->state_number) continue;
        mst_task_say(
            task,
            "%s came with a later state (%lld steps and starts of epochs) than %s (%lld): a job that begins anew takes "
            "that of its chief",
            task->name[i], (long long)other->state_number, task->name[generation->source],
            (long long)source->state_number);
        return;
    }
}

/* ---- events of the members, under the lock ---- */

static void members_send(void *context, int32_t to, uint64_t instance, const void *data, size_t bytes) {
    mst_task *task = context;
    (void)instance; /* each message contains the process that it is for */
    /* a message that cannot be sent is lost, as one lost on the way: the members repeat it */
    if (task->type->control(task->transport, to, data, bytes)) return;
}

static void members_begun(void *context, const mst_generation *generation) {
    mst_task *task = context;
    task->phase = TOGETHER;
    task->generation = generation->number;
    task->source = generation->source;
    task->source_number = generation->member_status[generation->source].state_number;
    task->instructions = generation->instructions;
    task->copies = generation->copies;
    task->anew = generation->anew;
    task->num_copiers = task->num_members = 0;
    for (int32_t i = 0; i < task->num_workers; i++) {
        const mst_member_status *member_status = &generation->member_status[i];
        if (!member_status->takes_part) continue;
        task->member[task->num_members++] = i;
        if (member_status->copies) task->copiers[task->num_copiers++] = i;
        if (task->instance[i] && task->instance[i] != member_status->instance) task->back[i] = true;
        task->instance[i] = member_status->instance;
    }
    if (!task->num_members || task->member[0] != task->self)
        task->first_since = 0;
    else if (!task->first_since || task->copies)
        task->first_since = generation->number;
    if (generation->ended_at != MST_NO_STATE) task->stopped_at = task->ended_at = generation->ended_at;
    if (generation->anew) say_what_counts(task, generation);
    task->type->begin(task->transport, generation->number);
    if (task->group) mst_group_begin(task->group, generation->number);
    pthread_cond_broadcast(&task->changed);
}

static void end_group(mst_task *task, const mst_task_failure *failure) {
    const mst_failure plain = mst_task_failure_plain(failure);
    if (task->group)
        mst_group_end(task->group, &plain);
    else if (task->phase == TOGETHER)
        task->type->end(task->transport);
}

static void members_ended(void *context, const mst_task_failure *failure) {
    mst_task *task = context;
    mst_task_failure ended = *failure;
    const bool stopped = failure->code == MST_CANCELLED;
    ended.code = MST_UNAVAILABLE; /* the tasks come together again */
    end_group(task, &ended);
    task->phase = APART;
    if (stopped)
        task->stopped_at = task->ended_at = failure->state_number;
    else if (failure->task >= 0)
        task->back[failure->task] = true;
    if (!stopped || failure->task != task->self) mst_task_say(task, "%s", failure->message);
    pthread_cond_broadcast(&task->changed);
}

static void members_stopped(void *context, int64_t state_number) {
    mst_task *task = context;
    task->stopped_at = task->ended_at = state_number;
    pthread_cond_broadcast(&task->changed);
}

static void members_failed(void *context, const mst_task_failure *failure) {
    mst_task *task = context;
    end_group(task, failure);
    task->phase = FAILED;
    task->failure = *failure;
    pthread_cond_broadcast(&task->changed);
}

static void members_trouble(void *context, int32_t number, char *text) {
    mst_task *task = context;
    if (task->type->trouble && number != task->self) task->type->trouble(task->transport, number, text);
}

/* "worker:1 at b:2222 (connection refused: nothing listens there)". Returns its length. */
static size_t write_waited(mst_task *task, const mst_waited_task *waited, char *text, size_t size) {
    const char *address = task->address[waited->task];
    char why[MST_TRANSPORT_DOING] = "";
    if (waited->present)
        snprintf(why, sizeof why, "there, but not ready");
    else
        members_trouble(task, waited->task, why);
    return (size_t)snprintf(text, size, "%s%s%s%s%s%s", task->name[waited->task], address ? " at " : "",
                            address ? address : "", *why ? " (" : "", why, *why ? ")" : "");
}

static void members_waiting(void *context, const mst_waiting *waiting) {
    mst_task *task = context;
    char list[1000] = "";
    size_t used = 0;
    for (int32_t i = 0; i < waiting->num_listed && used < sizeof list; i++) {
        if (i) used += (size_t)snprintf(list + used, sizeof list - used, ", ");
        if (used < sizeof list) used += write_waited(task, &waiting->waited[i], list + used, sizeof list - used);
    }
    const int32_t more = waiting->num_waited - waiting->num_listed;
    char why[120] = "";
    if (waiting->cause == MST_WAITS_FOR_MIN)
        snprintf(why, sizeof why, "; without, fewer than %d workers are here", task->options.elastic_min);
    if (waiting->cause == MST_WAITS_FOR_MAJORITY)
        snprintf(why, sizeof why,
                 "; without, no majority is here of the workers that trained last, and others may train on");
    if (more > 0)
        mst_task_say(task, "waiting for %s and %d more%s", list, more, why);
    else
        mst_task_say(task, "waiting for %s%s", list, why);
    mst_task_status_wait_for(&task->status, list);
}

static void members_notice(void *context, const mst_task_failure *notice) {
    mst_task_say(context, "%s", notice->message);
}

static void members_bye(void *context) {
    mst_task *task = context;
    task->phase = ALL_LEFT;
    pthread_cond_broadcast(&task->changed);
}

/* ---- events of the transport, on its thread ---- */

static void on_control(void *context, int32_t from, uint64_t instance, const void *data, size_t bytes) {
    mst_task *task = context;
    pthread_mutex_lock(&task->lock);
    if (task->members) mst_members_received(task->members, from, instance, data, bytes);
    pthread_mutex_unlock(&task->lock);
}

static void on_connected(void *context, int32_t number) {
    mst_task *task = context;
    pthread_mutex_lock(&task->lock);
    if (task->members) mst_members_connected(task->members, number);
    pthread_mutex_unlock(&task->lock);
}

static void on_lost(void *context, int32_t number, uint64_t instance, const char *why) {
    mst_task *task = context;
    pthread_mutex_lock(&task->lock);
    if (task->members) mst_members_lost(task->members, number, instance, why);
    pthread_mutex_unlock(&task->lock);
}

static void on_taken(void *context, int32_t by, int32_t number, const char *where) {
    mst_task *task = context;
    pthread_mutex_lock(&task->lock);
    if (task->members) mst_members_taken(task->members, by, number, where);
    pthread_mutex_unlock(&task->lock);
}

static void on_list_mismatch(void *context, int32_t number, const char *why) {
    mst_task *task = context;
    pthread_mutex_lock(&task->lock);
    if (task->members) mst_members_list_mismatch(task->members, number, why);
    pthread_mutex_unlock(&task->lock);
}

static void on_stranger(void *context, const char *line) {
    mst_task_say(context, "%s", line);
}

/* Another task sums something else: their programs differ. */
static void on_mismatch(void *context, int32_t number, mst_key key, const char *why) {
    mst_task *task = context;
    mst_failure failure;
    mst_failure_keep(
        &failure, MST_FAIL(MST_INVALID,
                           "%s and %s do not make the same step (run %llu, exchange %u: %s): start the "
                           "same program with the same options on all workers",
                           task->name[task->self], task->name[number], (unsigned long long)key.run, key.stream, why));
    pthread_mutex_lock(&task->lock);
    if (task->members) mst_members_failed(task->members, &failure);
    pthread_mutex_unlock(&task->lock);
}

static void on_broken(void *context, const char *why) {
    mst_task *task = context;
    mst_failure failure;
    mst_failure_keep(&failure, MST_FAIL(MST_UNAVAILABLE, "%s: transport mpi: %s", task->name[task->self], why));
    pthread_mutex_lock(&task->lock);
    if (task->members) mst_members_failed(task->members, &failure);
    pthread_mutex_unlock(&task->lock);
}

/* ---- the clock ---- */

void mst_task_wait_a_tick(mst_task *task) {
    enum { TICK = 50000000 /* nanoseconds */ };
    const struct timespec until = mst_clock_timespec(TICK);
    pthread_cond_timedwait(&task->changed, &task->lock, &until);
}

/* Tells the members how far the program is, for errors. */
static void pass_on_progress(mst_task *task) {
    if (!task->group || task->phase != TOGETHER) return;
    mst_members_committed(task->members, atomic_load(&task->number));
    mst_group_progress last[MST_GROUP_LAST] = {0};
    mst_members_started(task->members, last, mst_group_started(task->group, last));
    mst_task_status_exchange(&task->status, &last[0]);
}

/* Looks for processes of this machine that have ended, if the transport can know it. */
static void look_for_ended(mst_task *task) {
    for (int32_t i = 0; i < task->num_workers && task->type->has_ended; i++)
        if (i != task->self && task->type->has_ended(task->transport, i)) mst_members_process_ended(task->members, i);
}

static void *tick(void *context) {
    mst_task *task = context;
    pthread_mutex_lock(&task->lock);
    while (!task->closing) {
        pass_on_progress(task);
        mst_task_say_routes(task);
        mst_task_watch_wait(task);
        if (task->options.elastic_min) look_for_ended(task);
        mst_members_tick(task->members, mst_clock_now());
        mst_task_wait_a_tick(task);
    }
    pthread_mutex_unlock(&task->lock);
    return NULL;
}

static mst_status start_clock(mst_task *task) {
    task->has_clock = mst_thread_start(&task->clock, tick, task) == 0;
    return task->has_clock ? MST_OK
                           : MST_FAIL(MST_OUT_OF_MEMORY, "cannot start a thread for a task: allow more (ulimit -u)");
}

/* ---- opening and closing ---- */

static mst_status check_transport(const mst_task_options *options) {
    const char *name = options->transport;
    const bool is_mpi = name && strcmp(name, "mpi") == 0;
    const bool is_sim = name && strcmp(name, "sim") == 0; /* for tests (transport/sim.h) */
    if (name && !is_mpi && !is_sim && strcmp(name, "shm") != 0 && strcmp(name, "zmq") != 0)
        return MST_FAIL(MST_NOT_FOUND, "task: unknown transport '%s': take shm, zmq or mpi", name);
    if (is_mpi && mst_cluster_num_ps(options->cluster) > 0)
        return MST_FAIL(MST_INVALID, "task: transport mpi is for workers without parameter servers: take shm or zmq");
    return MST_OK;
}

static mst_status check_elastic(const mst_task_options *o) {
    const int workers = mst_cluster_num_workers(o->cluster);
    if (o->elastic_min < 0) return MST_FAIL(MST_INVALID, "task: elastic_min is %d, must be at least 1", o->elastic_min);
    if (!o->elastic_min) return MST_OK;
    if (mst_cluster_num_ps(o->cluster) > 0)
        return MST_FAIL(MST_INVALID,
                        "task: elastic_min is for workers without parameter servers, which go on without a lost "
                        "worker where they are asynchronous: leave it out");
    if (o->transport && strcmp(o->transport, "mpi") == 0)
        return MST_FAIL(MST_INVALID,
                        "task: elastic_min is not for transport mpi, whose workers stay the same: take shm or zmq");
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
                                         .refusal_timeout = 1.5 * task->options.timeout,
                                         .report = REPORT,
                                         .elastic_min = task->options.elastic_min,
                                         .start_wait = task->options.timeout,
                                         .events = {.context = task,
                                                    .send = members_send,
                                                    .begun = members_begun,
                                                    .ended = members_ended,
                                                    .stopped = members_stopped,
                                                    .failed = members_failed,
                                                    .waiting = members_waiting,
                                                    .notice = members_notice,
                                                    .bye = members_bye,
                                                    .trouble = members_trouble}};
    pthread_mutex_lock(&task->lock);
    const mst_status status = mst_members_create(&options, &task->members);
    pthread_mutex_unlock(&task->lock);
    return status;
}

/* This task cannot join because of the calling thread's error, whose code is STATUS: tells the leader; or all others,
 * if this task should lead. Returns STATUS. */
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
                                     .events = {.context = task,
                                                .control = on_control,
                                                .connected = on_connected,
                                                .lost = on_lost,
                                                .taken = on_taken,
                                                .misfit = on_list_mismatch,
                                                .stranger = on_stranger,
                                                .mismatch = on_mismatch,
                                                .broken = on_broken}};
    const mst_status status = mst_task_transport_open(&which, &options, &task->type, &task->transport);
    return status ? tell_cannot_join(task, &which, &options, status) : MST_OK;
}

static mst_status task_open(mst_task *task) {
    const mst_task_options *o = &task->options;
    uint64_t instance = 0;
    MST_TRY(mst_task_status_init(&task->status, o->cluster));
    mst_mail_options mail = MST_MAIL_OPTIONS(o);
    mail.status = &task->status;
    /* a worker of parameter servers needs nothing of the rest: the servers know who is there */
    if (mst_cluster_num_ps(o->cluster) > 0) return mst_ps_client_open(o, &mail, &task->servers);
    if (sodium_init() < 0) return MST_FAIL(MST_IO, "task: the system gives no random numbers");
    while (!instance) randombytes_buf(&instance, sizeof instance);
    MST_TRY(name_tasks(task));
    MST_TRY(open_transport(task, instance));
    MST_TRY(open_members(task, instance));
    return start_clock(task);
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
    if (task->options.timeout == 0) task->options.timeout = 10;
    if (task->options.recovery_timeout == 0) task->options.recovery_timeout = 600;
    if (task->options.collective_timeout == 0) task->options.collective_timeout = 600;
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
    pthread_mutex_lock(&task->lock);
    task->closing = true;
    pthread_cond_broadcast(&task->changed);
    pthread_mutex_unlock(&task->lock);
    if (task->has_clock) pthread_join(task->clock, NULL);
    pthread_mutex_lock(&task->lock);
    mst_members *members = task->members;
    const bool left = task->phase == ALL_LEFT;
    task->members = NULL; /* events of the transport no longer change anything: there is no group */
    pthread_mutex_unlock(&task->lock);
    mst_group_destroy(task->group);
    if (task->transport && left && task->type->leave) task->type->leave(task->transport);
    if (task->transport) task->type->close(task->transport, 1);
    mst_ps_client_close(task->servers);
    mst_members_destroy(members);
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

/* ---- shards ---- */

mst_ps_client *mst_task_servers(const mst_task *task) {
    return task->servers;
}

mst_task_status *mst_task_status_of(mst_task *task) {
    return task ? &task->status : NULL;
}

/* Lists the tasks that train now, and returns this task's place among them. Under the lock. */
static int32_t find_members(const mst_task *task, int32_t *number, int32_t *count) {
    int32_t self = 0;
    memcpy(number, task->member, (size_t)task->num_members * sizeof *number);
    *count = task->num_members;
    while (self + 1 < *count && number[self] != task->self) self++;
    return self;
}

mst_status mst_task_cut_shards(mst_task *task, int32_t num_shards) {
    const size_t most = (size_t)task->num_workers;
    mst_task_group *group = task->group;
    int32_t *number = calloc(most, sizeof *number), n = 0, self = 0;
    mst_shards *window = calloc(most, sizeof *window);
    mst_status status = number && window ? MST_OK : MST_NO_MEMORY("for a task");
    pthread_mutex_lock(&task->lock);
    if (!status) self = find_members(task, number, &n);
    pthread_mutex_unlock(&task->lock);
    for (int32_t i = 0; i < n && !status; i++) {
        const int32_t first = (int32_t)mst_part_begin(num_shards, n, i);
        window[i] = (mst_shards){first, (int32_t)mst_part_begin(num_shards, n, i + 1) - first};
    }
    const mst_group_options options = {.type = task->type,
                                       .transport = task->transport,
                                       .num_members = n,
                                       .self = self,
                                       .task = number,
                                       .num_shards = num_shards,
                                       .window = window,
                                       .waits = &task->status.wait};
    if (!status) status = group ? mst_group_form(group, &options) : mst_group_create(&options, &group);
    free(number);
    free(window);
    pthread_mutex_lock(&task->lock); /* the clock and the transport use it from now on */
    task->group = group;
    pthread_mutex_unlock(&task->lock);
    return status;
}

bool mst_task_must_share_anew(mst_task *task) {
    if (!task->shared) return false;
    pthread_mutex_lock(&task->lock);
    bool same = mst_group_size(task->group) == task->num_members;
    for (int32_t i = 0; i < task->num_members && same; i++) same = mst_group_task(task->group, i) == task->member[i];
    pthread_mutex_unlock(&task->lock);
    return !same;
}

mst_status mst_task_share_anew(mst_task *task) {
    return mst_task_cut_shards(task, mst_group_num_shards(task->group));
}

mst_status mst_task_share(mst_task *task, int32_t num_shards, mst_task_group **out) {
    if (task->shared && mst_group_num_shards(task->group) != num_shards)
        return MST_FAIL(MST_INVALID, "task: %d shards, but these tasks already train with %d: take the same number",
                        num_shards, mst_group_num_shards(task->group));
    if (num_shards < task->num_workers)
        return MST_FAIL(MST_INVALID, "task: %d shards are too few for %d workers: take at least as many", num_shards,
                        task->num_workers);
    if (!task->shared) MST_TRY(mst_task_cut_shards(task, num_shards));
    task->shared = true;
    *out = task->group;
    return MST_OK;
}

mst_task_group *mst_task_shards(const mst_task *task) {
    return task->group;
}

int mst_task_elastic_min(const mst_task *task) {
    return task->options.elastic_min;
}

const char *mst_task_name(const mst_task *task, int worker) {
    return task->name[worker];
}

int mst_task_num_workers(const mst_task *task) {
    return MST_IS_NULL(task) ? 0 : task->num_workers;
}

int mst_task_worker(const mst_task *task) {
    return MST_IS_NULL(task) ? 0 : task->self;
}

bool mst_task_is_chief(const mst_task *task) {
    return MST_IS_NULL(task) ? false : mst_cluster_is_chief(task->cluster);
}

uint32_t mst_task_first_since(mst_task *task) {
    if (MST_IS_NULL(task)) return 0;
    if (!task->options.elastic_min) return mst_cluster_is_chief(task->cluster);
    pthread_mutex_lock(&task->lock);
    const uint32_t since = task->phase == FAILED ? 0 : task->first_since;
    pthread_mutex_unlock(&task->lock);
    return since;
}
