/* Timelines: waiting for a value, with a deadline, from one thread and from many. */
#include "base/timeline.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/wake.h"
#include "support/test.h"

enum { MANY = 8, ROUNDS = 20000 };

static const double SOON = 0.02, LONG = 30; /* seconds: of a deadline that comes, and of one that must not */

/* A thread that waits on a line. */
typedef struct waiter {
    pthread_t thread;
    mst_timeline *line;
    uint64_t value;
    int64_t deadline;
    bool spin, in_time;
    mst_timeline *done; /* advanced when the wait is over */
} waiter;

static void *wait_on(void *context) {
    waiter *w = context;
    w->in_time = mst_timeline_wait(w->line, w->value, w->deadline, w->spin);
    mst_timeline_add(w->done, 1);
    return NULL;
}

static void start(waiter *w) {
    assert_int_equal(pthread_create(&w->thread, NULL, wait_on, w), 0);
}

static void join(waiter *w) {
    assert_int_equal(pthread_join(w->thread, NULL), 0);
}

static void a_reached_value_needs_no_waiting(void **state) {
    (void)state;
    mst_timeline line = {0};
    assert_true(mst_timeline_wait(&line, 0, MST_NEVER, false));
    mst_timeline_advance(&line, 7);
    assert_int_equal(mst_timeline_value(&line), 7);
    assert_true(mst_timeline_wait(&line, 7, MST_NEVER, true));
    assert_true(mst_timeline_wait(&line, 3, MST_NEVER, false));
    assert_int_equal(mst_timeline_add(&line, 5), 12);
    assert_true(mst_timeline_wait(&line, 12, MST_NEVER, false));
}

static void a_reached_value_counts_even_past_the_deadline(void **state) {
    (void)state;
    mst_timeline line = {0};
    mst_timeline_advance(&line, 1);
    assert_true(mst_timeline_wait(&line, 1, mst_clock_now() - 1, false));
    assert_false(mst_timeline_wait(&line, 2, mst_clock_now() - 1, false));
}

static void a_wait_ends_at_its_deadline_and_not_before(void **state) {
    (void)state;
    for (int spin = 0; spin < 2; spin++) {
        mst_timeline line = {0};
        const int64_t deadline = mst_clock_after(SOON);
        assert_false(mst_timeline_wait(&line, 1, deadline, spin));
        assert_true(mst_clock_now() >= deadline);
    }
}

static void a_value_reached_before_the_deadline_ends_the_wait(void **state) {
    (void)state;
    mst_timeline line = {0}, done = {0};
    waiter w = {.line = &line, .value = 1, .deadline = mst_clock_after(LONG), .done = &done};
    start(&w);
    mst_timeline_advance(&line, 1);
    join(&w);
    assert_true(w.in_time);
}

static _Atomic int64_t pretended;

static int64_t pretended_now(void) {
    return pretended;
}

static void a_deadline_follows_the_clock_that_is_put_in_place(void **state) {
    (void)state;
    mst_timeline line = {0}, done = {0};
    pretended = 0;
    mst_clock_replace(pretended_now);
    waiter w = {.line = &line, .value = 1, .deadline = 1000000000, .done = &done};
    start(&w);
    usleep(50000);
    assert_int_equal(mst_timeline_value(&done), 0); /* the clock stands still: not one second has passed */
    pretended = 1000000000;
    join(&w); /* nobody wakes it: it looks at the clock from time to time */
    mst_clock_replace(NULL);
    assert_false(w.in_time);
}

static void each_waiter_goes_when_its_value_has_come(void **state) {
    (void)state;
    for (int spin = 0; spin < 2; spin++) {
        mst_timeline line = {0}, done = {0};
        waiter w[MANY];
        for (int i = 0; i < MANY; i++) {
            w[i] =
                (waiter){.line = &line, .value = (uint64_t)i + 1, .deadline = MST_NEVER, .spin = spin, .done = &done};
            start(&w[i]);
        }
        for (int i = 0; i < MANY; i += 2) {
            usleep(1000); /* so that they have fallen asleep */
            mst_timeline_advance(&line, (uint64_t)i + 2);
            assert_true(mst_timeline_wait(&done, (uint64_t)i + 2, mst_clock_after(LONG), false));
            assert_int_equal(mst_timeline_value(&done), i + 2);
        }
        for (int i = 0; i < MANY; i++) {
            join(&w[i]);
            assert_true(w[i].in_time);
        }
    }
}

static void *add_many(void *line) {
    for (int i = 0; i < ROUNDS; i++) mst_timeline_add(line, 1);
    return NULL;
}

static void several_threads_add_to_one_line(void **state) {
    (void)state;
    mst_timeline line = {0};
    pthread_t thread[MANY];
    for (int i = 0; i < MANY; i++) assert_int_equal(pthread_create(&thread[i], NULL, add_many, &line), 0);
    assert_true(mst_timeline_wait(&line, MANY * ROUNDS, mst_clock_after(LONG), false));
    for (int i = 0; i < MANY; i++) pthread_join(thread[i], NULL);
    assert_int_equal(mst_timeline_value(&line), MANY * ROUNDS);
}

/* Two threads hand a number that only they guard to and fro. */
typedef struct ball {
    mst_timeline there, back;
    int64_t hits;
} ball;

static void *return_ball(void *context) {
    ball *b = context;
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        mst_timeline_wait(&b->there, i, MST_NEVER, false);
        b->hits++;
        mst_timeline_advance(&b->back, i);
    }
    return NULL;
}

static void what_was_written_before_is_seen_after(void **state) {
    (void)state;
    ball b = {.hits = 0};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, return_ball, &b), 0);
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        b.hits++;
        mst_timeline_advance(&b.there, i);
        assert_true(mst_timeline_wait(&b.back, i, mst_clock_after(LONG), i % 2 == 0));
        assert_int_equal(b.hits, 2 * i);
    }
    pthread_join(thread, NULL);
}

static void *advance_each(void *line) {
    for (int i = 0; i < MANY; i++) mst_timeline_advance((mst_timeline *)line + i, 1);
    return NULL;
}

static void a_thread_waits_for_any_of_several_on_the_line_that_all_advance(void **state) {
    (void)state;
    mst_timeline any = {0}, line[MANY];
    for (int i = 0; i < MANY; i++) line[i] = (mst_timeline){.also = &any};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, advance_each, line), 0);
    for (uint64_t i = 1; i <= MANY; i++) {
        assert_true(mst_timeline_wait(&any, i, mst_clock_after(LONG), false));
        for (uint64_t k = 0; k < i; k++) assert_int_equal(mst_timeline_value(&line[k]), 1);
    }
    pthread_join(thread, NULL);
    mst_timeline_add(&line[0], 5);
    assert_int_equal(mst_timeline_value(&any), MANY + 1);
}

static bool poll_line(mst_timeline *line, uint64_t value, int fd, int64_t deadline) {
    return mst_timeline_poll(&(mst_timeline_due){line, value}, 1, fd, deadline);
}

static void who_polls_a_line_hears_of_it_and_of_another_file(void **state) {
    (void)state;
    const int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), other = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    mst_timeline line = {.event = event + 1};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, add_many, &line), 0);
    for (uint64_t i = 1; i <= ROUNDS; i++)
        while (mst_timeline_value(&line) < i) assert_true(poll_line(&line, i, other, MST_NEVER));
    pthread_join(thread, NULL);
    const int64_t deadline = mst_clock_after(SOON);
    while (poll_line(&line, ROUNDS + 1, other, deadline)) continue;
    assert_true(mst_clock_now() >= deadline);
    assert_true(poll_line(&line, ROUNDS, other, deadline));
    mst_wake(other);
    assert_true(poll_line(&line, ROUNDS + 1, other, MST_NEVER));
    mst_timeline_add(&line, 1); /* nobody sleeps on it any more */
    struct pollfd unread = {.fd = event, .events = POLLIN};
    assert_int_equal(poll(&unread, 1, 0), 0);
    close(event);
    close(other);
}

/* Lines that the waiting thread frees as soon as their value has come, and the one that tells where they are. */
typedef struct freed {
    mst_timeline next;
    mst_timeline *line;
} freed;

static void *advance_what_is_freed(void *context) {
    freed *f = context;
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        mst_timeline_wait(&f->next, i, MST_NEVER, i % 2 == 0);
        if (i % 3)
            mst_timeline_add(f->line, 1);
        else
            mst_timeline_advance(f->line, 1);
    }
    return NULL;
}

static void who_has_waited_may_free_the_line_at_once(void **state) {
    (void)state;
    freed f = {.line = NULL};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, advance_what_is_freed, &f), 0);
    for (uint64_t i = 1; i <= ROUNDS; i++) {
        mst_timeline *line = f.line = aligned_alloc(_Alignof(mst_timeline), sizeof *line);
        assert_non_null(line);
        *line = (mst_timeline){0};
        mst_timeline_advance(&f.next, i);
        assert_true(mst_timeline_wait(line, 1, mst_clock_after(LONG), i % 5 == 0));
        free(line);
    }
    pthread_join(thread, NULL);
}

typedef struct hushed {
    mst_timeline line;
    _Atomic uint64_t woken; /* the value that the thread saw */
} hushed;

static void *wait_for_news(void *context) {
    hushed *h = context;
    mst_timeline_wait(&h->line, 1, MST_NEVER, false);
    atomic_store(&h->woken, mst_timeline_value(&h->line));
    return NULL;
}

static bool sleeps(hushed *h) {
    return atomic_load(&h->line.state) & 1;
}

static void who_is_hushed_sleeps_on_until_it_is_roused(void **state) {
    (void)state;
    for (int news = 0; news < 2; news++) { /* whether there are some when it is roused */
        hushed h = {.woken = 0};
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, wait_for_news, &h), 0);
        while (!sleeps(&h)) usleep(100);
        usleep(10000);
        mst_timeline_hush(&h.line);
        const uint64_t seen = mst_timeline_value(&h.line);
        if (news) {
            mst_timeline_add(&h.line, 1);
            usleep(20000);
            assert_int_equal(atomic_load(&h.woken), 0);
        }
        mst_timeline_rouse(&h.line, seen);
        if (!news) mst_timeline_add(&h.line, 2);
        pthread_join(thread, NULL);
        assert_int_equal(atomic_load(&h.woken), news ? 1 : 2);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reached_value_needs_no_waiting),
        cmocka_unit_test(a_reached_value_counts_even_past_the_deadline),
        cmocka_unit_test(a_wait_ends_at_its_deadline_and_not_before),
        cmocka_unit_test(a_value_reached_before_the_deadline_ends_the_wait),
        cmocka_unit_test(a_deadline_follows_the_clock_that_is_put_in_place),
        cmocka_unit_test(each_waiter_goes_when_its_value_has_come),
        cmocka_unit_test(several_threads_add_to_one_line),
        cmocka_unit_test(what_was_written_before_is_seen_after),
        cmocka_unit_test(a_thread_waits_for_any_of_several_on_the_line_that_all_advance),
        cmocka_unit_test(who_is_hushed_sleeps_on_until_it_is_roused),
        cmocka_unit_test(who_polls_a_line_hears_of_it_and_of_another_file),
        cmocka_unit_test(who_has_waited_may_free_the_line_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
