#include "collective/group_thread.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/eventfd.h>
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

/* Whether all messages that steps of the thread wait for have come. */
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

/* The first exchange with a step that can be made now. *ON: whether the exchange's generation is under way. If it is
 * over, the exchange is returned as soon as the transport no longer uses its memory. NULL: all exchanges wait for
 * messages. */
static mst_exchange *next_ready(mst_task_group *g, bool *on) {
    for (mst_exchange *x = g->first; x; x = x->next) {
        if (x->in_work) continue;
        *on = g->active && x->base.generation == g->generation;
        if (*on ? has_arrived(x, x->step) : is_quiet(x)) return x;
    }
    return NULL;
}

/* ---- the thread ---- */

/* Ends the thread's work on X. After this call the owner of X may destroy it at any time. NOT_SENT: how many messages
 * of X were not sent, since the generation has ended. */
static void leave(mst_exchange *x, int32_t not_sent) {
    mst_timeline_add(x->finished, (uint64_t)not_sent + 1);
}

static void give_up(mst_task_group *g, mst_exchange *x) {
    const mst_route_step *step = x->routes.step;
    take_out(g, x);
    mst_exchange_return(x, 0, step[x->last - 1].ins);
    leave(x, step[x->last - 1].outs - step[x->step - 1].outs);
}

/* Makes the next step of X. Under the lock, which is released during the work. */
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

/* Sums are made as on a device: denormal numbers count as zero. */
static void *group_run(void *context) {
    mst_task_group *g = context;
    mst_flush_denormals();
    mst_unbind_thread();
    mst_thread_give_way();
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
            /* sleeps until a message comes, or the thread must end */
            mst_timeline_wait(&g->news, seen + 1, MST_NEVER, false);
            pthread_mutex_lock(&g->lock);
        }
    }
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

/* ---- threads that wait help ---- */

/* Why threads spin: on an Intel Xeon under KVM, waking a thread on another core takes up to 50 microseconds. With
 * spinning, two processes add up 1.6 MB in two thirds of the time.
 *
 * A thread that finds nothing to do yields its core after each look, and sleeps after MOST_IDLE. It sleeps at once if
 * another thread has had the core for LONG_YIELD, since a sleeping thread then runs again sooner than one that yields.
 * After that, or after TIMES_IN_VAIN times of spinning in vain, the group's threads spin only once in RARELY times. */
static const int64_t MOST_IDLE = 200000, LONG_YIELD = 50000; /* nanoseconds */
enum { TIMES_IN_VAIN = 4, RARELY = 32 };

typedef struct helper {
    mst_task_group *group;
    mst_timeline_due due;
    int64_t deadline;
    bool spins, is_pushed_aside; /* is_pushed_aside: another thread has had the core for long */
    int64_t moved_at;            /* when there was last something to do */
} helper;

static bool is_done(const helper *h) {
    return mst_timeline_value(h->due.timeline) >= h->due.value;
}

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

/* Whether the calling thread should spin now. */
static bool may_spin(mst_task_group *g) {
    const mst_transport_receiver *receiver = g->type->receiver;
    if (!g->spins || !receiver || !receiver->spins || !receiver->spins(g->transport)) return false;
    pthread_mutex_lock(&g->lock);
    const bool may = g->idle_spins < TIMES_IN_VAIN || g->idle_spins % RARELY == 0;
    if (!may) g->idle_spins++;
    pthread_mutex_unlock(&g->lock);
    return may;
}

/* Notes that spinning has ended. GOOD: the awaited message came meanwhile. */
static void note_spins(const helper *h, bool good) {
    mst_task_group *g = h->group;
    pthread_mutex_lock(&g->lock);
    g->idle_spins = good ? 0 : h->is_pushed_aside ? TIMES_IN_VAIN + 1 : g->idle_spins + 1;
    pthread_mutex_unlock(&g->lock);
}

static void spin(helper *h) {
    const int64_t now = mst_clock_now();
    if (now - h->moved_at <= MOST_IDLE) sched_yield();
    const int64_t then = mst_clock_now();
    h->is_pushed_aside = then - now > LONG_YIELD;
    h->spins = !h->is_pushed_aside && then - h->moved_at <= MOST_IDLE;
    if (!h->spins) note_spins(h, false);
}

static bool helps_on(void *context, int fd) {
    helper *h = context;
    mst_timeline *news = &h->group->news;
    const uint64_t seen = mst_timeline_value(news);
    /* at each look: the group's thread may have fallen asleep since the last one, and need not be woken */
    mst_timeline_hush(news);
    if (is_done(h)) return false;
    if (make_ready_steps(h->group)) {
        h->moved_at = mst_clock_now();
        return true;
    }
    if (h->spins) {
        spin(h);
        return true;
    }
    return mst_timeline_poll((mst_timeline_due[]){h->due, {news, seen + 1}}, 2, fd, h->deadline);
}

bool mst_group_help(mst_task_group *g, mst_timeline *line, uint64_t value, int64_t deadline) {
    helper h = {.group = g, .due = {line, value}, .deadline = deadline, .spins = may_spin(g)};
    h.moved_at = mst_clock_now();
    const uint64_t mode = mst_flush_denormals();
    const bool received = g->type->receiver && g->type->receiver->receive(g->transport, helps_on, &h);
    const uint64_t seen = mst_timeline_value(&g->news);
    if (received) make_ready_steps(g);
    if (received) mst_timeline_rouse(&g->news, seen);
    mst_float_mode_set(mode);
    if (h.spins && received) note_spins(&h, is_done(&h));
    return is_done(&h) || (!received && mst_timeline_wait(line, value, deadline, false));
}

/* ---- starting and stopping the thread ---- */

mst_status mst_group_thread_start(mst_task_group *g) {
    /* all members may be on this machine, and each needs a core for spinning */
    g->spins = g->num_members <= sysconf(_SC_NPROCESSORS_ONLN);
    if (g->event < 0 && (g->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0)
        return MST_FAIL(MST_OUT_OF_MEMORY, "cannot make an eventfd (%s): allow more open files (ulimit -n)",
                        strerror(errno));
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
    /* a thread of the transport may still be about to raise `news` */
    mst_timeline_wait(&g->news, due, MST_NEVER, false);
}
