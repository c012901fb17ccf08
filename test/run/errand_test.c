/* Errands (run/errand.h): errors of their work, deadlines, and errands that are abandoned while they run. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "run/errand.h"
#include "support/test.h"

enum { WAITERS = 4 };

static const double PATIENCE = 60, MOMENT = 0.05; /* seconds: for what will end, and for what does not */

static atomic_int released;

/* Work that may wait until it is let go. */
typedef struct work {
    bool fails, silently, waits;
    atomic_bool is_let_go;
    int result;
} work;

static mst_status do_work(void *context) {
    work *w = context;
    while (w->waits && !atomic_load(&w->is_let_go)) usleep(1000);
    w->result = 42;
    if (w->silently) return MST_IO;
    return w->fails ? MST_FAIL(MST_UNAVAILABLE, "the compiler is gone") : MST_OK;
}

static void release_work(void *context) {
    free(context);
    atomic_fetch_add(&released, 1);
}

static const mst_errand_type type = {do_work, release_work};

static work *start(work like, mst_errand **out) {
    work *w = malloc(sizeof *w);
    assert_non_null(w);
    *w = like;
    atomic_store(&released, 0);
    EXPECT_OK(mst_errand_start(&type, w, out));
    return w;
}

static mst_status wait_for(mst_errand *errand, double seconds) {
    return mst_errand_wait(errand, mst_clock_after(seconds), "compiling 'dense'");
}

static void expect_release(void) {
    for (int i = 0; i < 20000 && !atomic_load(&released); i++) usleep(1000);
    usleep(10000);
    assert_int_equal(atomic_load(&released), 1);
}

static void who_waits_sees_what_was_done(void **state) {
    (void)state;
    mst_errand *errand;
    const work *w = start((work){.waits = false}, &errand);
    for (int i = 0; i < 2; i++) {
        EXPECT_OK(wait_for(errand, PATIENCE));
        assert_int_equal(w->result, 42);
    }
    assert_int_equal(atomic_load(&released), 0);
    mst_errand_leave(errand);
    expect_release();
    mst_errand_leave(NULL);
}

static void error_of_the_work_comes_each_time(void **state) {
    (void)state;
    mst_errand *errand;
    start((work){.fails = true}, &errand);
    for (int i = 0; i < 2; i++)
        EXPECT_ERROR(wait_for(errand, PATIENCE), MST_UNAVAILABLE, "compiling 'dense': the compiler is gone");
    mst_errand_leave(errand);
    expect_release();
    start((work){.silently = true}, &errand);
    EXPECT_ERROR(wait_for(errand, PATIENCE), MST_IO, "compiling 'dense': ");
    mst_errand_leave(errand);
    expect_release();
}

static void waiting_ends_at_its_deadline(void **state) {
    (void)state;
    mst_errand *errand;
    work *w = start((work){.waits = true}, &errand);
    EXPECT_ERROR(wait_for(errand, -1), MST_DEADLINE, "compiling 'dense' takes too long");
    const int64_t began = mst_clock_now();
    EXPECT_ERROR(wait_for(errand, MOMENT), MST_DEADLINE, "compiling 'dense' takes too long");
    assert_true(mst_clock_now() - began >= (int64_t)(MOMENT * 1e9));
    atomic_store(&w->is_let_go, true);
    EXPECT_OK(wait_for(errand, PATIENCE));
    mst_errand_leave(errand);
    expect_release();
}

static void errand_that_is_left_ends_by_itself(void **state) {
    (void)state;
    mst_errand *errand;
    work *w = start((work){.waits = true}, &errand);
    mst_errand_leave(errand);
    usleep(20000);
    assert_int_equal(atomic_load(&released), 0);
    atomic_store(&w->is_let_go, true);
    expect_release();
}

static bool is_asked(void *context) {
    return atomic_load((atomic_bool *)context);
}

static void *ask_soon(void *context) {
    usleep(50000);
    atomic_store((atomic_bool *)context, true);
    return NULL;
}

/* A thread that was asked to stop does not wait for unfinished work. The result of finished work it still gets. */
static void waiting_ends_when_it_is_asked_to(void **state) {
    (void)state;
    atomic_bool asked = false;
    const mst_errand_stop stop = {is_asked, &asked};
    pthread_t thread;
    mst_errand *errand;
    work *w = start((work){.waits = true}, &errand);
    mst_errand_set_stop(&stop);
    EXPECT_ERROR(wait_for(errand, MOMENT), MST_DEADLINE, "compiling 'dense' takes too long");
    assert_int_equal(pthread_create(&thread, NULL, ask_soon, &asked), 0);
    const int64_t began = mst_clock_now();
    EXPECT_ERROR(wait_for(errand, PATIENCE), MST_CANCELLED, "compiling 'dense' was not waited for");
    assert_true(mst_clock_now() - began < (int64_t)(PATIENCE * 1e9 / 2));
    pthread_join(thread, NULL);
    mst_errand_set_stop(NULL);
    EXPECT_ERROR(wait_for(errand, MOMENT), MST_DEADLINE, "compiling 'dense' takes too long");
    atomic_store(&w->is_let_go, true);
    EXPECT_OK(wait_for(errand, PATIENCE));
    mst_errand_set_stop(&stop);
    EXPECT_OK(wait_for(errand, PATIENCE));
    mst_errand_set_stop(NULL);
    mst_errand_leave(errand);
    expect_release();
}

static void *wait_elsewhere(void *context) {
    char error[256] = "";
    const mst_status status = wait_for(context, PATIENCE);
    if (status) snprintf(error, sizeof error, "%s", mst_error()->message);
    return status == MST_UNAVAILABLE && strstr(error, "the compiler is gone") ? NULL : context;
}

static void several_threads_wait_at_once(void **state) {
    (void)state;
    pthread_t thread[WAITERS];
    mst_errand *errand;
    work *w = start((work){.waits = true, .fails = true}, &errand);
    for (int i = 0; i < WAITERS; i++) assert_int_equal(pthread_create(&thread[i], NULL, wait_elsewhere, errand), 0);
    usleep(20000);
    atomic_store(&w->is_let_go, true);
    for (int i = 0; i < WAITERS; i++) {
        void *wrong;
        pthread_join(thread[i], &wrong);
        assert_null(wrong);
    }
    mst_errand_leave(errand);
    expect_release();
}

static mst_status look_at_signals(void *context) {
    work *w = context;
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    w->result = sigismember(&mask, SIGINT) && sigismember(&mask, SIGTERM);
    return MST_OK;
}

static void thread_of_an_errand_handles_no_signals(void **state) {
    (void)state;
    static const mst_errand_type looks = {look_at_signals, release_work};
    mst_errand *errand;
    work *w = calloc(1, sizeof *w);
    assert_non_null(w);
    atomic_store(&released, 0);
    EXPECT_OK(mst_errand_start(&looks, w, &errand));
    EXPECT_OK(wait_for(errand, PATIENCE));
    assert_true(w->result);
    mst_errand_leave(errand);
    expect_release();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_waits_sees_what_was_done),           cmocka_unit_test(error_of_the_work_comes_each_time),
        cmocka_unit_test(waiting_ends_at_its_deadline),           cmocka_unit_test(errand_that_is_left_ends_by_itself),
        cmocka_unit_test(waiting_ends_when_it_is_asked_to),       cmocka_unit_test(several_threads_wait_at_once),
        cmocka_unit_test(thread_of_an_errand_handles_no_signals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
