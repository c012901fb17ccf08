/* A step that needs more than the memory of the machine, or of its container, is refused when its plan is made, with
 * the largest values: the system would end the process without a word. The test says how much memory there is. */
#include "device/device.h"
#include "support/test.h"

static int64_t memory, others; /* that there is, and that the process has without the session's */

int64_t __wrap_mst_host_memory(void);
int64_t __wrap_mst_host_memory(void) {
    return memory;
}

int64_t __wrap_mst_process_memory(void);
int64_t __wrap_mst_process_memory(void) {
    return others;
}

enum { MANY = 1 << 20 };

/* A step that needs 8 MB on each device, and some for what libraries take in a first run. */
static void run_with(int64_t bytes, const char *devices, int64_t device_limit, mst_status wanted, const char *words) {
    mst_graph *g = engine_graph();
    mst_session *session;
    mst_value sum = mst_scalar(g, MST_F32, 0);
    const char *const names[] = {"/cpu:0", "/cpu:1"};
    for (int d = 0; d < (strcmp(devices, "cpu:2/1") == 0 ? 2 : 1); d++)
        mst_with_device (g, names[d]) {
            mst_value large = mst_random_uniform(g, MST_SHAPE(2 * MANY));
            sum = mst_add(sum, mst_reduce_sum(mst_exp(large)));
        }
    memory = bytes;
    const mst_session_options options = {.devices = devices, .memory_limit = device_limit};
    EXPECT_OK(mst_session_create(g, &options, &session));
    const mst_status status = mst_session_run(session, NULL, 0, &sum, 1, NULL);
    assert_int_equal(status, wanted);
    if (status && !strstr(mst_error()->message, words)) fail_msg("not '%s': %s", words, mst_error()->message);
    engine_end(g, session);
}

static void step_that_does_not_fit_into_memory_is_refused(void **state) {
    (void)state;
    const char *words = "largest: 'random_uniform' 8.0 MB";
    run_with(0, "cpu:1/1", 0, MST_OK, ""); /* not known */
    run_with(INT64_C(1) << 40, "cpu:1/1", 0, MST_OK, "");
    run_with(MANY, "cpu:1/1", 0, MST_OUT_OF_MEMORY, words);
    run_with(MANY, "cpu:1/1", INT64_C(1) << 40, MST_OUT_OF_MEMORY,
             "this machine, or its container (cgroup), has 1.0 MB");
}

static void what_the_process_has_besides_counts(void **state) {
    (void)state;
    others = 11 * MANY;
    run_with(30 * MANY, "cpu:1/1", 0, MST_OK, "");
    run_with(12 * MANY, "cpu:1/1", 0, MST_OUT_OF_MEMORY, "with the step this process needs 19.0 MB");
    others = 0;
}

/* There is room for the values, and none for what a first run takes beside them. */
static void a_step_that_was_refused_is_refused_again_and_keeps_no_memory(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_session *session;
    const mst_value large = mst_reduce_sum(mst_random_uniform(g, MST_SHAPE(2 * MANY)));
    const mst_value small = mst_reduce_sum(mst_random_uniform(g, MST_SHAPE(MANY / 2)));
    memory = 12 * MANY;
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "cpu:1/1"}, &session));
    for (int i = 0; i < 2; i++)
        EXPECT_ERROR(mst_session_run(session, NULL, 0, &large, 1, NULL), MST_OUT_OF_MEMORY, "needs 16.0 MB");
    EXPECT_OK(mst_session_run(session, NULL, 0, &small, 1, NULL));
    EXPECT_ERROR(mst_session_run(session, NULL, 0, &large, 1, NULL), MST_OUT_OF_MEMORY, "MB");
    memory = 40 * MANY;
    EXPECT_OK(mst_session_run(session, NULL, 0, &large, 1, NULL));
    engine_end(g, session);
}

/* Each alone would fit. */
static void devices_share_the_memory(void **state) {
    (void)state;
    run_with(20 * MANY, "cpu:1/1", 0, MST_OK, "");
    run_with(20 * MANY, "cpu:2/1", 0, MST_OUT_OF_MEMORY, "with the step this process needs ");
    run_with(40 * MANY, "cpu:2/1", 0, MST_OK, "");
}

static void variables_that_do_not_fit_are_refused(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_session *session;
    mst_variable(g, "v", mst_fill(g, MST_F32, MST_SHAPE(4 * MANY), 1));
    memory = MANY;
    const mst_session_options options = {.devices = "cpu:1/1"};
    EXPECT_OK(mst_session_create(g, &options, &session));
    EXPECT_ERROR(mst_session_init_variables(session), MST_OUT_OF_MEMORY, "has 1.0 MB");
    engine_end(g, session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(step_that_does_not_fit_into_memory_is_refused),
        cmocka_unit_test(what_the_process_has_besides_counts),
        cmocka_unit_test(a_step_that_was_refused_is_refused_again_and_keeps_no_memory),
        cmocka_unit_test(devices_share_the_memory),
        cmocka_unit_test(variables_that_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
