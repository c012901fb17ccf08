/* The functions of the C library at which threads wait, for threads that take turns. Each such thread has a semaphore,
 * on which it sleeps while others have their turn; so nothing here needs a lock. What a thread waits for is an address:
 * of a mutex, a condition, a word of the kernel (futex), or another thread. */
#include "support/turns.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>

#include "base/rng.h"

enum { MOST_THREADS = 256, TURNS_MOST = 2000000, RARELY = 24 /* one of so many locks ends the turn */ };

#define NEVER INT64_MAX

typedef struct turns_thread {
    bool used, ended;
    pthread_t id;
    sem_t turn;
    const void *waits_for; /* NULL: it can run */
    int64_t until;         /* or at this time; NEVER: only for that */
    bool in_time;          /* what it waited for has come */
    void *(*run)(void *context);
    void *context;
} turns_thread;

static turns_thread thread[MOST_THREADS];
static _Thread_local turns_thread *self; /* NULL: takes no turns */
static const int64_t BEGIN = INT64_C(1000000000) * 1000000000;
static int64_t now;
static uint64_t seed, draws, turns, history;
static const char in_once; /* what threads wait for while another is in a pthread_once */

#define DECLARE(type, name, ...)     \
    type __real_##name(__VA_ARGS__); \
    type __wrap_##name(__VA_ARGS__)

#define DECLARE(type, name, ...)     \
    type __real_##name(__VA_ARGS__); \
    type __wrap_##name(__VA_ARGS__)
DECLARE(int, pthread_create, pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
DECLARE(int, pthread_join, pthread_t, void **);
DECLARE(int, pthread_once, pthread_once_t *, void (*)(void));
DECLARE(int, pthread_mutex_lock, pthread_mutex_t *);
DECLARE(int, pthread_mutex_unlock, pthread_mutex_t *);
DECLARE(int, pthread_rwlock_rdlock, pthread_rwlock_t *);
DECLARE(int, pthread_rwlock_wrlock, pthread_rwlock_t *);
DECLARE(int, pthread_rwlock_unlock, pthread_rwlock_t *);
DECLARE(int, pthread_cond_wait, pthread_cond_t *, pthread_mutex_t *);
DECLARE(int, pthread_cond_timedwait, pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
DECLARE(int, pthread_cond_clockwait, pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
DECLARE(int, pthread_cond_signal, pthread_cond_t *);
DECLARE(int, pthread_cond_broadcast, pthread_cond_t *);
DECLARE(int, clock_gettime, clockid_t, struct timespec *);
DECLARE(int, nanosleep, const struct timespec *, struct timespec *);
DECLARE(int, sched_yield, void);
DECLARE(long, syscall, long, ...);
#undef DECLARE

/* ---- turns ---- */

static uint64_t draw(uint64_t n) {
    return mst_rng_mix(seed, ++draws) % n;
}

static void give_up(const char *why) {
    fprintf(stderr, "turns: seed %llu: %s, after %llu turns, at %.6f s\n", (unsigned long long)seed, why,
            (unsigned long long)turns, (double)(now - BEGIN) * 1e-9);
    abort();
}

static void make_ready(turns_thread *t, bool in_time) {
    t->waits_for = NULL;
    t->in_time = in_time;
}

/* All wait: it is the time at which the first of them goes on. */
static void let_time_pass(void) {
    int64_t next = NEVER;
    for (turns_thread *t = thread; t < thread + MOST_THREADS; t++)
        if (t->used && !t->ended && t->until < next) next = t->until;
    if (next == NEVER) give_up("all threads wait for each other");
    if (next > now) now = next;
    for (turns_thread *t = thread; t < thread + MOST_THREADS; t++)
        if (t->used && !t->ended && t->waits_for && t->until <= now) make_ready(t, false);
}

/* One of those that can run. */
static turns_thread *choose(void) {
    for (;; let_time_pass()) {
        turns_thread *ready[MOST_THREADS];
        uint64_t n = 0;
        for (turns_thread *t = thread; t < thread + MOST_THREADS; t++)
            if (t->used && !t->ended && !t->waits_for) ready[n++] = t;
        if (n) return ready[n > 1 ? draw(n) : 0];
    }
}

/* The turn of the calling thread is over, which may get the next one too. */
static void pass_on(void) {
    turns_thread *me = self, *next = choose();
    if (++turns > TURNS_MOST) give_up("nothing comes to an end");
    history = mst_rng_mix(history, (uint64_t)(next - thread) ^ (uint64_t)now);
    if (next == me) return;
    sem_post(&next->turn);
    if (me->ended) return;
    while (sem_wait(&me->turn)) {
    }
}

/* False where UNTIL came first. */
static bool wait_for(const void *what, int64_t until) {
    self->waits_for = what;
    self->until = until;
    pass_on();
    self->until = NEVER;
    return self->in_time;
}

static int waiters(const void *what, turns_thread **out) {
    int n = 0;
    for (turns_thread *t = thread; t < thread + MOST_THREADS; t++)
        if (t->used && !t->ended && t->waits_for == what) out[n++] = t;
    return n;
}

static void wake_all(const void *what) {
    turns_thread *found[MOST_THREADS];
    for (int n = waiters(what, found); n > 0; n--) make_ready(found[n - 1], true);
}

static int64_t nanoseconds(const struct timespec *t) {
    return (int64_t)t->tv_sec * 1000000000 + t->tv_nsec;
}

static struct timespec timespec_of(int64_t t) {
    return (struct timespec){.tv_sec = (time_t)(t / 1000000000), .tv_nsec = (long)(t % 1000000000)};
}

static turns_thread *new_thread(void) {
    turns_thread *t = thread;
    while (t->used)
        if (++t == thread + MOST_THREADS) give_up("there are too many threads");
    *t = (turns_thread){.used = true, .until = NEVER};
    sem_init(&t->turn, 0, 0);
    return t;
}

void turns_begin(uint64_t number) {
    seed = number;
    now = BEGIN;
    draws = turns = history = 0;
    self = new_thread();
    self->id = pthread_self();
}

void turns_end(void) {
    sem_destroy(&self->turn);
    self->used = false;
    self = NULL;
    for (const turns_thread *t = thread; t < thread + MOST_THREADS; t++)
        if (t->used) give_up("a thread has not been joined");
}

uint64_t turns_history(uint64_t *count) {
    *count = turns;
    return history;
}

/* ---- threads ---- */

static void *run_thread(void *context) {
    turns_thread *t = context;
    while (sem_wait(&t->turn)) {
    }
    self = t;
    void *result = t->run(t->context);
    t->ended = true;
    wake_all(t);
    pass_on();
    return result;
}

int __wrap_pthread_create(pthread_t *out, const pthread_attr_t *attributes, void *(*run)(void *), void *context) {
    if (!self) return __real_pthread_create(out, attributes, run, context);
    turns_thread *t = new_thread();
    t->run = run;
    t->context = context;
    const int error = __real_pthread_create(&t->id, attributes, run_thread, t);
    if (error) t->used = false;
    *out = t->id;
    return error;
}

int __wrap_pthread_join(pthread_t id, void **result) {
    turns_thread *t = thread;
    while (self && t < thread + MOST_THREADS && !(t->used && pthread_equal(t->id, id))) t++;
    if (!self || t == thread + MOST_THREADS) return __real_pthread_join(id, result);
    while (!t->ended) wait_for(t, NEVER);
    const int error = __real_pthread_join(id, result);
    sem_destroy(&t->turn);
    t->used = false;
    return error;
}

/* The function may wait for others, which must not be stopped in the C library then. */
int __wrap_pthread_once(pthread_once_t *once, void (*run)(void)) {
    static const turns_thread *runs;
    while (self && runs && runs != self) wait_for(&in_once, NEVER);
    const turns_thread *before = runs;
    if (self) runs = self;
    const int error = __real_pthread_once(once, run);
    if (self) runs = before;
    if (self) wake_all(&in_once);
    return error;
}

/* ---- locks ---- */

int __wrap_pthread_mutex_lock(pthread_mutex_t *lock) {
    if (!self) return __real_pthread_mutex_lock(lock);
    if (draw(RARELY) == 0) pass_on();
    int error;
    while ((error = pthread_mutex_trylock(lock)) == EBUSY) wait_for(lock, NEVER);
    return error;
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *lock) {
    const int error = __real_pthread_mutex_unlock(lock);
    if (self) wake_all(lock);
    return error;
}

int __wrap_pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
    int error;
    if (!self) return __real_pthread_rwlock_rdlock(lock);
    while ((error = pthread_rwlock_tryrdlock(lock)) == EBUSY) wait_for(lock, NEVER);
    return error;
}

int __wrap_pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
    int error;
    if (!self) return __real_pthread_rwlock_wrlock(lock);
    while ((error = pthread_rwlock_trywrlock(lock)) == EBUSY) wait_for(lock, NEVER);
    return error;
}

int __wrap_pthread_rwlock_unlock(pthread_rwlock_t *lock) {
    const int error = __real_pthread_rwlock_unlock(lock);
    if (self) wake_all(lock);
    return error;
}

/* ---- conditions ---- */

static int wait_condition(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t until) {
    __wrap_pthread_mutex_unlock(lock);
    const bool in_time = wait_for(condition, until);
    __wrap_pthread_mutex_lock(lock);
    return in_time ? 0 : ETIMEDOUT;
}

int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *lock) {
    return self ? wait_condition(condition, lock, NEVER) : __real_pthread_cond_wait(condition, lock);
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *lock, const struct timespec *until) {
    if (!self) return __real_pthread_cond_timedwait(condition, lock, until);
    return wait_condition(condition, lock, nanoseconds(until));
}

int __wrap_pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *lock, clockid_t clock,
                                  const struct timespec *until) {
    if (!self) return __real_pthread_cond_clockwait(condition, lock, clock, until);
    return wait_condition(condition, lock, nanoseconds(until));
}

int __wrap_pthread_cond_signal(pthread_cond_t *condition) {
    turns_thread *found[MOST_THREADS];
    if (!self) return __real_pthread_cond_signal(condition);
    const int n = waiters(condition, found);
    if (n) make_ready(found[n > 1 ? draw((uint64_t)n) : 0], true);
    return 0;
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *condition) {
    if (!self) return __real_pthread_cond_broadcast(condition);
    wake_all(condition);
    return 0;
}

/* ---- time ---- */

int __wrap_clock_gettime(clockid_t clock, struct timespec *out) {
    if (!self) return __real_clock_gettime(clock, out);
    *out = timespec_of(now);
    return 0;
}

int __wrap_nanosleep(const struct timespec *length, struct timespec *left) {
    if (!self) return __real_nanosleep(length, left);
    wait_for(length, now + nanoseconds(length));
    return 0;
}

int __wrap_sched_yield(void) {
    if (!self) return __real_sched_yield();
    pass_on();
    return 0;
}

/* ---- the kernel's words ---- */

static long wait_word(const uint32_t *word, uint32_t seen, const struct timespec *length) {
    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) != seen) {
        errno = EAGAIN;
        return -1;
    }
    if (wait_for(word, length ? now + nanoseconds(length) : NEVER)) return 0;
    errno = ETIMEDOUT;
    return -1;
}

long __wrap_syscall(long number, ...) {
    long a[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++) a[i] = va_arg(list, long);
    va_end(list);
    if (!self || number != SYS_futex) return __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    const uint32_t *word = (const uint32_t *)(uintptr_t)a[0];
    if ((a[1] & FUTEX_CMD_MASK) == FUTEX_WAIT)
        return wait_word(word, (uint32_t)a[2], (const struct timespec *)(uintptr_t)a[3]);
    wake_all(word);
    return 0;
}
