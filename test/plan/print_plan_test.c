/* Plans as text. */
#include "support/test.h"

static void plan_is_printed_after_each_pass(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(-1, 3)), y = MST_NONE;
    mst_value w = mst_variable(g, "w", mst_fill(g, MST_F32, MST_SHAPE(3, 4), 1));
    mst_value b = mst_rename(mst_add(mst_scalar(g, MST_F32, 1), mst_fill(g, MST_F32, MST_SHAPE(4), 2)), "b");
    mst_value h = mst_rename(mst_relu(mst_add(mst_matmul(x, w), b)), "h");
    mst_with_device (g, "/cpu:1") y = mst_rename(mst_square(h), "y");
    char *log = NULL;
    size_t size;
    FILE *file = open_memstream(&log, &size);
    mst_session *session;
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "cpu:2/1", .plan_log = file}, &session));
    EXPECT_OK(mst_session_init_variables(session));
    fflush(file);
    size_t initial = size;
    mst_feed feed = {.value = x, .tensor = engine_tensor(MST_F32, MST_SHAPE(5, 3), NULL)};
    mst_tensor_release(engine_fetch(session, &feed, 1, y));
    fflush(file);
    const char *at = log + initial;
    static const char *const passes[] = {"prune",    "infer",     "place",      "simplify", "distribute", "commit",
                                         "fuse",     "norms",     "norm_grads", "select",   "layout",     "cross",
                                         "schedule", "partition", "memory",     "compile"};
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++) {
        char title[64];
        snprintf(title, sizeof title, "after %s: ", passes[i]);
        const char *found = strstr(at, title);
        if (!found) fail_msg("no '%s' in its place", title);
        if (found) at = found;
    }
    assert_non_null(strstr(log + initial, "h = relu(add) : f32[5, 4]"));
    assert_non_null(strstr(log + initial, "h = fused_matmul(x, w, b)"));
    assert_null(strstr(log + initial, "send(")); /* both devices see the same memory */
    assert_non_null(strstr(at, "/job:localhost/replica:0/task:0/device:CPU:1: "));
    mst_tensor_release(feed.tensor);
    engine_end(g, session);
    fclose(file);
    free(log);
}

static void plan_is_printed_after_the_pass_that_is_asked_for(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value y = mst_rename(mst_neg(mst_scalar(g, MST_F32, 1)), "y");
    char *log = NULL, pass[] = "memory";
    size_t size;
    FILE *file = open_memstream(&log, &size);
    mst_session *session;
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.plan_log = file, .plan_pass = pass}, &session));
    memset(pass, 'x', strlen(pass));
    assert_true(engine_number(session, y) == -1);
    fflush(file);
    assert_int_equal(strncmp(log, "after memory: 2 nodes for y\n", 28), 0);
    assert_null(strstr(log + 1, "after "));
    mst_session_destroy(session);
    EXPECT_ERROR(mst_session_create(g, &(mst_session_options){.plan_log = file, .plan_pass = "memmory"}, &session),
                 MST_INVALID, "did you mean 'memory'");
    mst_graph_destroy(g);
    fclose(file);
    free(log);
}

static void negate(mst_loop_step *s) {
    s->next[0] = mst_neg(s->carry[0]);
}

/* A body of a kernel is a plan too, but never a program. */
static void texts_are_of_devices_that_compile(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    const mst_value one = mst_scalar(g, MST_F32, 1), last = mst_scan(negate, .carry = {one}, .num_steps = 2);
    const mst_value y = mst_rename(mst_neg(last), "y");
    char *log = NULL;
    size_t size;
    FILE *file = open_memstream(&log, &size);
    mst_session *session;
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.plan_log = file, .plan_pass = "stablehlo"}, &session));
    assert_true(engine_number(session, y) == -1);
    fflush(file);
    assert_string_equal(log, "// plan for y: no programs, as no device compiles\n");
    mst_session_destroy(session);
    EXPECT_ERROR(mst_session_create(g, &(mst_session_options){.plan_log = file, .plan_pass = "stablhlo"}, &session),
                 MST_INVALID, "did you mean 'stablehlo'");
    mst_graph_destroy(g);
    fclose(file);
    free(log);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(plan_is_printed_after_each_pass),
                                       cmocka_unit_test(plan_is_printed_after_the_pass_that_is_asked_for),
                                       cmocka_unit_test(texts_are_of_devices_that_compile)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
