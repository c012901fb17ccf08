/* Threads that run steps at the same time, in one session and in several sessions of one store: the results are
 * those of all steps one after another, in some order. */
#include <pthread.h>

#include "support/test.h"

enum { CLIENTS = 4, RUNS = 60, SIZE = 500 };

/* The variables, and what clients do with them: `a` grows by x and `b` falls by twice as much, so that 2 a + b stays 0;
 * `count` counts the updates. */
typedef struct machine {
    mst_graph *graph;
    mst_session *session;
    mst_value x, update, count, off; /* off: the largest |2 a + b| */
} machine;

/* The variables are mirrored over the devices of the session, or on its first and its last. */
static machine make(const char *devices, mst_store *store, bool mirrored, int num_frames) {
    machine m = {.graph = engine_graph()};
    mst_graph *g = m.graph;
    const mst_session_options options = {.devices = devices, .store = store, .num_frames = num_frames};
    EXPECT_OK(mst_session_create(g, &options, &m.session));
    const int last = mst_session_num_devices(m.session) - 1;
    char list[512] = "";
    for (int d = 0; d <= last; d++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", d ? "," : "",
                 mst_session_device(m.session, d));
    mst_value a = MST_NONE, b = MST_NONE;
    m.x = mst_placeholder(g, MST_F64, MST_SHAPE(SIZE), "x");
    a = mst_variable(g, "a", mst_fill(g, MST_F64, MST_SHAPE(SIZE), 0));
    const mst_value counter = mst_variable(g, "count", mst_scalar(g, MST_I64, 0));
    const mst_value grow = mst_assign_add(a, m.x);
    mst_with_device (g, mst_session_device(m.session, last)) {
        b = mst_variable(g, "b", mst_fill(g, MST_F64, MST_SHAPE(SIZE), 0));
        m.update = mst_group((mst_value[]){grow, mst_assign_add(b, mst_scale(m.x, -2))}, 2);
        m.off = mst_reduce_max(mst_abs(mst_add(mst_scale(a, 2), b)));
    }
    m.count = mst_assign_add(counter, mst_scalar(g, MST_I64, 1));
    if (mirrored) mst_variable_mirror(a, list);
    if (mirrored) mst_variable_mirror(b, list);
    EXPECT_OK(mst_graph_check(g));
    EXPECT_OK(mst_session_init_variables(m.session));
    return m;
}

typedef struct client {
    const machine *machine;
    pthread_barrier_t *start;
    mst_tensor *x;
    int64_t count[RUNS]; /* after each of its updates */
    int wrong;
    char error[256];
} client;

static mst_status run_all(client *c) {
    const machine *m = c->machine;
    const mst_feed feed = {.value = m->x, .tensor = c->x};
    const mst_value update[] = {m->update, m->count}, whole[] = {m->off, m->update, m->count};
    mst_tensor *got[3] = {NULL}, *off = NULL;
    mst_status status = MST_OK;
    for (int i = 0; i < RUNS && !status; i++) {
        const bool both = i % 3 == 0; /* reads what the steps before it have left, and updates */
        status = both ? mst_session_run(m->session, &feed, 1, whole, 3, got)
                      : mst_session_run(m->session, &feed, 1, update, 2, got + 1);
        if (!status) c->count[i] = (int64_t)mst_tensor_get(got[2], 0);
        if (!status && both) c->wrong += mst_tensor_get(got[0], 0) != 0;
        if (!status) status = mst_session_run(m->session, NULL, 0, &m->off, 1, &off);
        if (!status) c->wrong += mst_tensor_get(off, 0) != 0;
        for (int k = 0; k < 3; k++) mst_tensor_release(got[k]);
        memset(got, 0, sizeof got);
    }
    mst_tensor_release(off);
    return status;
}

static void *work(void *context) {
    client *c = context;
    pthread_barrier_wait(c->start);
    if (run_all(c)) snprintf(c->error, sizeof c->error, "%s", mst_error()->message);
    return NULL;
}

/* Client I feeds I + 1, and works with machine I % NUM_MACHINES. */
static void run_clients(const machine *machines, int num_machines) {
    static client clients[CLIENTS];
    pthread_t thread[CLIENTS];
    pthread_barrier_t start;
    assert_int_equal(pthread_barrier_init(&start, NULL, CLIENTS), 0);
    for (int i = 0; i < CLIENTS; i++) {
        double x[SIZE];
        for (int k = 0; k < SIZE; k++) x[k] = i + 1;
        clients[i] = (client){
            .machine = &machines[i % num_machines], .start = &start, .x = engine_tensor(MST_F64, MST_SHAPE(SIZE), x)};
        assert_int_equal(pthread_create(&thread[i], NULL, work, &clients[i]), 0);
    }
    bool seen[CLIENTS * RUNS] = {false};
    for (int i = 0; i < CLIENTS; i++) assert_int_equal(pthread_join(thread[i], NULL), 0);
    for (int i = 0; i < CLIENTS; i++) {
        client *c = &clients[i];
        mst_tensor_release(c->x);
        assert_string_equal(c->error, "");
        assert_int_equal(c->wrong, 0);
        for (int k = 0; k < RUNS; k++) { /* each number once, and rising for each client */
            assert_in_range(c->count[k], k ? c->count[k - 1] + 1 : 1, CLIENTS * RUNS);
            assert_false(seen[c->count[k] - 1]);
            seen[c->count[k] - 1] = true;
        }
    }
    pthread_barrier_destroy(&start);
}

static void expect_sums(mst_store *store) {
    const double wanted = RUNS * CLIENTS * (CLIENTS + 1) / 2.0;
    mst_tensor *a, *b;
    EXPECT_OK(mst_store_get(store, NULL, "a", &a));
    EXPECT_OK(mst_store_get(store, NULL, "b", &b));
    for (int64_t k = 0; k < SIZE; k++) {
        assert_true(mst_tensor_get(a, k) == wanted);
        assert_true(mst_tensor_get(b, k) == -2 * wanted);
    }
    mst_tensor_release(a);
    mst_tensor_release(b);
}

static void threads_run_one_session_at_once(void **state) {
    (void)state;
    static const char *const devices[] = {"cpu:1/1", "cpu:2/1", "cpu:3/1", "cpu:1/1,island:1/1"};
    for (size_t d = 0; d < sizeof devices / sizeof *devices; d++)
        for (int mirrored = 0; mirrored < 2; mirrored++)
            for (int num_frames = 1; num_frames <= 3; num_frames += 2) {
                const machine m = make(devices[d], NULL, mirrored, num_frames);
                run_clients(&m, 1);
                expect_sums(mst_session_store(m.session));
                engine_end(m.graph, m.session);
            }
}

static void threads_run_sessions_of_one_store_at_once(void **state) {
    (void)state;
    static const char *const devices[CLIENTS] = {"cpu:1/1", "cpu:2/1", "cpu:1/1", "cpu:3/1"};
    for (int mirrored = 0; mirrored < 2; mirrored++) {
        mst_store *store;
        machine m[CLIENTS];
        EXPECT_OK(mst_store_create(&store));
        for (int i = 0; i < CLIENTS; i++) m[i] = make(devices[i], store, mirrored, 1);
        run_clients(m, CLIENTS);
        expect_sums(store);
        for (int i = 0; i < CLIENTS; i++) engine_end(m[i].graph, m[i].session);
        mst_store_release(store);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_run_one_session_at_once),
        cmocka_unit_test(threads_run_sessions_of_one_store_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
