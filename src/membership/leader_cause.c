/* Explains why a task waits in an exchange: which tasks have not started that exchange, what they did last, and which
 * tasks have started it. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "membership/leader_inside.h"

enum { BEFORE_MOST = 2, COME_MOST = 4 /* most exchanges, and most tasks, that an error names */ };

static void add(mst_task_failure *failure, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(mst_task_failure *failure, const char *format, ...) {
    const size_t length = strlen(failure->message);
    va_list list;
    va_start(list, format);
    vsnprintf(failure->message + length, sizeof failure->message - length, format, list);
    va_end(list);
}

/* Adds the description of an exchange: "exchange 3 of run 7 (dense/kernel)". */
static void add_exchange(mst_task_failure *failure, const mst_started_exchange *x) {
    add(failure, "exchange %u of run %" PRIu64, x->exchange, x->run);
    if (*x->name) add(failure, " (%s)", x->name);
}

static uint64_t num_started(const mst_started_exchanges *s) {
    return s->count ? s->last[0].count : 0;
}

/* LATE: the exchanges of the task that has waited too long. Another task has started COUNT exchanges. Returns the first
 * exchange in LATE that the other task has not started. */
static const mst_started_exchange *first_missed(const mst_started_exchanges *late, uint64_t count) {
    int32_t i = late->count - 1;
    while (i > 0 && late->last[i].count <= count) i--;
    return &late->last[i];
}

/* Adds which tasks have started the exchange with this COUNT: "; worker:0 and worker:3 have come". */
static void add_come(const mst_leader *leader, uint64_t count, mst_task_failure *failure) {
    int32_t come = 0, told = 0;
    const int32_t n = leader->options->num_tasks;
    for (int32_t i = 0; i < n; i++) come += num_started(&leader->entry[i].started) >= count;
    for (int32_t i = 0; i < n && told < COME_MOST; i++)
        if (num_started(&leader->entry[i].started) >= count) {
            const char *between = told == 0 ? "; " : told + 1 == come ? " and " : ", ";
            add(failure, "%s%s", between, leader->options->name[i]);
            told++;
        }
    if (come > told) add(failure, " and %d more", (int)(come - told));
    if (come) add(failure, " %s come", come == 1 ? "has" : "have");
}

/* Adds to FAILURE the exchange that TASK has not started, if TASK is behind the task that has waited too long. SAYS:
 * also adds which tasks have started it. */
static bool explain(const mst_leader *leader, int32_t task, bool says, mst_task_failure *failure) {
    const mst_started_exchanges *late = &leader->entry[failure->task].started, *s = &leader->entry[task].started;
    const char *name = leader->options->name[task];
    if (!leader->entry[task].has_told) {
        add(failure, "; %s does not answer", name);
        return false;
    }
    if (num_started(s) >= num_started(late)) return false;
    const mst_started_exchange *missed = first_missed(late, num_started(s));
    add(failure, "; %s has not come to ", name);
    add_exchange(failure, missed);
    if (!s->count) add(failure, ", nor to any before");
    for (int32_t i = 0; i < s->count && i <= BEFORE_MOST; i++) {
        add(failure, "%s", i == 0 ? ": it has been at " : i == 1 ? ", before at " : " and ");
        add_exchange(failure, &s->last[i]);
        add(failure, i == 0 ? " for %.1f s" : " (%.1f s ago)", s->last[i].milliseconds * 1e-3);
    }
    if (says) add_come(leader, missed->count, failure);
    return true;
}

void mst_leader_explain(const mst_leader *leader, mst_task_failure *failure) {
    bool said = false;
    for (int32_t i = 0; i < leader->options->num_tasks; i++) said |= explain(leader, i, !said, failure);
}

void mst_leader_keep_claim(mst_leader *leader, const char *first, const char *second, const char *why) {
    static const double LOSS_MAY_BE_LATE = 0.3; /* seconds in which the leader may lose one of the two */
    mst_task_failure_set(&leader->claim, MST_UNAVAILABLE, -1, leader->state_number,
                         "the connection between %s and %s has broken: %s", first, second, why);
    mst_task_failure_add_steps(&leader->claim);
    leader->claim_until = mst_leader_after(leader->now, LOSS_MAY_BE_LATE);
}
