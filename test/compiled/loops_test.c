/* Loops in steps of several shards on devices that compile: a scan with its gradient, a while loop, and a while loop
 * that does not end in time. */
#include <math.h>
#include <stdio.h>

#include "support/state.h"
#include "support/test.h"

enum { SHARDS = 4, STEPS = 4 };

/* h = tanh(x + h w), and its sum so far. */
static void cell(mst_loop_step *s) {
    s->next[0] = mst_tanh(mst_add(s->x[0], mst_matmul(s->carry[0], s->captured[0])));
    s->y[0] = mst_reduce_sum(s->next[0], .axes = MST_AXES(1));
}

static mst_value is_small(mst_loop_step *s) {
    return mst_less(s->carry[0], s->captured[0]);
}

static void grow(mst_loop_step *s) {
    s->next[0] = mst_add(mst_scale(s->carry[0], 1.5), s->captured[1]);
}

/* The loss is that of a scan over 6 positions, times a number that a while loop finds from the scan. */
static void build_replica(void *context, mst_graph *g, int shard, mst_replica *out) {
    (void)context, (void)shard;
    const mst_value x = mst_random_uniform(g, MST_SHAPE(6, 3, 5), .low = -1);
    const mst_value w = mst_get_variable(g, "w", MST_SHAPE(5, 5), MST_F32, mst_random_uniform_initializer(.high = 0.5));
    const mst_value first = mst_fill(g, MST_F32, MST_SHAPE(3, 5), 0.1);
    const mst_value last = mst_scan(cell, .carry = {first}, .x = {x}, .captured = {w});
    const mst_value sums = mst_value_output(last, 1), limit = mst_scalar(g, MST_F32, 4);
    const mst_value found = mst_while(is_small, grow, .carry = {mst_scalar(g, MST_F32, 1)},
                                      .captured = {limit, mst_square(mst_reduce_mean(mst_stop_gradient(sums)))});
    out->loss = mst_mul(mst_add(mst_reduce_mean(mst_square(last), .axes = MST_AXES(1)),
                                mst_reduce_mean(mst_square(sums), .axes = MST_AXES(0))),
                        found);
}

static mst_tensor *train(const char *devices, double loss[STEPS]) {
    mst_graph *g = engine_graph();
    mst_session *session = engine_session(g, devices);
    mst_strategy strategy = {.kind = MST_STRATEGY_MIRRORED, .num_shards = SHARDS};
    const mst_optimizer adam = mst_adam(.learning_rate = 0.05);
    mst_step_values values;
    mst_tensor *w;
    engine_build_step(g, session, &strategy, &adam, build_replica, NULL, &values);
    for (int i = 0; i < STEPS; i++) {
        mst_tensor *out[2] = {NULL};
        EXPECT_OK(mst_session_run(session, NULL, 0, (mst_value[]){values.train, values.loss}, 2, out));
        loss[i] = mst_tensor_get(out[1], 0);
        mst_tensor_release(out[1]);
    }
    EXPECT_OK(mst_session_get_variable(session, (mst_value){.node = mst_graph_find(g, "w")}, &w));
    engine_end(g, session);
    return w;
}

static void loops_of_shards_have_the_losses_of_cpus_and_one_answer(void **state) {
    (void)state;
    double wanted[STEPS], got[STEPS];
    mst_tensor *cpu = train("cpu:1/1", wanted), *first = NULL;
    for (int devices = 1; devices <= SHARDS; devices *= 2) {
        char spec[16];
        snprintf(spec, sizeof spec, "lagoon:%d", devices);
        mst_tensor *w = train(spec, got);
        for (int i = 0; i < STEPS; i++)
            if (!(fabs(got[i] - wanted[i]) <= 1e-4 * fabs(wanted[i])))
                fail_msg("%s, step %d: loss %g, on CPUs %g", spec, i, got[i], wanted[i]);
        if (!first) first = mst_tensor_retain(w);
        assert_true(engine_same_bits(w, first));
        mst_tensor_release(w);
    }
    assert_true(engine_distance(first, cpu) <= 1e-3);
    mst_tensor_release(first);
    mst_tensor_release(cpu);
}

/* ---- a loop that outlives the deadline ---- */

static mst_value counts_up(mst_loop_step *s) {
    return mst_less(s->carry[0], s->captured[0]);
}

static void count(mst_loop_step *s) {
    s->next[0] = mst_add(s->carry[0], s->captured[1]);
}

/* The call ends at its deadline, and nothing has changed; when the program has ended, the next step works. */
static void a_program_that_takes_too_long_changes_nothing(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_session *session;
    mst_value v = MST_NONE, step = MST_NONE;
    const mst_value times = mst_placeholder(g, MST_I32, MST_SCALAR, "times");
    mst_with_device (g, "/lagoon:1") {
        const mst_value zero = mst_scalar(g, MST_I32, 0), one = mst_scalar(g, MST_I32, 1);
        const mst_value counted =
            mst_while(counts_up, count, .carry = {zero}, .captured = {times, one}, .name = "long");
        v = mst_variable(g, "v", mst_scalar(g, MST_F32, 1));
        step = mst_assign_add(v, mst_cast(counted, MST_F32));
    }
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "lagoon:2", .timeout = 0.2}, &session));
    EXPECT_OK(mst_session_init_variables(session));
    mst_feed feed = {.value = times, .tensor = engine_tensor(MST_I32, MST_SCALAR, (double[]){3})};
    EXPECT_OK(mst_session_run(session, &feed, 1, &step, 1, NULL));
    mst_snapshot *before = state_of(mst_session_store(session));
    mst_tensor_set(feed.tensor, 0, 900000);
    EXPECT_ERROR(mst_session_run(session, &feed, 1, &step, 1, NULL), MST_DEADLINE, "has not ended");
    assert_string_equal(mst_error()->device, mst_session_device(session, 1));
    mst_snapshot *after = state_of(mst_session_store(session));
    state_expect_same("too long", after, before, false);
    mst_tensor_set(feed.tensor, 0, 3);
    mst_status status = MST_DEADLINE;
    for (int i = 0; i < 300 && status == MST_DEADLINE; i++) status = mst_session_run(session, &feed, 1, &step, 1, NULL);
    EXPECT_OK(status);
    assert_true(engine_number(session, v) == 7);
    mst_snapshot_release(before);
    mst_snapshot_release(after);
    mst_tensor_release(feed.tensor);
    engine_end(g, session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_of_shards_have_the_losses_of_cpus_and_one_answer),
        cmocka_unit_test(a_program_that_takes_too_long_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
