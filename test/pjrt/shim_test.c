/* The plugin `shim` (shim.c) in front of the real one: each fault that it can simulate. Skipped if there is no real
 * plugin. */
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "pjrt/bare_job.h"
#include "pjrt/shim_functions.h"
#include "support/folder.h"
#include "support/test.h"

enum { MOST_LOG = 8192 };

static const double MOMENT = 0.2; /* seconds, for what does not end */

/* A job that is ready to run; without faults. */
static int begin(void **state) {
    static bare_job j;
    bare_problem p = {0};
    bare_faults("");
    bare_expect_nothing_alive();
    assert_true(bare_begin_job(&j, &p));
    *state = &j;
    return 0;
}

static int end(void **state) {
    bare_problem p = {0};
    bare_faults("");
    bare_end_job(*state, &p);
    bare_expect_good(&p);
    bare_expect_nothing_alive();
    return 0;
}

/* ---- calls that fail ---- */

#define NAME(name) "PJRT_" #name,
static const char *const names[] = {SHIM_FUNCTIONS(NAME, NAME)};
#undef NAME

static void without_faults_it_computes_what_the_plugin_computes(void **state) {
    (void)state;
    bare_problem p = {0};
    bare_faults("");
    assert_true(bare_run_all(&p));
    bare_expect_nothing_alive();
}

#define PLACE(name) offsetof(PJRT_Api, PJRT_##name),
static const size_t places[] = {SHIM_FUNCTIONS(PLACE, PLACE)};
#undef PLACE

static void each_function_of_the_plugin_is_there_and_is_that_of_shim(void **state) {
    (void)state;
    const PJRT_Api *(*get)(void) = NULL;
    void *library = dlopen(getenv("MUSTER_SHIM_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    *(void **)&get = dlsym(library, "GetPjrtApi");
    const PJRT_Api *real = get();
    assert_int_equal(bare_api->struct_size, real->struct_size);
    assert_int_equal(bare_api->pjrt_api_version.minor_version, real->pjrt_api_version.minor_version);
    for (int i = 0; i < SHIM_NUM_FUNCTIONS && places[i] < real->struct_size; i++) {
        void *const *own = (void *const *)((const char *)bare_api + places[i]);
        void *const *other = (void *const *)((const char *)real + places[i]);
        if (!*own != !*other || (*own && *own == *other)) fail_msg("%s is not that of shim", names[i]);
    }
}

/* Whether the program calls each function, also those that it calls only for errors. */
static void find_called(bool *is_called) {
    int64_t before[SHIM_NUM_FUNCTIONS];
    bare_problem compiled = {0}, all = {0};
    for (int i = 0; i < SHIM_NUM_FUNCTIONS; i++) before[i] = bare_count(names[i]);
    bare_faults("PJRT_Client_Compile 1 fail");
    assert_false(bare_run_all(&compiled));
    bare_faults("");
    assert_true(bare_run_all(&all));
    for (int i = 0; i < SHIM_NUM_FUNCTIONS; i++) is_called[i] = bare_count(names[i]) > before[i];
}

static void each_function_that_the_program_calls_can_fail(void **state) {
    (void)state;
    bool is_called[SHIM_NUM_FUNCTIONS];
    int failed = 0;
    find_called(is_called);
    for (int i = 0; i < SHIM_NUM_FUNCTIONS; i++) {
        char wanted[BARE_MOST_MESSAGE];
        bare_problem p = {0};
        if (!is_called[i] || i == SHIM_Error_Destroy || i == SHIM_Error_Message) continue;
        snprintf(wanted, sizeof wanted, "%s 1 fail DATA_LOSS failure %d", names[i], i);
        bare_faults(wanted);
        if (bare_run_all(&p)) fail_msg("%s did not fail", names[i]);
        snprintf(wanted, sizeof wanted, "shim: %s: failure %d", names[i], i);
        bare_expect_problem(&p, PJRT_Error_Code_DATA_LOSS, wanted);
        bare_expect_nothing_alive();
        failed++;
    }
    assert_true(failed > 30); /* the program has not lost its calls */
    bare_problem p = {0};
    bare_faults("");
    assert_true(bare_run_all(&p));
}

static void only_the_call_with_the_number_fails(void **state) {
    bare_job *j = *state;
    bare_problem p = {0};
    bare_faults("PJRT_Client_BufferFromHostBuffer 2 fail RESOURCE_EXHAUSTED no room");
    assert_true(bare_put_and_wait(j, 0, bare_w, &j->source[0], &p));
    assert_false(bare_put_and_wait(j, 0, bare_b, &j->source[1], &p));
    bare_expect_problem(&p, PJRT_Error_Code_RESOURCE_EXHAUSTED, "no room");
    assert_true(bare_put_and_wait(j, 0, bare_b, &j->source[1], &p));
    bare_faults("PJRT_LoadedExecutable_Execute 2+ fail; PJRT_Client_Compile 1 fail"); /* numbers count from here */
    for (int i = 0; i < 3; i++) {
        bare_problem each = {0};
        assert_int_equal(bare_execute(j, &each) && bare_await(j->done, &each), i == 0);
        bare_destroy_buffer(j->result, &each);
        bare_destroy_event(j->done, &each);
        j->result = NULL;
        j->done = NULL;
        assert_int_equal(each.code, i == 0 ? PJRT_Error_Code_OK : PJRT_Error_Code_INTERNAL);
    }
}

static void an_error_of_the_plugin_is_seen_beside_those_of_shim(void **state) {
    bare_job *j = *state;
    bare_problem p = {0};
    bare_faults("PJRT_Buffer_ReadyEvent 1 fail ABORTED");
    assert_true(bare_put_and_wait(j, 0, bare_w, &j->source[0], &p));
    PJRT_Event *event = NULL;
    assert_false(bare_ready_event(j->source[0], &event, &p));
    bare_problem own = {0};
    BARE_MAKE(Buffer_ToHostBuffer, copy);
    copy.src = j->source[0];
    copy.dst = j->got;
    copy.dst_size = 1; /* too small */
    assert_false(bare_good(bare_api->PJRT_Buffer_ToHostBuffer(&copy), &own));
    assert_true(own.code && !strstr(own.message, "shim"));
    bare_expect_problem(&p, PJRT_Error_Code_ABORTED, "this call was to fail");
}

static void a_refusal_prints_a_log(void **state) {
    bare_job *j = *state;
    bare_problem p = {0};
    char log[MOST_LOG] = "";
    folder_create(NULL);
    const int before = dup(STDERR_FILENO), file = open(folder_path("log"), O_CREAT | O_RDWR, 0600);
    bare_faults("PJRT_Client_Compile 1 refuse");
    bare_destroy_loaded(j, &p);
    dup2(file, STDERR_FILENO);
    const bool compiled = bare_compile(j, &p);
    dup2(before, STDERR_FILENO);
    assert_true(pread(file, log, sizeof log - 1, 0) > 0);
    close(before);
    close(file);
    folder_remove(NULL);
    assert_false(compiled);
    bare_expect_problem(&p, PJRT_Error_Code_INVALID_ARGUMENT, "PJRT_Client_Compile");
    assert_non_null(strstr(log, "shim.cc:40] shim: PJRT_Client_Compile: this call was to be refused\n"));
}

/* ---- calls that wait ---- */

typedef struct compiling {
    bare_job *job;
    bare_problem problem;
    atomic_bool has_ended;
} compiling;

static void *compile_in_thread(void *argument) {
    compiling *x = argument;
    bare_destroy_loaded(x->job, &x->problem);
    bare_compile(x->job, &x->problem);
    atomic_store(&x->has_ended, true);
    return NULL;
}

static void waits_until(bare_job *j, const char *wanted, void (*release)(void)) {
    compiling x = {.job = j};
    pthread_t thread;
    bare_faults(wanted);
    assert_int_equal(pthread_create(&thread, NULL, compile_in_thread, &x), 0);
    const double begun = bare_now();
    while (bare_now() < begun + MOMENT) bare_rest();
    const bool ended_early = atomic_load(&x.has_ended);
    release();
    pthread_join(thread, NULL);
    assert_false(ended_early);
    bare_expect_good(&x.problem);
    assert_non_null(j->loaded);
}

static void remove_hold(void) {
    unlink(folder_path("hold"));
}

static void remove_faults(void) {
    bare_faults("");
}

static void a_call_waits_for_a_time_a_file_or_other_faults(void **state) {
    char wanted[BARE_MOST_MESSAGE];
    bare_problem p = {0};
    bare_job *j = *state;
    bare_faults("PJRT_Client_Compile 1 delay 0.3");
    bare_destroy_loaded(j, &p);
    const double begun = bare_now();
    assert_true(bare_compile(j, &p));
    assert_true(bare_now() >= begun + 0.3);
    folder_create(NULL);
    snprintf(wanted, sizeof wanted, "PJRT_Client_Compile 1 hold %s", folder_write_text("hold", ""));
    waits_until(j, wanted, remove_hold);
    folder_remove(NULL);
    waits_until(j, "PJRT_Client_Compile 1 stuck", remove_faults);
}

/* ---- events ---- */

static void start(bare_job *j, const char *wanted) {
    bare_problem p = {0};
    bare_faults("");
    assert_true(bare_put_and_wait(j, 0, bare_w, &j->source[0], &p) &&
                bare_put_and_wait(j, 0, bare_b, &j->source[1], &p));
    bare_faults(wanted);
    assert_true(bare_execute(j, &p));
}

static void a_run_fails_late_and_so_does_what_is_made_of_its_results(void **state) {
    bare_job *j = *state;
    bare_problem p = {0}, at_callback = {0}, of_copy = {0}, of_value = {0};
    PJRT_Event *ready = NULL;
    float got[BARE_COUNT] = {0};
    bare_called x = {0};
    start(j, "PJRT_LoadedExecutable_Execute 1 event_fail 0.2 DATA_LOSS bits fell over");
    assert_false(bare_is_ready(j->done));
    assert_true(bare_ask_for_callback(j->done, &x, &at_callback));
    assert_true(bare_copy_to(j, 1, j->result, &j->copy, &p));
    assert_false(bare_await(j->done, &p));
    bare_expect_problem(&p, PJRT_Error_Code_DATA_LOSS, "shim: PJRT_LoadedExecutable_Execute: bits fell over");
    assert_true(bare_is_ready(j->done));
    bare_wait_for_callback(&x);
    bare_expect_problem(&x.problem, PJRT_Error_Code_DATA_LOSS, "bits fell over");
    assert_false(bare_to_host(j->copy, got, &of_copy));
    bare_expect_problem(&of_copy, PJRT_Error_Code_DATA_LOSS, "bits fell over");
    assert_int_equal((int)got[0], 0);
    assert_true(bare_ready_event(j->copy, &ready, &p));
    assert_false(bare_await(ready, &of_value));
    bare_expect_problem(&of_value, PJRT_Error_Code_DATA_LOSS, "bits fell over");
    bare_destroy_event(ready, &p);
    bare_end_run(j, &p);
    bare_problem again = {0};
    bare_faults("");
    assert_true(bare_run_job(j, &again));
}

static void a_copy_to_the_host_brings_its_bytes_late(void **state) {
    bare_job *j = *state;
    bare_problem p = {0};
    PJRT_Event *event = NULL;
    float got[BARE_COUNT] = {0};
    start(j, "PJRT_Buffer_ToHostBuffer 1 event_delay 0.2");
    assert_true(bare_start_to_host(j->result, got, &event, &p));
    assert_false(bare_is_ready(event));
    assert_int_equal((int)got[0], 0);
    assert_true(bare_await(event, &p));
    assert_memory_equal(got, bare_sum, sizeof bare_sum);
    bare_destroy_event(event, &p);
    bare_expect_good(&p);
}

static void a_bit_of_a_copy_to_the_host_is_wrong(void **state) {
    bare_job *j = *state;
    bare_problem p = {0};
    float got[BARE_COUNT] = {0}, wanted[BARE_COUNT];
    start(j, "PJRT_Buffer_ToHostBuffer 1 flip 31");
    assert_true(bare_to_host(j->result, got, &p));
    memcpy(wanted, bare_sum, sizeof wanted);
    wanted[0] = -wanted[0];
    assert_memory_equal(got, wanted, sizeof wanted);
    assert_true(bare_to_host(j->result, got, &p));
    assert_memory_equal(got, bare_sum, sizeof bare_sum);
    bare_end_run(j, &p);
    bare_expect_good(&p);
}

static void stuck(bare_job *j, const char *wanted, void (*release)(void)) {
    bare_problem p = {0};
    bare_called x = {0};
    start(j, wanted);
    assert_true(bare_ask_for_callback(j->done, &x, &p));
    const double begun = bare_now();
    while (bare_now() < begun + MOMENT) bare_rest();
    assert_false(bare_is_ready(j->done));
    assert_false(atomic_load(&x.is_called));
    release();
    bare_wait_for_callback(&x);
    bare_expect_good(&x.problem);
    assert_true(bare_await(j->done, &p) && bare_is_ready(j->done));
    assert_true(bare_to_host(j->result, j->got, &p));
    assert_memory_equal(j->got, bare_sum, sizeof bare_sum);
    bare_end_run(j, &p);
    bare_expect_good(&p);
}

static void an_event_waits_for_a_file_or_other_faults(void **state) {
    char wanted[BARE_MOST_MESSAGE];
    folder_create(NULL);
    snprintf(wanted, sizeof wanted, "PJRT_LoadedExecutable_Execute 1 event_hold %s", folder_write_text("hold", ""));
    stuck(*state, wanted, remove_hold);
    folder_remove(NULL);
    stuck(*state, "PJRT_LoadedExecutable_Execute 1 event_stuck", remove_faults);
}

/* ---- a device that is lost ---- */

static void all_calls_of_a_lost_device_fail_and_no_others(void **state) {
    bare_job *j = *state;
    bare_problem lost[5] = {0}, p = {0};
    PJRT_Event *event = NULL;
    PJRT_Buffer *none = NULL;
    start(j, "PJRT_Client_BufferFromHostBuffer 2 lost 1");
    assert_true(bare_await(j->done, &p));
    assert_true(bare_put_and_wait(j, 0, bare_w, &none, &p)); /* of the other device: does not count */
    bare_destroy_buffer(none, &p);
    assert_true(bare_put_and_wait(j, 1, bare_w, &j->copy, &p));
    assert_false(bare_put_and_wait(j, 1, bare_b, &none, &lost[0]));
    assert_false(bare_to_host(j->copy, j->got, &lost[1]));
    assert_false(bare_ready_event(j->copy, &event, &lost[2]));
    assert_false(bare_copy_to(j, 0, j->copy, &none, &lost[3]));
    assert_false(bare_copy_to(j, 1, j->result, &none, &lost[4]));
    for (int i = 0; i < 5; i++) bare_expect_problem(&lost[i], PJRT_Error_Code_UNAVAILABLE, "the device is lost");
    assert_true(bare_to_host(j->result, j->got, &p));
    bare_end_run(j, &p); /* what is on the lost device is freed as ever */
    bare_expect_good(&p);
}

/* ---- mistakes ---- */

static void faults_that_cannot_be_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *faults, *reason;
    } cases[] = {
        {"PJRT_Client_Kompile 1 fail", "there is no function 'PJRT_Client_Kompile'"},
        {"PJRT_Client_Compile", "the number of a call is missing"},
        {"PJRT_Client_Compile 0 fail", "must be from 1"},
        {"PJRT_Client_Compile 1.5 fail", "must be from 1"},
        {"PJRT_Client_Compile x fail", "must be a number"},
        {"PJRT_Client_Compile 1", "there is no fault ''"},
        {"PJRT_Client_Compile 1 break", "there is no fault 'break'"},
        {"PJRT_Client_Compile 1 delay", "seconds is missing"},
        {"PJRT_Client_Compile 1 delay -1", "seconds is '-1'"},
        {"PJRT_Client_Compile 1 hold", "the file is missing"},
        {"PJRT_Client_Compile 1 fail OK", "'OK' is no code"},
        {"PJRT_Client_Compile 1 fail BAD", "'BAD' is no code"},
        {"PJRT_Client_Compile 1 stuck INTERNAL", "'INTERNAL' is no code"},
        {"PJRT_Client_Compile 1 event_stuck", "gives no event"},
        {"PJRT_Client_Compile 1 lost 0", "is not of a device"},
        {"PJRT_Error_Message 1 fail", "cannot fail"},
        {"PJRT_Client_Compile 1 flip 3", "copies nothing out"},
        {"PJRT_Buffer_ToHostBuffer 1 flip", "the bit is missing"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *reason = bare_set_faults(cases[i].faults);
        if (!reason || !strstr(reason, cases[i].reason))
            fail_msg("%s: '%s', wanted '%s'", cases[i].faults, reason ? reason : "", cases[i].reason);
    }
    bare_faults("");
    assert_int_equal(bare_count("PJRT_Nothing"), -1);
}

#define IN_JOB(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void) {
    if (bare_is_skipped()) return BARE_SKIPPED;
    if (!bare_load()) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_faults_it_computes_what_the_plugin_computes),
        cmocka_unit_test(each_function_of_the_plugin_is_there_and_is_that_of_shim),
        cmocka_unit_test(each_function_that_the_program_calls_can_fail),
        IN_JOB(only_the_call_with_the_number_fails),
        IN_JOB(an_error_of_the_plugin_is_seen_beside_those_of_shim),
        IN_JOB(a_refusal_prints_a_log),
        IN_JOB(a_call_waits_for_a_time_a_file_or_other_faults),
        IN_JOB(a_run_fails_late_and_so_does_what_is_made_of_its_results),
        IN_JOB(a_copy_to_the_host_brings_its_bytes_late),
        IN_JOB(a_bit_of_a_copy_to_the_host_is_wrong),
        IN_JOB(an_event_waits_for_a_file_or_other_faults),
        IN_JOB(all_calls_of_a_lost_device_fail_and_no_others),
        cmocka_unit_test(faults_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
