/* Joining the other tasks, and leaving them (task/task.h). */
#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/clock.h"
#include "base/no_memory.h"
#include "cluster/instructions.h"
#include "collective/collectives.h"
#include "messages/state_message.h"
#include "store/store.h"
#include "task/task_inside.h"

/* ---- the state of a task ---- */

static mst_status take_snapshot(const mst_task_state *state, mst_snapshot **out) {
    return state->sharded ? mst_store_snapshot_wholes(state->store, out) : mst_store_snapshot(state->store, out);
}

/* A hash of the state that must be equal in all tasks. */
static uint64_t hash_of(const mst_task *task, const mst_snapshot *snapshot) {
    return mst_state_hash_of(snapshot, task->state.sharded ? ~(1u << MST_STATE_SLOT) : ~0u);
}

/* ---- the state of another task ---- */

static const uint32_t STATE_SIZE = UINT32_MAX - 1, STATE_BYTES = UINT32_MAX; /* streams that no exchange uses */

static mst_key state_key(const mst_task *task, uint32_t stream) {
    return (mst_key){.generation = task->generation, .stream = stream};
}

/* Waits until COUNT sends or posts are done. Returns the error of the generation if that has ended before. */
static mst_status wait_done(const mst_task *task, mst_timeline *done, uint64_t count) {
    mst_timeline_wait(done, count, MST_NEVER, false);
    return mst_group_check(task->group);
}

static mst_status receive_state(mst_task *task, mst_store *store) {
    mst_timeline done = {0};
    uint64_t bytes = 0;
    mst_snapshot *snapshot = NULL;
    MST_TRY(task->type->post(task->transport, task->source, state_key(task, STATE_SIZE), &bytes, sizeof bytes, &done));
    MST_TRY(wait_done(task, &done, 1));
    void *data = bytes <= PTRDIFF_MAX ? malloc(bytes ? bytes : 1) : NULL;
    if (!data) return MST_NO_MEMORY("for the state of %s", task->name[task->source]);
    mst_status status =
        task->type->post(task->transport, task->source, state_key(task, STATE_BYTES), data, bytes, &done);
    if (!status) status = wait_done(task, &done, 2);
    if (!status) status = mst_state_message_decode(data, bytes, &snapshot);
    if (!status && task->state.sharded) mst_store_drop_wholes(store);
    if (!status) status = mst_store_restore(store, snapshot);
    mst_snapshot_release(snapshot);
    free(data);
    return status;
}

static mst_status send_state(mst_task *task, const mst_snapshot *snapshot) {
    mst_timeline done = {0};
    void *data;
    size_t size;
    MST_TRY(mst_state_message_encode(snapshot, &data, &size));
    const uint64_t bytes = size;
    const mst_iov pieces[] = {{&bytes, sizeof bytes}, {data, size}};
    uint64_t sent = 0;
    mst_status status = MST_OK;
    for (int32_t i = 0; i < task->num_copiers && !status; i++)
        for (int k = 0; k < 2 && !status; k++) {
            const mst_key key = state_key(task, k ? STATE_BYTES : STATE_SIZE);
            status = task->type->send(task->transport, task->copiers[i], key, &pieces[k], 1, &done);
            sent += !status;
        }
    const mst_status waited = wait_done(task, &done, sent); /* the bytes must stay until they are sent */
    free(data);
    return status ? status : waited;
}

/* Replaces this task's state by that of the generation's source, if the two differ. */
static mst_status agree_on_state(mst_task *task, const mst_snapshot *snapshot, mst_task_joined *joined) {
    joined->returns = !task->anew;
    if (task->copies) {
        MST_TRY(receive_state(task, task->state.store));
        atomic_store(&task->number, task->source_number); /* even if this task makes no step with it */
        joined->copied = true;
        return MST_OK;
    }
    return task->self == task->source && task->num_copiers ? send_state(task, snapshot) : MST_OK;
}

/* ---- instructions ---- */

static mst_status agree_on_instructions(mst_task *task) {
    char line[256];
    MST_TRY(mst_instructions_limit(task->fingerprints, task->state.num_fingerprints, task->instructions,
                                   task->name[task->self], line, sizeof line));
    if (*line) mst_task_say(task, "%s", line);
    return MST_OK;
}

/* ---- joining ---- */

/* Says which tasks go on, if they are not all. A job that begins has made 0 steps. */
static void say_fewer(const mst_task *task, long long made) {
    char list[400] = "";
    size_t used = 0;
    int32_t num_missing = 0;
    for (int32_t i = 0, m = 0; i < task->num_workers; i++) {
        const bool takes_part = m < task->num_members && task->member[m] == i;
        m += takes_part;
        if (takes_part || used >= sizeof list) continue;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", num_missing++ ? ", " : "", task->name[i]);
    }
    const bool has_chief = task->member[0] == CHIEF;
    mst_task_say(task, "%d of %d workers go on after step %lld, without %s%s%s", task->num_members, task->num_workers,
                 made, list, has_chief ? "" : "; files are written by ", has_chief ? "" : task->name[task->member[0]]);
}

/* Says which tasks have come back, and how far the job is. */
static void say_back(mst_task *task) {
    char list[600] = "";
    size_t used = 0;
    mst_tensor *step;
    int num_back = 0;
    for (int32_t i = 0; i < task->num_workers && used < sizeof list; i++) {
        if (!task->back[i]) continue;
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%s", num_back++ ? ", " : "", task->name[i]);
        task->back[i] = false;
    }
    const bool all = task->num_members == task->num_workers;
    /* nothing to say: training ends after the state that was reached */
    if (task->stopped_at != MST_NO_STATE && all) return;
    if ((task->anew && all) || mst_store_get(task->state.store, NULL, MST_STATE_GLOBAL_STEP, &step)) return;
    const long long made = (long long)mst_tensor_get(step, 0);
    mst_tensor_release(step);
    if (!all)
        say_fewer(task, made);
    else if (!task->was_together)
        mst_task_say(task, "the job is under way: going on after step %lld", made);
    else if (num_back)
        mst_task_say(task, "%s %s back: going on after step %lld", list, num_back > 1 ? "are" : "is", made);
    else
        mst_task_say(task, "all %d tasks are here again: going on after step %lld", task->num_workers, made);
}

static bool have_all_left(mst_task *task) {
    pthread_mutex_lock(&task->lock);
    const bool left = task->phase == ALL_LEFT;
    pthread_mutex_unlock(&task->lock);
    return left;
}

static mst_status job_failure(const mst_task *task) {
    const mst_failure plain = mst_task_failure_plain(&task->failure);
    return mst_failure_restore(&plain);
}

static bool is_stopped(const mst_task *task) {
    return task->options.stop && task->options.stop(task->options.context);
}

/* The error if this process has come after the end of the job, which may happen if a launcher has started it again. It
 * must not wait forever. SINCE: the time since which no other task has been there. */
static mst_status check_is_not_late(const mst_task *task, int64_t since) {
    enum { OTHERS_MAY_BE_THERE = 2 }; /* seconds */
    const char *ended = task->restarted;
    if (!ended || task->was_together) return MST_OK;
    const double most = *ended ? OTHERS_MAY_BE_THERE : task->options.recovery_timeout;
    if (mst_clock_now() - since <= (int64_t)(most * 1e9)) return MST_OK;
    if (*ended)
        return MST_FAIL(MST_UNAVAILABLE,
                        "%s was started again when %s had done its work, and with it the job: start the job again, "
                        "which goes on from its last checkpoint if it has any",
                        task->name[task->self], ended);
    return MST_FAIL(MST_UNAVAILABLE,
                    "%s was started again, and the others did not come together with it within %g s: start the job "
                    "again, or give a longer recovery timeout; if the job has ended before, nothing is left to do",
                    task->name[task->self], most);
}

/* Makes this task ready for the next generation with STATE. Waits, under the lock, until that generation has begun. On
 * return it may already have ended again. */
static mst_status wait_for_generation(mst_task *task, const mst_member_state *state) {
    const uint32_t before = task->generation;
    int64_t since = mst_clock_now();
    const char *stopped = "stopped while waiting for the other tasks";
    /* the job is done, but the leader has ended before it said BYE */
    if (is_stopped(task) && mst_members_have_all_left(task->members)) {
        task->phase = ALL_LEFT;
        return MST_OK;
    }
    /* before mst_members_ready: this task may already be ready */
    if (is_stopped(task)) return MST_FAIL(MST_CANCELLED, "%s", stopped);
    MST_TRY(mst_members_ready(task->members, state));
    while (task->phase == APART && task->generation == before) {
        if (is_stopped(task)) return MST_FAIL(MST_CANCELLED, "%s", stopped);
        if (!mst_members_is_alone(task->members)) since = mst_clock_now();
        MST_TRY(check_is_not_late(task, since));
        mst_task_wait_a_tick(task);
    }
    return MST_OK;
}

/* Waits for the next generation, to which this task brings the state of SNAPSHOT. */
static mst_status come_together(mst_task *task, const mst_snapshot *snapshot) {
    mst_member_state state = {.num_fingerprints = task->state.num_fingerprints,
                              .state_number = atomic_load(&task->number),
                              .state_hash = hash_of(task, snapshot),
                              .ended_at = task->ended_at};
    memcpy(state.fingerprint, task->fingerprints, (size_t)state.num_fingerprints * sizeof *state.fingerprint);
    mst_status status = MST_OK;
    mst_stopwatch_start(&task->status.wait);
    pthread_mutex_lock(&task->lock);
    while (!status && task->phase == APART) status = wait_for_generation(task, &state);
    if (!status && task->phase == FAILED) status = job_failure(task);
    pthread_mutex_unlock(&task->lock);
    mst_stopwatch_stop(&task->status.wait);
    mst_task_status_wait_for(&task->status, "");
    return status;
}

/* Keeps the number of tasks, followed by the fingerprints of STATE. The number comes first: a task with another list of
 * tasks would not understand later messages. */
static mst_status keep_fingerprints(mst_task *task, const mst_task_state *state) {
    if (state->fingerprint == task->fingerprints) return MST_OK;
    if (state->num_fingerprints >= MST_FINGERPRINTS_MOST)
        return MST_FAIL(MST_INTERNAL, "task: %d fingerprints", state->num_fingerprints);
    task->fingerprints[0] = (mst_fingerprint){.name = "tasks", .hash = (uint64_t)task->num_workers};
    memcpy(task->fingerprints + 1, state->fingerprint, (size_t)state->num_fingerprints * sizeof *state->fingerprint);
    task->state.fingerprint = task->fingerprints;
    task->state.num_fingerprints = state->num_fingerprints + 1;
    return MST_OK;
}

/* Keeps what the task brings: a task that has done its work may have to bring it again. */
static mst_status keep_state(mst_task *task, const mst_task_state *state) {
    mst_store *before = task->state.store;
    mst_task_state kept = *state;
    MST_TRY(keep_fingerprints(task, state));
    kept.fingerprint = task->state.fingerprint;
    kept.num_fingerprints = task->state.num_fingerprints;
    kept.store = mst_store_retain(state->store);
    atomic_store(&task->number, state->number);
    task->state = kept;
    mst_store_release(before);
    return MST_OK;
}

/* Says "data go through shared memory", or which tasks use which of two ways. The leader is connected with all tasks,
 * the others only with the leader. */
void mst_task_say_routes(mst_task *task) {
    const char *way[2] = {NULL, NULL};
    int32_t count[2] = {0, 0};
    if (!task->says_routes || task->phase != TOGETHER || !task->type->peer_info) return;
    for (int32_t m = 0; m < task->num_members; m++) {
        const int32_t i = task->member[m];
        const char *route = i == task->self ? NULL : task->type->peer_info->route(task->transport, i);
        if (!route && i != task->self && (m == 0 || task->self == task->member[0])) return;
        if (!route) continue;
        const int which = way[0] && strcmp(way[0], route) != 0;
        way[which] = route;
        count[which]++;
    }
    task->says_routes = false;
    if (count[1])
        mst_task_say(task, "data go %s to %d tasks, %s to %d", way[0], count[0], way[1], count[1]);
    else if (way[0])
        mst_task_say(task, "data go %s", way[0]);
}

/* Says in the log how the tasks have come together: they are in a generation, and their states are equal. */
static void begin_together(mst_task *task) {
    pthread_mutex_lock(&task->lock);
    task->says_routes |= !task->was_together;
    mst_task_say_routes(task);
    say_back(task);
    task->was_together = true;
    pthread_mutex_unlock(&task->lock);
}

/* ---- beginning to train after collectives ---- */

/* What a task brings, in the form in which it is sent. */
typedef struct brought_state {
    mst_fingerprint fingerprint[MST_FINGERPRINTS_MOST];
    int64_t num_fingerprints, number;
    uint64_t hash;
} brought_state;

/* Gathers in ALL, [num_workers], what each task brings. */
static mst_status gather_states(mst_task *task, const mst_snapshot *snapshot, brought_state *all) {
    size_t *bytes = calloc((size_t)task->num_workers, sizeof *bytes);
    if (!bytes) return MST_NO_MEMORY("for the states of %d tasks", task->num_workers);
    for (int32_t i = 0; i < task->num_workers; i++) bytes[i] = sizeof *all;
    brought_state *own = &all[task->self];
    own->num_fingerprints = task->state.num_fingerprints;
    memcpy(own->fingerprint, task->fingerprints, (size_t)own->num_fingerprints * sizeof *own->fingerprint);
    own->number = atomic_load(&task->number);
    own->hash = hash_of(task, snapshot);
    const mst_status status =
        mst_group_all_gather(task->group, bytes, all, mst_clock_after(task->options.collective_timeout));
    free(bytes);
    return status;
}

/* The fingerprints that a task, this one or another, has brought. */
static int32_t take_fingerprints(const brought_state *brought, mst_fingerprint *out) {
    const int64_t n = brought->num_fingerprints;
    if (n < 0 || n > MST_FINGERPRINTS_MOST) return 0;
    return mst_fingerprints_take(brought->fingerprint, (size_t)n * sizeof *out, out);
}

/* Finds the first task that differs from task 0, and says in what. All tasks find the same difference. */
static mst_status compare_states(const mst_task *task, const brought_state *all) {
    bool warned = false;
    mst_fingerprint first[MST_FINGERPRINTS_MOST], other[MST_FINGERPRINTS_MOST];
    char text[1024];
    const int32_t num_first = take_fingerprints(&all[0], first);
    for (int32_t i = 1; i < task->num_workers; i++) {
        const int32_t num_other = take_fingerprints(&all[i], other);
        if (mst_fingerprints_differ(first, num_first, task->name[0], other, num_other, task->name[i], text,
                                    sizeof text))
            return MST_FAIL(MST_INVALID, "%s", text);
        if (warned || !mst_fingerprints_warn(first, num_first, task->name[0], other, num_other, task->name[i], true,
                                             text, sizeof text))
            continue;
        warned = true;
        mst_task_say(task, "%s", text);
    }
    return MST_OK;
}

/* Chooses the task whose state counts, by the rule for a job that begins anew (membership/members.h). It is the chief,
 * if the chief has made or restored any step. */
static void choose_source(mst_task *task, const brought_state *all) {
    pthread_mutex_lock(&task->lock);
    task->source = 0;
    for (int32_t i = 1; i < task->num_workers && all[0].number <= 0; i++)
        if (all[i].number > all[task->source].number) task->source = i;
    const brought_state *source = &all[task->source];
    task->source_number = source->number;
    task->num_copiers = 0;
    for (int32_t i = 0; i < task->num_workers; i++)
        if (all[i].number != source->number || all[i].hash != source->hash) task->copiers[task->num_copiers++] = i;
    task->instructions = UINT64_MAX;
    for (int32_t i = 0; i < task->num_workers; i++) {
        mst_fingerprint list[MST_FINGERPRINTS_MOST];
        task->instructions &= mst_fingerprints_instructions(list, take_fingerprints(&all[i], list));
    }
    task->copies = all[task->self].number != source->number || all[task->self].hash != source->hash;
    pthread_mutex_unlock(&task->lock);
}

static mst_status agree_after_calls(mst_task *task, const mst_snapshot *snapshot, mst_task_joined *joined) {
    brought_state *all = calloc((size_t)task->num_workers, sizeof *all);
    mst_status status = all ? MST_OK : MST_NO_MEMORY("for the states of %d tasks", task->num_workers);
    if (!status) status = gather_states(task, snapshot, all);
    if (!status) status = compare_states(task, all);
    if (!status) choose_source(task, all);
    free(all);
    if (!status) status = agree_on_instructions(task);
    return status ? status : agree_on_state(task, snapshot, joined);
}

/* Joins tasks that have already come together for collectives. Makes the comparisons that are otherwise made when tasks
 * come together (membership/members.h). A task that is lost cannot come back: it would begin with collectives, and the
 * others would not. */
static mst_status join_after_calls(mst_task *task, const mst_task_state *state, mst_task_joined *joined) {
    const mst_task_call call = {.kind = MST_CALL_FIT};
    mst_snapshot *snapshot;
    MST_TRY(mst_task_meet(task, &call));
    MST_TRY(keep_state(task, state));
    MST_TRY(take_snapshot(state, &snapshot));
    const mst_status status = agree_after_calls(task, snapshot, joined);
    mst_snapshot_release(snapshot);
    task->has_agreed = !status;
    return status;
}

/* Joins the others until that succeeds, also after losses. Also returns if the job has ended without this task. */
static mst_status join_or_end(mst_task *task, const mst_task_state *state, mst_task_joined *joined) {
    *joined = (mst_task_joined){.copied = false};
    if (task->by_call) return join_after_calls(task, state, joined);
    MST_TRY(keep_state(task, state));
    for (;;) {
        mst_snapshot *snapshot;
        MST_TRY(take_snapshot(state, &snapshot));
        mst_status status = come_together(task, snapshot);
        const bool together = !status;
        if (together && have_all_left(task)) {
            mst_snapshot_release(snapshot);
            return MST_OK;
        }
        if (!status) status = agree_on_instructions(task);
        if (!status) status = agree_on_state(task, snapshot, joined);
        mst_snapshot_release(snapshot);
        if (!status) begin_together(task);
        if (!status || !together) return status;
        if (mst_task_is_joined(task)) return status; /* an error of this task, for example in restoring the state */
    }
}

mst_status mst_task_join(mst_task *task, const mst_task_state *state, mst_task_joined *joined) {
    MST_TRY(join_or_end(task, state, joined));
    if (!have_all_left(task)) return MST_OK;
    task->has_ended = true;
    return MST_FAIL(MST_UNAVAILABLE, "the job has ended while %s was away: the other workers have done their work",
                    task->name[task->self]);
}

bool mst_task_has_ended(mst_task *task) {
    return MST_IS_NULL(task) ? false : task->has_ended;
}

bool mst_task_is_joined(mst_task *task) {
    pthread_mutex_lock(&task->lock);
    const bool joined = task->phase == TOGETHER;
    pthread_mutex_unlock(&task->lock);
    return joined;
}

bool mst_task_has_agreed(mst_task *task) {
    return mst_task_is_joined(task) && (!task->by_call || task->has_agreed);
}

void mst_task_committed(mst_task *task, int64_t number) {
    atomic_store(&task->number, number);
}

/* ---- the end ---- */

mst_status mst_task_stop(mst_task *task, int64_t number) {
    mst_status status = MST_OK;
    pthread_mutex_lock(&task->lock);
    if (task->phase == TOGETHER && task->stopped_at < number) mst_members_stop(task->members, number);
    while (task->phase == TOGETHER && task->stopped_at < number && !status) {
        if (is_stopped(task)) status = MST_FAIL(MST_CANCELLED, "stopped while waiting for the other tasks to stop");
        mst_task_wait_a_tick(task);
    }
    if (task->phase == FAILED)
        status = job_failure(task);
    else if (!status && task->phase == APART)
        status = MST_FAIL(MST_UNAVAILABLE, "the tasks come together again");
    pthread_mutex_unlock(&task->lock);
    return status;
}

void mst_task_goes_on(mst_task *task) {
    pthread_mutex_lock(&task->lock);
    if (task->was_together && task->stopped_at == MST_NO_STATE) task->ended_at = MST_NO_STATE;
    pthread_mutex_unlock(&task->lock);
}

bool mst_task_is_stopped(mst_task *task, int64_t number) {
    pthread_mutex_lock(&task->lock);
    const bool stopped = task->stopped_at >= number;
    task->stopped_at = MST_NO_STATE;
    if (!stopped) task->ended_at = MST_NO_STATE;
    pthread_mutex_unlock(&task->lock);
    return stopped;
}

bool mst_task_must_end(const mst_task *task) {
    return is_stopped(task);
}

mst_status mst_task_fail(mst_task *task, mst_status status) {
    enum { SECONDS = 5 }; /* time for the others to be told of the error */
    mst_failure failure;
    if (task->servers) return mst_ps_client_fail(task->servers, status);
    mst_failure_keep(&failure, status);
    const int64_t deadline = mst_clock_after(SECONDS);
    pthread_mutex_lock(&task->lock);
    if (task->phase != FAILED) mst_members_failed(task->members, &failure);
    while (task->phase != FAILED && task->phase != ALL_LEFT && mst_clock_now() < deadline) {
        mst_task_wait_a_tick(task);
    }
    /* this task has waited too long, but cannot say for which task. The leader has asked all tasks: the job's failure
     * names that one */
    if (status == MST_DEADLINE && task->phase == FAILED) failure = mst_task_failure_plain(&task->failure);
    pthread_mutex_unlock(&task->lock);
    return mst_failure_restore(&failure);
}

/* Says that the work is done, and waits until all have said so. *LOST: a task was lost before that. If this process
 * must end meanwhile (`stop` of its options), it first checks whether all have said so. Then nobody waits for it, and
 * the job has ended well for this process too. */
static mst_status wait_all_left(mst_task *task, bool *lost) {
    mst_status status = MST_OK;
    pthread_mutex_lock(&task->lock);
    mst_task_say_routes(task);
    if (task->phase == TOGETHER) mst_members_left(task->members, task->generation);
    while (task->phase == TOGETHER && !status) {
        mst_task_wait_a_tick(task);
        if (task->phase == TOGETHER && is_stopped(task) && !mst_members_have_all_left(task->members))
            status = MST_FAIL(MST_CANCELLED, "stopped while waiting for the other tasks to end");
    }
    *lost = task->phase == APART;
    if (task->phase == FAILED) status = job_failure(task);
    pthread_mutex_unlock(&task->lock);
    return status;
}

static mst_status leave_after_calls(mst_task *task) {
    const mst_task_call call = {.kind = MST_CALL_LEAVE};
    bool lost;
    MST_TRY(mst_task_meet(task, &call));
    MST_TRY(wait_all_left(task, &lost));
    return lost ? mst_group_check(task->group) : MST_OK;
}

mst_status mst_task_leave(mst_task *task) {
    if (MST_IS_NULL(task)) return MST_INVALID;
    bool lost;
    mst_task_joined joined;
    if (task->servers) return mst_ps_client_leave(task->servers);
    if (!task->state.store) return MST_OK; /* it has never joined */
    if (task->by_call) return leave_after_calls(task);
    for (;;) {
        MST_TRY(wait_all_left(task, &lost));
        if (!lost) return MST_OK;
        mst_task_state state = task->state;
        state.number = atomic_load(&task->number);
        MST_TRY(join_or_end(task, &state, &joined));
        if (have_all_left(task)) return MST_OK;
    }
}
