#include "run/pace.h"

enum {
    LEAST_RUNS = 2,                 /* of a window */
    SLOW_WINDOWS = 2,               /* one may be an accident */
    WINDOW = 4 * 1000 * 1000,       /* nanoseconds */
    LEAST_PAUSE = 32 * 1000 * 1000, /* likewise */
    MOST_PAUSE = 1024 * 1000 * 1000
};

/* The other mode is taken where it needs at most this part of the time: neither clock nor machine is more exact. */
static const double WORTH = 0.95;

bool mst_pace_is_alone(const mst_pace *pace) {
    return pace->alone != pace->trial;
}

/* A window of the present mode is over: begins a trial of the other one where it is due. */
static void judge(mst_pace *p, int64_t now) {
    const double together = p->cost[false], alone = p->cost[true];
    p->slow = !p->alone && together * WORTH > alone ? p->slow + 1 : 0;
    const bool wanted = p->alone || alone == 0 || p->slow >= SLOW_WINDOWS;
    p->trial = wanted && now >= p->not_until;
}

/* The window of a trial is over: stays in the mode that was faster. */
static void decide(mst_pace *p, int64_t now) {
    const bool better = p->cost[!p->alone] < p->cost[p->alone] * WORTH;
    p->pause = better || p->pause == 0 ? LEAST_PAUSE : p->pause * 2 < MOST_PAUSE ? p->pause * 2 : MOST_PAUSE;
    p->not_until = now + p->pause;
    if (better) p->alone = !p->alone;
    p->trial = false;
    p->slow = 0;
}

void mst_pace_add(mst_pace *p, bool alone, int64_t nanoseconds, int64_t now) {
    if (alone != mst_pace_is_alone(p)) return; /* of a caller that began before the last change */
    const bool first = !p->begun;
    p->begun = true;
    if (first) return;
    p->runs++;
    p->spent += nanoseconds;
    if (p->runs < LEAST_RUNS || p->spent < WINDOW) return;
    p->cost[alone] = (double)p->spent / p->runs;
    p->runs = 0;
    p->spent = 0;
    if (p->trial)
        decide(p, now);
    else
        judge(p, now);
}
