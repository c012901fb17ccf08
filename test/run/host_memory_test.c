/* A step that needs more memory than the machine or its container has is refused when its plan is made, with an
 * error that lists the largest values. Otherwise the system would kill the process without an error. The test sets
 * how much memory there is. */
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

/* There is room for the 8 MB of the step, and none for as many that the caller gets. */
static void outputs_that_do_not_fit_are_refused_before_they_are_made(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_session *session;
    mst_tensor *out = NULL;
    const mst_value large = mst_random_uniform(g, MST_SHAPE(2 * MANY));
    memory = 15 * MANY;
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "cpu:1/1"}, &session));
    EXPECT_ERROR(mst_session_run(session, NULL, 0, &large, 1, &out), MST_OUT_OF_MEMORY,
                 "with the step this process needs 16.0 MB");
    assert_null(out);
    memory = 40 * MANY;
    EXPECT_OK(mst_session_run(session, NULL, 0, &large, 1, &out));
    others = 35 * MANY; /* the caller's own tensor takes no more */
    EXPECT_OK(mst_session_run(session, NULL, 0, &large, 1, &out));
    others = 0;
    mst_tensor_release(out);
    engine_end(g, session);
}

static mst_value repeat(void *context, mst_value x, bool training) {
    (void)context, (void)training;
    return mst_tile(x, MST_SHAPE(1, MANY));
}

/* 2^20 numbers for each of a million rows: refused before the first batch. */
static void predictions_that_do_not_fit_are_refused_before_the_first_batch(void **state) {
    (void)state;
    enum { ROWS = 1 << 20 };
    mst_model *model;
    mst_tensor *x, *out = NULL;
    mst_dataset *data;
    memory = INT64_C(1) << 40;
    EXPECT_OK(mst_model_create(&model));
    mst_lambda(mst_input(model, MST_SHAPE(1)), repeat);
    EXPECT_OK(mst_compile(model, .session = {.devices = "cpu:1/1"}));
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(ROWS, 1), &x));
    EXPECT_OK(mst_dataset_from_tensors(&x, 1, &data));
    EXPECT_ERROR(mst_predict(model, data, 1, &out), MST_OUT_OF_MEMORY, "the predictions for all rows need 4.0 TB");
    assert_null(out);
    mst_dataset_release(data);
    mst_tensor_release(x);
    mst_model_destroy(model);
}

static mst_value as_it_is(void *context, mst_value x, bool training) {
    (void)context, (void)training;
    return mst_identity(x);
}

/* Each of three outputs fits alone; the shapes of the inputs, and so of the outputs, are known before, or not. */
static void predictions_of_all_outputs_count(void **state) {
    (void)state;
    enum { ROWS = 1 << 20, OUTPUTS = 3 };
    for (int k = 0; k < 2; k++) {
        mst_model *model;
        mst_tensor *x, *out[OUTPUTS] = {NULL};
        mst_dataset *data;
        mst_outputs outputs = {.count = OUTPUTS};
        memory = INT64_C(5) << 40;
        EXPECT_OK(mst_model_create(&model));
        const mst_output input = mst_input(model, MST_SHAPE(k ? -1 : 1));
        for (int o = 0; o < OUTPUTS; o++) outputs.output[o] = mst_lambda(input, o ? repeat : as_it_is);
        mst_model_outputs(model, outputs);
        EXPECT_OK(mst_compile(model, .session = {.devices = "cpu:1/1"}));
        EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(ROWS, 1), &x));
        EXPECT_OK(mst_dataset_from_tensors(&x, 1, &data));
        EXPECT_ERROR(mst_predict_all(model, data, 1, out, OUTPUTS), MST_OUT_OF_MEMORY,
                     "the predictions for all rows need 8.0 TB");
        for (int o = 0; o < OUTPUTS; o++) assert_null(out[o]);
        mst_dataset_release(data);
        mst_tensor_release(x);
        mst_model_destroy(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(step_that_does_not_fit_into_memory_is_refused),
        cmocka_unit_test(what_the_process_has_besides_counts),
        cmocka_unit_test(a_step_that_was_refused_is_refused_again_and_keeps_no_memory),
        cmocka_unit_test(devices_share_the_memory),
        cmocka_unit_test(variables_that_do_not_fit_are_refused),
        cmocka_unit_test(outputs_that_do_not_fit_are_refused_before_they_are_made),
        cmocka_unit_test(predictions_that_do_not_fit_are_refused_before_the_first_batch),
        cmocka_unit_test(predictions_of_all_outputs_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
