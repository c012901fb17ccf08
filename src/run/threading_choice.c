#include "run/threading_choice.h"

enum {
    LEAST_RUNS = 2,                 /* least runs of a window */
    SLOW_WINDOWS = 2,               /* slow windows in a row before a trial: a single one may be an accident */
    WINDOW = 4 * 1000 * 1000,       /* length of a window in nanoseconds */
    LEAST_PAUSE = 32 * 1000 * 1000, /* least and most nanoseconds between two trials */
    MOST_PAUSE = 1024 * 1000 * 1000
};

/* The other mode is taken if its time is less than this fraction of the present mode's. Smaller differences are within
 * the noise of clock and machine. */
static const double WORTH = 0.95;

bool mst_threading_choice_is_alone(const mst_threading_choice *choice) {
    return choice->alone != choice->trial;
}

/* Handles the end of a window in the present mode: begins a trial of the other mode if it is due. */
static void judge(mst_threading_choice *c, int64_t now) {
    const double together = c->cost[false], alone = c->cost[true];
    c->slow = !c->alone && together * WORTH > alone ? c->slow + 1 : 0;
    const bool wanted = c->alone || alone == 0 || c->slow >= SLOW_WINDOWS;
    c->trial = wanted && now >= c->not_until;
}

/* Handles the end of a trial's window: stays in the mode that was faster. */
static void decide(mst_threading_choice *c, int64_t now) {
    const bool better = c->cost[!c->alone] < c->cost[c->alone] * WORTH;
    c->pause = better || c->pause == 0 ? LEAST_PAUSE : c->pause * 2 < MOST_PAUSE ? c->pause * 2 : MOST_PAUSE;
    c->not_until = now + c->pause;
    if (better) c->alone = !c->alone;
    c->trial = false;
    c->slow = 0;
}

void mst_threading_choice_add(mst_threading_choice *c, bool alone, int64_t nanoseconds, int64_t now) {
    if (alone != mst_threading_choice_is_alone(c)) return; /* the run began before the mode changed */
    const bool first = !c->begun;
    c->begun = true;
    if (first) return;
    c->runs++;
    c->spent += nanoseconds;
    if (c->runs < LEAST_RUNS || c->spent < WINDOW) return;
    c->cost[alone] = (double)c->spent / c->runs;
    c->runs = 0;
    c->spent = 0;
    if (c->trial)
        decide(c, now);
    else
        judge(c, now);
}
