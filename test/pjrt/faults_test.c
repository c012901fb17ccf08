/* Devices of a plugin that fail, are late, or never finish (the plugin `shim`, shim.c). The step ends with one error
 * that names the program and the device, or at its deadline. It has changed nothing, and the next step runs. Skipped
 * if there is no plugin for CPUs. */
#include <stdio.h>
#include <unistd.h>

#include "muster/compile_cache.h"
#include "muster/muster.h"
#include "pjrt/bare_job.h"
#include "support/test.h"

/* ---- what runs: v = v + 1 on device 0, and on device 1 what it was, doubled on device 0, and 5 ---- */

typedef struct job {
    mst_graph *graph;
    mst_session *session;
    mst_value v, doubled, sum, write;
} job;

static void begin_job_with(job *j, mst_session_options options) {
    bare_faults("");
    j->graph = engine_graph();
    mst_with_device (j->graph, "/xla:0") {
        j->v = mst_variable(j->graph, "v", mst_fill(j->graph, MST_F32, MST_SHAPE(3), 1));
        j->doubled = mst_scale(j->v, 2);
        j->write = mst_assign(j->v, mst_add(j->v, mst_fill(j->graph, MST_F32, MST_SHAPE(3), 1)));
    }
    mst_with_device (j->graph, "/xla:1") {
        j->sum = mst_add(j->doubled, mst_fill(j->graph, MST_F32, MST_SHAPE(3), 5));
    }
    options.devices = "xla:2";
    EXPECT_OK(mst_session_create(j->graph, &options, &j->session));
    EXPECT_OK(mst_session_init_variables(j->session));
}

static void begin_job(job *j, double timeout) {
    begin_job_with(j, (mst_session_options){.timeout = timeout});
}

static mst_status run_job(job *j, mst_tensor **out) {
    const mst_value fetches[] = {j->sum, j->write};
    mst_tensor *tensors[2] = {NULL, NULL};
    *out = NULL;
    const mst_status status = mst_session_run(j->session, NULL, 0, fetches, 2, tensors);
    mst_tensor_release(tensors[1]);
    *out = tensors[0];
    return status;
}

/* A step that finds BEFORE in the variable. */
static void expect_step(job *j, double before) {
    mst_tensor *sum;
    EXPECT_OK(run_job(j, &sum));
    assert_true(engine_get(sum, 2) == 2 * before + 5);
    mst_tensor_release(sum);
}

/* Ends the job. The plugin must then have freed all of its objects. */
static void end_job(job *j) {
    bare_faults("");
    engine_end(j->graph, j->session);
    for (int i = 0; i < 100 && (bare_count("PJRT_Buffer") || bare_count("PJRT_Event")); i++) usleep(20000);
    assert_int_equal(bare_count("PJRT_Buffer"), 0);
    assert_int_equal(bare_count("PJRT_Event"), 0);
}

/* ---- tests ---- */

/* Asks for devices with FAULTS, and expects that the plugin is asked for a client as often as that. */
static mst_status ask_for_devices(const char *faults, int64_t calls) {
    mst_graph *g = engine_graph();
    mst_session *session = NULL;
    bare_faults(faults);
    const int64_t before = bare_count("PJRT_Client_Create");
    const mst_status status = mst_session_create(g, &(mst_session_options){.devices = "xla:2"}, &session);
    assert_int_equal(bare_count("PJRT_Client_Create") - before, calls);
    engine_end(g, session);
    return status;
}

/* This test comes first, because it makes the client that the other tests use. */
static void client_is_asked_for_again_only_if_its_option_may_be_unknown(void **state) {
    (void)state;
    EXPECT_ERROR(ask_for_devices("PJRT_Client_Create 1 fail NOT_FOUND no driver; PJRT_Client_Create 2 fail", 1),
                 MST_INTERNAL,
                 "making a client for 'xla': the plugin says: shim: PJRT_Client_Create: no driver: use cpu");
    EXPECT_ERROR(ask_for_devices("PJRT_Client_AddressableDevices 1 fail", 1), MST_INTERNAL, "asking for the devices");
    assert_int_equal(bare_count("PJRT_Client_Destroy"), 1);
    EXPECT_OK(ask_for_devices("PJRT_Client_Create 1 fail INVALID_ARGUMENT no such option", 2));
}

typedef struct fault_case {
    const char *faults;
    mst_status status;
    const char *text, *device;
} fault_case;

/* DEVICE "": any one, if several devices fail by the same cause. */
static const fault_case cases[] = {
    {"PJRT_LoadedExecutable_Execute 1 fail", MST_INTERNAL,
     "the plugin says: shim: PJRT_LoadedExecutable_Execute: ", "XLA:0"},
    {"PJRT_LoadedExecutable_Execute 1 fail RESOURCE_EXHAUSTED no room", MST_OUT_OF_MEMORY,
     "no room: take smaller batches", "XLA:0"},
    {"PJRT_LoadedExecutable_Execute 1 fail DEADLINE_EXCEEDED too late", MST_UNAVAILABLE, "too late", "XLA:0"},
    {"PJRT_LoadedExecutable_Execute 1 event_fail 0.05 UNAVAILABLE it was lost", MST_UNAVAILABLE,
     "it was lost: see to the device and its driver, and start again", "XLA:0"},
    {"PJRT_LoadedExecutable_Execute 2 event_fail 0.05", MST_INTERNAL, "what this call started was to fail", "XLA:1"},
    {"PJRT_Buffer_CopyToDevice 1 fail", MST_INTERNAL, "copying to xla 1: the plugin says: ", ""},
    {"PJRT_Buffer_CopyToDevice 1 event_fail 0.05", MST_INTERNAL, "what this call started was to fail", "XLA:1"},
    {"PJRT_Buffer_ToHostBuffer 1 fail", MST_INTERNAL, "copying to the host: the plugin says: ", ""},
    {"PJRT_Buffer_ToHostBuffer 1 event_fail 0.05", MST_INTERNAL, "what this call started was to fail", ""},
    {"PJRT_LoadedExecutable_Execute 1 event_stuck", MST_DEADLINE, "has not ended", "XLA:0"},
    {"PJRT_LoadedExecutable_Execute 2 event_stuck", MST_DEADLINE, "has not ended", "XLA:1"},
    {"PJRT_Buffer_CopyToDevice 1 event_stuck", MST_DEADLINE, "has not ended", "XLA:1"},
    {"PJRT_Buffer_ToHostBuffer 1 event_stuck", MST_DEADLINE, "", ""},
    {"PJRT_Event_OnReady 1 fail", MST_INTERNAL, "PJRT_Event_OnReady", ""},
};

static void failed_step_has_one_error_and_changes_nothing(void **state) {
    (void)state;
    job j;
    double v = 1;
    begin_job(&j, 1);
    expect_step(&j, v++); /* compiles */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const fault_case *c = &cases[i];
        mst_tensor *sum;
        printf("%s\n", c->faults);
        bare_faults(c->faults);
        EXPECT_ERROR(run_job(&j, &sum), c->status, c->text);
        if (!strstr(mst_error()->device, c->device))
            fail_msg("'%s' is on %s, not on %s", mst_error()->message, mst_error()->device, c->device);
        mst_tensor_release(sum);
        bare_faults("");
        for (int k = 0; k < 2; k++) expect_step(&j, v++);
    }
    end_job(&j);
}

/* The events are ends of programs, arrivals of their words of faults, and copies to the host. */
static void event_that_cannot_be_waited_for_fails_one_step(void **state) {
    (void)state;
    job j;
    double v = 1;
    begin_job_with(&j, (mst_session_options){.timeout = 60, .check_numerics = true});
    expect_step(&j, v++);
    const int64_t before = bare_count("PJRT_Event_OnReady");
    expect_step(&j, v++);
    const int64_t events = bare_count("PJRT_Event_OnReady") - before;
    assert_true(events >= 5); /* two programs with words, and the copies of results */
    for (int64_t i = 1; i <= events; i++) {
        char faults[64];
        mst_tensor *sum;
        snprintf(faults, sizeof faults, "PJRT_Event_OnReady %lld fail", (long long)i);
        bare_faults(faults);
        EXPECT_ERROR(run_job(&j, &sum), MST_INTERNAL, "the plugin says: shim: PJRT_Event_OnReady: ");
        mst_tensor_release(sum);
        expect_step(&j, v++);
    }
    bare_faults("PJRT_Event_OnReady 1+ fail");
    for (int i = 0; i < 2; i++) {
        mst_tensor *sum;
        EXPECT_ERROR(run_job(&j, &sum), MST_INTERNAL, "the plugin says: shim: PJRT_Event_OnReady: ");
        mst_tensor_release(sum);
    }
    bare_faults("");
    expect_step(&j, v++);
    end_job(&j);
}

static void late_step_has_the_same_values(void **state) {
    (void)state;
    static const char *const faults[] = {"PJRT_LoadedExecutable_Execute 1+ event_delay 0.1",
                                         "PJRT_Buffer_CopyToDevice 1+ event_delay 0.1",
                                         "PJRT_Buffer_ToHostBuffer 1+ event_delay 0.1"};
    job j;
    double v = 1;
    begin_job(&j, 60);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        bare_faults(faults[i]);
        for (int k = 0; k < 3; k++) expect_step(&j, v++);
    }
    end_job(&j);
}

static void compiling_that_does_not_end_is_left(void **state) {
    (void)state;
    job j;
    begin_job(&j, 1);
    const mst_value other = mst_exp(mst_scale(j.doubled, 7));
    bare_faults("PJRT_Client_Compile 1 stuck");
    EXPECT_ERROR(mst_session_run(j.session, NULL, 0, &other, 1, NULL), MST_DEADLINE, "program_0'");
    alarm(60);
    engine_end(j.graph, j.session);
    alarm(0);
    bare_faults("");
}

/* The next plan with the same text compiles it again, although the one that has failed is still there. */
static void program_that_is_refused_is_tried_again(void **state) {
    (void)state;
    job j, next;
    mst_tensor *out = NULL;
    begin_job(&j, 60);
    const mst_value other = mst_tanh(mst_scale(j.doubled, 3));
    bare_faults("PJRT_Client_Compile 1 fail UNIMPLEMENTED no such op");
    EXPECT_ERROR(mst_session_run(j.session, NULL, 0, &other, 1, &out), MST_UNIMPLEMENTED,
                 "no such op: try another version of the plugin");
    begin_job(&next, 60);
    const mst_value same = mst_tanh(mst_scale(next.doubled, 3));
    EXPECT_OK(mst_session_run(next.session, NULL, 0, &same, 1, &out));
    mst_tensor_release(out);
    engine_end(j.graph, j.session);
    end_job(&next);
}

static void equal_programs_are_compiled_once(void **state) {
    (void)state;
    job j;
    bare_faults("");
    for (int i = 0; i < 2; i++) {
        begin_job(&j, 60);
        const int64_t before = bare_count("PJRT_Client_Compile");
        expect_step(&j, 1);
        const int64_t compiled = bare_count("PJRT_Client_Compile") - before;
        if (i) assert_int_equal(compiled, 0);
        end_job(&j);
    }
}

/* The CPU reads the NaN before the program has said that it made it. */
static void nan_has_its_first_node_where_the_host_sees_it_earlier(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_session *session;
    mst_value v = MST_NONE, made = MST_NONE, seen = MST_NONE;
    mst_tensor *out = NULL;
    bare_faults("");
    mst_with_device (g, "/xla:0") {
        v = mst_variable(g, "v", mst_fill(g, MST_F32, MST_SHAPE(3), -1));
        made = mst_rename(mst_log(v), "bad_log");
    }
    mst_with_device (g, "/cpu:0") {
        seen = mst_rename(mst_square(made), "later");
    }
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "xla:1", .check_numerics = true}, &session));
    EXPECT_OK(mst_session_init_variables(session));
    EXPECT_ERROR(mst_session_run(session, NULL, 0, &seen, 1, &out), MST_NUMERICS,
                 "log 'bad_log' made a NaN");                  /* compiles */
    bare_faults("PJRT_Buffer_ToHostBuffer 1 event_delay 0.3"); /* the word of faults */
    EXPECT_ERROR(mst_session_run(session, NULL, 0, &seen, 1, &out), MST_NUMERICS, "log 'bad_log' made a NaN");
    assert_string_equal(mst_error()->node, "bad_log");
    mst_tensor_release(out);
    engine_end(g, session);
    bare_faults("");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(client_is_asked_for_again_only_if_its_option_may_be_unknown),
        cmocka_unit_test(failed_step_has_one_error_and_changes_nothing),
        cmocka_unit_test(event_that_cannot_be_waited_for_fails_one_step),
        cmocka_unit_test(late_step_has_the_same_values),
        cmocka_unit_test(compiling_that_does_not_end_is_left),
        cmocka_unit_test(program_that_is_refused_is_tried_again),
        cmocka_unit_test(equal_programs_are_compiled_once),
        cmocka_unit_test(nan_has_its_first_node_where_the_host_sees_it_earlier),
    };
    if (bare_is_skipped()) return BARE_SKIPPED;
    const char *shim = getenv("MUSTER_SHIM");
    setenv("MUSTER_PJRT_PLUGIN", shim ? shim : "", true);
    setenv("MUSTER_SHIM_DEVICES", "2", true); /* also without the option for that */
    if (!bare_load() || mst_compile_cache_set("off", 0, NULL)) return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
