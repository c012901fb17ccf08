/* Members of a cluster that leave, one after another: what happens in between. The cluster is a simulated one, in which
 * every message takes a millisecond. */
#include "membership/members.h"

#include "support/simulation.h"
#include "support/test.h"

/* When all have done their work nobody needs a connection that has broken before. */
static void a_broken_connection_between_two_that_are_done_ends_nothing(void **state) {
    (void)state;
    enum { LATE = 3 };
    sim *s = sim_create(&(sim_options){.seed = 1, .num_tasks = LATE + 1, .num_steps = 1});
    for (int32_t i = 0; i <= LATE; i++) sim_start(s, i, 0);
    while (!sim_look(s, LATE).in_generation && sim_next(s)) continue;
    sim_run(s, 0.0005); /* its number is on its way */
    sim_stop(s, LATE, 0.2);
    while (!(sim_look(s, 1).has_left && sim_look(s, 2).has_left) && sim_next(s)) continue;
    assert_false(sim_look(s, LATE).has_left);
    sim_cut(s, 1, 2, 1, true);
    while (!sim_look(s, LATE).has_left && sim_next(s)) continue;
    sim_run(s, 0.0005);
    sim_stop(s, LATE, 1);
    assert_true(sim_run_to_end(s, 200));
    for (int32_t i = 0; i <= LATE; i++) {
        assert_int_equal(sim_look(s, i).end, SIM_BYE);
        assert_int_equal(sim_look(s, i).num_generations, 1);
    }
    assert_string_equal(sim_wrong(s), "");
    sim_destroy(s);
}

/* The leader is gone before it has said BYE to those that know that all have done their work: they wait some seconds
 * for it, and not as long as for a task with which the job goes on. */
static void a_leader_that_is_gone_when_all_have_left_is_waited_for_briefly(void **state) {
    enum { TASKS = 3, RECOVERY = 600, BRIEFLY = 10 };
    (void)state;
    sim *s = sim_create(&(sim_options){.seed = 1, .num_tasks = TASKS, .num_steps = 1, .recovery_timeout = RECOVERY});
    for (int32_t i = 0; i < TASKS; i++) sim_start(s, i, 0);
    while (!(sim_look(s, 0).has_left && sim_look(s, 1).has_left && sim_look(s, 2).has_left) && sim_next(s)) continue;
    sim_run(s, 0.0025); /* LEFT goes to the leader, ALL_LEFT comes back, and its acknowledgement is on its way */
    assert_int_equal(sim_look(s, 0).end, SIM_RUNS);
    sim_kill(s, 0, false);
    sim_run(s, 1);
    for (int32_t i = 1; i < TASKS; i++) assert_int_equal(sim_look(s, i).end, SIM_RUNS);
    sim_run(s, BRIEFLY);
    for (int32_t i = 1; i < TASKS; i++) assert_int_equal(sim_look(s, i).end, SIM_BYE);
    assert_string_equal(sim_wrong(s), "");
    sim_destroy(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_broken_connection_between_two_that_are_done_ends_nothing),
        cmocka_unit_test(a_leader_that_is_gone_when_all_have_left_is_waited_for_briefly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
