#include "collective/group_thread.h"

#include "base/clock.h"
#include "base/denormal.h"
#include "base/thread.h"
#include "device/device.h"

/* ---- which step is next ---- */

static int32_t num_ins(const mst_exchange *x, int32_t step) {
    return x->routes.step[step].ins - x->routes.step[step - 1].ins;
}

static bool has_arrived(const mst_exchange *x, int32_t step) {
    return mst_timeline_value(&x->ready[step]) >= (uint64_t)num_ins(x, step);
}

/* Whether no message of a step of the thread is awaited any more. */
static bool is_quiet(const mst_exchange *x) {
    for (int32_t step = x->step; step < x->last; step++)
        if (!has_arrived(x, step)) return false;
    return true;
}

static void take_out(mst_task_group *g, mst_exchange *x) {
    mst_exchange **at = &g->first;
    while (*at != x) at = &(*at)->next;
    *at = x->next;
    if (g->last == &x->next) g->last = at;
}

/* The first exchange with a step that can be made now, and whether its generation is on. Where it is over, an exchange
 * is taken out as soon as the transport has left all its memory. NULL: all wait. */
static mst_exchange *next_ready(mst_task_group *g, bool *on) {
    for (mst_exchange *x = g->first; x; x = x->next) {
        *on = g->active && x->generation == g->generation;
        if (*on ? has_arrived(x, x->step) : is_quiet(x)) return x;
    }
    return NULL;
}

/* ---- the thread ---- */

/* The thread is done with X, which may be destroyed at once. NOT_SENT: messages that it would have sent. */
static void leave(mst_exchange *x, int32_t not_sent) {
    mst_timeline_add(x->finished, (uint64_t)not_sent + 1);
}

static void give_up(mst_task_group *g, mst_exchange *x) {
    const mst_route_step *step = x->routes.step;
    take_out(g, x);
    leave(x, step[x->last - 1].outs - step[x->step - 1].outs);
}

/* Under the lock, which is given up for the work. */
static void make_step(mst_task_group *g, mst_exchange *x) {
    const bool done = x->step + 1 == x->last;
    pthread_mutex_unlock(&g->lock);
    mst_exchange_sum_step(x, x->step);
    mst_exchange_send_step(x, x->step);
    pthread_mutex_lock(&g->lock);
    x->step++;
    if (!done) return;
    take_out(g, x);
    leave(x, 0);
}

/* Sums are made as a device makes them, where denormal numbers count as zero. */
static void *group_run(void *context) {
    mst_task_group *g = context;
    mst_flush_denormals();
    mst_unbind_thread();
    pthread_mutex_lock(&g->lock);
    while (!g->quit) {
        const uint64_t seen = mst_timeline_value(&g->news);
        bool on;
        mst_exchange *x = next_ready(g, &on);
        if (x && on) {
            make_step(g, x);
        } else if (x) {
            give_up(g, x);
        } else {
            pthread_mutex_unlock(&g->lock);
            mst_timeline_wait(&g->news, seen + 1, MST_NEVER, false); /* idle until something comes, or the end */
            pthread_mutex_lock(&g->lock);
        }
    }
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

mst_status mst_group_thread_start(mst_task_group *g) {
    g->has_thread = mst_thread_start(&g->thread, group_run, g) == 0;
    if (g->has_thread) return MST_OK;
    return MST_FAIL(MST_OUT_OF_MEMORY, "cannot start the thread of a group of %d tasks: allow more threads (ulimit -u)",
                    g->num_members);
}

void mst_group_thread_stop(mst_task_group *g) {
    if (!g->has_thread) return;
    pthread_mutex_lock(&g->lock);
    g->quit = true;
    const uint64_t due = ++g->news_due;
    pthread_mutex_unlock(&g->lock);
    mst_timeline_add(&g->news, 1);
    pthread_join(g->thread, NULL);
    /* a thread of the transport may be about to raise it still */
    mst_timeline_wait(&g->news, due, MST_NEVER, false);
}
