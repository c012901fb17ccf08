/* Sessions over several tasks, each of which runs one part (run/part.h), compared with one session with the same
 * graph. programs_test.c compares the results of random graphs with the rule. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/fault.h"
#include "support/parts.h"
#include "support/state.h"
#include "support/test.h"

/* ---- a graph with a layer on each task ---- */

enum { STEPS = 5 };

typedef struct layers {
    mst_graph *graph;
    mst_value x, first, second, loss, train, step;
} layers;

/* A: the device of the input and the first layer, B: that of the second layer and the loss. */
static layers build(const char *a, const char *b) {
    layers n = {.graph = engine_graph()};
    mst_graph *g = n.graph;
    mst_value hidden = MST_NONE;
    n.step = mst_global_step(g);
    mst_with_device (g, a) {
        n.x = engine_input(g, "x", MST_SHAPE(6, 4));
        n.first = mst_variable(g, "first", mst_random_uniform(g, MST_SHAPE(4, 8), .low = -1, .high = 1));
        hidden = mst_dropout(mst_relu(mst_matmul(n.x, n.first)), .rate = 0.5);
        hidden = fault_point(hidden, "below");
    }
    mst_with_device (g, b) {
        n.second = mst_variable(g, "second", mst_random_uniform(g, MST_SHAPE(8, 3), .low = -1, .high = 1));
        const mst_value y = fault_point(mst_dropout(mst_matmul(hidden, n.second), .rate = 0.25), "above");
        n.loss = mst_reduce_mean(mst_square(y));
    }
    const mst_value variables[] = {n.first, n.second};
    const mst_optimizer adam = mst_adam(.learning_rate = 0.05);
    n.train = mst_minimize(&adam, n.loss, variables, 2, n.step);
    EXPECT_OK(mst_graph_check(g));
    return n;
}

static layers build_over_tasks(void) {
    return build("/job:t/task:0/cpu:0", "/job:t/task:1/cpu:1");
}

static mst_tensor *input(void) {
    return engine_random(MST_F32, MST_SHAPE(6, 4), -1, 1, 7);
}

static void expect_same_variable(parts *all, mst_value there, mst_session *session, mst_value here) {
    mst_tensor *got, *wanted;
    EXPECT_OK(parts_get_variable(all, there, &got));
    EXPECT_OK(mst_session_get_variable(session, here, &wanted));
    assert_true(engine_same_bits(got, wanted));
    mst_tensor_release(got);
    mst_tensor_release(wanted);
}

static void training_gives_the_bits_of_one_session(void **state) {
    (void)state;
    layers n = build_over_tasks(), one = build("/cpu:0", "/cpu:1");
    parts all;
    EXPECT_OK(parts_open(&all, n.graph, 3, "cpu:2/1", false));
    EXPECT_OK(parts_init_variables(&all));
    mst_session *session = engine_session(one.graph, "cpu:2/1");
    mst_tensor *x = input();
    for (int i = 0; i < STEPS; i++) {
        mst_tensor *got[2] = {NULL}, *wanted[2] = {NULL};
        EXPECT_OK(parts_run(&all, &(mst_feed){.value = n.x, .tensor = x}, 1, (mst_value[]){n.loss, n.train}, 2, got));
        EXPECT_OK(mst_session_run(session, &(mst_feed){.value = one.x, .tensor = x}, 1,
                                  (mst_value[]){one.loss, one.train}, 2, wanted));
        assert_true(engine_same_bits(got[0], wanted[0]));
        mst_tensor_release(got[0]);
        mst_tensor_release(wanted[0]);
    }
    expect_same_variable(&all, n.first, session, one.first);
    expect_same_variable(&all, n.second, session, one.second);
    expect_same_variable(&all, n.step, session, one.step);
    assert_true(all.sent > 0);
    mst_tensor_release(x);
    parts_close(&all);
    mst_graph_destroy(n.graph);
    engine_end(one.graph, session);
}

/* ---- a step happens on all tasks or on none ---- */

static mst_snapshot *snapshots[MOST_PARTS];

static void remember(parts *all) {
    for (int32_t t = 0; t < all->num; t++) snapshots[t] = state_of(all->part[t].store);
}

static void expect_unchanged(parts *all) {
    for (int32_t t = 0; t < all->num; t++) {
        mst_snapshot *now = state_of(all->part[t].store);
        state_expect_same("a task", now, snapshots[t], true);
        mst_snapshot_release(now);
        mst_snapshot_release(snapshots[t]);
    }
}

static mst_status step(parts *all, const layers *n) {
    mst_tensor *x = input();
    const mst_status status = parts_run(all, &(mst_feed){.value = n->x, .tensor = x}, 1, &n->train, 1, NULL);
    mst_tensor_release(x);
    return status;
}

static void open_layers(layers *n, parts *all) {
    *n = build_over_tasks();
    EXPECT_OK(parts_open(all, n->graph, 2, "cpu:2/1", false));
    EXPECT_OK(parts_init_variables(all));
    EXPECT_OK(step(all, n));
    remember(all);
}

static void close_layers(layers *n, parts *all) {
    EXPECT_OK(step(all, n)); /* the next one works */
    parts_close(all);
    mst_graph_destroy(n->graph);
}

static void failing_node_changes_nothing_on_any_task(void **state) {
    (void)state;
    static const char *const points[] = {"below", "above"};
    for (int i = 0; i < 2; i++) {
        layers n;
        parts all;
        open_layers(&n, &all);
        fault_arm(FAULT_ERROR, points[i], 1);
        EXPECT_ERROR(step(&all, &n), MST_IO, "the disk is gone");
        assert_string_equal(mst_error()->node, points[i]);
        assert_non_null(strstr(mst_error()->device, i ? "task:1" : "task:0"));
        fault_disarm();
        expect_unchanged(&all);
        close_layers(&n, &all);
    }
}

static bool refuse(const parts *all, uint64_t run) {
    (void)all, (void)run;
    return true;
}

static void coordinator_may_decide_against_a_step_for_which_all_have_voted(void **state) {
    (void)state;
    layers n;
    parts all;
    open_layers(&n, &all);
    all.refuses = refuse;
    EXPECT_ERROR(step(&all, &n), MST_CANCELLED, "the coordinator says no");
    all.refuses = NULL;
    expect_unchanged(&all);
    close_layers(&n, &all);
}

static void cancel(parts *all, uint64_t run) {
    const mst_failure lost = {.code = MST_UNAVAILABLE, .message = "task 1 is lost"};
    for (int32_t t = 0; t < all->num; t++) mst_session_part_decide(all->part[t].session, run - 1, NULL); /* is over */
    for (int32_t t = 0; t < all->num; t++) mst_session_part_decide(all->part[t].session, run, &lost);
}

static void run_that_is_cancelled_changes_nothing(void **state) {
    (void)state;
    layers n;
    parts all;
    open_layers(&n, &all);
    all.began = cancel;
    EXPECT_ERROR(step(&all, &n), MST_UNAVAILABLE, "task 1 is lost");
    all.began = NULL;
    expect_unchanged(&all);
    close_layers(&n, &all);
}

static mst_status refuse_to_send(parts *all, int32_t to, int32_t stream) {
    (void)all, (void)to;
    return stream ? MST_FAIL(MST_IO, "the line is cut") : MST_OK;
}

static mst_status lose(parts *all, int32_t to, int32_t stream) {
    (void)all, (void)to;
    return stream ? MST_NOT_FOUND : MST_OK;
}

static void message_that_cannot_be_sent_ends_the_run(void **state) {
    (void)state;
    layers n;
    parts all;
    open_layers(&n, &all);
    all.send = refuse_to_send;
    EXPECT_ERROR(step(&all, &n), MST_IO, "the line is cut");
    all.send = NULL;
    expect_unchanged(&all);
    close_layers(&n, &all);
}

static void message_that_does_not_come_ends_the_run_at_its_deadline(void **state) {
    (void)state;
    layers n;
    parts all;
    open_layers(&n, &all);
    all.send = lose;
    all.seconds = 0.2;
    assert_int_equal(step(&all, &n), MST_DEADLINE);
    all.send = NULL;
    all.seconds = 0;
    expect_unchanged(&all);
    close_layers(&n, &all);
}

/* ---- plans ---- */

static void plan_says_which_tasks_run_and_who_needs_what(void **state) {
    (void)state;
    layers n = build_over_tasks();
    parts all;
    struct mst_cached_plan *plan;
    EXPECT_OK(parts_open(&all, n.graph, 3, "cpu:2/1", false));
    const mst_feed feed = {.value = n.x, .spec = {MST_F32, MST_SHAPE(6, 4)}};
    EXPECT_OK(mst_session_part_make_plan(all.part[1].session, &feed, 1, (mst_value[]){n.train, n.loss}, 2, &plan));
    const mst_session_part_plan_info info = mst_session_part_describe_plan(plan);
    assert_true(info.runs_on[0] && info.runs_on[1] && !info.runs_on[2] && info.commits);
    assert_int_equal(info.feed_task[0], 0);
    assert_int_equal(info.fetch_task[0], -1);
    assert_int_equal(info.fetch_task[1], 1);
    mst_session_part_release_plan(all.part[1].session, plan, true);
    parts_close(&all);
    mst_graph_destroy(n.graph);
}

static void feed_of_another_shape_is_refused(void **state) {
    (void)state;
    layers n = build_over_tasks();
    parts all;
    struct mst_cached_plan *plan;
    EXPECT_OK(parts_open(&all, n.graph, 2, "cpu:2/1", false));
    const mst_feed feed = {.value = n.x, .spec = {MST_F32, MST_SHAPE(6, 4)}};
    EXPECT_OK(mst_session_part_make_plan(all.part[0].session, &feed, 1, &n.loss, 1, &plan));
    mst_tensor *wrong = engine_tensor(MST_F32, MST_SHAPE(5, 4), NULL), *none = NULL;
    mst_session_part_run run = {.number = 1, .seconds = 5, .random = -1, .feed = &wrong};
    EXPECT_ERROR(mst_session_part_submit(all.part[0].session, plan, &run), MST_INVALID, "'x'");
    run.feed = &none;
    EXPECT_ERROR(mst_session_part_submit(all.part[0].session, plan, &run), MST_INVALID, "'x'");
    bool derived, overtaken;
    EXPECT_ERROR(mst_session_part_finish(all.part[0].session, &derived, &overtaken), MST_INVALID, "none is under way");
    mst_tensor_release(wrong);
    mst_session_part_release_plan(all.part[0].session, plan, false);
    parts_close(&all);
    mst_graph_destroy(n.graph);
}

static void variable_cannot_be_mirrored_over_tasks(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    parts all;
    const mst_value v = mst_variable(g, "v", mst_fill(g, MST_F32, MST_SHAPE(2), 0),
                                     .mirrored = "/job:t/task:0/cpu:0,/job:t/task:1/cpu:0");
    EXPECT_OK(parts_open(&all, g, 2, "cpu:2/1", false));
    EXPECT_ERROR(parts_run(&all, NULL, 0, &v, 1, NULL), MST_UNIMPLEMENTED, "'v' is mirrored on devices of two tasks");
    parts_close(&all);
    mst_graph_destroy(g);
}

static void node_stays_in_its_task_where_its_device_is_not_there(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    parts all;
    mst_value there = MST_NONE, nowhere = MST_NONE;
    mst_with_device (g, "/job:t/task:1/cpu:7") there = mst_neg(mst_fill(g, MST_F32, MST_SHAPE(2), 3));
    mst_with_device (g, "/job:t/task:9/cpu:0") nowhere = mst_neg(mst_fill(g, MST_F32, MST_SHAPE(2), 3));
    EXPECT_OK(parts_open(&all, g, 2, "cpu:2/1", true));
    mst_tensor *output = NULL;
    EXPECT_OK(parts_run(&all, NULL, 0, &there, 1, &output));
    assert_true(mst_tensor_get(output, 0) == -3);
    assert_int_equal(mst_session_plan_info(all.part[0].session).nodes, 0);
    mst_tensor_release(output);
    EXPECT_ERROR(parts_run(&all, NULL, 0, &nowhere, 1, NULL), MST_INVALID, "a task that this session does not run on");
    parts_close(&all);
    mst_graph_destroy(g);
}

/* ---- strings ---- */

static void strings_go_from_task_to_task(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    parts all;
    mst_value x = MST_NONE, copy = MST_NONE, back = MST_NONE;
    mst_with_device (g, "/job:t/task:0/cpu:0") x = mst_placeholder(g, MST_STRING, MST_SHAPE(3), "x");
    mst_with_device (g, "/job:t/task:1/cpu:0") copy = mst_transpose(mst_reshape(x, MST_SHAPE(3, 1)));
    mst_with_device (g, "/job:t/task:0/cpu:1") back = mst_transpose(copy);
    EXPECT_OK(parts_open(&all, g, 2, "cpu:2/1", false));
    const mst_string words[] = {{"", 0}, {"to be\0or", 8}, {"not", 3}};
    mst_tensor *fed, *output = NULL;
    EXPECT_OK(mst_tensor_copy(MST_STRING, MST_SHAPE(3), words, &fed));
    for (int i = 0; i < 3; i++) {
        EXPECT_OK(parts_run(&all, &(mst_feed){.value = x, .tensor = fed}, 1, &back, 1, &output));
        for (int k = 0; k < 3; k++) assert_true(mst_string_equal(mst_tensor_get_string(output, k), words[k]));
    }
    mst_tensor_release(output);
    mst_tensor_release(fed);
    parts_close(&all);
    mst_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(training_gives_the_bits_of_one_session),
        cmocka_unit_test(failing_node_changes_nothing_on_any_task),
        cmocka_unit_test(coordinator_may_decide_against_a_step_for_which_all_have_voted),
        cmocka_unit_test(run_that_is_cancelled_changes_nothing),
        cmocka_unit_test(message_that_cannot_be_sent_ends_the_run),
        cmocka_unit_test(message_that_does_not_come_ends_the_run_at_its_deadline),
        cmocka_unit_test(plan_says_which_tasks_run_and_who_needs_what),
        cmocka_unit_test(feed_of_another_shape_is_refused),
        cmocka_unit_test(variable_cannot_be_mirrored_over_tasks),
        cmocka_unit_test(node_stays_in_its_task_where_its_device_is_not_there),
        cmocka_unit_test(strings_go_from_task_to_task),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
