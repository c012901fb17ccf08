/* Plans are made without the session's lock: several at a time, each only once, while runs of finished plans go on. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "support/test.h"

enum { THREADS = 3 };

/* ---- an op whose inference, in a plan, waits until as many plans are being made as a test wants ---- */

static _Atomic int wanted, inside, inferred; /* wanted 0: nobody waits */

static mst_status infer(mst_infer *c) {
    c->dst[0] = c->src[0];
    if (!atomic_load(&wanted)) return MST_OK;
    atomic_fetch_add(&inferred, 1);
    atomic_fetch_add(&inside, 1);
    for (int i = 0; i < 10000 && atomic_load(&inside) < atomic_load(&wanted); i++) usleep(1000);
    return atomic_load(&inside) < atomic_load(&wanted) ? MST_FAIL(MST_CANCELLED, "nobody else plans") : MST_OK;
}

static mst_status copy(const mst_kernel_args *a) {
    memcpy(a->dst[0].data, a->src[0].data, (size_t)a->dst[0].count * sizeof(float));
    return MST_OK;
}

static const mst_op op = {.name = "planned",
                          .num_src = 1,
                          .num_dst = 1,
                          .dtypes = MST_FLOATS,
                          .flags = MST_OP_STATEFUL,
                          .infer = infer,
                          .reference = copy};

static void arm(int count) {
    atomic_store(&inside, 0);
    atomic_store(&inferred, 0);
    atomic_store(&wanted, count);
}

typedef struct call {
    mst_session *session;
    mst_value fetch;
    double result;
    char error[256];
} call;

static void *run(void *context) {
    call *c = context;
    mst_tensor *out = NULL;
    if (mst_session_run(c->session, NULL, 0, &c->fetch, 1, &out))
        snprintf(c->error, sizeof c->error, "%s", mst_error()->message);
    else
        c->result = mst_tensor_get(out, 0);
    mst_tensor_release(out);
    return NULL;
}

/* v + 1, v + 2, ...: each a call with a plan of its own that shares the variable. */
static void make_calls(mst_graph *g, mst_session **session, call calls[THREADS]) {
    const mst_value v = mst_variable(g, "v", mst_fill(g, MST_F32, MST_SHAPE(3), 5));
    mst_value fetch[THREADS];
    for (int i = 0; i < THREADS; i++) {
        fetch[i] = mst_add(v, mst_scalar(g, MST_F32, i + 1));
        fetch[i] = mst_call_named(g, &op, "planned", 1, &fetch[i], NULL);
    }
    *session = engine_session(g, "cpu:2/1");
    for (int i = 0; i < THREADS; i++) calls[i] = (call){.session = *session, .fetch = fetch[i]};
}

static void different_calls_are_planned_side_by_side(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_session *session;
    call calls[THREADS];
    pthread_t thread[THREADS];
    make_calls(g, &session, calls);
    const int64_t before = mst_session_num_plans(session);
    arm(THREADS);
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&thread[i], NULL, run, &calls[i]), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    arm(0);
    for (int i = 0; i < THREADS; i++) {
        assert_string_equal(calls[i].error, "");
        assert_true(calls[i].result == 6 + i);
    }
    assert_int_equal(mst_session_num_plans(session), before + THREADS);
    engine_end(g, session);
}

static void run_goes_on_while_another_call_is_planned(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_session *session;
    call calls[THREADS];
    pthread_t thread;
    make_calls(g, &session, calls);
    assert_true(engine_number(session, mst_reduce_sum(calls[0].fetch)) == 18);
    run(&calls[0]); /* has its plan now */
    arm(2);
    assert_int_equal(pthread_create(&thread, NULL, run, &calls[1]), 0);
    while (!atomic_load(&inside)) usleep(1000);
    run(&calls[0]);
    atomic_fetch_add(&inside, 1);
    pthread_join(thread, NULL);
    arm(0);
    assert_string_equal(calls[0].error, "");
    assert_string_equal(calls[1].error, "");
    assert_true(calls[0].result == 6 && calls[1].result == 7);
    engine_end(g, session);
}

static void *let_plan(void *context) {
    (void)context;
    while (!atomic_load(&inside)) usleep(1000);
    usleep(100000); /* the others come to where they wait */
    atomic_fetch_add(&inside, 1);
    return NULL;
}

static void call_that_several_threads_make_at_once_is_planned_once(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_session *session;
    call calls[THREADS];
    pthread_t thread[THREADS], helper;
    make_calls(g, &session, calls);
    const int64_t before = mst_session_num_plans(session);
    for (int i = 1; i < THREADS; i++) calls[i].fetch = calls[0].fetch;
    arm(2);
    assert_int_equal(pthread_create(&helper, NULL, let_plan, NULL), 0);
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&thread[i], NULL, run, &calls[i]), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    pthread_join(helper, NULL);
    for (int i = 0; i < THREADS; i++) {
        assert_string_equal(calls[i].error, "");
        assert_true(calls[i].result == 6);
    }
    assert_int_equal(mst_session_num_plans(session), before + 1);
    const int times = atomic_load(&inferred);
    arm(0);
    arm(1);
    run(&calls[0]);
    assert_int_equal(atomic_load(&inferred), 0); /* from the cache */
    assert_true(times > 0);
    arm(0);
    engine_end(g, session);
}

/* The thread that waited for the plan makes its own, and has its own error. */
static void call_whose_plan_fails_in_one_thread_fails_in_each(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_session *session;
    call calls[THREADS];
    pthread_t thread[THREADS];
    make_calls(g, &session, calls);
    for (int i = 0; i < THREADS; i++) {
        mst_with_device (g, "/cpu:7") calls[i].fetch = i ? calls[0].fetch : mst_neg(calls[i].fetch);
    }
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&thread[i], NULL, run, &calls[i]), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < THREADS; i++) assert_non_null(strstr(calls[i].error, "CPU:7"));
    engine_end(g, session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(different_calls_are_planned_side_by_side),
        cmocka_unit_test(run_goes_on_while_another_call_is_planned),
        cmocka_unit_test(call_that_several_threads_make_at_once_is_planned_once),
        cmocka_unit_test(call_whose_plan_fails_in_one_thread_fails_in_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
