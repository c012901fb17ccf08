/* Sessions whose target is a task server, against sessions of this process with the same graph: the same bits, and
 * variables that clients share. */
#include <math.h>
#include <stdio.h>

#include "support/compiling.h"
#include "support/engine.h"
#include "support/servers.h"
#include "support/state.h"
#include "support/test.h"

enum { STEPS = 20 };

/* ---- a network whose layers lie on several devices ---- */

typedef struct layers {
    mst_graph *graph;
    mst_value x, first, second, hidden, loss, train, step, log;
} layers;

static layers build(const char *a, const char *b, const char *c) {
    layers n = {.graph = engine_graph()};
    mst_graph *g = n.graph;
    mst_value hidden = MST_NONE;
    mst_with_device (g, c) {
        n.step = mst_global_step(g);
        n.first = mst_variable(g, "first", mst_random_uniform(g, MST_SHAPE(4, 8), .low = -1, .high = 1));
        n.second = mst_variable(g, "second", mst_random_uniform(g, MST_SHAPE(8, 3), .low = -1, .high = 1));
    }
    mst_with_device (g, a) {
        n.x = engine_input(g, "x", MST_SHAPE(-1, 4));
        n.hidden = hidden = mst_dropout(mst_relu(mst_matmul(n.x, n.first)), .rate = 0.5);
    }
    mst_with_device (g, b) {
        const mst_value y = mst_dropout(mst_matmul(hidden, n.second), .rate = 0.25);
        n.loss = mst_reduce_mean(mst_square(y));
        n.log = mst_log(n.loss);
    }
    const mst_value variables[] = {n.first, n.second};
    const mst_optimizer adam = mst_adam(.learning_rate = 0.05);
    mst_with_device (g, c) n.train = mst_minimize(&adam, n.loss, variables, 2, n.step);
    EXPECT_OK(mst_graph_check(g));
    return n;
}

static layers build_over_tasks(void) {
    return build("/job:worker/task:0/cpu:1", "/job:worker/task:1/cpu:0", "/job:ps");
}

static void expect_same_variable(mst_session *a, mst_value there, mst_session *b, mst_value here) {
    mst_tensor *got, *wanted;
    EXPECT_OK(mst_session_get_variable(a, there, &got));
    EXPECT_OK(mst_session_get_variable(b, here, &wanted));
    assert_true(engine_same_bits(got, wanted));
    mst_tensor_release(got);
    mst_tensor_release(wanted);
}

static mst_status train(mst_session *session, const layers *n, unsigned seed, double *loss) {
    mst_tensor *x = engine_random(MST_F32, MST_SHAPE(6, 4), -1, 1, seed), *out[2] = {NULL};
    const mst_status status =
        mst_session_run(session, &(mst_feed){.value = n->x, .tensor = x}, 1, (mst_value[]){n->loss, n->train}, 2, out);
    if (!status && loss) *loss = mst_tensor_get(out[0], 0);
    assert_null(out[1]);
    mst_tensor_release(out[0]);
    mst_tensor_release(x);
    return status;
}

static void training_gives_the_bits_of_one_process(void **state) {
    (void)state;
    servers all;
    servers_start(&all);
    layers n = build_over_tasks(), one = build("/cpu:0", "/cpu:0", "/cpu:0");
    for (int target = 0; target < SERVERS; target++) {
        mst_session *remote = servers_session(&all, target, n.graph, NULL), *here = engine_session(one.graph, NULL);
        assert_int_equal(mst_session_num_devices(remote), 2 * SERVERS);
        if (target == 0) EXPECT_OK(mst_session_init_variables(remote));
        for (int i = 0; i < STEPS && target == 0; i++) {
            double got, wanted;
            EXPECT_OK(train(remote, &n, (unsigned)i, &got));
            EXPECT_OK(train(here, &one, (unsigned)i, &wanted));
            assert_true(got == wanted);
        }
        if (target == 0) {
            expect_same_variable(remote, n.first, here, one.first);
            expect_same_variable(remote, n.second, here, one.second);
            expect_same_variable(remote, n.step, here, one.step);
        }
        EXPECT_OK(train(remote, &n, 99, NULL));
        mst_session_destroy(here);
        mst_session_destroy(remote);
    }
    mst_graph_destroy(n.graph);
    mst_graph_destroy(one.graph);
    servers_end(&all);
}

/* ---- in-graph replication ---- */

/* A tower on each device, variables on ONE: gradients are the means of those of the towers. */
static layers build_towers(const char *const tower[2], const char *one) {
    layers n = {.graph = engine_graph()};
    mst_graph *g = n.graph;
    mst_value gradient[2][2], loss[2], mean[2];
    mst_with_device (g, one) {
        n.step = mst_global_step(g);
        n.first = mst_variable(g, "first", mst_random_uniform(g, MST_SHAPE(4, 8), .low = -1, .high = 1));
        n.second = mst_variable(g, "second", mst_random_uniform(g, MST_SHAPE(8, 3), .low = -1, .high = 1));
    }
    n.x = engine_input(g, "x", MST_SHAPE(6, 4));
    const mst_value variables[] = {n.first, n.second};
    for (int t = 0; t < 2; t++) {
        mst_with_device (g, tower[t]) {
            const mst_value rows = mst_slice(n.x, MST_SHAPE(3 * t, 0), MST_SHAPE(3, 4));
            const mst_value y = mst_matmul(mst_tanh(mst_matmul(rows, n.first)), n.second);
            loss[t] = mst_reduce_mean(mst_square(y));
            mst_gradients(loss[t], variables, 2, gradient[t]);
        }
    }
    const mst_optimizer momentum = mst_momentum(.learning_rate = 0.1f);
    mst_with_device (g, one) {
        for (int v = 0; v < 2; v++) mean[v] = mst_scale(mst_add(gradient[0][v], gradient[1][v]), 0.5);
        n.loss = mst_scale(mst_add(loss[0], loss[1]), 0.5);
        n.train = mst_apply_gradients(&momentum, mean, variables, 2, n.step);
    }
    EXPECT_OK(mst_graph_check(g));
    return n;
}

static void towers_on_two_tasks_give_the_bits_of_one_process(void **state) {
    (void)state;
    servers all;
    servers_start(&all);
    layers n = build_towers((const char *const[]){"/job:worker/task:0", "/job:worker/task:1"}, "/job:ps/task:0");
    layers one = build_towers((const char *const[]){"/cpu:0", "/cpu:1"}, "/cpu:0");
    mst_session *remote = servers_session(&all, 0, n.graph, NULL), *here = engine_session(one.graph, "cpu:2/1");
    EXPECT_OK(mst_session_init_variables(remote));
    for (int i = 0; i < STEPS; i++) {
        double got, wanted;
        EXPECT_OK(train(remote, &n, (unsigned)i, &got));
        EXPECT_OK(train(here, &one, (unsigned)i, &wanted));
        assert_true(got == wanted);
    }
    expect_same_variable(remote, n.first, here, one.first);
    expect_same_variable(remote, n.second, here, one.second);
    mst_session_destroy(remote);
    mst_graph_destroy(n.graph);
    engine_end(one.graph, here);
    servers_end(&all);
}

/* ---- variables ---- */

static void clients_share_variables_by_name_and_container(void **state) {
    (void)state;
    enum { CLIENTS = 3 }; /* the last one has its variable in another container */
    static const double twos[] = {2, 2, 2};
    servers all;
    servers_start(&all);
    mst_graph *g[CLIENTS];
    mst_value v[CLIENTS], add[CLIENTS];
    mst_session *session[CLIENTS];
    mst_tensor *value;
    for (int i = 0; i < CLIENTS; i++) {
        g[i] = engine_graph();
        mst_with_device (g[i], "/job:ps") {
            v[i] = mst_variable(g[i], "v", mst_fill(g[i], MST_F32, MST_SHAPE(3), 1),
                                .container = i == CLIENTS - 1 ? "apart" : NULL);
        }
        add[i] = mst_assign_add(v[i], mst_fill(g[i], MST_F32, MST_SHAPE(3), 1));
        session[i] = servers_session(&all, i, g[i], NULL);
    }
    EXPECT_ERROR(mst_session_get_variable(session[1], v[1], &value), MST_NOT_FOUND, "'v' has no value yet");
    EXPECT_OK(mst_session_init_variables(session[0]));
    engine_run(session[0], add[0]);
    for (int i = 0; i < CLIENTS; i++) EXPECT_OK(mst_session_init_variables(session[i])); /* the first two have values */
    EXPECT_OK(mst_session_get_variable(session[1], v[1], &value));
    mst_tensor *wanted = engine_tensor(MST_F32, MST_SHAPE(3), twos);
    assert_true(engine_same_bits(value, wanted));
    mst_tensor_release(value);
    EXPECT_OK(mst_session_set_variable(session[2], v[2], wanted));
    mst_tensor_release(wanted);
    expect_same_variable(session[0], v[0], session[2], v[2]);
    engine_run(session[1], add[1]);
    mst_session_destroy(session[1]); /* values stay */
    engine_run(session[2], add[2]);
    expect_same_variable(session[0], v[0], session[2], v[2]);
    EXPECT_OK(mst_store_get(all.store[2], NULL, "v", &value));
    mst_tensor_release(value);
    EXPECT_OK(mst_store_get(all.store[2], "apart", "v", &value));
    mst_tensor_release(value);
    EXPECT_ERROR(mst_store_get(all.store[0], NULL, "v", &value), MST_NOT_FOUND, "v");
    mst_session_destroy(session[0]);
    mst_session_destroy(session[2]);
    for (int i = 0; i < CLIENTS; i++) mst_graph_destroy(g[i]);
    servers_end(&all);
}

static mst_status fill_strings(void *context, const mst_spec *spec, int64_t first_row, void *dst) {
    (void)first_row;
    memcpy(dst, mst_tensor_data(context), (size_t)spec->shape.dim[0] * sizeof(mst_string));
    return MST_OK;
}

static void strings_go_there_and_back(void **state) {
    (void)state;
    servers all;
    servers_start(&all);
    mst_graph *g = engine_graph();
    mst_tensor *text, *out[2] = {NULL};
    mst_value hello = MST_NONE, x = MST_NONE;
    EXPECT_OK(mst_tensor_create(MST_STRING, MST_SHAPE(2), &text));
    EXPECT_OK(mst_tensor_set_string(text, 0, mst_string_of("Hello, distributed TensorFlow!")));
    EXPECT_OK(mst_tensor_set_string(text, 1, (mst_string){"a\0b", 3}));
    mst_with_device (g, "/job:worker/task:1") hello = mst_identity(mst_constant(g, text));
    mst_with_device (g, "/job:ps") x = mst_identity(mst_placeholder(g, MST_STRING, MST_SHAPE(-1), .name = "x"));
    mst_session *session = servers_session(&all, 0, g, NULL);
    const mst_value fed = {.node = mst_graph_find(g, "x")};
    const mst_feed feeds[] = {
        {.value = fed, .tensor = text},
        {.value = fed, .fill = fill_strings, .context = text, .spec = {.dtype = MST_STRING, .shape = MST_SHAPE(2)}}};
    for (int i = 0; i < 2; i++) {
        EXPECT_OK(mst_session_run(session, &feeds[i], 1, (mst_value[]){hello, x}, 2, out));
        assert_true(engine_same_bits(out[0], text));
        assert_true(engine_same_bits(out[1], text));
    }
    mst_tensor_release(out[0]);
    mst_tensor_release(out[1]);
    mst_tensor_release(text);
    mst_session_destroy(session);
    mst_graph_destroy(g);
    servers_end(&all);
}

/* ---- graphs that grow, and what a session says of itself ---- */

static void grown_graph_keeps_its_variables(void **state) {
    (void)state;
    servers all;
    servers_start(&all);
    mst_graph *g = engine_graph();
    mst_value v = MST_NONE, later = MST_NONE;
    mst_with_device (g, "/job:worker/task:1") v = mst_variable(g, "v", mst_random_uniform(g, MST_SHAPE(3)));
    mst_session *session = servers_session(&all, 0, g, NULL);
    EXPECT_OK(mst_session_init_variables(session));
    mst_with_device (g, "/job:ps") later = mst_reduce_sum(mst_sub(v, v));
    assert_true(engine_number(session, later) == 0);
    assert_int_equal(mst_session_num_plans(session), 3); /* where the variable lies, its first value, the sum */
    mst_session_destroy(session);
    mst_graph_destroy(g);
    servers_end(&all);
}

static void placement_is_told(void **state) {
    (void)state;
    servers all;
    servers_start(&all);
    mst_graph *g = engine_graph();
    char *text = NULL;
    size_t size = 0;
    FILE *log = open_memstream(&text, &size);
    mst_value here, there = MST_NONE;
    here = mst_identity(mst_fill(g, MST_F32, MST_SHAPE(2), 1));
    mst_with_device (g, "/job:ps/cpu:1") there = mst_tanh(engine_input(g, "x", MST_SHAPE(2)));
    mst_session *session = servers_session(&all, 1, g, &(mst_session_options){.placement_log = log});
    assert_string_equal(mst_session_device(session, 0), engine_here("/job:worker/replica:0/task:1/device:CPU:0"));
    mst_tensor *x = engine_random(MST_F32, MST_SHAPE(2), 0, 1, 1);
    const mst_feed feed = {.value = (mst_value){.node = mst_graph_find(g, "x")}, .tensor = x};
    mst_tensor *out[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) EXPECT_OK(mst_session_run(session, &feed, 1, (mst_value[]){here, there}, 2, out));
    for (int i = 0; i < 2; i++) mst_tensor_release(out[i]);
    fclose(log);
    const char *line = strstr(text, engine_here("/job:ps/replica:0/task:0/device:CPU:1"));
    assert_non_null(line);
    assert_non_null(strstr(text, engine_here("/job:worker/replica:0/task:1/device:CPU:0")));
    free(text);
    mst_tensor_release(x);
    mst_session_destroy(session);
    mst_graph_destroy(g);
    servers_end(&all);
}

static void cpus_beside_devices_that_compile_have_names_and_are_not_counted(void **state) {
    (void)state;
    if (strcmp(engine_here("cpu"), "cpu") != 0) skip(); /* it names CPUs */
    servers all;
    servers_make(&all);
    all.devices = "accel:2/1";
    for (int i = 0; i < SERVERS; i++) server_start(&all, i);
    mst_graph *g = engine_graph();
    mst_value x = mst_scalar(g, MST_F32, 2);
    mst_with_device (g, "/job:ps/cpu:0") x = mst_exp(x);
    mst_with_device (g, "/job:worker/task:1/cpu:0") x = mst_tanh(x);
    mst_session *session = servers_session(&all, 0, g, NULL);
    assert_int_equal(mst_session_num_devices(session), 2 * SERVERS);
    assert_string_equal(mst_session_device(session, 2), "/job:worker/replica:0/task:1/device:ACCEL:0");
    assert_string_equal(mst_session_device(session, 5), "/job:ps/replica:0/task:0/device:ACCEL:1");
    assert_true(fabs(engine_number(session, x) - tanh(exp(2))) < 1e-6);
    mst_session_destroy(session);
    mst_graph_destroy(g);
    servers_end(&all);
}

/* The lines of LOG from the head of task NAME to that of the next one. */
static char *of_task(const char *log, const char *name) {
    char head[64];
    snprintf(head, sizeof head, "on %s at ", name);
    const char *begin = strstr(log, head);
    assert_non_null(begin);
    const char *end = strstr(begin + 1, "\non ");
    return strndup(begin, end ? (size_t)(end - begin) : strlen(begin));
}

static char *plan_of(mst_graph *g, mst_value fetch, const servers *all, const char *pass) {
    char *text = NULL;
    size_t size;
    mst_tensor *out = NULL, *x = engine_random(MST_F32, MST_SHAPE(2), 0, 1, 1);
    FILE *log = open_memstream(&text, &size);
    mst_session *session = servers_session(all, 1, g, &(mst_session_options){.plan_log = log, .plan_pass = pass});
    const mst_feed feed = {.value = (mst_value){.node = mst_graph_find(g, "x")}, .tensor = x};
    for (int i = 0; i < 2; i++) EXPECT_OK(mst_session_run(session, &feed, 1, &fetch, 1, &out)); /* one plan */
    mst_session_destroy(session);
    mst_tensor_release(out);
    mst_tensor_release(x);
    fclose(log);
    return text;
}

static void plan_of_each_task_is_told(void **state) {
    (void)state;
    servers all;
    servers_start(&all);
    mst_graph *g = engine_graph();
    mst_value there = MST_NONE, y;
    mst_with_device (g, "/job:ps/cpu:1") there = mst_rename(mst_tanh(engine_input(g, "x", MST_SHAPE(2))), "there");
    y = mst_rename(mst_square(there), "y");
    char *log = plan_of(g, y, &all, NULL);
    char *target = of_task(log, "worker:1"), *ps = of_task(log, "ps:0"), *none = of_task(log, "worker:0");
    assert_ptr_equal(strstr(log, "on worker:1 at "), log);
    assert_non_null(strstr(target, "\nafter prune: "));
    assert_null(strstr(strstr(target, "after prune: ") + 1, "after prune: "));
    const char *mine = strstr(target, "after memory: "), *other = strstr(ps, "after memory: ");
    assert_non_null(mine);
    assert_non_null(strstr(mine, " y = "));
    assert_null(strstr(mine, " there = "));
    assert_non_null(strstr(other, engine_compiles() ? " program_0 = " : " there = "));
    assert_null(strstr(other, " y = "));
    assert_null(strstr(ps, "after prune: "));
    assert_null(strstr(none, " y = "));
    free(target);
    free(ps);
    free(none);
    free(log);
    log = plan_of(g, y, &all, "place"); /* alike on all */
    assert_non_null(strstr(log, "on worker:1 at "));
    assert_null(strstr(log, "\non "));
    assert_null(strstr(strstr(log, "after place: ") + 1, "after "));
    free(log);
    mst_session *session;
    EXPECT_ERROR(
        mst_session_create(g, &(mst_session_options){.target = "tcp://localhost:1", .plan_pass = "memmory"}, &session),
        MST_INVALID, "did you mean 'memory'");
    mst_graph_destroy(g);
    servers_end(&all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_gives_the_bits_of_one_process),
        cmocka_unit_test(towers_on_two_tasks_give_the_bits_of_one_process),
        cmocka_unit_test(clients_share_variables_by_name_and_container),
        cmocka_unit_test(strings_go_there_and_back),
        cmocka_unit_test(grown_graph_keeps_its_variables),
        cmocka_unit_test(placement_is_told),
        cmocka_unit_test(cpus_beside_devices_that_compile_have_names_and_are_not_counted),
        cmocka_unit_test(plan_of_each_task_is_told),
    };
    return cmocka_run_group_tests(tests, compiling_register, NULL);
}
