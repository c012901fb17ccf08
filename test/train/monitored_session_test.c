/* Monitored sessions: they save, restore, log and stop; over task servers that are lost they end with the weights of an
 * undisturbed loop in one process; clients that are not the chief wait for it. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "muster/checkpoint.h"
#include "muster/monitored_session.h"
#include "muster/summary.h"
#include "support/engine.h"
#include "support/folder.h"
#include "support/servers.h"
#include "support/state.h"
#include "support/test.h"

enum { STEPS = 24, ROWS = 6, FEATURES = 4 };

/* ---- a network with dropout, and data that are a function of the step ---- */

typedef struct network {
    mst_graph *graph;
    mst_value x, weights, loss, train, step;
} network;

static network build(const char *of_variables, const char *of_work) {
    network n = {.graph = engine_graph()};
    mst_graph *g = n.graph;
    mst_with_device (g, of_variables) {
        n.step = mst_global_step(g);
        n.weights = mst_variable(g, "weights", mst_random_uniform(g, MST_SHAPE(FEATURES, 3), .low = -1, .high = 1));
    }
    mst_with_device (g, of_work) {
        n.x = engine_input(g, "x", MST_SHAPE(ROWS, FEATURES));
        n.loss = mst_reduce_mean(mst_square(mst_dropout(mst_matmul(n.x, n.weights), .rate = 0.25)));
    }
    const mst_optimizer adam = mst_adam(.learning_rate = 0.05);
    mst_with_device (g, of_variables) n.train = mst_minimize(&adam, n.loss, &n.weights, 1, n.step);
    EXPECT_OK(mst_graph_check(g));
    return n;
}

static mst_status fill(void *context, const mst_spec *spec, int64_t first_row, void *dst) {
    const int64_t step = mst_monitored_session_step(*(mst_monitored_session **)context);
    const int64_t count = mst_shape_count(spec->shape);
    for (int64_t i = 0; i < count; i++)
        ((float *)dst)[i] = (float)((step * 31 + first_row * FEATURES + i) % 17) / 17 - 0.5f;
    return MST_OK;
}

static mst_status make_step(mst_monitored_session **s, const network *n) {
    const mst_feed feed = {.value = n->x, .fill = fill, .context = s, .spec = {MST_F32, MST_SHAPE(ROWS, FEATURES)}};
    return mst_monitored_session_run(*s, &feed, 1, (mst_value[]){n->loss, n->train}, 2, NULL);
}

static mst_tensor *weights_of(mst_monitored_session *s, const network *n) {
    mst_tensor *value;
    EXPECT_OK(mst_session_get_variable(mst_monitored_session_inner(s), n->weights, &value));
    return value;
}

/* The weights of an undisturbed loop in this process. */
static mst_tensor *undisturbed(int64_t steps) {
    network n = build("/cpu:0", "/cpu:0");
    mst_monitored_session *s;
    EXPECT_OK(mst_monitored_session_create(n.graph, &s, .last_step = steps));
    int64_t made = 0;
    while (!mst_monitored_session_should_stop(s)) {
        EXPECT_OK(make_step(&s, &n));
        assert_int_equal(mst_monitored_session_step(s), ++made);
    }
    assert_int_equal(made, steps);
    mst_tensor *weights = weights_of(s, &n);
    EXPECT_OK(mst_monitored_session_close(s));
    mst_graph_destroy(n.graph);
    return weights;
}

static void expect_undisturbed(mst_monitored_session *s, const network *n, int64_t steps) {
    mst_tensor *wanted = undisturbed(steps), *got = weights_of(s, n);
    assert_true(engine_same_bits(got, wanted));
    mst_tensor_release(got);
    mst_tensor_release(wanted);
}

/* ---- in one process ---- */

static void loop_that_is_started_again_ends_with_the_same_bits(void **state) {
    (void)state;
    const char *folder = folder_path("run");
    const int64_t ends[] = {0, 7, 15, STEPS};
    for (int part = 1; part < 4; part++) {
        network n = build("/cpu:0", "/cpu:0");
        mst_monitored_session *s;
        EXPECT_OK(mst_monitored_session_create(n.graph, &s, .last_step = ends[part], .checkpoint_dir = folder));
        assert_int_equal(mst_monitored_session_step(s), ends[part - 1]);
        while (!mst_monitored_session_should_stop(s)) EXPECT_OK(make_step(&s, &n));
        if (part == 3) expect_undisturbed(s, &n, STEPS);
        EXPECT_OK(mst_monitored_session_close(s));
        mst_graph_destroy(n.graph);
    }
}

static void saves_come_after_so_many_steps(void **state) {
    (void)state;
    char name[512];
    const char *folder = folder_path("run");
    network n = build("/cpu:0", "/cpu:0");
    mst_monitored_session *s;
    EXPECT_OK(mst_monitored_session_create(n.graph, &s, .last_step = 12, .checkpoint_dir = folder, .save_steps = 5));
    while (!mst_monitored_session_should_stop(s)) EXPECT_OK(make_step(&s, &n));
    EXPECT_OK(mst_monitored_session_close(s));
    for (int step = 0; step <= 12; step++) {
        snprintf(name, sizeof name, "%s/model.ckpt-%d.index", folder, step);
        FILE *file = fopen(name, "rb");
        assert_int_equal(file != NULL, step == 0 || step == 5 || step == 10 || step == 12);
        if (file) fclose(file);
    }
    mst_graph_destroy(n.graph);
}

static const mst_curve *find_curve(const mst_curves *curves, const char *tag, mst_curve *out) {
    for (int64_t i = 0; i < mst_curves_count(curves); i++) {
        *out = mst_curves_get(curves, i);
        if (strcmp(out->tag, tag) == 0) return out;
    }
    return NULL;
}

static void summaries_and_the_rate_are_curves(void **state) {
    (void)state;
    const char *folder = folder_path("log");
    network n = build("/cpu:0", "/cpu:0");
    mst_monitored_session *s;
    mst_curves *curves;
    mst_curve curve;
    const mst_monitored_summary summaries[] = {{"loss", n.loss}, {"weights", n.weights}};
    EXPECT_OK(mst_monitored_session_create(n.graph, &s, .last_step = 20, .logdir = folder, .summaries = summaries,
                                           .num_summaries = 2, .summary_steps = 4, .rate_steps = 10));
    while (!mst_monitored_session_should_stop(s)) EXPECT_OK(make_step(&s, &n));
    EXPECT_OK(mst_monitored_session_close(s));
    EXPECT_OK(mst_curves_read(folder, &curves));
    assert_non_null(find_curve(curves, "loss", &curve));
    assert_int_equal(curve.count, 5);
    for (int i = 0; i < 5; i++) assert_int_equal(curve.step[i], 4 * i);
    assert_non_null(find_curve(curves, "global_step/sec", &curve));
    assert_int_equal(curve.count, 2);
    assert_int_equal(curve.step[0], 10);
    assert_true(curve.value[1] > 0);
    mst_curves_free(curves);
    mst_graph_destroy(n.graph);
}

static void run_that_makes_no_step_changes_none(void **state) {
    (void)state;
    network n = build("/cpu:0", "/cpu:0");
    mst_monitored_session *s;
    mst_tensor *step = NULL;
    EXPECT_OK(mst_monitored_session_create(n.graph, &s, .last_step = 3));
    EXPECT_OK(make_step(&s, &n));
    EXPECT_OK(mst_monitored_session_run(s, NULL, 0, &n.step, 1, &step));
    assert_int_equal((int64_t)mst_tensor_get(step, 0), 1);
    mst_tensor_release(step);
    assert_int_equal(mst_monitored_session_step(s), 1);
    assert_false(mst_monitored_session_should_stop(s));
    mst_monitored_session_request_stop(s);
    assert_true(mst_monitored_session_should_stop(s));
    EXPECT_OK(mst_monitored_session_close(s));
    mst_graph_destroy(n.graph);
}

static void wrong_options_are_told(void **state) {
    (void)state;
    network n = build("/cpu:0", "/cpu:0");
    mst_monitored_session *s;
    const mst_monitored_summary no_tag = {.value = n.loss};
    EXPECT_ERROR(mst_monitored_session_create(n.graph, &s, .waits_for_chief = true, .checkpoint_dir = "run"),
                 MST_INVALID, "'checkpoint_dir' is the chief's");
    EXPECT_ERROR(mst_monitored_session_create(n.graph, &s, .save_seconds = -1), MST_INVALID, "save_seconds is -1");
    EXPECT_ERROR(mst_monitored_session_create(n.graph, &s, .summaries = &no_tag, .num_summaries = 1), MST_INVALID,
                 "summary 0 has no tag");
    mst_graph_destroy(n.graph);
}

/* ---- over task servers ---- */

/* Servers end and begin again within some seconds, each while the loop runs. */
typedef struct disturber {
    servers *all;
    int server;
    pthread_t thread;
} disturber;

static void *start_again(void *context) {
    const disturber *d = context;
    const struct timespec pause = {.tv_nsec = 300000000};
    nanosleep(&pause, NULL);
    server_start(d->all, d->server);
    return NULL;
}

/* When a task begins again that was lost: while the loop waits for it; or before the loop makes its next step, so that
 * no run of the loop fails because a task is away. */
typedef enum moment { WHILE_THE_LOOP_WAITS, BETWEEN_TWO_STEPS } moment;

/* Trains over three tasks; before step 8 the task LOST ends, and begins again. */
static void train_while_one_is_lost(int target, int lost, moment when, const char *folder) {
    servers all;
    servers_start(&all);
    network n = build("/job:ps", "/job:worker/task:1/cpu:0");
    mst_monitored_session *s;
    disturber d = {.all = &all, .server = lost};
    char address[128];
    snprintf(address, sizeof address, "tcp://%s", all.address[target]);
    EXPECT_OK(mst_monitored_session_create(n.graph, &s, .session = {.target = address}, .last_step = STEPS,
                                           .checkpoint_dir = folder, .save_steps = 5, .recovery_timeout = 30));
    bool disturbed = false;
    while (!mst_monitored_session_should_stop(s)) {
        if (mst_monitored_session_step(s) == 8 && !disturbed) {
            disturbed = true;
            server_end(&all, lost);
            assert_int_equal(pthread_create(&d.thread, NULL, start_again, &d), 0);
            if (when == BETWEEN_TWO_STEPS) {
                pthread_join(d.thread, NULL);
                const struct timespec pause = {.tv_nsec = 300000000}; /* the leader meets it */
                nanosleep(&pause, NULL);
            }
        }
        EXPECT_OK(make_step(&s, &n));
    }
    if (when == WHILE_THE_LOOP_WAITS) pthread_join(d.thread, NULL);
    assert_int_equal(mst_monitored_session_step(s), STEPS);
    expect_undisturbed(s, &n, STEPS);
    EXPECT_OK(mst_monitored_session_close(s));
    mst_graph_destroy(n.graph);
    servers_end(&all);
}

static void lost_tasks_change_nothing(void **state) {
    (void)state;
    for (int lost = 0; lost < SERVERS; lost++) {
        char name[16];
        snprintf(name, sizeof name, "run-%d", lost);
        train_while_one_is_lost(0, lost, WHILE_THE_LOOP_WAITS, folder_path(name));
        train_while_one_is_lost(2, lost, WHILE_THE_LOOP_WAITS, NULL); /* values are kept in memory */
    }
}

/* No run has seen the loss: the variables of the task have no values, and that is all. */
static void tasks_that_are_back_before_the_next_step_change_nothing(void **state) {
    (void)state;
    for (int lost = 0; lost < SERVERS; lost++) {
        char name[16];
        snprintf(name, sizeof name, "back-%d", lost);
        train_while_one_is_lost(0, lost, BETWEEN_TWO_STEPS, folder_path(name));
        train_while_one_is_lost(2, lost, BETWEEN_TWO_STEPS, NULL);
    }
}

static void chief_that_is_started_again_leaves_values_alone(void **state) {
    (void)state;
    servers all;
    servers_start(&all);
    network n = build("/job:ps", "/job:worker/task:1/cpu:0");
    mst_monitored_session *s;
    char address[128];
    snprintf(address, sizeof address, "tcp://%s", all.address[0]);
    for (int part = 1; part <= 2; part++) {
        EXPECT_OK(mst_monitored_session_create(n.graph, &s, .session = {.target = address}, .last_step = part * 6));
        assert_int_equal(mst_monitored_session_step(s), (part - 1) * 6);
        while (!mst_monitored_session_should_stop(s)) EXPECT_OK(make_step(&s, &n));
        if (part == 2) expect_undisturbed(s, &n, 12);
        EXPECT_OK(mst_monitored_session_close(s));
    }
    mst_graph_destroy(n.graph);
    servers_end(&all);
}

typedef struct other {
    const servers *all;
    pthread_t thread;
    int64_t made;
    atomic_bool waits;
} other;

static bool note_waiting(void *context) {
    atomic_store(&((other *)context)->waits, true);
    return false;
}

/* A client of its own graph, as another process would be. */
static void *train_as_other(void *context) {
    other *o = context;
    network n = build("/job:ps", "/job:worker/task:1/cpu:0");
    mst_monitored_session *s;
    char address[128];
    snprintf(address, sizeof address, "tcp://%s", o->all->address[1]);
    EXPECT_OK(mst_monitored_session_create(n.graph, &s, .session = {.target = address}, .last_step = STEPS,
                                           .waits_for_chief = true, .stop = note_waiting, .context = o));
    while (!mst_monitored_session_should_stop(s)) {
        EXPECT_OK(make_step(&s, &n));
        o->made++;
    }
    EXPECT_OK(mst_monitored_session_close(s));
    mst_graph_destroy(n.graph);
    return NULL;
}

static void others_wait_for_the_chief_and_train_the_same_variables(void **state) {
    (void)state;
    servers all;
    servers_start(&all);
    network n = build("/job:ps", "/job:worker/task:0/cpu:0");
    mst_monitored_session *s;
    char address[128];
    other o = {.all = &all};
    int64_t made = 0;
    const struct timespec pause = {.tv_nsec = 10000000};
    snprintf(address, sizeof address, "tcp://%s", all.address[0]);
    assert_int_equal(pthread_create(&o.thread, NULL, train_as_other, &o), 0);
    while (!atomic_load(&o.waits)) nanosleep(&pause, NULL);
    EXPECT_OK(mst_monitored_session_create(n.graph, &s, .session = {.target = address}, .last_step = STEPS));
    while (!mst_monitored_session_should_stop(s)) {
        EXPECT_OK(make_step(&s, &n));
        made++;
        if (made == 2) /* the other one asks every second */
            for (int64_t step = 2; step == 2;) {
                mst_tensor *value;
                nanosleep(&pause, NULL);
                EXPECT_OK(mst_session_get_variable(mst_monitored_session_inner(s), n.step, &value));
                step = (int64_t)mst_tensor_get(value, 0);
                mst_tensor_release(value);
            }
    }
    pthread_join(o.thread, NULL);
    mst_tensor *step;
    EXPECT_OK(mst_session_get_variable(mst_monitored_session_inner(s), n.step, &step));
    assert_int_equal((int64_t)mst_tensor_get(step, 0), made + o.made);
    assert_true(o.made > 0 && made + o.made >= STEPS && made + o.made <= STEPS + 1);
    mst_tensor_release(step);
    EXPECT_OK(mst_monitored_session_close(s));
    mst_graph_destroy(n.graph);
    servers_end(&all);
}

static void chief_that_does_not_come_is_told(void **state) {
    (void)state;
    servers all;
    servers_start(&all);
    network n = build("/job:ps", "/job:worker/task:0/cpu:0");
    mst_monitored_session *s;
    char address[128];
    snprintf(address, sizeof address, "tcp://%s", all.address[0]);
    EXPECT_ERROR(mst_monitored_session_create(n.graph, &s, .session = {.target = address}, .waits_for_chief = true,
                                              .recovery_timeout = 0.5),
                 MST_UNAVAILABLE, "waiting for the chief: 5 of 5 variables have no value");
    mst_graph_destroy(n.graph);
    servers_end(&all);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(loop_that_is_started_again_ends_with_the_same_bits),
        TEST_IN_FOLDER(saves_come_after_so_many_steps),
        TEST_IN_FOLDER(summaries_and_the_rate_are_curves),
        cmocka_unit_test(run_that_makes_no_step_changes_none),
        cmocka_unit_test(wrong_options_are_told),
        TEST_IN_FOLDER(lost_tasks_change_nothing),
        TEST_IN_FOLDER(tasks_that_are_back_before_the_next_step_change_nothing),
        cmocka_unit_test(chief_that_is_started_again_leaves_values_alone),
        cmocka_unit_test(others_wait_for_the_chief_and_train_the_same_variables),
        cmocka_unit_test(chief_that_does_not_come_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
