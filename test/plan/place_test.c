/* Where nodes are placed: by their scopes, their variables, and what a device can do, which a device type FAKE
 * without some kernels shows; and the log and the errors of it. */
#include "support/test.h"

#include "device/device.h"
#include "run/backend.h"

/* A device that has kernels for everything but matmul and negation. */
static bool fake_supports(const mst_op *op, int num_src, const mst_spec *src) {
    (void)num_src, (void)src;
    return strcmp(op->name, "matmul") != 0 && strcmp(op->name, "neg") != 0;
}
static mst_status fake_domain(int index, mst_domain **out) {
    (void)index;
    *out = &mst_domain_host;
    return MST_OK;
}
static const char *const fake_engines[] = {"reference", NULL};
static const mst_device_type fake = {.size = sizeof(mst_device_type),
                                     .name = "FAKE",
                                     .engines = fake_engines,
                                     .supports = fake_supports,
                                     .domain = fake_domain,
                                     .backend = &mst_backend_cpu};

static int register_fake(void **state) {
    (void)state;
    return mst_device_type_register(&fake) ? -1 : 0;
}

static mst_session *session_of(mst_graph *g, const char *devices, bool soft, FILE *log) {
    mst_session *session;
    EXPECT_OK(mst_session_create(
        g, &(mst_session_options){.devices = devices, .allow_soft_placement = soft, .placement_log = log}, &session));
    return session;
}

/* The placement log of one run of FETCH. */
static char *logged(mst_graph *g, const char *devices, bool soft, mst_value fetch) {
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    mst_session *session = session_of(g, devices, soft, file);
    engine_run(session, fetch);
    mst_session_destroy(session);
    fclose(file);
    return text;
}

#define CPU0 "/job:localhost/replica:0/task:0/device:CPU:0"

static void placement_is_logged_one_line_a_node(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value a = mst_rename(mst_values(g, MST_F32, MST_SHAPE(2), (double[]){1, 2}), "a");
    mst_value b = mst_rename(mst_values(g, MST_F32, MST_SHAPE(2), (double[]){3, 4}), "b");
    mst_value c = mst_rename(mst_add(a, b), "c");
    char *text = logged(g, "cpu:1/1", false, c);
    assert_string_equal(text, engine_here("a: (Const): " CPU0 "\nb: (Const): " CPU0 "\nc: (Add): " CPU0 "\n"));
    free(text);
    mst_graph_destroy(g);
}

static void placement_is_logged_when_the_plan_is_made_only(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value c = mst_rename(mst_scalar(g, MST_F32, 1), "c");
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    mst_session *session = session_of(g, "cpu:1/1", false, file);
    for (int i = 0; i < 3; i++) engine_run(session, c);
    engine_end(g, session);
    fclose(file);
    assert_string_equal(text, engine_here("c: (Const): " CPU0 "\n"));
    free(text);
}

static void nodes_go_where_their_scope_says_and_to_device_0_without(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = mst_rename(mst_random_uniform(g, MST_SHAPE(2)), "x"), y = MST_NONE;
    mst_with_device (g, "/CPU:1") y = mst_rename(mst_neg(x), "y");
    mst_with_device (g, "/job:localhost/task:0") y = mst_rename(mst_neg(y), "z");
    char *text = logged(g, "cpu:2/1", false, y);
    assert_non_null(strstr(text, engine_here("x: (RandomUniform): " CPU0 "\n")));
    assert_non_null(strstr(text, engine_here("y: (Neg): /job:localhost/replica:0/task:0/device:CPU:1\n")));
    assert_non_null(strstr(text, engine_here("z: (Neg): " CPU0 "\n")));
    free(text);
    mst_graph_destroy(g);
}

static void writers_without_a_device_go_to_their_variable(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v = MST_NONE;
    mst_with_device (g, "/cpu:1") v = mst_variable(g, "v", mst_scalar(g, MST_F32, 1));
    mst_value write = mst_rename(mst_assign(v, mst_scalar(g, MST_F32, 2)), "write");
    char *text = logged(g, "cpu:2/1", false, write);
    assert_non_null(strstr(text, engine_here("write: (Assign): /job:localhost/replica:0/task:0/device:CPU:1\n")));
    free(text);
    mst_graph_destroy(g);
}

static void device_that_is_not_there_is_an_error_that_names_those_that_could(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value y = MST_NONE;
    mst_with_device (g, "/gpu:1") y = mst_rename(mst_neg(mst_scalar(g, MST_F32, 1)), "c");
    mst_session *session = session_of(g, "cpu:2/1", false, NULL);
    EXPECT_ERROR(mst_session_run(session, NULL, 0, &y, 1, NULL), MST_INVALID,
                 "was put on /job:localhost/replica:0/task:0/device:GPU:1, which is not there");
    EXPECT_ERROR(mst_session_run(session, NULL, 0, &y, 1, NULL), MST_INVALID,
                 engine_here("could run on " CPU0 ", /job:localhost/replica:0/task:0/device:CPU:1"));
    assert_string_equal(mst_error()->device, "/job:localhost/replica:0/task:0/device:GPU:1");
    mst_session_destroy(session);
    mst_session *beyond = session_of(g, "cpu:1/1", true, NULL);
    assert_true(engine_number(beyond, y) == -1);
    engine_end(g, beyond);
}

/* The session of worker 1. */
static mst_session *session_of_worker(mst_graph *g, bool soft) {
    mst_session *session;
    EXPECT_OK(mst_session_create(
        g,
        &(mst_session_options){
            .devices = "cpu:2/1", .job_name = "worker", .task_index = 1, .allow_soft_placement = soft},
        &session));
    return session;
}

static void devices_have_the_job_and_task_of_the_session(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value y = mst_scalar(g, MST_F32, 1);
    mst_with_device (g, "/cpu:1") y = mst_neg(y);
    mst_with_device (g, "/task:1") y = mst_neg(y);
    mst_with_device (g, "/job:worker/task:1/cpu:1") y = mst_neg(y);
    mst_session *session = session_of_worker(g, false);
    assert_string_equal(mst_session_device(session, 1), engine_here("/job:worker/replica:0/task:1/device:CPU:1"));
    assert_true(engine_number(session, y) == -1);
    engine_end(g, session);
}

static void device_of_another_task_is_an_error_also_with_soft_placement(void **state) {
    (void)state;
    static const char *const scopes[][2] = {
        {"/job:ps/task:0",
         "was put on /job:ps/replica:0/task:0/device:CPU:0, which belongs to a task that this session "
         "does not run on; it could run on /job:worker/replica:0/task:1/device:CPU:0, "},
        {"/job:worker", "was put on /job:worker/replica:0/task:0/device:CPU:0, which belongs to a task"},
        {"/task:0/cpu:1", "was put on /job:worker/replica:0/task:0/device:CPU:1, which belongs to a task"},
    };
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++) {
        mst_graph *g = engine_graph();
        mst_value y = MST_NONE;
        mst_with_device (g, scopes[i][0]) y = mst_neg(mst_scalar(g, MST_F32, 1));
        for (int soft = 0; soft < 2; soft++) {
            mst_session *session = session_of_worker(g, soft);
            EXPECT_ERROR(mst_session_run(session, NULL, 0, &y, 1, NULL), MST_INVALID, engine_here(scopes[i][1]));
            mst_session_destroy(session);
        }
        mst_graph_destroy(g);
    }
}

static void task_of_a_session_must_have_a_name(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_session *session;
    EXPECT_ERROR(mst_session_create(g, &(mst_session_options){.job_name = "a/b"}, &session), MST_INVALID,
                 "session: job 'a/b': a name has");
    EXPECT_ERROR(mst_session_create(g, &(mst_session_options){.job_name = "ps", .task_index = -1}, &session),
                 MST_INVALID, "session: task -1 of job 'ps'");
    mst_graph_destroy(g);
}

static void device_without_the_kernel_is_an_error_that_names_node_and_device(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = mst_random_uniform(g, MST_SHAPE(2, 2)), y = MST_NONE;
    mst_with_device (g, "/fake:0") y = mst_rename(mst_matmul(x, x), "product");
    mst_session *session = session_of(g, "cpu/1,fake", false, NULL);
    EXPECT_ERROR(
        mst_session_run(session, NULL, 0, &y, 1, NULL), MST_INVALID,
        "node 'product' (matmul) was put on /job:localhost/replica:0/task:0/device:FAKE:0, which has no kernel "
        "for it; it could run on ");
    char could[256]; /* beside a device that compiles there is a CPU */
    snprintf(could, sizeof could, "run on %s%s: ", engine_here(CPU0), engine_compiles() ? ", " CPU0 : "");
    assert_non_null(strstr(mst_error()->message, could));
    assert_string_equal(mst_error()->node, "product");
    engine_end(g, session);
}

static void soft_placement_runs_on_the_cpu_what_the_device_cannot(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = MST_NONE, y = MST_NONE;
    mst_with_device (g, "/fake:0") {
        x = mst_rename(mst_square(mst_random_uniform(g, MST_SHAPE(3), .low = 2, .high = 3)), "x");
        y = mst_rename(mst_neg(x), "y");
    }
    char *text = logged(g, "cpu/1,fake", true, y);
    assert_non_null(strstr(text, engine_here("x: (Square): /job:localhost/replica:0/task:0/device:FAKE:0\n")));
    const char *moved = "y: (Neg): " CPU0 ", moved from /device:FAKE:0\n";
    assert_non_null(strstr(text, engine_compiles() ? moved : engine_here(moved))); /* to one with the host's memory */
    free(text);
    mst_session *session = session_of(g, "cpu/1,fake", true, NULL);
    mst_tensor *got = engine_fetch(session, NULL, 0, y);
    for (int i = 0; i < 3; i++) assert_true(mst_tensor_get(got, i) <= -4 && mst_tensor_get(got, i) >= -9);
    mst_tensor_release(got);
    engine_end(g, session);
}

static void device_type_is_registered_once(void **state) {
    (void)state;
    EXPECT_ERROR(mst_device_type_register(&fake), MST_EXISTS, "FAKE");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(placement_is_logged_one_line_a_node),
        cmocka_unit_test(placement_is_logged_when_the_plan_is_made_only),
        cmocka_unit_test(nodes_go_where_their_scope_says_and_to_device_0_without),
        cmocka_unit_test(writers_without_a_device_go_to_their_variable),
        cmocka_unit_test(device_that_is_not_there_is_an_error_that_names_those_that_could),
        cmocka_unit_test(devices_have_the_job_and_task_of_the_session),
        cmocka_unit_test(device_of_another_task_is_an_error_also_with_soft_placement),
        cmocka_unit_test(task_of_a_session_must_have_a_name),
        cmocka_unit_test(device_without_the_kernel_is_an_error_that_names_node_and_device),
        cmocka_unit_test(soft_placement_runs_on_the_cpu_what_the_device_cannot),
        cmocka_unit_test(device_type_is_registered_once),
    };
    return cmocka_run_group_tests(tests, register_fake, NULL);
}
