#include "cluster/task_status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/escape.h"
#include "base/no_memory.h"

static const int64_t WHILE = 1000000000; /* nanoseconds after which a training task is reported as waiting */

/* Makes the text with a line for each training task. */
static mst_status list_tasks(mst_task_status *s, const mst_cluster *cluster) {
    size_t size = 0;
    FILE *file = open_memstream(&s->tasks, &size);
    if (!file) return MST_NO_MEMORY("for the names of tasks");
    for (int i = 0; i < mst_cluster_num_training_tasks(cluster); i++) {
        const mst_task_info info = mst_cluster_task(cluster, i);
        fprintf(file, "%s:%d %s\n", info.job, (int)info.index, info.address ? info.address : "");
    }
    const bool failed = ferror(file);
    return fclose(file) || failed ? MST_NO_MEMORY("for the names of tasks") : MST_OK;
}

mst_status mst_task_status_init(mst_task_status *s, const mst_cluster *cluster) {
    memset(s, 0, sizeof *s);
    mst_stopwatch_init(&s->data);
    mst_stopwatch_init(&s->wait);
    pthread_mutex_init(&s->lock, NULL);
    s->step = -1;
    s->self = mst_cluster_self(cluster);
    return list_tasks(s, cluster);
}

void mst_task_status_free(mst_task_status *s) {
    mst_stopwatch_destroy(&s->data);
    mst_stopwatch_destroy(&s->wait);
    pthread_mutex_destroy(&s->lock);
    free(s->tasks);
    free(s->devices);
}

static int64_t at_most(int64_t value, int64_t most) {
    return value < most ? value : most;
}

/* Makes the report of what the task is doing now. Under the lock. */
static mst_task_report describe(mst_task_status *s) {
    const int64_t now = mst_clock_now(), elapsed = s->began ? now - s->began : 0;
    int64_t reading, waiting;
    const int64_t data = mst_stopwatch_read(&s->data, now, &reading),
                  wait = mst_stopwatch_read(&s->wait, now, &waiting);
    const bool serves = s->doing == MST_TASK_SERVES, waits = *s->whom || (waiting > WHILE && !serves);
    return (mst_task_report){.doing = waits && s->doing != MST_TASK_DONE ? MST_TASK_WAITS : s->doing,
                             .self = s->self,
                             .step = s->step,
                             .examples = serves ? -1 : s->examples,
                             .elapsed = elapsed,
                             .data = serves ? -1 : at_most(data, elapsed),
                             .wait = at_most(wait, elapsed),
                             .sessions = s->sessions,
                             .whom = s->whom,
                             .whom_bytes = strlen(s->whom),
                             .tasks = s->tasks,
                             .tasks_bytes = strlen(s->tasks),
                             .devices = s->devices,
                             .devices_bytes = s->devices ? strlen(s->devices) : 0};
}

static void *make_report(void *context, size_t *bytes) {
    mst_task_status *s = context;
    pthread_mutex_lock(&s->lock);
    const mst_task_report report = describe(s);
    void *data = mst_task_report_encode(&report, bytes);
    pthread_mutex_unlock(&s->lock);
    return data;
}

/* Writes what the task is doing. The text follows the words "when last heard it" in messages. */
static void write_doing(void *context, char *text) {
    static const char *const doing[MST_NUM_TASK_DOINGS] = {
        [MST_TASK_IDLE] = "prepared",       [MST_TASK_WAITS] = "waited",  [MST_TASK_TRAINS] = "trained",
        [MST_TASK_VALIDATES] = "validated", [MST_TASK_SERVES] = "served", [MST_TASK_DONE] = "had trained"};
    mst_task_status *s = context;
    pthread_mutex_lock(&s->lock);
    const mst_group_progress *x = &s->exchange;
    int used = snprintf(text, MST_TRANSPORT_DOING, "%s", *s->whom ? "waited" : doing[s->doing]);
    if (*s->whom) used += snprintf(text + used, MST_TRANSPORT_DOING - (size_t)used, " for %.40s", s->whom);
    if (s->step >= 0)
        used += snprintf(text + used, MST_TRANSPORT_DOING - (size_t)used, ", had made step %lld", (long long)s->step);
    if (x->count)
        snprintf(text + used, MST_TRANSPORT_DOING - (size_t)used,
                 ", and had come to exchange %u of run %llu%s%s%s %.1f s before", x->stream, (unsigned long long)x->run,
                 *x->name ? " (" : "", x->name, *x->name ? ")" : "", (double)(mst_clock_now() - x->at) * 1e-9);
    pthread_mutex_unlock(&s->lock);
}

mst_transport_report mst_task_status_reporter(mst_task_status *s) {
    return (mst_transport_report){s, make_report, write_doing};
}

void mst_task_status_begin(mst_task_status *s, mst_task_doing doing) {
    if (!s) return;
    pthread_mutex_lock(&s->lock);
    mst_stopwatch_reset(&s->data);
    mst_stopwatch_reset(&s->wait);
    s->began = mst_clock_now();
    s->examples = 0;
    s->doing = doing;
    pthread_mutex_unlock(&s->lock);
}

void mst_task_status_set(mst_task_status *s, mst_task_doing doing) {
    if (!s) return;
    pthread_mutex_lock(&s->lock);
    s->doing = doing;
    pthread_mutex_unlock(&s->lock);
}

void mst_task_status_step(mst_task_status *s, int64_t step, int64_t examples) {
    if (!s) return;
    pthread_mutex_lock(&s->lock);
    s->step = step;
    s->examples += examples;
    pthread_mutex_unlock(&s->lock);
}

void mst_task_status_devices(mst_task_status *s, char *devices) {
    char *before = devices;
    if (s) {
        pthread_mutex_lock(&s->lock);
        before = s->devices;
        s->devices = devices;
        pthread_mutex_unlock(&s->lock);
    }
    free(before);
}

void mst_task_status_exchange(mst_task_status *s, const mst_group_progress *exchange) {
    pthread_mutex_lock(&s->lock);
    s->exchange = *exchange;
    pthread_mutex_unlock(&s->lock);
}

void mst_task_status_wait_for(mst_task_status *s, const char *whom) {
    if (!s) return;
    pthread_mutex_lock(&s->lock);
    snprintf(s->whom, sizeof s->whom, "%s", whom);
    mst_make_plain(s->whom);
    pthread_mutex_unlock(&s->lock);
}
