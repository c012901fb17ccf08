/* Members of a cluster: when a generation begins and ends, who brings the state, and how a job ends. The cluster is a
 * simulated one, in which every message takes a millisecond. */
#include "membership/members.h"

#include <stdio.h>

#include "support/simulation.h"
#include "support/test.h"

enum { TASKS = 3, STEPS = 50 };

static sim *make_cluster(int64_t num_steps) {
    return sim_create(&(sim_options){.seed = 1, .num_tasks = TASKS, .num_steps = num_steps});
}

static void start_all(sim *s) {
    for (int32_t i = 0; i < TASKS; i++) sim_start(s, i, 0.001 * i);
}

/* A cluster that is making its steps. */
static sim *make_running_cluster(void) {
    sim *s = make_cluster(STEPS);
    start_all(s);
    while (sim_look(s, 2).state_number < 3 && sim_next(s)) continue;
    assert_int_equal(sim_look(s, 2).generation.number, 1);
    return s;
}

static void assert_done(sim *s, int64_t num_steps) {
    assert_true(sim_run_to_end(s, 200));
    assert_string_equal(sim_wrong(s), "");
    for (int32_t i = 0; i < TASKS; i++) {
        const sim_view v = sim_look(s, i);
        if (v.end != SIM_BYE) fail_msg("worker:%d: %s", i, v.failure.message);
        assert_int_equal(v.state_number, num_steps);
        assert_true(v.state_hash == sim_state(s, num_steps));
    }
}

/* The job of all tasks but OTHER (-1: none) ends with CODE, and a message with TEXT in it, about TASK. */
static void assert_failed(sim *s, int32_t other, mst_status code, const char *text, int32_t task) {
    assert_true(sim_run_to_end(s, 200));
    for (int32_t i = 0; i < TASKS; i++) {
        const sim_view v = sim_look(s, i);
        if (i == other) continue;
        assert_int_equal(v.end, SIM_FAILED);
        assert_int_equal(v.failure.code, code);
        assert_int_equal(v.failure.task, task);
        if (!strstr(v.failure.message, text)) fail_msg("'%s' is not in '%s'", text, v.failure.message);
    }
}

/* ---- a generation begins ---- */

static void a_generation_begins_when_all_are_ready(void **state) {
    (void)state;
    sim *s = make_cluster(STEPS);
    sim_start(s, 0, 0);
    sim_start(s, 2, 0);
    sim_run(s, 3);
    assert_int_equal(sim_look(s, 0).num_generations, 0);
    sim_start(s, 1, 0);
    sim_run(s, 0.02);
    for (int32_t i = 0; i < TASKS; i++) {
        const mst_generation g = sim_look(s, i).generation;
        assert_int_equal(sim_look(s, i).num_generations, 1);
        assert_int_equal(g.number, 1);
        assert_int_equal(g.job, 1);
    }
    assert_done(s, STEPS);
    sim_destroy(s);
}

static void in_a_new_job_nobody_copies(void **state) {
    (void)state;
    sim *s = make_running_cluster();
    for (int32_t i = 0; i < TASKS; i++) {
        assert_false(sim_look(s, i).generation.copies);
        for (int32_t j = 0; j < TASKS; j++) {
            assert_false(sim_look(s, i).member_status[j].copies);
            assert_int_equal(sim_look(s, i).member_status[j].state_number, 0);
        }
    }
    sim_destroy(s);
}

static void the_greatest_state_number_counts(void **state) {
    (void)state;
    sim *s = make_cluster(STEPS);
    sim_restore(s, 1, 7);
    sim_restore(s, 2, 7);
    start_all(s);
    sim_run(s, 0.02);
    for (int32_t i = 0; i < TASKS; i++) {
        assert_int_equal(sim_look(s, i).generation.source, 1);
        assert_int_equal(sim_look(s, i).generation.copies, i == 0);
        assert_int_equal(sim_look(s, i).member_status[2].state_number, 7);
    }
    assert_done(s, STEPS);
    sim_destroy(s);
}

static void in_a_job_that_begins_anew_the_state_of_the_chief_counts(void **state) {
    (void)state;
    sim *s = make_cluster(STEPS);
    sim_restore(s, 0, 3);
    sim_restore(s, 1, 7);
    start_all(s);
    sim_run(s, 0.02);
    for (int32_t i = 0; i < TASKS; i++) {
        assert_true(sim_look(s, i).generation.anew);
        assert_int_equal(sim_look(s, i).generation.source, 0);
        assert_int_equal(sim_look(s, i).generation.copies, i != 0);
    }
    assert_done(s, STEPS);
    sim_destroy(s);
}

static void chief_that_comes_back_with_its_checkpoint_gets_the_state_of_the_others(void **state) {
    (void)state;
    sim *s = make_running_cluster();
    sim_restore(s, 0, 2);
    sim_kill(s, 0, false);
    sim_start(s, 0, 0.01);
    sim_run(s, 0.05);
    assert_int_equal(sim_look(s, 0).generation.number, 2);
    assert_false(sim_look(s, 0).generation.anew);
    assert_int_equal(sim_look(s, 0).generation.source, 1);
    assert_true(sim_look(s, 0).generation.copies);
    assert_done(s, STEPS);
    sim_destroy(s);
}

static void another_hash_of_the_same_number_is_replaced(void **state) {
    (void)state;
    sim *s = make_cluster(STEPS);
    sim_differ(s, 2, "state");
    start_all(s);
    sim_run(s, 0.02);
    assert_int_equal(sim_look(s, 2).generation.source, 0);
    assert_true(sim_look(s, 2).generation.copies);
    assert_false(sim_look(s, 1).generation.copies);
    assert_done(s, STEPS);
    sim_destroy(s);
}

static void any_task_can_lead_and_one_alone_is_a_cluster(void **state) {
    (void)state;
    sim *s = sim_create(&(sim_options){.num_tasks = TASKS, .leader = 2, .num_steps = STEPS});
    start_all(s);
    assert_done(s, STEPS);
    sim_destroy(s);
    s = sim_create(&(sim_options){.num_tasks = 1, .num_steps = STEPS});
    sim_start(s, 0, 0);
    assert_true(sim_run_to_end(s, 1));
    assert_int_equal(sim_look(s, 0).end, SIM_BYE);
    sim_destroy(s);
}

/* ---- those that do not fit ---- */

static void other_options_end_a_job_that_has_not_run(void **state) {
    (void)state;
    sim *s = make_cluster(STEPS);
    sim_differ(s, 2, "seed");
    start_all(s);
    assert_failed(s, -1, MST_INVALID,
                  "options differ between task worker:0 at host0:22 and task worker:2 at host2:22: seed 3 and 4: start "
                  "all tasks with the same command",
                  2);
    sim_destroy(s);
}

static void a_newcomer_with_other_options_is_refused_once_the_job_has_run(void **state) {
    (void)state;
    sim *s = make_running_cluster();
    sim_kill(s, 1, false);
    sim_differ(s, 1, "data");
    sim_start(s, 1, 0.1);
    sim_run(s, 1);
    assert_int_equal(sim_look(s, 1).end, SIM_FAILED);
    assert_non_null(strstr(sim_look(s, 1).failure.message, "the data differs between"));
    assert_int_equal(sim_look(s, 0).end, SIM_RUNS);
    assert_int_equal(sim_look(s, 2).end, SIM_RUNS);
    sim_destroy(s);
}

static void other_processors_are_told_to_all_once_and_the_job_runs(void **state) {
    (void)state;
    sim *s = make_cluster(STEPS);
    sim_differ(s, 2, "processor");
    start_all(s);
    assert_done(s, STEPS);
    for (int i = 0; i < TASKS; i++) {
        assert_int_equal(sim_look(s, i).num_notices, 1);
        assert_non_null(strstr(sim_look(s, i).notice.message,
                               "instruction sets differ between task worker:0 at host0:22 and task worker:2 at "
                               "host2:22: processor A and B: "));
    }
    sim_destroy(s);
}

static void instructions_that_all_have_are_agreed_on(void **state) {
    (void)state;
    sim *s = make_cluster(STEPS);
    sim_differ(s, 2, "oneDNN");
    start_all(s);
    assert_done(s, STEPS);
    for (int i = 0; i < TASKS; i++) {
        assert_true(sim_look(s, i).generation.instructions == 1);
        assert_int_equal(sim_look(s, i).num_notices, 0);
    }
    sim_destroy(s);
}

static void a_newcomer_without_the_instructions_of_a_job_that_runs_is_refused(void **state) {
    (void)state;
    sim *s = make_running_cluster();
    assert_true(sim_look(s, 0).generation.instructions == 3);
    sim_kill(s, 1, false);
    sim_differ(s, 1, "oneDNN");
    sim_start(s, 1, 0.1);
    sim_run(s, 1);
    assert_int_equal(sim_look(s, 1).end, SIM_FAILED);
    assert_non_null(strstr(sim_look(s, 1).failure.message, "oneDNN AVX and SSE41: "));
    assert_int_equal(sim_look(s, 0).end, SIM_RUNS);
    sim_destroy(s);
}

static void a_second_process_of_a_task_ends_a_job_that_has_not_run(void **state) {
    (void)state;
    sim *s = make_cluster(STEPS);
    sim_start(s, 0, 0);
    sim_start(s, 1, 0);
    sim_start(s, 1, 1);
    sim_run(s, 10);
    assert_int_equal(sim_look(s, 0).end, SIM_FAILED);
    assert_int_equal(sim_look(s, 1).end, SIM_FAILED);
    assert_int_equal(sim_look(s, 0).failure.code, MST_EXISTS);
    assert_non_null(strstr(sim_look(s, 0).failure.message, "two processes run as one task, task worker:1 at host1:22"));
    sim_destroy(s);
}

static void a_second_process_of_a_task_is_refused_once_the_job_has_run(void **state) {
    (void)state;
    sim *s = make_running_cluster();
    sim_start(s, 1, 0);
    sim_run(s, 0.05);
    assert_int_equal(sim_look(s, 1).end, SIM_FAILED); /* the newer of the two */
    for (int32_t i = 0; i < TASKS; i += 2) {
        assert_int_equal(sim_look(s, i).num_notices, 1);
        assert_non_null(strstr(sim_look(s, i).notice.message, "a second process as task worker:1 at host1:22"));
    }
    assert_true(sim_run_to_end(s, 100));
    assert_int_equal(sim_look(s, 0).end, SIM_BYE);
    assert_int_equal(sim_look(s, 2).num_generations, 1);
    sim_destroy(s);
}

static void a_process_whose_number_the_transport_gives_to_another_ends_at_once_and_all_hear_of_it(void **state) {
    (void)state;
    sim *s = make_running_cluster();
    sim_taken(s, 0, 0, 1); /* the leader has refused a second worker:1 */
    sim_taken(s, 2, 0, 1); /* that is of no interest to other members */
    sim_run(s, 0.01);
    for (int32_t i = 0; i < TASKS; i++) {
        assert_int_equal(sim_look(s, i).num_notices, 1);
        assert_non_null(strstr(sim_look(s, i).notice.message, "task worker:1 at host1:22, on 10.0.0.9, was refused"));
    }
    assert_done(s, STEPS);
    sim_destroy(s);
    s = make_cluster(STEPS);
    sim_start(s, 1, 0);
    sim_run(s, 0.01);
    sim_taken(s, 1, 0, 1);
    sim_run(s, 0.01);
    assert_int_equal(sim_look(s, 1).end, SIM_FAILED);
    assert_int_equal(sim_look(s, 1).failure.code, MST_EXISTS);
    assert_non_null(strstr(sim_look(s, 1).failure.message, "task worker:1 at host1:22 runs already"));
    sim_destroy(s);
}

static void a_second_leader_ends_where_any_task_knows_the_first(void **state) {
    (void)state;
    sim *s = make_cluster(STEPS);
    sim_start(s, 0, 0);
    sim_run(s, 0.01);
    sim_taken(s, 0, 2, 0);
    sim_run(s, 0.01);
    assert_int_equal(sim_look(s, 0).end, SIM_FAILED);
    assert_non_null(strstr(sim_look(s, 0).failure.message, "task worker:0 at host0:22 runs already"));
    sim_destroy(s);
    s = make_running_cluster(); /* where tasks have come to it, it is the first */
    sim_taken(s, 0, 2, 0);
    assert_done(s, STEPS);
    sim_destroy(s);
}

static void lists_that_do_not_fit_end_a_job_that_has_not_run(void **state) {
    (void)state;
    static const char why[] = "two tasks have the number 0";
    sim *s = make_cluster(STEPS);
    sim_start(s, 0, 0);
    sim_start(s, 2, 0);
    sim_run(s, 0.05);
    sim_list_mismatch(s, 0, 1, why);
    assert_failed(s, 1, MST_INVALID,
                  "worker:1: task worker:0 at host0:22 and task worker:1 at host1:22 do not come together: two tasks "
                  "have the number 0",
                  1);
    sim_destroy(s);
    s = make_running_cluster();
    sim_kill(s, 1, false);
    sim_run(s, 0.1);
    for (int i = 0; i < 3; i++) sim_list_mismatch(s, 0, 1, why);
    sim_start(s, 1, 0.1);
    assert_done(s, STEPS);
    assert_int_equal(sim_look(s, 0).num_notices, 1);
    sim_destroy(s);
}

static void a_task_that_cannot_join_ends_a_job_that_has_not_run(void **state) {
    (void)state;
    sim *s = make_cluster(STEPS);
    sim_start(s, 0, 0);
    sim_start(s, 2, 0);
    sim_run(s, 0.05);
    sim_cannot_join(s, 1, 0);
    sim_run(s, 2.5); /* the leader waits for nobody but those who may know that the job has run */
    for (int32_t i = 0; i < TASKS; i += 2) {
        assert_int_equal(sim_look(s, i).end, SIM_FAILED);
        assert_int_equal(sim_look(s, i).failure.code, MST_INVALID);
        assert_int_equal(sim_look(s, i).failure.task, 1);
        assert_string_equal(sim_look(s, i).failure.message,
                            "worker:1: address 'host1:22': another program listens on port 22");
    }
    sim_destroy(s);
}

static void a_leader_that_cannot_join_ends_a_job_that_has_not_run(void **state) {
    (void)state;
    sim *s = make_cluster(STEPS);
    for (int32_t i = 1; i < TASKS; i++) sim_start(s, i, 0);
    sim_run(s, 0.05);
    for (int32_t i = 1; i < TASKS; i++) sim_cannot_join(s, 0, i);
    sim_run(s, 0);
    for (int32_t i = 1; i < TASKS; i++) {
        assert_int_equal(sim_look(s, i).end, SIM_FAILED);
        assert_int_equal(sim_look(s, i).failure.task, 0);
        assert_string_equal(sim_look(s, i).failure.message,
                            "worker:0: address 'host0:22': another program listens on port 22");
    }
    sim_destroy(s);
}

static void expect_notice(sim *s, int32_t told, const char *name) {
    char text[100];
    snprintf(text, sizeof text, "%s cannot join, and the job goes on: address 'host", name);
    assert_int_equal(sim_look(s, told).num_notices, 1);
    if (!strstr(sim_look(s, told).notice.message, text)) fail_msg("%s", sim_look(s, told).notice.message);
}

static void a_process_that_cannot_join_changes_nothing_where_its_task_is_there(void **state) {
    (void)state;
    sim *s = make_cluster(STEPS);
    sim_start(s, 0, 0);
    sim_start(s, 1, 0);
    sim_run(s, 6); /* the leader has said that it waits */
    sim_cannot_join(s, 1, 0);
    sim_cannot_join(s, 0, 1);
    sim_start(s, 2, 0);
    sim_run(s, 0.05);
    expect_notice(s, 0, "worker:1");
    assert_int_equal(sim_look(s, 1).num_notices, 2); /* of the leader's number, too */
    assert_int_equal(sim_look(s, 1).num_generations, 1);
    assert_done(s, STEPS);
    sim_destroy(s);
}

static void a_lost_task_that_cannot_join_is_waited_for(void **state) {
    (void)state;
    for (int32_t lost = 0; lost < 2; lost++) {
        sim *s = make_running_cluster();
        sim_kill(s, lost, false);
        sim_run(s, 0.05);
        sim_cannot_join(s, lost, lost ? 0 : 1);
        sim_run(s, 5);
        expect_notice(s, lost ? 0 : 1, lost ? "worker:1" : "worker:0");
        assert_int_equal(sim_look(s, 2).end, SIM_RUNS);
        sim_start(s, lost, 0);
        assert_done(s, STEPS);
        sim_destroy(s);
    }
}

static void a_leader_that_was_started_again_asks_who_is_there_before_it_ends_the_job(void **state) {
    (void)state;
    sim *s = make_running_cluster();
    sim_kill(s, 0, false);
    sim_kill(s, 1, false);
    sim_start(s, 0, 0.01);
    while (sim_look(s, 0).end != SIM_RUNS && sim_next(s)) continue;
    sim_cannot_join(s, 1, 0); /* worker:2 has not been heard yet */
    sim_run(s, 5);
    expect_notice(s, 0, "worker:1");
    sim_start(s, 1, 0);
    assert_done(s, STEPS);
    sim_destroy(s);
}

static void a_process_that_the_transport_refuses_ends_with_the_reason_if_that_lasts(void **state) {
    (void)state;
    for (int lasts = 0; lasts < 2; lasts++) {
        sim *s = make_cluster(STEPS);
        sim_start(s, 1, 0);
        sim_run(s, 1);
        sim_refuse(s, 1, "task 1 is connected to task 0 from another process");
        sim_run(s, 14);
        assert_int_equal(sim_look(s, 1).end, SIM_RUNS);
        if (!lasts) sim_start(s, 0, 0);
        sim_run(s, 20);
        assert_int_equal(sim_look(s, 1).end, lasts ? SIM_FAILED : SIM_RUNS);
        if (lasts)
            assert_string_equal(sim_look(s, 1).failure.message,
                                "task worker:0, which leads, refuses this process, which runs as worker:1: task 1 is "
                                "connected to task 0 from another process");
        sim_destroy(s);
    }
}

static void a_task_started_again_before_its_loss_is_noticed_takes_its_place(void **state) {
    (void)state;
    sim *s = make_running_cluster();
    sim_kill(s, 1, true);
    sim_start(s, 1, 0.01);
    sim_run(s, 5);
    assert_int_equal(sim_look(s, 1).num_generations, 0);
    assert_int_equal(sim_look(s, 1).end, SIM_RUNS);
    assert_done(s, STEPS);
    assert_true(sim_seconds(s) < 20);
    sim_destroy(s);
}

/* ---- a generation ends ---- */

static void a_lost_task_ends_the_generation_for_all_at_once(void **state) {
    (void)state;
    sim *s = make_running_cluster();
    sim_kill(s, 1, false);
    sim_run(s, 0.0045); /* the loss, END, and no more */
    for (int32_t i = 0; i < TASKS; i += 2) {
        const sim_view v = sim_look(s, i);
        assert_false(v.in_generation);
        assert_int_equal(v.ended_by.code, MST_UNAVAILABLE);
        assert_int_equal(v.ended_by.task, 1);
        assert_non_null(
            strstr(v.ended_by.message, "task worker:1 at host1:22: connection closed by the peer; the job had made"));
        assert_true(v.ended_by.state_number >= 3);
    }
    sim_start(s, 1, 0.1);
    assert_done(s, STEPS);
    assert_int_equal(sim_look(s, 0).generation.number, 2);
    assert_true(sim_look(s, 1).generation.copies);
    sim_destroy(s);
}

static void a_broken_connection_between_two_others_ends_the_generation(void **state) {
    (void)state;
    sim *s = make_running_cluster();
    sim_cut(s, 1, 2, 0.1, true);
    sim_run(s, 0.5);
    assert_int_equal(sim_look(s, 0).ended_by.task, -1);
    assert_non_null(strstr(sim_look(s, 0).ended_by.message, "the connection between task worker:"));
    assert_non_null(strstr(sim_look(s, 0).ended_by.message, "connection reset (seen by worker:"));
    assert_done(s, STEPS);
    assert_int_equal(sim_look(s, 0).num_generations, 2);
    sim_destroy(s);
}

/* Of what a member says of another one that it has lost, when it is cut off itself. */
static void who_is_cut_off_accuses_nobody(void **state) {
    (void)state;
    sim *s = make_running_cluster();
    sim_cut(s, 1, 2, 1, true);
    sim_run(s, 0.05);
    sim_cut(s, 1, 0, 1, true);
    sim_run(s, 0.5);
    assert_int_equal(sim_look(s, 0).ended_by.task, 1);
    assert_non_null(strstr(sim_look(s, 0).ended_by.message, "task worker:1 at "));
    assert_done(s, STEPS);
    sim_destroy(s);
}

static void a_leader_that_comes_back_gets_the_state_and_numbers_rise(void **state) {
    (void)state;
    sim *s = make_running_cluster();
    sim_kill(s, 0, false);
    sim_run(s, 0.01);
    assert_int_equal(sim_look(s, 1).ended_by.task, 0);
    assert_false(sim_look(s, 1).in_generation);
    sim_start(s, 0, 0.1);
    assert_done(s, STEPS);
    for (int32_t i = 0; i < TASKS; i++) {
        assert_int_equal(sim_look(s, i).generation.number, 2);
        assert_int_equal(sim_look(s, i).generation.job, 2);
        assert_int_equal(sim_look(s, i).generation.source, 1);
    }
    assert_true(sim_look(s, 0).generation.copies);
    sim_destroy(s);
}

static void a_leader_that_was_replaced_while_it_was_stopped_ends(void **state) {
    (void)state;
    sim *s = make_running_cluster();
    sim_stop(s, 0, 15);
    sim_run(s, 11);
    assert_false(sim_look(s, 1).in_generation);
    sim_start(s, 0, 0);
    assert_done(s, STEPS);
    assert_int_equal(sim_look(s, 1).generation.job, 2);
    sim_destroy(s);
}

static void a_task_that_has_done_its_work_gives_its_state_to_one_that_was_lost(void **state) {
    (void)state;
    sim *s = make_cluster(1);
    start_all(s);
    int32_t lost = 0;
    while (!sim_look(s, 1).has_left && !sim_look(s, 2).has_left && sim_next(s)) continue;
    lost = sim_look(s, 1).has_left ? 2 : 1;
    assert_false(sim_look(s, lost).has_left);
    sim_kill(s, lost, false);
    sim_start(s, lost, 0.1);
    assert_done(s, 1);
    assert_int_equal(sim_look(s, 3 - lost).num_generations, 2);
    assert_true(sim_look(s, lost).generation.copies);
    sim_destroy(s);
}

static void a_task_that_is_killed_when_all_have_left_comes_back_to_the_state(void **state) {
    (void)state;
    sim *s = make_cluster(1);
    start_all(s);
    while (!(sim_look(s, 0).has_left && sim_look(s, 1).has_left && sim_look(s, 2).has_left) && sim_next(s)) continue;
    sim_kill(s, 0, false);
    sim_start(s, 0, 0.1);
    assert_done(s, 1);
    sim_destroy(s);
}

/* ---- waiting ---- */

static void before_the_job_has_run_all_wait_without_limit_and_say_for_whom(void **state) {
    (void)state;
    sim *s = make_cluster(STEPS);
    sim_start(s, 0, 0);
    sim_start(s, 1, 0);
    sim_run(s, 1000);
    for (int32_t i = 0; i < 2; i++) {
        assert_int_equal(sim_look(s, i).end, SIM_RUNS);
        assert_in_range(sim_look(s, i).num_waiting, 190, 200);
        assert_int_equal(sim_look(s, i).waited.task, 2);
        assert_false(sim_look(s, i).waited.present);
    }
    sim_start(s, 2, 0);
    assert_done(s, STEPS);
    sim_destroy(s);
}

static void without_a_leader_a_task_waits_for_it(void **state) {
    (void)state;
    sim *s = make_cluster(STEPS);
    sim_start(s, 1, 0);
    sim_run(s, 100);
    assert_in_range(sim_look(s, 1).num_waiting, 18, 20);
    assert_int_equal(sim_look(s, 1).waited.task, 0);
    sim_destroy(s);
}

static void a_task_that_does_not_come_back_ends_the_job_and_is_named(void **state) {
    (void)state;
    sim *s = make_running_cluster();
    sim_kill(s, 1, false);
    sim_run(s, 59);
    assert_int_equal(sim_look(s, 2).end, SIM_RUNS);
    assert_failed(s, 1, MST_UNAVAILABLE, "task worker:1 at host1:22 did not come back within 60 s", 1);
    assert_true(sim_seconds(s) < 62);
    sim_destroy(s);
}

static void a_short_wait_for_the_lost_is_not_made_longer(void **state) {
    (void)state;
    sim *s = sim_create(&(sim_options){.seed = 1, .num_tasks = TASKS, .num_steps = STEPS, .recovery_timeout = 2});
    start_all(s);
    while (sim_look(s, 2).state_number < 3 && sim_next(s)) continue;
    sim_kill(s, 1, false);
    assert_failed(s, 1, MST_UNAVAILABLE, "task worker:1 at host1:22 did not come back within 2 s", 1);
    assert_true(sim_seconds(s) < 4);
    sim_destroy(s);
}

static void a_leader_that_does_not_come_back_ends_the_job_and_is_named(void **state) {
    (void)state;
    sim *s = make_running_cluster();
    sim_kill(s, 0, false);
    assert_failed(s, 0, MST_UNAVAILABLE, "task worker:0 at host0:22, which leads, did not come back within 60 s", 0);
    assert_true(sim_seconds(s) < 62);
    sim_destroy(s);
}

/* ---- a program fails ---- */

static void a_failure_of_one_program_ends_the_job_everywhere(void **state) {
    (void)state;
    for (int32_t task = 0; task < TASKS; task++) {
        sim *s = make_running_cluster();
        sim_fail(s, task, false);
        assert_failed(s, -1, MST_NUMERICS, "loss is not a number in worker", task);
        assert_string_equal(sim_look(s, 1).failure.node, "loss");
        assert_int_equal(strncmp(sim_look(s, 1).failure.message, "task worker:", 12), 0);
        assert_true(sim_seconds(s) < 0.1);
        sim_destroy(s);
    }
}

static void the_cause_counts_and_not_a_failure_derived_from_it(void **state) {
    (void)state;
    sim *s = make_cluster(100000);
    start_all(s);
    sim_run(s, 0.1);
    sim_fail(s, 1, true);
    sim_run(s, 0.5);
    sim_fail(s, 2, false);
    assert_failed(s, -1, MST_NUMERICS, "task worker:2 at host2:22: loss is not a number in worker:2", 2);
    sim_destroy(s);
    s = make_cluster(100000);
    start_all(s);
    sim_run(s, 0.1);
    sim_fail(s, 1, true);
    assert_failed(s, -1, MST_NUMERICS, "loss is not a number in worker:1", 1);
    assert_in_range((uintmax_t)(1000 * sim_seconds(s)), 1100, 1300);
    sim_destroy(s);
}

static void who_has_waited_too_long_learns_who_did_not_come(void **state) {
    (void)state;
    sim *s = make_running_cluster();
    sim_hang(s, 2);
    sim_run(s, 10);
    const long long at = sim_look(s, 2).state_number;
    sim_give_up(s, 1);
    char text[256];
    snprintf(text, sizeof text,
             "task worker:1 at host1:22: waited 600 s; worker:2 has not come to exchange 3 of run %lld (sum): it has "
             "been at exchange 3 of run %lld (sum) for ",
             at + 1, at);
    assert_failed(s, -1, MST_DEADLINE, text, 1);
    snprintf(text, sizeof text, ", before at exchange 3 of run %lld (sum) (", at - 1);
    assert_non_null(strstr(sim_look(s, 0).failure.message, text));
    assert_non_null(strstr(sim_look(s, 0).failure.message, " s ago); worker:0 and worker:1 have come"));
    sim_destroy(s);
}

static void a_stopped_task_is_named_as_one_that_does_not_answer(void **state) {
    (void)state;
    sim *s = make_running_cluster();
    sim_stop(s, 2, 8);
    sim_run(s, 1);
    sim_give_up(s, 1);
    assert_failed(s, -1, MST_DEADLINE, "waited 600 s; worker:2 does not answer", 1);
    sim_destroy(s);
}

static void a_program_that_fails_before_there_is_a_leader_tells_it_later(void **state) {
    (void)state;
    sim *s = make_cluster(STEPS);
    sim_start(s, 1, 0);
    sim_run(s, 0.1);
    sim_fail(s, 1, false);
    sim_start(s, 0, 20);
    sim_run(s, 21);
    sim_start(s, 2, 0);
    assert_failed(s, -1, MST_NUMERICS, "loss is not a number in worker:1", 1);
    sim_destroy(s);
}

/* ---- messages ---- */

static void messages_of_an_earlier_generation_change_nothing(void **state) {
    (void)state;
    sim *s = make_running_cluster();
    sim_kill(s, 1, false);
    sim_start(s, 1, 0.1);
    sim_run(s, 0.02);
    assert_false(sim_look(s, 2).in_generation);
    sim_repeat(s, 2, MST_MEMBER_BEGIN);
    sim_repeat(s, 2, MST_MEMBER_GO);
    assert_int_equal(sim_look(s, 2).ignored, 2);
    while (!sim_look(s, 2).in_generation && sim_next(s)) continue;
    sim_repeat(s, 2, MST_MEMBER_END);
    sim_repeat(s, 0, MST_MEMBER_ACKNOWLEDGE);
    assert_true(sim_look(s, 2).in_generation);
    assert_done(s, STEPS);
    assert_int_equal(sim_look(s, 2).num_generations, 2);
    sim_destroy(s);
}

static void messages_to_or_from_an_earlier_process_change_nothing(void **state) {
    (void)state;
    sim *s = make_running_cluster();
    sim_kill(s, 0, false);
    sim_kill(s, 2, false);
    sim_start(s, 0, 0);
    sim_start(s, 2, 0);
    while (sim_look(s, 2).state_number < 5 && sim_next(s)) continue;
    const uint64_t before = sim_look(s, 1).ignored;
    uint8_t bytes[MST_MEMBER_MESSAGE_MOST(TASKS)];
    const mst_member_message bye = {.kind = MST_MEMBER_BYE, .job = 2, .generation = 2, .to = 99};
    sim_inject(s, 1, 0, bytes, mst_member_message_encode(&bye, TASKS, bytes));
    const mst_member_message old = {.kind = MST_MEMBER_BYE, .job = 1, .generation = 2};
    sim_inject(s, 1, 0, bytes, mst_member_message_encode(&old, TASKS, bytes));
    assert_int_equal(sim_look(s, 1).ignored, before + 2);
    assert_done(s, STEPS);
    sim_destroy(s);
}

static void messages_that_make_no_sense_are_counted_and_no_more(void **state) {
    (void)state;
    sim *s = make_running_cluster();
    uint8_t bytes[MST_MEMBER_MESSAGE_MOST(TASKS)];
    uint64_t sent = 0;
    for (int kind = 0; kind <= MST_MEMBER_KINDS; kind++) {
        mst_member_status member_status[TASKS] = {0};
        const mst_member_message message = {
            .kind = (mst_member_kind)kind, .member_status = member_status, .failure = {.code = MST_IO, .task = -1}};
        const size_t size = mst_member_message_encode(&message, TASKS, bytes);
        for (size_t cut = 0; cut < size; cut++, sent++) sim_inject(s, (int32_t)(cut % TASKS), 1, bytes, cut);
        sim_inject(s, 2, 1, bytes, size); /* not from the leader, not to it */
        sent++;
    }
    uint64_t ignored = 0;
    for (int32_t i = 0; i < TASKS; i++) ignored += sim_look(s, i).ignored;
    assert_int_equal(ignored, sent);
    assert_done(s, STEPS);
    assert_int_equal(sim_look(s, 0).num_generations, 1);
    sim_destroy(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_generation_begins_when_all_are_ready),
        cmocka_unit_test(in_a_new_job_nobody_copies),
        cmocka_unit_test(the_greatest_state_number_counts),
        cmocka_unit_test(in_a_job_that_begins_anew_the_state_of_the_chief_counts),
        cmocka_unit_test(chief_that_comes_back_with_its_checkpoint_gets_the_state_of_the_others),
        cmocka_unit_test(another_hash_of_the_same_number_is_replaced),
        cmocka_unit_test(any_task_can_lead_and_one_alone_is_a_cluster),
        cmocka_unit_test(other_options_end_a_job_that_has_not_run),
        cmocka_unit_test(a_newcomer_with_other_options_is_refused_once_the_job_has_run),
        cmocka_unit_test(other_processors_are_told_to_all_once_and_the_job_runs),
        cmocka_unit_test(instructions_that_all_have_are_agreed_on),
        cmocka_unit_test(a_newcomer_without_the_instructions_of_a_job_that_runs_is_refused),
        cmocka_unit_test(a_second_process_of_a_task_ends_a_job_that_has_not_run),
        cmocka_unit_test(a_second_process_of_a_task_is_refused_once_the_job_has_run),
        cmocka_unit_test(a_process_whose_number_the_transport_gives_to_another_ends_at_once_and_all_hear_of_it),
        cmocka_unit_test(a_second_leader_ends_where_any_task_knows_the_first),
        cmocka_unit_test(lists_that_do_not_fit_end_a_job_that_has_not_run),
        cmocka_unit_test(a_task_that_cannot_join_ends_a_job_that_has_not_run),
        cmocka_unit_test(a_leader_that_cannot_join_ends_a_job_that_has_not_run),
        cmocka_unit_test(a_process_that_cannot_join_changes_nothing_where_its_task_is_there),
        cmocka_unit_test(a_lost_task_that_cannot_join_is_waited_for),
        cmocka_unit_test(a_leader_that_was_started_again_asks_who_is_there_before_it_ends_the_job),
        cmocka_unit_test(a_process_that_the_transport_refuses_ends_with_the_reason_if_that_lasts),
        cmocka_unit_test(a_task_started_again_before_its_loss_is_noticed_takes_its_place),
        cmocka_unit_test(a_lost_task_ends_the_generation_for_all_at_once),
        cmocka_unit_test(a_broken_connection_between_two_others_ends_the_generation),
        cmocka_unit_test(who_is_cut_off_accuses_nobody),
        cmocka_unit_test(a_leader_that_comes_back_gets_the_state_and_numbers_rise),
        cmocka_unit_test(a_leader_that_was_replaced_while_it_was_stopped_ends),
        cmocka_unit_test(a_task_that_has_done_its_work_gives_its_state_to_one_that_was_lost),
        cmocka_unit_test(a_task_that_is_killed_when_all_have_left_comes_back_to_the_state),
        cmocka_unit_test(before_the_job_has_run_all_wait_without_limit_and_say_for_whom),
        cmocka_unit_test(without_a_leader_a_task_waits_for_it),
        cmocka_unit_test(a_task_that_does_not_come_back_ends_the_job_and_is_named),
        cmocka_unit_test(a_short_wait_for_the_lost_is_not_made_longer),
        cmocka_unit_test(a_leader_that_does_not_come_back_ends_the_job_and_is_named),
        cmocka_unit_test(a_failure_of_one_program_ends_the_job_everywhere),
        cmocka_unit_test(the_cause_counts_and_not_a_failure_derived_from_it),
        cmocka_unit_test(who_has_waited_too_long_learns_who_did_not_come),
        cmocka_unit_test(a_stopped_task_is_named_as_one_that_does_not_answer),
        cmocka_unit_test(a_program_that_fails_before_there_is_a_leader_tells_it_later),
        cmocka_unit_test(messages_of_an_earlier_generation_change_nothing),
        cmocka_unit_test(messages_to_or_from_an_earlier_process_change_nothing),
        cmocka_unit_test(messages_that_make_no_sense_are_counted_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
