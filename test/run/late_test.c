/* Devices that compile and do not finish in time. A call ends at its deadline with one error that names device and
 * node. No variable changes, the session can be destroyed, and the process can end. A device is stuck in a program
 * that runs, or in compiling one. Files keep it stuck and release it (module/lagoon.c). */
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/failure.h"
#include "support/folder.h"
#include "support/open_worker.h"
#include "support/test.h"
#include "support/training.h"

enum { COUNT = 4, DEVICES = 2 };

static const double TIMEOUT = 0.5; /* seconds, of a call that does not end */

static const char *hold_of(int device) {
    const char *const name[DEVICES] = {"hold.0", "hold.1"};
    return folder_path(name[device]);
}

/* From now on no program of DEVICE ends. */
static void hold(int device) {
    const char *const name[DEVICES] = {"hold.0", "hold.1"};
    folder_write_text(name[device], "");
}

static void let_go(int device) {
    assert_int_equal(unlink(hold_of(device)), 0);
}

static int begin_folder(void **state) {
    alarm(120); /* a call that hangs would hang forever */
    return folder_create(state) || setenv("MUSTER_LAGOON_HOLD", folder_path("hold"), 1);
}

static int end_folder(void **state) {
    alarm(0);
    for (int d = 0; d < DEVICES; d++) unlink(hold_of(d));
    unlink(folder_path("hold.text"));
    return folder_remove(state);
}

static mst_session *session_of(mst_graph *g, double timeout, int num_frames, mst_store *store) {
    mst_session *session;
    const mst_session_options options = {
        .devices = "lagoon:2", .timeout = timeout, .num_frames = num_frames, .store = store};
    EXPECT_OK(mst_session_create(g, &options, &session));
    return session;
}

/* The error of a call that a program of DEVICE has kept: it names both, and NODE if that is not NULL. */
static void expect_late(mst_status status, int device, const char *node) {
    char text[32];
    snprintf(text, sizeof text, "device:LAGOON:%d", device);
    EXPECT_ERROR(status, MST_DEADLINE, "has not ended");
    EXPECT_ERROR(status, MST_DEADLINE, text);
    assert_non_null(strstr(mst_error()->device, text));
    assert_true(*mst_error()->node);
    if (node) assert_string_equal(mst_error()->node, node);
    if (!strstr(mst_error()->message, mst_error()->node)) fail_msg("no node is named in '%s'", mst_error()->message);
}

static mst_status run(mst_session *session, mst_value fetch, mst_tensor **out) {
    return mst_session_run(session, NULL, 0, &fetch, 1, out);
}

/* Runs until the device is back. */
static void run_again(mst_session *session, mst_value fetch, mst_tensor **out) {
    mst_status status = MST_DEADLINE;
    for (int i = 0; i < 50 && status == MST_DEADLINE; i++) status = run(session, fetch, out);
    EXPECT_OK(status);
}

/* ---- runs ---- */

/* "v" is 2 on LAGOON:1, and NEXT, which is 4 there, is assigned to it by WRITE. ACROSS needs NEXT on LAGOON:0, and
 * HOST on the CPU. */
typedef struct machine {
    mst_graph *graph;
    mst_session *session;
    mst_value v, next, write, across, host;
} machine;

/* Without STORE its arrays have another size each time: the texts are then others than those of machines before it,
 * which a device may still have for a moment. */
static machine make_machine(double timeout, int num_frames, mst_store *store) {
    static int made;
    const int64_t count = store ? COUNT : COUNT + ++made;
    machine m = {.graph = engine_graph()};
    mst_with_device (m.graph, "/device:LAGOON:1") {
        m.v = mst_variable(m.graph, "v", mst_fill(m.graph, MST_F32, MST_SHAPE(count), 2));
        m.next = mst_rename(mst_square(m.v), "next");
    }
    m.write = mst_assign(m.v, m.next);
    mst_with_device (m.graph, "/device:LAGOON:0") m.across = mst_rename(mst_neg(m.next), "across");
    mst_with_device (m.graph, "/cpu:0") m.host = mst_rename(mst_neg(m.next), "host");
    m.session = session_of(m.graph, timeout, num_frames, store);
    EXPECT_OK(mst_session_init_variables(m.session));
    return m;
}

static void expect_number(const machine *m, mst_value fetch, double wanted) {
    mst_tensor *got = NULL;
    run_again(m->session, fetch, &got);
    assert_true(mst_tensor_get(got, COUNT - 1) == wanted);
    mst_tensor_release(got);
}

static void expect_saved(const machine *m, double wanted) {
    mst_tensor *got;
    mst_snapshot *snapshot;
    mst_store *store = mst_session_store(m->session);
    EXPECT_OK(mst_session_get_variable(m->session, m->v, &got));
    assert_true(mst_tensor_get(got, COUNT - 1) == wanted);
    mst_tensor_release(got);
    EXPECT_OK(mst_store_snapshot(store, &snapshot));
    assert_true(mst_tensor_get(mst_snapshot_find(snapshot, "", "v"), COUNT - 1) == wanted);
    EXPECT_OK(mst_store_snapshot_again(store, &snapshot));
    assert_true(mst_tensor_get(mst_snapshot_find(snapshot, "", "v"), COUNT - 1) == wanted);
    mst_snapshot_release(snapshot);
}

static void run_that_waits_for_a_program_ends_at_its_deadline(void **state) {
    (void)state;
    for (int what = 0; what < 8; what++) {
        machine m = make_machine(TIMEOUT, 1 + what / 4, NULL);
        const mst_value fetch[] = {m.next, m.across, m.host, m.write};
        const bool with_output = what % 4 < 3, planned = what % 2;
        mst_tensor *got = NULL;
        if (planned && with_output) run_again(m.session, fetch[what % 4], NULL);
        hold(1);
        const int64_t began = mst_clock_now();
        expect_late(run(m.session, fetch[what % 4], with_output ? &got : NULL), 1, NULL);
        assert_in_range(mst_clock_now() - began, TIMEOUT * 1e9, TIMEOUT * 1e9 + 5e9);
        expect_late(run(m.session, m.next, NULL), 1, NULL); /* the device is still at it */
        let_go(1);
        mst_tensor_release(got);
        expect_number(&m, m.across, -4);
        expect_number(&m, m.host, -4);
        run_again(m.session, m.write, NULL);
        expect_number(&m, m.across, -16);
        engine_end(m.graph, m.session);
    }
}

/* Both devices are kept: the error is that of the program that others wait for. */
static void error_names_the_program_for_which_others_wait(void **state) {
    (void)state;
    for (int d = 0; d < DEVICES; d++) {
        machine m = make_machine(TIMEOUT, 1, NULL);
        hold(d);
        if (d == 0) hold(1);
        expect_late(run(m.session, m.across, NULL), 1, NULL);
        for (int i = 0; i <= d; i++) let_go(i ? 0 : 1);
        engine_end(m.graph, m.session);
    }
}

typedef struct call {
    machine *machine;
    mst_status status;
    atomic_bool ended;
    char message[1024];
} call;

static void *run_call(void *context) {
    call *c = context;
    c->status = run(c->machine->session, c->machine->across, NULL);
    snprintf(c->message, sizeof c->message, "%s", mst_error()->message);
    atomic_store(&c->ended, true);
    return NULL;
}

static _Atomic int64_t hours;

static int64_t later(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000 + now.tv_nsec + atomic_load(&hours) * 3600 * 1000000000;
}

/* A session without a timeout has one of ten minutes. Its callers run device 0 if that is a CPU. */
static void run_without_a_timeout_ends_too(void **state) {
    (void)state;
    for (int d = 0; d < DEVICES; d++) {
        machine m = make_machine(0, 1, NULL);
        call c = {.machine = &m};
        pthread_t thread;
        mst_clock_replace(later);
        hold(d);
        assert_int_equal(pthread_create(&thread, NULL, run_call, &c), 0);
        usleep(300000);
        assert_false(atomic_load(&c.ended));
        atomic_fetch_add(&hours, 1);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(c.status, MST_DEADLINE);
        assert_non_null(strstr(c.message, d ? "LAGOON:1 has not ended" : "LAGOON:0 has not ended"));
        let_go(d);
        expect_number(&m, m.across, -4);
        engine_end(m.graph, m.session);
        mst_clock_replace(NULL);
    }
}

static void session_is_destroyed_while_a_program_is_stuck(void **state) {
    (void)state;
    for (int frames = 1; frames <= 2; frames++) {
        machine m = make_machine(TIMEOUT, frames, NULL);
        hold(0);
        hold(1);
        for (int i = 0; i < frames; i++) expect_late(run(m.session, m.across, NULL), 1, NULL);
        const int64_t began = mst_clock_now();
        engine_end(m.graph, m.session);
        assert_in_range(mst_clock_now() - began, 0, TIMEOUT * 1e9 + 5e9);
        let_go(0);
        let_go(1); /* what the session has is freed when the devices come back */
    }
    machine after = make_machine(20, 1, NULL);
    expect_number(&after, after.across, -4);
    engine_end(after.graph, after.session);
}

/* ---- compiling ---- */

static void hold_texts(void) {
    folder_write_text("hold.text", "");
}

static void let_texts_go(void) {
    assert_int_equal(unlink(folder_path("hold.text")), 0);
}

/* The error names the node that is compiled, and the device for which. */
static void expect_compiling(mst_status status) {
    EXPECT_ERROR(status, MST_DEADLINE, "'program_0'");
    assert_string_equal(mst_error()->node, "program_0");
    assert_non_null(strstr(mst_error()->device, "device:LAGOON:1"));
}

static void run_ends_at_its_deadline_while_a_text_is_compiled(void **state) {
    (void)state;
    for (int what = 0; what < 3; what++) {
        machine m = make_machine(TIMEOUT, 1, NULL);
        const mst_value fetch[] = {m.next, m.across, m.write};
        hold_texts();
        for (int i = 0; i < 2; i++) expect_compiling(run(m.session, fetch[what], NULL));
        expect_saved(&m, 2);
        let_texts_go();
        run_again(m.session, fetch[what], NULL);
        expect_number(&m, m.across, what < 2 ? -4 : -16);
        engine_end(m.graph, m.session);
    }
}

static void session_is_destroyed_while_a_text_is_compiled(void **state) {
    (void)state;
    machine m = make_machine(TIMEOUT, 1, NULL);
    hold_texts();
    expect_compiling(run(m.session, m.across, NULL));
    const int64_t began = mst_clock_now();
    engine_end(m.graph, m.session);
    assert_in_range(mst_clock_now() - began, 0, TIMEOUT * 1e9 + 5e9);
    let_texts_go();
}

/* ---- state ---- */

static void *run_write(void *context) {
    const machine *m = context;
    return run(m->session, m->write, NULL) ? context : NULL;
}

static void state_is_read_and_saved_while_a_program_is_stuck(void **state) {
    (void)state;
    machine m = make_machine(60, 1, NULL);
    pthread_t thread;
    void *failed;
    run_again(m.session, m.across, NULL);
    hold(1);
    assert_int_equal(pthread_create(&thread, NULL, run_write, &m), 0);
    for (int i = 0; i < 5; i++) {
        expect_saved(&m, 2);
        usleep(50000);
    }
    let_go(1);
    pthread_join(thread, &failed);
    assert_null(failed);
    expect_saved(&m, 4);
    engine_end(m.graph, m.session);
}

/* Values are read. What writes waits for the step that still holds the device, and ends at its deadline. */
static void state_keeps_its_bits_after_a_step_was_given_up(void **state) {
    (void)state;
    mst_store *store;
    EXPECT_OK(mst_store_create(&store));
    machine m = make_machine(TIMEOUT, 1, store), other = make_machine(TIMEOUT, 1, store);
    expect_number(&other, other.host, -4);
    hold(1);
    expect_late(run(m.session, m.write, NULL), 1, NULL);
    expect_saved(&m, 2);
    expect_saved(&other, 2);
    mst_tensor *value = engine_tensor(MST_F32, MST_SHAPE(COUNT), (double[]){5, 5, 5, 5});
    EXPECT_ERROR(mst_session_set_variable(m.session, m.v, value), MST_DEADLINE, "to write the state");
    expect_late(run(other.session, other.host, NULL), 1, NULL);
    let_go(1);
    expect_number(&other, other.host, -4); /* the step did not happen when the device came back */
    expect_saved(&m, 2);
    run_again(m.session, m.write, NULL);
    expect_saved(&other, 4);
    mst_status status = MST_DEADLINE;
    for (int i = 0; i < 50 && status == MST_DEADLINE; i++) status = mst_session_set_variable(m.session, m.v, value);
    EXPECT_OK(status);
    expect_number(&m, m.across, -25);
    mst_tensor_release(value);
    engine_end(m.graph, m.session);
    engine_end(other.graph, other.session);
    mst_store_release(store);
}

/* ---- training ---- */

enum { ROWS = 40, FEATURES = 5, CLASSES = 3, BATCH = 8, STEPS = ROWS / BATCH, HELD_AT = 3 };

static mst_model *make_model(double timeout) {
    mst_model *model = training_model(8, CLASSES, 0);
    EXPECT_OK(mst_compile(model, .optimizer = mst_adam(.learning_rate = 0.01), .metric = {MST_METRIC_ACCURACY},
                          .session = {.devices = "lagoon:2", .timeout = timeout}, .seed = 1));
    return model;
}

static mst_status hold_at_step(void *context, mst_train_state *state) {
    if (state->step == HELD_AT) hold(*(const int *)context);
    return MST_OK;
}

static mst_status fit(mst_model *model, const mst_dataset *data, int64_t steps, int *held) {
    const mst_callback callback = {.context = held, .step_end = hold_at_step};
    return mst_fit(model, .data = data, .batch_size = BATCH, .steps = steps, .callbacks = &callback,
                   .num_callbacks = held != NULL);
}

static void fit_and_evaluate_end_at_their_deadline(void **state) {
    (void)state;
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    char wanted[65], got[65];
    mst_model *undisturbed = make_model(60);
    EXPECT_OK(fit(undisturbed, data, HELD_AT, NULL));
    EXPECT_OK(mst_model_sha256(undisturbed, wanted));
    mst_model_destroy(undisturbed);
    for (int d = 0; d < DEVICES; d++) {
        mst_model *model = make_model(2);
        expect_late(fit(model, data, STEPS, &d), d, NULL);
        EXPECT_OK(mst_model_sha256(model, got));
        assert_string_equal(got, wanted);
        let_go(d);
        mst_model_destroy(model);

        mst_result result;
        model = make_model(2);
        EXPECT_OK(fit(model, data, HELD_AT, NULL));
        EXPECT_OK(mst_evaluate(model, data, BATCH, &result, NULL));
        const double loss = result.loss;
        hold(d);
        expect_late(mst_evaluate(model, data, BATCH, &result, NULL), d, NULL);
        EXPECT_OK(mst_model_sha256(model, got));
        assert_string_equal(got, wanted);
        let_go(d);
        mst_status status = MST_DEADLINE;
        for (int i = 0; i < 20 && status == MST_DEADLINE; i++) status = mst_evaluate(model, data, BATCH, &result, NULL);
        EXPECT_OK(status);
        assert_true(result.loss == loss);
        mst_model_destroy(model);
    }
    mst_dataset_release(data);
}

/* ---- clusters ---- */

/* A worker of two, each with a device of its own, of which that of worker 1 is held. */
typedef struct worker {
    task_address *address;
    int number;
    mst_status status;
    char message[1024];
} worker;

static mst_status train(const worker *w, mst_task *task) {
    static int held = 1;
    mst_dataset *data = training_data(ROWS, FEATURES, CLASSES, 1);
    mst_model *model = training_model(8, CLASSES, 0);
    mst_status status = mst_compile(
        model, .optimizer = mst_momentum(.learning_rate = 0.1), .task = task,
        .strategy = {.kind = MST_STRATEGY_MULTI_WORKER, .num_shards = 2},
        .session = {.devices = "lagoon:2", .visible_devices = w->number ? "1" : "0", .timeout = 3}, .seed = 7);
    if (!status) status = fit(model, data, STEPS, w->number ? &held : NULL);
    mst_failure failure;
    mst_failure_keep(&failure, status);
    mst_model_destroy(model);
    mst_dataset_release(data);
    return mst_failure_restore(&failure);
}

static void *work(void *context) {
    worker *w = context;
    mst_task *task = NULL;
    w->status = open_worker(w->address, DEVICES, w->number, (mst_task_options){.recovery_timeout = 3}, &task);
    if (!w->status) w->status = train(w, task);
    if (w->status) snprintf(w->message, sizeof w->message, "%s", mst_error()->message);
    mst_task_close(task);
    return NULL;
}

static void worker_whose_device_is_stuck_ends_the_job_at_its_deadline(void **state) {
    (void)state;
    task_address address[DEVICES];
    worker workers[DEVICES];
    pthread_t thread[DEVICES];
    tasks_find_addresses(address, DEVICES);
    for (int i = 0; i < DEVICES; i++) {
        workers[i] = (worker){.address = address, .number = i};
        assert_int_equal(pthread_create(&thread[i], NULL, work, &workers[i]), 0);
    }
    for (int i = 0; i < DEVICES; i++) assert_int_equal(pthread_join(thread[i], NULL), 0);
    let_go(1);
    for (int i = 0; i < DEVICES; i++) {
        const bool is_told = strstr(workers[i].message, "worker:1 has not come to exchange 0") ||
                             strstr(workers[i].message, "device:LAGOON:0 has not ended");
        if (workers[i].status != MST_DEADLINE || !is_told) fail_msg("worker %d: %s", i, workers[i].message);
    }
}

/* ---- processes ---- */

extern char **environ;

/* The work of the process that the next test starts. A variable of the environment names the run that never ends. */
static int be_stuck(void) {
    const machine m = make_machine(TIMEOUT, 1, NULL);
    const mst_status status = run(m.session, m.next, NULL);
    engine_end(m.graph, m.session);
    return status == MST_DEADLINE ? 0 : 1;
}

static void process_ends_although_a_device_is_stuck(void **state) {
    (void)state;
    static const char *const variable[] = {"MUSTER_LAGOON_STUCK", "MUSTER_LAGOON_COMPILE_STUCK"};
    for (int i = 0; i < 2; i++) {
        pid_t child;
        char name[] = "late", argument[] = "stuck", *const arguments[] = {name, argument, NULL};
        setenv(variable[i], "1", 1);
        assert_int_equal(posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ), 0);
        unsetenv(variable[i]);
        int result = 0;
        pid_t ended = 0;
        for (int k = 0; k < 300 && !ended; k++) {
            usleep(100000);
            ended = waitpid(child, &result, WNOHANG);
        }
        if (!ended) kill(child, SIGKILL);
        assert_int_equal(ended, child);
        assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    }
}

#define TEST_OF_STUCK(function) cmocka_unit_test_setup_teardown(function, begin_folder, end_folder)

int main(int argc, char **argv) {
    (void)argv;
    if (argc > 1) return be_stuck();
    const struct CMUnitTest tests[] = {
        TEST_OF_STUCK(run_that_waits_for_a_program_ends_at_its_deadline),
        TEST_OF_STUCK(error_names_the_program_for_which_others_wait),
        TEST_OF_STUCK(run_without_a_timeout_ends_too),
        TEST_OF_STUCK(session_is_destroyed_while_a_program_is_stuck),
        TEST_OF_STUCK(run_ends_at_its_deadline_while_a_text_is_compiled),
        TEST_OF_STUCK(session_is_destroyed_while_a_text_is_compiled),
        TEST_OF_STUCK(state_is_read_and_saved_while_a_program_is_stuck),
        TEST_OF_STUCK(state_keeps_its_bits_after_a_step_was_given_up),
        TEST_OF_STUCK(fit_and_evaluate_end_at_their_deadline),
        TEST_OF_STUCK(worker_whose_device_is_stuck_ends_the_job_at_its_deadline),
        TEST_OF_STUCK(process_ends_although_a_device_is_stuck),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
