/* Ops that return late, or never. A call ends at its deadline, whatever came before it. Meanwhile, all state that
 * the step cannot have changed can be read and saved. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/clock.h"
#include "run/session.h"
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

/* Memory of this size is first touched by the threads of all devices, and one of them is stuck. When that one leaves
 * the step that was given up, it must find no lock held by a call that waits for it. */
static void call_with_new_state_ends_at_its_deadline_while_an_earlier_op_is_stuck(void **state) {
    (void)state;
    enum { LARGE = 300000 };
    for (int frames = 1; frames <= 2; frames++) {
        mst_graph *g = engine_graph();
        mst_value x = mst_scalar(g, MST_F32, 1), y = MST_NONE, write = MST_NONE;
        engine_with_kernels (g, "/cpu:1") {
            y = gate(x);
            write = mst_assign(mst_variable(g, "v", mst_fill(g, MST_F32, MST_SHAPE(LARGE), 0)),
                               mst_fill(g, MST_F32, MST_SHAPE(LARGE), 3));
        }
        mst_session *session = session_of(g, "cpu:2/1", 0.2, frames);
        pthread_t thread;
        atomic_store(&is_open, false);
        EXPECT_ERROR(mst_session_run(session, NULL, 0, &y, 1, NULL), MST_DEADLINE, "'closed' (gate)");
        assert_int_equal(pthread_create(&thread, NULL, let_go_later, NULL), 0);
        alarm(20); /* a call that hangs would hang forever */
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

/* ---- a device that gives no memory until it is let go ---- */

static const mst_domain_type *real_type;

static mst_status alloc_when_open(mst_domain *domain, size_t bytes, void **out) {
    atomic_fetch_add(&inside, 1);
    while (!atomic_load(&is_open)) usleep(1000);
    atomic_fetch_sub(&inside, 1);
    return real_type->alloc(domain, bytes, out);
}

typedef struct call {
    mst_session *session;
    mst_value fetch;
    mst_status status;
} call;

static void *run_call(void *context) {
    call *c = context;
    c->status = mst_session_run(c->session, NULL, 0, &c->fetch, 1, NULL);
    return NULL;
}

/* A device may take very long to allocate memory. Only calls that need new memory wait for it, at most until their
 * deadline. */
static void calls_go_on_while_a_device_is_asked_for_memory(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value planned = mst_scale(mst_variable(g, "a", mst_fill(g, MST_F32, MST_SHAPE(4), 1)), 2), there = MST_NONE;
    mst_value fresh[2] = {MST_NONE, MST_NONE};
    mst_with_device (g, "/island:1") {
        fresh[0] = mst_assign(mst_variable(g, "b", mst_fill(g, MST_F32, MST_SHAPE(4), 1)),
                              mst_fill(g, MST_F32, MST_SHAPE(4), 1));
        fresh[1] = mst_assign(mst_variable(g, "c", mst_fill(g, MST_F32, MST_SHAPE(4), 1)),
                              mst_fill(g, MST_F32, MST_SHAPE(4), 2));
        there = mst_scale(mst_fill(g, MST_F32, MST_SHAPE(512), 1), 2); /* needs an arena on the device */
    }
    const double timeout = engine_compiles() ? 4 : 1; /* the calls that are to wait are compiled first */
    mst_session *session = session_of(g, "island:2/1", timeout, 3);
    mst_tensor *zeros = engine_tensor(MST_F32, MST_SHAPE(4), NULL);
    EXPECT_OK(mst_session_set_variable(session, planned.node->src[0], zeros));
    mst_tensor_release(zeros);
    engine_run(session, planned);
    mst_domain *domain = session->devices.device[1].domain;
    const mst_value asks[] = {fresh[0], there};
    for (int i = 0; i < 2; i++) {
        mst_domain_type slow = *(real_type = domain->type);
        call waiting = {session, asks[i], MST_OK};
        pthread_t thread;
        slow.alloc = alloc_when_open;
        domain->type = &slow;
        atomic_store(&is_open, false);
        assert_int_equal(pthread_create(&thread, NULL, run_call, &waiting), 0);
        while (!atomic_load(&inside)) usleep(1000);
        alarm(20);
        engine_run(session, planned);
        EXPECT_ERROR(mst_session_run(session, NULL, 0, &fresh[1], 1, NULL), MST_DEADLINE, "asks a device for memory");
        alarm(0);
        atomic_store(&is_open, true);
        pthread_join(thread, NULL);
        domain->type = real_type;
        while (atomic_load(&inside)) usleep(1000);
        assert_true(waiting.status == MST_OK || waiting.status == MST_DEADLINE);
        engine_run(session, asks[i]);
    }
    engine_run(session, fresh[1]);
    engine_end(g, session);
}

/* A call that waits for memory leaves the only slot to calls that need none. */
static void slot_is_free_while_a_call_waits_for_memory(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    const mst_value x = mst_fill(g, MST_F32, MST_SHAPE(4), 1);
    mst_value ready = mst_scale(x, 2), unbound = mst_scale(x, 3), large = MST_NONE, fresh = MST_NONE;
    const mst_value rows = engine_input(g, "rows", MST_SHAPE(512));
    mst_with_device (g, "/island:1") {
        large = mst_scale(rows, 2);
        fresh = mst_assign(mst_variable(g, "v", mst_fill(g, MST_F32, MST_SHAPE(4), 1)), x);
        ready = mst_neg(ready);
        unbound = mst_neg(unbound);
    }
    mst_session *session = session_of(g, "island:2/1", 1, 1);
    mst_tensor *zeros = engine_tensor(MST_F32, MST_SHAPE(512), NULL);
    engine_run(session, unbound);
    mst_tensor_release(engine_fetch(session, &(mst_feed){.value = rows, .tensor = zeros}, 1, large));
    engine_run(session, ready); /* its addresses are of the larger arena, those of UNBOUND are not */
    mst_domain *domain = session->devices.device[1].domain;
    mst_domain_type slow = *(real_type = domain->type);
    call with_memory = {session, fresh, MST_OK}, waiting = {session, unbound, MST_OK};
    pthread_t thread[2];
    slow.alloc = alloc_when_open;
    domain->type = &slow;
    atomic_store(&is_open, false);
    assert_int_equal(pthread_create(&thread[0], NULL, run_call, &with_memory), 0);
    while (!atomic_load(&inside)) usleep(1000);
    assert_int_equal(pthread_create(&thread[1], NULL, run_call, &waiting), 0);
    usleep(100000); /* it comes to where it waits */
    alarm(20);
    const int64_t began = mst_clock_now();
    engine_run(session, ready);
    assert_true(mst_clock_now() - began < 500000000); /* before the deadline of the call that waits */
    pthread_join(thread[1], NULL);
    alarm(0);
    assert_int_equal(waiting.status, MST_DEADLINE);
    atomic_store(&is_open, true);
    pthread_join(thread[0], NULL);
    domain->type = real_type;
    engine_run(session, unbound);
    mst_tensor_release(zeros);
    engine_end(g, session);
}

/* Device 0 is the caller: behind the gate it waits for another device, which does not come back. */
static void call_that_waits_behind_the_gate_ends_too(void **state) {
    (void)state;
    if (engine_compiles()) skip(); /* no kernel writes there: new values are assigned */
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

/* ---- state while a step is stuck ---- */

/* "v" is 1; a step adds to it what comes out of the gate. */
typedef struct machine {
    mst_graph *graph;
    mst_session *session;
    mst_value v, step;
} machine;

static machine make_machine(double timeout, mst_store *store) {
    machine m = {.graph = engine_graph()};
    mst_graph *g = m.graph;
    m.v = mst_variable(g, "v", mst_fill(g, MST_F32, MST_SHAPE(4), 1));
    m.step = mst_assign_add(m.v, gate(m.v));
    const mst_session_options options = {.devices = "cpu:1/1", .timeout = timeout, .store = store};
    EXPECT_OK(mst_session_create(g, &options, &m.session));
    EXPECT_OK(mst_session_init_variables(m.session));
    return m;
}

static void *run_step(void *context) {
    machine *m = context;
    return mst_session_run(m->session, NULL, 0, &m->step, 1, NULL) ? m : NULL;
}

static void expect_saved(const machine *m, double wanted) {
    mst_tensor *got;
    mst_snapshot *snapshot;
    mst_store *store = mst_session_store(m->session);
    EXPECT_OK(mst_session_get_variable(m->session, m->v, &got));
    assert_true(mst_tensor_get(got, 3) == wanted);
    mst_tensor_release(got);
    EXPECT_OK(mst_store_snapshot(store, &snapshot));
    assert_true(mst_tensor_get(mst_snapshot_find(snapshot, "", "v"), 3) == wanted);
    EXPECT_OK(mst_store_snapshot_again(store, &snapshot));
    assert_true(mst_tensor_get(mst_snapshot_find(snapshot, "", "v"), 3) == wanted);
    mst_snapshot_release(snapshot);
}

/* The step has ten minutes, so it was not given up. */
static void state_is_read_and_saved_while_a_step_is_stuck_before_the_gate(void **state) {
    (void)state;
    machine m = make_machine(0, NULL);
    pthread_t thread;
    void *failed;
    atomic_store(&is_open, false);
    alarm(20);
    assert_int_equal(pthread_create(&thread, NULL, run_step, &m), 0);
    while (!atomic_load(&inside)) usleep(1000);
    expect_saved(&m, 1);
    atomic_store(&is_open, true);
    pthread_join(thread, &failed);
    assert_null(failed);
    expect_saved(&m, 2);
    alarm(0);
    engine_end(m.graph, m.session);
}

/* Reads, another session's steps included, go on; writes must wait for what still reads, and end at their deadline. */
static void state_is_read_and_saved_after_a_step_was_given_up(void **state) {
    (void)state;
    mst_store *store;
    EXPECT_OK(mst_store_create(&store));
    machine m = make_machine(0.3, store);
    atomic_store(&is_open, false);
    alarm(20);
    EXPECT_ERROR(mst_session_run(m.session, NULL, 0, &m.step, 1, NULL), MST_DEADLINE, "'closed' (gate)");
    expect_saved(&m, 1);
    mst_graph *h = engine_graph();
    const mst_value v = mst_variable(h, "v", mst_fill(h, MST_F32, MST_SHAPE(4), 1)), sum = mst_reduce_sum(v);
    const mst_value write = mst_assign(v, mst_fill(h, MST_F32, MST_SHAPE(4), 7));
    mst_session *other;
    EXPECT_OK(mst_session_create(h, &(mst_session_options){.store = store, .timeout = 0.3}, &other));
    assert_true(engine_number(other, sum) == 4);
    EXPECT_ERROR(mst_session_run(other, NULL, 0, &write, 1, NULL), MST_DEADLINE, "");
    mst_tensor *value = engine_tensor(MST_F32, MST_SHAPE(4), (double[]){5, 5, 5, 5});
    EXPECT_ERROR(mst_session_set_variable(m.session, m.v, value), MST_DEADLINE, "to write the state");
    EXPECT_ERROR(mst_store_set(store, NULL, "v", MST_STATE_WEIGHT, value), MST_DEADLINE, "to write the state");
    expect_saved(&m, 1);
    atomic_store(&is_open, true);
    while (atomic_load(&inside)) usleep(1000);
    mst_status status = MST_DEADLINE;
    for (int i = 0; i < 50 && status == MST_DEADLINE; i++) status = mst_session_set_variable(m.session, m.v, value);
    EXPECT_OK(status);
    expect_saved(&m, 5);
    alarm(0);
    mst_tensor_release(value);
    engine_end(h, other);
    engine_end(m.graph, m.session);
    mst_store_release(store);
}

/* ---- steps side by side ---- */

enum { CLIENTS = 4 };

/* Comes back when all clients are inside. */
static mst_status wait_for_all(const mst_kernel_args *a) {
    atomic_fetch_add(&inside, 1);
    for (int i = 0; i < 10000 && atomic_load(&inside) < CLIENTS; i++) usleep(1000);
    memcpy(a->dst[0].data, a->src[0].data, (size_t)a->dst[0].count * sizeof(float));
    return atomic_load(&inside) < CLIENTS ? mst_kernel_fail(a, MST_CANCELLED, "the others did not come") : MST_OK;
}

static const mst_op meet_op = {.name = "meet",
                               .num_src = 1,
                               .num_dst = 1,
                               .dtypes = MST_FLOATS,
                               .flags = MST_OP_STATEFUL,
                               .infer = like_source,
                               .reference = wait_for_all};

/* A session with a variable of its own, in a store that all share; what they share they only read. */
static void steps_over_disjoint_entries_of_one_store_run_side_by_side(void **state) {
    (void)state;
    mst_store *store;
    EXPECT_OK(mst_store_create(&store));
    machine m[CLIENTS];
    pthread_t thread[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        const char name[] = {'v', (char)('0' + i), '\0'};
        mst_graph *g = m[i].graph = engine_graph();
        m[i].v = mst_variable(g, name, mst_fill(g, MST_F32, MST_SHAPE(4), i));
        const mst_value common = mst_variable(g, "common", mst_fill(g, MST_F32, MST_SHAPE(4), 10));
        mst_value x = mst_add(m[i].v, common);
        m[i].step = mst_assign(m[i].v, mst_call_named(g, &meet_op, "meet", 1, &x, NULL));
        EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "cpu:1/1", .store = store}, &m[i].session));
        EXPECT_OK(mst_session_init_variables(m[i].session));
    }
    for (int round = 1; round <= 3; round++) {
        atomic_store(&inside, 0);
        for (int i = 0; i < CLIENTS; i++) assert_int_equal(pthread_create(&thread[i], NULL, run_step, &m[i]), 0);
        for (int i = 0; i < CLIENTS; i++) {
            void *failed;
            pthread_join(thread[i], &failed);
            assert_null(failed);
        }
        for (int i = 0; i < CLIENTS; i++)
            assert_true(engine_number(m[i].session, mst_reduce_sum(m[i].v)) == 4 * (i + 10 * round));
    }
    atomic_store(&inside, 0);
    for (int i = 0; i < CLIENTS; i++) engine_end(m[i].graph, m[i].session);
    mst_store_release(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(state_is_read_and_saved_while_a_step_is_stuck_before_the_gate),
        cmocka_unit_test(state_is_read_and_saved_after_a_step_was_given_up),
        cmocka_unit_test(steps_over_disjoint_entries_of_one_store_run_side_by_side),
        cmocka_unit_test(call_that_waits_behind_the_gate_ends_too),
        cmocka_unit_test(calls_go_on_while_a_device_is_asked_for_memory),
        cmocka_unit_test(slot_is_free_while_a_call_waits_for_memory),
        cmocka_unit_test(call_with_new_state_ends_at_its_deadline_while_an_earlier_op_is_stuck),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
