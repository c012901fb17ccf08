#include "collective/group_thread.h"

#include <sched.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/denormal.h"
#include "base/thread.h"
#include "device/device.h"

/* ---- which step is next ---- */

static int32_t num_ins(const mst_exchange *x, int32_t step) {
    return x->routes.step[step].ins - x->routes.step[step - 1].ins;
}

static bool has_arrived(const mst_exchange *x, int32_t step) {
    const int32_t torn = step == x->step ? x->torn : 0;
    return mst_timeline_value(&x->ready[step]) >= (uint64_t)(num_ins(x, step) + torn);
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
        if (x->in_work) continue;
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
    mst_exchange_return(x, 0, step[x->last - 1].ins);
    leave(x, step[x->last - 1].outs - step[x->step - 1].outs);
}

/* Under the lock, which is given up for the work. */
static void make_step(mst_task_group *g, mst_exchange *x) {
    const bool done = x->step + 1 == x->last;
    x->in_work = true;
    pthread_mutex_unlock(&g->lock);
    const bool good = mst_exchange_sum_step(x, x->step);
    if (good) mst_exchange_send_step(x, x->step);
    pthread_mutex_lock(&g->lock);
    x->in_work = false;
    x->step += good;
    if (!done || !good) return;
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

/* ---- who waits helps ---- */

/* On an Intel Xeon under KVM, where to wake a thread of another core takes up to 50 microseconds, two processes add up
 * 1.6 MB in two thirds of the time. A thread that finds nothing yields its core after each look, and gives up soon.
 * Where another one has had the core for long, it gives up at once, since who sleeps is woken sooner then, and tries
 * rarely from then on, as after some times in vain. */
static const int64_t MOST_IDLE = 200000, LONG_YIELD = 50000; /* nanoseconds */
enum { TIMES_IN_VAIN = 4, RARELY = 32 };

typedef struct helper {
    mst_task_group *group;
    mst_timeline *line;
    uint64_t value;
    int64_t moved_at;
    bool is_pushed_aside; /* the core is shared */
} helper;

static bool make_ready_steps(mst_task_group *g) {
    bool on, made = false;
    pthread_mutex_lock(&g->lock);
    for (mst_exchange *x; (x = next_ready(g, &on)) != NULL; made = true) {
        if (on)
            make_step(g, x);
        else
            give_up(g, x);
    }
    pthread_mutex_unlock(&g->lock);
    return made;
}

static bool helps_on(void *context) {
    helper *h = context;
    if (mst_timeline_value(h->line) >= h->value) return false;
    const bool made = make_ready_steps(h->group);
    const int64_t now = mst_clock_now();
    if (made) h->moved_at = now;
    if (made || now - h->moved_at > MOST_IDLE) return made;
    sched_yield();
    h->is_pushed_aside = mst_clock_now() - now > LONG_YIELD;
    return !h->is_pushed_aside;
}

/* Whether it is worth a try. */
static bool may_help(mst_task_group *g) {
    pthread_mutex_lock(&g->lock);
    const bool may = g->idle_helps < TIMES_IN_VAIN || g->idle_helps % RARELY == 0;
    if (!may) g->idle_helps++;
    pthread_mutex_unlock(&g->lock);
    return may;
}

void mst_group_help(mst_task_group *g, mst_timeline *line, uint64_t value) {
    if (!g->helps || !may_help(g)) return;
    helper h = {.group = g, .line = line, .value = value, .moved_at = mst_clock_now()};
    const uint64_t mode = mst_flush_denormals();
    mst_timeline_hush(&g->news);
    g->type->receive(g->transport, helps_on, &h);
    const uint64_t seen = mst_timeline_value(&g->news);
    make_ready_steps(g);
    mst_timeline_rouse(&g->news, seen);
    mst_float_mode_set(mode);
    pthread_mutex_lock(&g->lock);
    const bool was_good = !h.is_pushed_aside && mst_timeline_value(line) >= value;
    g->idle_helps = was_good ? 0 : h.is_pushed_aside ? TIMES_IN_VAIN + 1 : g->idle_helps + 1;
    pthread_mutex_unlock(&g->lock);
}

/* ---- the thread's life ---- */

mst_status mst_group_thread_start(mst_task_group *g) {
    /* all may be on this machine, and each needs a core then */
    g->helps = g->type->receive && g->num_members <= sysconf(_SC_NPROCESSORS_ONLN);
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
