/* A task: this process as a member of a cluster.
 *
 *      transport, events    connected, lost, control ----+         (control of executables: task_executables.h)
 *      clock thread         ticks -----------------------+--> members: who is there (membership/members.h)
 *      program              ready, committed, left ------+        |
 *                                                                 v
 *                                      begun, ended: begin and end generations of transport and group; wake the program
 *
 * The lock guards the members and their events. Functions of the transport and of the group that are called under it do
 * not wait. A program that joins waits on `changed`. When a generation ends, the sums of a step end with an error
 * (collective/group.h), and then the program joins again. */
#include "task/task.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/argument.h"
#include "base/clock.h"
#include "base/thread.h"
#include "cluster/task_log.h"
#include "messages/executable_message.h"
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
    (void)instance; /* not needed here: each message names the process that it is for */
    /* not sent: members repeat their messages, as they do for messages that were lost on the way */
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
    mst_task_executables_begin(task->executables, generation->source, task->member, task->num_members);
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
    ended.code = MST_UNAVAILABLE; /* not an error of the program: the tasks come together again */
    const mst_failure plain = mst_task_failure_plain(&ended);
    end_group(task, &ended);
    mst_task_executables_end(task->executables, &plain);
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
    const mst_failure plain = mst_task_failure_plain(failure);
    end_group(task, failure);
    mst_task_executables_finish(task->executables, &plain);
    task->phase = FAILED;
    task->failure = *failure;
    pthread_cond_broadcast(&task->changed);
}

static void members_connect_error(void *context, int32_t number, char *text) {
    mst_task *task = context;
    const mst_transport_peer_info *info = task->type->peer_info;
    if (info && number != task->self) info->connect_error(task->transport, number, text);
}

/* Writes a task that is waited for: "worker:1 at b:2222 (connection refused: nothing listens there)". Returns the
 * length of the text. */
static size_t write_waited(mst_task *task, const mst_waited_task *waited, char *text, size_t size) {
    const char *address = task->address[waited->task];
    char why[MST_TRANSPORT_DOING] = "";
    if (waited->present)
        snprintf(why, sizeof why, "there, but not ready");
    else
        members_connect_error(task, waited->task, why);
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
    mst_task_executables_finish(task->executables, NULL);
    pthread_cond_broadcast(&task->changed);
}

mst_members_events mst_task_members_events(mst_task *task) {
    return (mst_members_events){.context = task,
                                .send = members_send,
                                .begun = members_begun,
                                .ended = members_ended,
                                .stopped = members_stopped,
                                .failed = members_failed,
                                .waiting = members_waiting,
                                .notice = members_notice,
                                .bye = members_bye,
                                .connect_error = members_connect_error};
}

/* ---- events of the transport, on its thread ---- */

static void on_control(void *context, int32_t from, uint64_t instance, const void *data, size_t bytes) {
    mst_task *task = context;
    if (mst_executable_message_is(data, bytes)) {
        mst_task_executables_received(task->executables, from, data, bytes);
        return;
    }
    pthread_mutex_lock(&task->lock);
    if (task->members) mst_members_received(task->members, from, instance, data, bytes);
    pthread_mutex_unlock(&task->lock);
}

static void on_connected(void *context, int32_t number) {
    mst_task *task = context;
    mst_task_executables_connected(task->executables, number);
    pthread_mutex_lock(&task->lock);
    if (task->members) mst_members_connected(task->members, number);
    pthread_mutex_unlock(&task->lock);
}

static void on_lost(void *context, int32_t number, uint64_t instance, const char *why) {
    mst_task *task = context;
    mst_task_executables_lost(task->executables, number);
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

/* Ends the job, because task NUMBER sums something else: its program differs from this one. */
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

mst_transport_events mst_task_transport_events(mst_task *task) {
    return (mst_transport_events){.context = task,
                                  .control = on_control,
                                  .connected = on_connected,
                                  .lost = on_lost,
                                  .taken = on_taken,
                                  .list_mismatch = on_list_mismatch,
                                  .stranger = on_stranger,
                                  .mismatch = on_mismatch,
                                  .broken = on_broken};
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

/* Looks for processes of this machine that have ended, if the transport can tell. */
static void look_for_ended(mst_task *task) {
    const mst_transport_peer_info *info = task->type->peer_info;
    for (int32_t i = 0; i < task->num_workers && info && info->has_ended; i++)
        if (i != task->self && info->has_ended(task->transport, i)) mst_members_process_ended(task->members, i);
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

mst_status mst_task_start_clock(mst_task *task) {
    task->has_clock = mst_thread_start(&task->clock, tick, task) == 0;
    return task->has_clock ? MST_OK
                           : MST_FAIL(MST_OUT_OF_MEMORY, "cannot start a thread for a task: allow more (ulimit -u)");
}

/* ---- what others ask of a task ---- */

mst_ps_client *mst_task_servers(const mst_task *task) {
    return task->servers;
}

mst_task_status *mst_task_status_of(mst_task *task) {
    return task ? &task->status : NULL;
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
