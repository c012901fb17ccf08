/* Watches a step that waits long for other tasks, which are alive. A warning names them before the deadline turns the
 * wait into an error. */
#include "base/clock.h"
#include "task/task_inside.h"

static const double LATE = 10, AGAIN = 60; /* seconds before the first warning, and between two warnings */
/* nanoseconds: if the last look at the wait is longer ago, this task itself was stopped meanwhile */
static const int64_t PAUSE = 2000000000;

/* Adds what a task was doing: "; worker:1 at b:2222, when last heard, trained, had made step 5". */
static size_t add_heard(mst_task *task, int32_t number, char *text, size_t size) {
    char heard[MST_TRANSPORT_DOING] = "";
    const char *address = task->address[number];
    if (task->type->peer_info) task->type->peer_info->heard(task->transport, number, heard);
    return (size_t)snprintf(text, size, "; %s%s%s, when last heard, %s", task->name[number], address ? " at " : "",
                            address ? address : "", *heard ? heard : "said nothing");
}

static void warn(mst_task *task, double seconds) {
    enum { MOST = 4 };
    char others[MOST * (MST_TRANSPORT_DOING + MST_ADDRESS_TEXT)] = "", own[MST_TRANSPORT_DOING];
    size_t used = 0;
    int told = 0;
    const mst_transport_report report = mst_task_status_reporter(&task->status);
    report.doing(report.context, own);
    for (int32_t m = 0; m < task->num_members; m++) {
        if (task->member[m] == task->self || used >= sizeof others || told++ >= MOST) continue;
        used += add_heard(task, task->member[m], others + used, sizeof others - used);
    }
    mst_task_say(task, "warning: has waited for the other workers for %.0f s: it %s%s%s", seconds, own, others,
                 told > MOST ? "; muster top shows the others" : "");
}

void mst_task_watch_wait(mst_task *task) {
    const int64_t now = mst_clock_now();
    int64_t waited;
    mst_stopwatch_read(&task->status.wait, now, &waited);
    const int64_t unseen = now - task->looked;
    /* this wait began after the last look, so the noted pauses belong to an earlier wait */
    if (waited < unseen) task->paused = 0;
    if (unseen > PAUSE) task->paused += waited < unseen ? waited : unseen;
    waited -= task->paused;
    task->looked = now;
    const double seconds = task->phase == TOGETHER ? (double)waited * 1e-9 : 0;
    if (seconds < LATE) {
        if (task->warned && task->phase == TOGETHER)
            mst_task_say(task, "goes on, having waited for %.0f s", (double)task->waited * 1e-9);
        task->warned = 0;
        return;
    }
    task->waited = waited;
    if (task->warned && (double)(now - task->warned) < AGAIN * 1e9) return;
    task->warned = now;
    warn(task, seconds);
}
