/* A session that is destroyed while other threads use it. */
#include <pthread.h>

#include "base/clock.h"
#include "base/timeline.h"
#include "support/test.h"

static mst_timeline inside, let_go;
static mst_session *session;
static mst_value x, y;

static mst_status fill_slowly(void *context, const mst_spec *spec, int64_t first_row, void *dst) {
    (void)context, (void)spec, (void)first_row;
    *(float *)dst = 3;
    mst_timeline_advance(&inside, 1);
    mst_timeline_wait(&let_go, 1, mst_clock_after(60), false);
    return MST_OK;
}

static mst_status ran;
static double result;

static void *run(void *context) {
    (void)context;
    const mst_feed feed = {.value = x, .fill = fill_slowly, .spec = {.dtype = MST_F32}};
    mst_tensor *out = NULL;
    ran = mst_session_run(session, &feed, 1, &y, 1, &out);
    if (!ran) result = mst_tensor_get(out, 0);
    mst_tensor_release(out);
    return NULL;
}

static mst_timeline destroyed;

static void *destroy(void *context) {
    (void)context;
    mst_session_destroy(session);
    mst_timeline_advance(&destroyed, 1);
    return NULL;
}

static void destroying_waits_for_a_running_call_and_refuses_new_ones(void **state) {
    (void)state;
    static const char *const devices[] = {"cpu:1/1", "cpu:2/1"};
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
        mst_graph *g = engine_graph();
        pthread_t runner, destroyer;
        x = engine_input(g, "x", MST_SCALAR);
        y = mst_neg(x);
        session = engine_session(g, devices[i]);
        inside = let_go = destroyed = (mst_timeline){0};
        ran = MST_INTERNAL;
        assert_int_equal(pthread_create(&runner, NULL, run, NULL), 0);
        assert_true(mst_timeline_wait(&inside, 1, mst_clock_after(60), false));
        assert_int_equal(pthread_create(&destroyer, NULL, destroy, NULL), 0);
        /* the run is under way, so the session is there until it is let go */
        mst_status status;
        do status = mst_session_init_variables(session);
        while (status == MST_OK);
        assert_int_equal(status, MST_CANCELLED);
        assert_non_null(strstr(mst_error()->message, "session: another thread is destroying it"));
        assert_int_equal(mst_timeline_value(&destroyed), 0);
        mst_timeline_advance(&let_go, 1);
        pthread_join(runner, NULL);
        pthread_join(destroyer, NULL);
        assert_int_equal(ran, MST_OK);
        assert_true(result == -3);
        mst_graph_destroy(g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(destroying_waits_for_a_running_call_and_refuses_new_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
