/* A graph is built by one thread at a time: the calls of another thread are refused, and the error stays on the
 * graph. */
#include <pthread.h>

#include "base/clock.h"
#include "base/timeline.h"
#include "support/test.h"

static mst_timeline inside, let_go;

static bool waits = true;

static mst_status infer_waits(mst_infer *c) {
    c->dst[0] = c->src[0];
    if (!waits) return MST_OK;
    mst_timeline_advance(&inside, 1);
    mst_timeline_wait(&let_go, 1, mst_clock_after(60), false);
    return MST_OK;
}

static mst_status kernel(const mst_kernel_args *a) {
    memcpy(a->dst[0].data, a->src[0].data, (size_t)a->dst[0].count * sizeof(float));
    return MST_OK;
}

static const mst_op slow = {.name = "slow", .num_src = 1, .num_dst = 1, .infer = infer_waits, .reference = kernel};

static mst_value x;

static void *build(void *context) {
    (void)context;
    mst_call(NULL, &slow, 1, &x, NULL);
    return NULL;
}

/* What the calling thread does while another is in the middle of adding a node. */
static void meanwhile(void (*act)(mst_graph *g)) {
    mst_graph *g = engine_graph();
    pthread_t thread;
    x = engine_input(g, "x", MST_SHAPE(2));
    inside = let_go = (mst_timeline){0};
    const int64_t nodes = mst_graph_num_nodes(g);
    assert_int_equal(pthread_create(&thread, NULL, build, NULL), 0);
    assert_true(mst_timeline_wait(&inside, 1, mst_clock_after(60), false));
    mst_error_set(MST_OK, "", 0, "none");
    act(g);
    assert_int_equal(mst_error()->code, MST_INVALID);
    assert_non_null(strstr(mst_error()->message, "two threads have built it at once"));
    mst_timeline_advance(&let_go, 1);
    pthread_join(thread, NULL);
    assert_int_equal(mst_graph_num_nodes(g), nodes + 1); /* only that of the first */
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "two threads have built it at once");
    mst_session *s;
    EXPECT_OK(mst_session_create(g, NULL, &s));
    EXPECT_ERROR(mst_session_run(s, NULL, 0, &x, 1, NULL), MST_INVALID, "two threads have built it at once");
    mst_session_destroy(s);
    mst_graph_destroy(g);
}

static void add_node(mst_graph *g) {
    (void)g;
    assert_true(mst_value_is_none(mst_neg(x)));
}

static void rename_node(mst_graph *g) {
    (void)g;
    assert_true(mst_value_is_none(mst_rename(x, "y")));
}

static void open_scopes(mst_graph *g) {
    assert_int_equal(mst_name_scope_push(g, "a"), 0);
    assert_int_equal(mst_device_push(g, "/cpu:0"), 0);
    assert_int_equal(mst_control_push(g, x), 0);
    assert_int_equal(mst_variable_scope_push(g, "a", MST_REUSE_AUTO), 0);
}

static void add_to_collection(mst_graph *g) {
    mst_collect(g, "some", x);
}

static void differentiate(mst_graph *g) {
    (void)g;
    mst_value gradient = x;
    mst_gradients_from(x, x, &x, 1, &gradient);
    assert_true(mst_value_is_none(gradient));
}

static void keep_an_error(mst_graph *g) {
    mst_value_fail(g, MST_INVALID, "wrong");
}

static void second_thread_is_refused(void **state) {
    (void)state;
    meanwhile(add_node);
    meanwhile(rename_node);
    meanwhile(open_scopes);
    meanwhile(add_to_collection);
    meanwhile(differentiate);
    meanwhile(keep_an_error);
}

/* ---- a session beside a builder ---- */

static void a_run_beside_a_builder_is_refused_and_works_after_it(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    pthread_t thread;
    mst_session *s;
    mst_tensor *out = NULL;
    x = mst_scalar(g, MST_F32, 3);
    EXPECT_OK(mst_session_create(g, NULL, &s));
    EXPECT_OK(mst_session_run(s, NULL, 0, &x, 1, &out)); /* so that one of these runs has its plan already */
    inside = let_go = (mst_timeline){0};
    assert_int_equal(pthread_create(&thread, NULL, build, NULL), 0);
    assert_true(mst_timeline_wait(&inside, 1, mst_clock_after(60), false));
    EXPECT_ERROR(mst_session_run(s, NULL, 0, &x, 1, &out), MST_INVALID, "another thread is building it");
    EXPECT_ERROR(mst_session_init_variables(s), MST_INVALID, "another thread is building it");
    mst_timeline_advance(&let_go, 1);
    pthread_join(thread, NULL);
    EXPECT_OK(mst_graph_check(g));
    EXPECT_OK(mst_session_run(s, NULL, 0, &x, 1, &out));
    mst_tensor_release(out);
    mst_session_destroy(s);
    mst_graph_destroy(g);
}

static mst_session *session;
static mst_value y;
static mst_status ran;

static void *run(void *context) {
    (void)context;
    mst_tensor *out = NULL;
    ran = mst_session_run(session, NULL, 0, &y, 1, &out);
    mst_tensor_release(out);
    return NULL;
}

static void building_beside_a_plan_is_refused(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    pthread_t thread;
    const mst_value src = mst_scalar(g, MST_F32, 3);
    waits = false;
    y = mst_call(NULL, &slow, 1, &src, NULL);
    waits = true;
    EXPECT_OK(mst_session_create(g, NULL, &session));
    const int64_t nodes = mst_graph_num_nodes(g);
    inside = let_go = (mst_timeline){0};
    assert_int_equal(pthread_create(&thread, NULL, run, NULL), 0);
    assert_true(mst_timeline_wait(&inside, 1, mst_clock_after(60), false)); /* the plan infers the shapes anew */
    assert_true(mst_value_is_none(mst_neg(src)));
    assert_non_null(strstr(mst_error()->message, "a thread has built it while another began a run of it"));
    mst_timeline_advance(&let_go, 1);
    pthread_join(thread, NULL);
    assert_int_equal(ran, MST_OK);
    assert_int_equal(mst_graph_num_nodes(g), nodes);
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "a thread has built it while another began a run of it");
    mst_session_destroy(session);
    mst_graph_destroy(g);
}

static void threads_may_build_one_after_the_other(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    pthread_t thread;
    x = engine_input(g, "x", MST_SHAPE(2));
    inside = let_go = (mst_timeline){0};
    mst_timeline_advance(&let_go, 1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&thread, NULL, build, NULL), 0);
        pthread_join(thread, NULL);
        mst_neg(x);
    }
    EXPECT_OK(mst_graph_check(g));
    mst_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(second_thread_is_refused),
        cmocka_unit_test(a_run_beside_a_builder_is_refused_and_works_after_it),
        cmocka_unit_test(building_beside_a_plan_is_refused),
        cmocka_unit_test(threads_may_build_one_after_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
