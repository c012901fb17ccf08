/* Failures of sessions whose target is a task server: there is one error, which names the task, and nothing has
 * changed. Also tasks that are lost and come back, clients that leave, and wrong addresses. */
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"
#include "sessions/remote_client.h"
#include "support/engine.h"
#include "support/servers.h"
#include "support/state.h"
#include "support/test.h"

static const double SOON = 2; /* seconds within which a lost task is known */

/* ---- a graph with a variable on each of two tasks, both changed in a step ---- */

typedef struct two {
    mst_graph *graph;
    mst_value x, first, second, step;
} two;

/* STEP adds x to `first`, on worker 1, and log(x) to `second`, on the ps: a negative x is an error. */
static two build(void) {
    two n = {.graph = engine_graph()};
    mst_graph *g = n.graph;
    mst_value steps[2];
    mst_with_device (g, "/job:worker/task:1") {
        n.x = engine_input(g, "x", MST_SHAPE(3));
        n.first = mst_variable(g, "first", mst_fill(g, MST_F32, MST_SHAPE(3), 1));
        steps[0] = mst_assign_add(n.first, n.x);
    }
    mst_with_device (g, "/job:ps") {
        n.second = mst_variable(g, "second", mst_fill(g, MST_F32, MST_SHAPE(3), 1));
        steps[1] = mst_assign_add(n.second, mst_log(n.x));
    }
    n.step = mst_group(steps, 2);
    return n;
}

static mst_status make_step(mst_session *session, const two *n, double x) {
    const double values[] = {x, x, x};
    mst_tensor *tensor = engine_tensor(MST_F32, MST_SHAPE(3), values);
    const mst_status status =
        mst_session_run(session, &(mst_feed){.value = n->x, .tensor = tensor}, 1, &n->step, 1, NULL);
    mst_tensor_release(tensor);
    return status;
}

static double value_of(mst_session *session, mst_value variable) {
    mst_tensor *value;
    EXPECT_OK(mst_session_get_variable(session, variable, &value));
    const double first = mst_tensor_get(value, 0);
    mst_tensor_release(value);
    return first;
}

/* Until the task is there again. */
static void init_again(mst_session *session) {
    const struct timespec pause = {.tv_nsec = 20000000};
    const int64_t deadline = mst_clock_after(SERVER_SECONDS);
    while (mst_session_init_variables(session)) {
        assert_int_equal(mst_error()->code, MST_UNAVAILABLE);
        assert_true(mst_clock_now() < deadline);
        nanosleep(&pause, NULL);
    }
}

/* ---- errors of a run ---- */

static void failing_node_changes_nothing_on_any_task(void **state) {
    (void)state;
    servers all;
    servers_start(&all);
    two n = build();
    mst_session *session = servers_session(&all, 0, n.graph, &(mst_session_options){.check_numerics = true});
    EXPECT_OK(mst_session_init_variables(session));
    EXPECT_ERROR(make_step(session, &n, -1), MST_NUMERICS, "log");
    assert_non_null(strstr(mst_error()->device, "/job:ps/replica:0/task:0"));
    assert_non_null(strstr(mst_error()->node, "log"));
    assert_true(value_of(session, n.first) == 1);
    assert_true(value_of(session, n.second) == 1);
    EXPECT_OK(make_step(session, &n, 1));
    assert_true(value_of(session, n.first) == 2);
    mst_session_destroy(session);
    mst_graph_destroy(n.graph);
    servers_end(&all);
}

static void device_that_no_task_has_is_an_error(void **state) {
    (void)state;
    servers all;
    servers_start(&all);
    mst_graph *g = engine_graph();
    mst_value there = MST_NONE;
    mst_with_device (g, "/job:reader/task:0") there = mst_tanh(engine_input(g, "x", MST_SHAPE(2)));
    mst_session *session = servers_session(&all, 0, g, NULL);
    mst_tensor *x = engine_random(MST_F32, MST_SHAPE(2), 0, 1, 1), *out = NULL;
    const mst_feed feed = {.value = (mst_value){.node = mst_graph_find(g, "x")}, .tensor = x};
    EXPECT_ERROR(mst_session_run(session, &feed, 1, &there, 1, &out), MST_INVALID, "job:reader");
    mst_tensor_release(x);
    mst_session_destroy(session);
    mst_graph_destroy(g);
    servers_end(&all);
}

/* ---- lost tasks ---- */

static void lost_task_is_told_and_comes_back(void **state) {
    (void)state;
    servers all;
    servers_start(&all);
    two n = build();
    mst_session *session = servers_session(&all, 0, n.graph, NULL);
    EXPECT_OK(mst_session_init_variables(session));
    EXPECT_OK(make_step(session, &n, 1));
    server_end(&all, 1);
    const int64_t began = mst_clock_now();
    EXPECT_ERROR(make_step(session, &n, 1), MST_UNAVAILABLE, "worker:1 at ");
    assert_non_null(strstr(mst_error()->message, all.address[1]));
    assert_true((double)(mst_clock_now() - began) / 1e9 < SOON);
    server_start(&all, 1);
    init_again(session);
    assert_true(value_of(session, n.first) == 1);  /* anew */
    assert_true(value_of(session, n.second) == 1); /* log 1 is 0 */
    EXPECT_OK(make_step(session, &n, 2));
    assert_true(value_of(session, n.first) == 3);
    mst_session_destroy(session);
    mst_graph_destroy(n.graph);
    servers_end(&all);
}

static void lost_leader_is_told_and_comes_back(void **state) {
    (void)state;
    servers all;
    servers_start(&all);
    two n = build();
    mst_session *session = servers_session(&all, 1, n.graph, NULL);
    EXPECT_OK(mst_session_init_variables(session));
    EXPECT_OK(make_step(session, &n, 2));
    server_end(&all, 0);
    const int64_t began = mst_clock_now();
    server_start(&all, 0);
    while (make_step(session, &n, 2)) {
        assert_int_equal(mst_error()->code, MST_UNAVAILABLE);
        assert_true(mst_clock_now() - began < (int64_t)(SERVER_SECONDS * 1e9));
    }
    assert_true(value_of(session, n.first) == 5); /* its task was not lost */
    mst_session_destroy(session);
    mst_graph_destroy(n.graph);
    servers_end(&all);
}

/* ---- clients ---- */

static void client_that_is_lost_leaves_no_session(void **state) {
    (void)state;
    mst_task_server *server;
    mst_remote_client *client;
    mst_task_message *answer;
    mst_wire_writer w = {0};
    EXPECT_OK(mst_task_server_start(&server, .devices = "cpu:1/1"));
    EXPECT_OK(mst_remote_client_open(mst_task_server_target(server), NULL, false, SERVER_SECONDS, &client));
    mst_open_message_put(&w, &(mst_open_message){.timeout = SERVER_SECONDS});
    EXPECT_OK(mst_remote_client_ask(client, MST_SESSION_OPEN, 0, &w, SERVER_SECONDS, &answer));
    mst_task_message_free(answer);
    mst_remote_client_close(client);
    const int64_t began = mst_clock_now();
    EXPECT_OK(mst_task_server_join(server)); /* returns when there is no session */
    assert_true((double)(mst_clock_now() - began) / 1e9 < SOON);
    mst_task_server_destroy(server);
    mst_wire_free(&w);
}

static void *join_server(void *context) {
    EXPECT_OK(mst_task_server_join(context));
    return NULL;
}

static void joining_waits_for_all_tasks(void **state) {
    (void)state;
    task_address address[2];
    const char *const addresses[] = {address[0], address[1]};
    const mst_cluster_job job = {.name = "local", .num_tasks = 2, .address = addresses};
    mst_task_server *server[2];
    pthread_t thread[2];
    tasks_find_addresses(address, 2);
    for (int i = 0; i < 2; i++) {
        mst_cluster *cluster;
        EXPECT_OK(mst_cluster_create(
            &(mst_cluster_options){.jobs = &job, .num_jobs = 1, .job_name = "local", .task_index = i}, &cluster));
        EXPECT_OK(mst_task_server_start(&server[i], .cluster = cluster));
        mst_cluster_release(cluster);
    }
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&thread[i], NULL, join_server, server[i]), 0);
    for (int i = 0; i < 2; i++) pthread_join(thread[i], NULL);
    for (int i = 0; i < 2; i++) mst_task_server_destroy(server[i]);
}

static mst_status try_session(const char *target, double timeout) {
    mst_graph *g = engine_graph();
    mst_session *session;
    const mst_status status =
        mst_session_create(g, &(mst_session_options){.target = target, .timeout = timeout}, &session);
    if (!status) mst_session_destroy(session);
    mst_graph_destroy(g);
    return status;
}

static void session_waits_for_tasks_that_are_not_there(void **state) {
    (void)state;
    char target[60];
    servers all;
    servers_make(&all);
    server_start(&all, 0);
    server_start(&all, 1);
    snprintf(target, sizeof target, "grpc://%s", all.address[1]);
    EXPECT_ERROR(try_session(target, 0.5), MST_UNAVAILABLE, "waited 0.5 s for ps:0 at ");
    server_start(&all, 2);
    EXPECT_OK(try_session(target, SERVER_SECONDS));
    servers_end(&all);
}

static void wrong_targets_are_told(void **state) {
    (void)state;
    task_address nobody;
    char target[60];
    tasks_find_addresses(&nobody, 1);
    snprintf(target, sizeof target, "tcp://%s", nobody);
    EXPECT_ERROR(try_session(target, 0.3), MST_UNAVAILABLE, "no task server answers at 'tcp://");
    EXPECT_ERROR(try_session("tcp://no-such-host.invalid:2222", 0.3), MST_UNAVAILABLE, "no-such-host.invalid");
    EXPECT_ERROR(try_session("tcp://localhost", 0.3), MST_INVALID, "target");
    EXPECT_ERROR(try_session("here", 0.3), MST_INVALID, "target");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failing_node_changes_nothing_on_any_task),
        cmocka_unit_test(device_that_no_task_has_is_an_error),
        cmocka_unit_test(lost_task_is_told_and_comes_back),
        cmocka_unit_test(lost_leader_is_told_and_comes_back),
        cmocka_unit_test(client_that_is_lost_leaves_no_session),
        cmocka_unit_test(joining_waits_for_all_tasks),
        cmocka_unit_test(session_waits_for_tasks_that_are_not_there),
        cmocka_unit_test(wrong_targets_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
