/* Sessions with devices of the type `lagoon`, which compile programs in StableHLO and interpret them (module/lagoon.c).
 * The tests check the names of devices, the names of programs in a trace, and the printed programs of a plan. */
#include <stdio.h>

#include "run/trace.h"
#include "support/hlo_interpreter.h"
#include "support/test.h"

static void session_has_devices_that_compile(void **state) {
    (void)state;
    mst_session *session;
    mst_graph *g = engine_graph();
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "lagoon:2,cpu:1/1"}, &session));
    assert_non_null(strstr(mst_session_device(session, 0), "device:LAGOON:0"));
    assert_non_null(strstr(mst_session_device(session, 1), "device:LAGOON:1"));
    mst_value sum = MST_NONE;
    mst_with_device (g, "/cpu:0") sum = mst_reduce_sum(mst_fill(g, MST_F32, MST_SHAPE(3), 2));
    assert_true(engine_number(session, sum) == 6);
    engine_end(g, session);
}

/* The name of the I-th program that DEVICE called in the traced run, or for whose compiler it waited if COMPILES;
 * "": there are fewer. */
static const char *traced_call(const mst_trace *trace, int device, bool compiles, int i) {
    const mst_traced_device *traced = &trace->run[0].device[device];
    for (int64_t k = 0; k < traced->num_did; k++)
        if (traced->did[k].kind == MST_DO_RUN && traced->did[k].compiles == compiles && i-- == 0)
            return traced->did[k].name;
    return "";
}

static void programs_of_a_traced_run_are_noted(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value v = MST_NONE, x = MST_NONE, y = MST_NONE;
    mst_session *session;
    mst_trace *trace;
    mst_with_device (g, "/device:LAGOON:0") {
        v = mst_variable(g, "v", mst_fill(g, MST_F32, MST_SHAPE(3), 2));
        x = mst_square(mst_neg(v));
    }
    mst_with_device (g, "/device:LAGOON:1") y = mst_sqrt(mst_scale(x, 4));
    const mst_value fetches[] = {y, mst_assign(v, x)};
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "lagoon:2"}, &session));
    EXPECT_OK(mst_session_init_variables(session));
    EXPECT_OK(mst_trace_create(&trace));
    mst_session_trace(session, trace);
    EXPECT_OK(mst_session_run(session, NULL, 0, fetches, 2, NULL));
    assert_int_equal(mst_trace_num_runs(trace), 1);
    assert_string_equal(traced_call(trace, 0, false, 0), "program_0");
    assert_string_equal(traced_call(trace, 0, false, 1), "v/commit");
    assert_string_equal(traced_call(trace, 0, false, 2), "");
    assert_string_equal(traced_call(trace, 1, false, 0), "program_1");
    assert_string_equal(traced_call(trace, 1, false, 1), "");
    assert_string_equal(traced_call(trace, 0, true, 0), "program_0"); /* it was not compiled before */
    assert_string_equal(traced_call(trace, 0, true, 1), "");
    assert_string_equal(traced_call(trace, 1, true, 0), "program_1");
    assert_int_equal(trace->run[0].device[0].num_programs, 1);
    assert_string_equal(trace->run[0].device[0].program[0].name, "program_0");
    engine_end(g, session);
    mst_trace_destroy(trace);
}

/* Parses all programs in LOG, and returns their number. A program begins with the line "module @main". */
static int num_parsed(const char *log) {
    static const char begin[] = "\nmodule @main", end[] = "\n}\n";
    int count = 0;
    for (const char *at = log, *after; (at = strstr(at, begin)); at = after) {
        char error[256], text[1 << 16];
        after = strstr(at, end);
        assert_non_null(after);
        if (!after) return -1;
        const size_t length = (size_t)(after - at) + sizeof end - 1;
        assert_in_range(length, 1, sizeof text - 1);
        memcpy(text, at, length);
        text[length] = '\0';
        hlo_program *program = hlo_parse(text, error, sizeof error);
        if (!program) fail_msg("%s", error);
        hlo_program_free(program);
        count++;
    }
    return count;
}

static void equal_programs_of_a_plan_are_printed_once(void **state) {
    (void)state;
    static const char twice[] =
        "\n// program_0 on /job:localhost/replica:0/task:0/device:LAGOON:0: 2 nodes\n"
        "// program_0 on /job:localhost/replica:0/task:0/device:LAGOON:1: 2 nodes\n"
        "module @main {\n";
    mst_graph *g = engine_graph();
    mst_value y[2] = {MST_NONE, MST_NONE}, sum = MST_NONE;
    mst_feed feed[2];
    for (int d = 0; d < 2; d++) {
        const mst_value x = engine_input(g, d ? "x1" : "x0", MST_SHAPE(3));
        feed[d] = (mst_feed){.value = x, .tensor = engine_tensor(MST_F32, MST_SHAPE(3), NULL)};
        mst_with_device (g, d ? "/device:LAGOON:1" : "/device:LAGOON:0") y[d] = mst_square(mst_neg(x));
    }
    mst_with_device (g, "/device:LAGOON:0") sum = mst_add(y[0], y[1]);
    char *log = NULL;
    size_t size;
    FILE *file = open_memstream(&log, &size);
    mst_session *session;
    EXPECT_OK(mst_session_create(
        g, &(mst_session_options){.devices = "lagoon:2", .plan_log = file, .plan_pass = "stablehlo"}, &session));
    EXPECT_OK(mst_session_run(session, feed, 2, &sum, 1, NULL));
    fflush(file);
    assert_int_equal(strncmp(log, "// plan for add: programs: 3, texts: 2\n", 39), 0);
    assert_non_null(strstr(log, twice));
    assert_non_null(strstr(log, "\n// program_1 on /job:localhost/replica:0/task:0/device:LAGOON:0: 1 node\n"));
    assert_int_equal(num_parsed(log), 2);
    for (int d = 0; d < 2; d++) mst_tensor_release(feed[d].tensor);
    engine_end(g, session);
    fclose(file);
    free(log);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(session_has_devices_that_compile),
        cmocka_unit_test(programs_of_a_traced_run_are_noted),
        cmocka_unit_test(equal_programs_of_a_plan_are_printed_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
