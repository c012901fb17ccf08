/* Ops that come back late, or not at all: a call ends at its deadline, whatever came before it, and what a step cannot
 * have changed can be read and saved meanwhile. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/clock.h"
#include "support/fault.h"
#include "support/test.h"

/* ---- an op that waits until it is let go ---- */

static atomic_bool is_open;
static _Atomic int inside;

static mst_status wait_until_open(const mst_kernel_args *a) {
    atomic_fetch_add(&inside, 1);
    while (!atomic_load(&is_open)) usleep(1000);
    memcpy(a->dst[0].data, a->src[0].data, (size_t)a->dst[0].count * sizeof(float));
    atomic_fetch_sub(&inside, 1);
    return MST_OK;
}

static mst_status like_source(mst_infer *c) {
    c->dst[0] = c->src[0];
    return MST_OK;
}

static const mst_op gate_op = {.name = "gate",
                               .num_src = 1,
                               .num_dst = 1,
                               .dtypes = MST_FLOATS,
                               .flags = MST_OP_STATEFUL,
                               .infer = like_source,
                               .reference = wait_until_open};

static mst_value gate(mst_value src) {
    return mst_call_named(mst_value_graph(src), &gate_op, "closed", 1, &src, NULL);
}

static mst_session *session_of(mst_graph *g, const char *devices, double timeout, int num_frames) {
    mst_session *session;
    const mst_session_options options = {.devices = devices, .timeout = timeout, .num_frames = num_frames};
    EXPECT_OK(mst_session_create(g, &options, &session));
    return session;
}

/* ---- deadlines ---- */

static void *let_go_later(void *context) {
    (void)context;
    sleep(1);
    atomic_store(&is_open, true);
    return NULL;
}

/* Its memory is large enough to be touched first by the threads of all devices, one of which is stuck; and when that
 * leaves the step that was given up, it must find no lock held by a call that waits for it. */
static void call_with_new_state_ends_at_its_deadline_while_an_earlier_op_is_stuck(void **state) {
    (void)state;
    enum { LARGE = 300000 };
    for (int frames = 1; frames <= 2; frames++) {
        mst_graph *g = engine_graph();
        mst_value x = mst_scalar(g, MST_F32, 1), y = MST_NONE, write = MST_NONE;
        mst_with_device (g, "/cpu:1") {
            y = gate(x);
            write = mst_assign(mst_variable(g, "v", mst_fill(g, MST_F32, MST_SHAPE(LARGE), 0)),
                               mst_fill(g, MST_F32, MST_SHAPE(LARGE), 3));
        }
        mst_session *session = session_of(g, "cpu:2/1", 0.2, frames);
        pthread_t thread;
        atomic_store(&is_open, false);
        EXPECT_ERROR(mst_session_run(session, NULL, 0, &y, 1, NULL), MST_DEADLINE, "'closed' (gate)");
        assert_int_equal(pthread_create(&thread, NULL, let_go_later, NULL), 0);
        alarm(20); /* a call that hangs would hang for ever */
        const int64_t began = mst_clock_now();
        EXPECT_ERROR(mst_session_run(session, NULL, 0, &write, 1, NULL), MST_DEADLINE, "");
        assert_true(mst_clock_now() - began < 900000000); /* the op is let go after 1 s */
        pthread_join(thread, NULL);
        while (atomic_load(&inside)) usleep(1000);
        mst_status status = MST_DEADLINE;
        for (int i = 0; i < 50 && status == MST_DEADLINE; i++)
            status = mst_session_run(session, NULL, 0, &write, 1, NULL);
        EXPECT_OK(status);
        alarm(0);
        engine_end(g, session);
    }
}

/* Device 0 is the caller: behind the gate it waits for another device, which does not come back. */
static void call_that_waits_behind_the_gate_ends_too(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value first = MST_NONE, second = MST_NONE;
    mst_with_device (g, "/cpu:1")
        first = fault_increment(mst_variable(g, "a", mst_fill(g, MST_F32, MST_SHAPE(4), 0)), "late");
    mst_with_device (g, "/cpu:0") {
        const mst_value b = mst_variable(g, "b", mst_fill(g, MST_F32, MST_SHAPE(4), 0));
        mst_with_control (g, first) second = fault_increment(b, "after");
    }
    const mst_value all = mst_group((mst_value[]){first, second}, 2);
    mst_session *session = engine_session(g, "cpu:2/1");
    fault_arm(FAULT_LATE, "late", 3);
    alarm(20);
    EXPECT_ERROR(mst_session_run(session, NULL, 0, &all, 1, NULL), MST_DEADLINE, "'late' (fault_increment)");
    alarm(0);
    fault_disarm();
    engine_end(g, session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(call_that_waits_behind_the_gate_ends_too),
        cmocka_unit_test(call_with_new_state_ends_at_its_deadline_while_an_earlier_op_is_stuck),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
