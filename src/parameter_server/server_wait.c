/* For whom the server waits. It says so, warns of a step that waits for long, and ends the job if the wait is too
 * long. */
#include <stdio.h>

#include "base/clock.h"
#include "cluster/cluster_spec.h"
#include "parameter_server/server_state.h"

/* The workers that IS_MISSING selects, as a list in words. */
static const char *list_workers(mst_server *s, bool (*is_missing)(const mst_server_worker *), char *text, size_t size) {
    size_t used = 0;
    int32_t more = 0;
    *text = '\0';
    for (int32_t w = 0; w < s->num_workers; w++) {
        if (!is_missing(&s->worker[w])) continue;
        if (used + sizeof s->text + 20 < size)
            used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", mst_server_name(s, w));
        else
            more++;
    }
    if (more) snprintf(text + used, size - used, " and %d more", (int)more);
    return text;
}

static bool has_not_come(const mst_server_worker *w) {
    return !w->instance;
}

static bool sends_nothing(const mst_server_worker *w) {
    return !w->gradients;
}

/* Says in the log for whom the server waits. Used before the workers have begun. */
static void say_whom(mst_server *s) {
    static const int64_t APART = INT64_C(2000000000); /* nanoseconds */
    char list[600];
    const int64_t now = mst_clock_now();
    if (now - s->waiting.said < APART) return;
    list_workers(s, has_not_come, list, sizeof list);
    if (s->waiting.said && *list) mst_server_say(s, "waiting for %s", list);
    mst_task_status_wait_for(&s->status, list);
    s->waiting.said = now;
}

static bool is_waited_for_lost(const mst_server_worker *w) {
    return w->instance && w->lost && !w->left && !w->finished;
}

static mst_status tell_waiting(mst_server *s, const char *line) {
    mst_server_say(s, "%s", line);
    for (int32_t w = 0; w < s->num_workers; w++)
        if (s->worker[w].finished && !s->worker[w].lost) MST_TRY(mst_server_send_line(s, MST_PS_NOTICE, w, 0, line));
    return MST_OK;
}

/* In an asynchronous job, workers that have made their last step may wait for others that have never come or are lost.
 * The first server tells them, and its log, for whom they wait. */
mst_status mst_server_say_who_is_missing(mst_server *s, int64_t now) {
    static const int64_t APART = INT64_C(10000000000); /* nanoseconds */
    char list[500], line[600];
    bool have_finished = false;
    for (int32_t w = 0; w < s->num_workers; w++) have_finished |= s->worker[w].finished;
    if (!have_finished || mst_cluster_task(s->options.cluster, s->self).index > 0) s->waiting.said_missing = now;
    if (now - s->waiting.said_missing < (s->waiting.has_said_missing ? APART : APART / 5)) return MST_OK;
    s->waiting.said_missing = now;
    s->waiting.has_said_missing = true;
    if (*list_workers(s, has_not_come, list, sizeof list)) {
        snprintf(line, sizeof line, "waiting for %s: has not connected yet", list);
        MST_TRY(tell_waiting(s, line));
    }
    if (!*list_workers(s, is_waited_for_lost, list, sizeof list)) return MST_OK;
    snprintf(line, sizeof line, "waiting for %s: was connected, and is lost", list);
    return tell_waiting(s, line);
}

/* Notes for whom the server waits in its status, which `muster top` shows. Used once the workers have begun. */
static void note_whom(mst_server *s, int64_t now) {
    static const int64_t WHILE = INT64_C(1000000000); /* nanoseconds */
    char list[600] = "";
    if (s->waiting.since && now - s->waiting.since > WHILE) list_workers(s, sends_nothing, list, sizeof list);
    mst_task_status_wait_for(&s->status, list);
    mst_task_status_set(&s->status, s->end.all_left ? MST_TASK_DONE : MST_TASK_SERVES);
    mst_task_status_step(&s->status, s->step, 0);
}

void mst_server_note_waiting(mst_server *s, int64_t now) {
    if (!s->round || (s->options.replay_updates && !s->replay))
        say_whom(s);
    else
        note_whom(s, now);
}

/* A worker that is lost for too long ends a synchronous job. An asynchronous job goes on without that worker. */
mst_status mst_server_check_lost(mst_server *s, int64_t now) {
    for (int32_t w = 0; w < s->num_workers; w++) {
        mst_server_worker *worker = &s->worker[w];
        if (!worker->lost || worker->left || (double)(now - worker->lost) < s->options.recovery_timeout * 1e9) continue;
        s->end.is_left = !s->round || s->job.synchronous || s->options.replay_updates;
        if (s->end.is_left)
            return MST_FAIL(MST_UNAVAILABLE,
                            "%s is lost (%s) and has not come back within %g s: look at its output, then start the job "
                            "again; with --checkpoint-dir it goes on from the last checkpoint",
                            mst_server_name(s, w), worker->why, s->options.recovery_timeout);
        mst_server_say(s, "goes on without %s", mst_server_name(s, w));
        worker->left = true;
        MST_TRY(mst_server_end_when_all_left(s));
    }
    return MST_OK;
}

/* Lists the live workers for which a step waits, and what each was doing when last heard; "": none. */
static void list_late(mst_server *s, char *list, size_t size) {
    char heard[MST_TRANSPORT_DOING];
    size_t used = 0;
    *list = '\0';
    for (int32_t w = 0; w < s->num_workers && used < size; w++) {
        if (s->worker[w].gradients || s->worker[w].lost || s->worker[w].left) continue;
        mst_mail_heard(s->mail, w, heard);
        used += (size_t)snprintf(list + used, size - used, "%s%s, when last heard, %s", used ? "; " : "",
                                 mst_server_name(s, w), *heard ? heard : "said nothing");
    }
}

static void watch_step(mst_server *s, int64_t now) {
    static const double LATE = 10, AGAIN = 60; /* seconds */
    char list[1000];
    const double seconds = s->waiting.since ? (double)(now - s->waiting.since) * 1e-9 : 0;
    if (seconds < LATE) {
        if (s->waiting.warned) mst_server_say(s, "goes on, having waited for %.0f s", s->waiting.seconds);
        s->waiting.warned = 0;
        return;
    }
    s->waiting.seconds = seconds;
    if (s->waiting.warned && (double)(now - s->waiting.warned) < AGAIN * 1e9) return;
    list_late(s, list, sizeof list);
    if (!*list) return;
    s->waiting.warned = now;
    mst_server_say(s, "warning: step %lld has waited for %.0f s for %s", (long long)s->step, seconds, list);
}

mst_status mst_server_check_step(mst_server *s, int64_t now) {
    char list[1000];
    watch_step(s, now);
    if (!s->waiting.since || (double)(now - s->waiting.since) < s->options.step_timeout * 1e9) return MST_OK;
    list_late(s, list, sizeof list);
    return MST_FAIL(MST_DEADLINE, "step %lld has waited for %g s for %s", (long long)s->step, s->options.step_timeout,
                    *list ? list : "workers that are lost");
}
