/* scan and while: values, dtypes, no steps, loops in loops, what they refuse; and that a scan of a cell gives what the
 * op of that cell gives, with the same gradients. */
#include <math.h>

#include "support/graph_pair.h"
#include "support/test.h"

static mst_value numbers(mst_graph *g, mst_dtype dtype, int count, const double *value) {
    return mst_values(g, dtype, MST_SHAPE(count), value);
}

static void expect_numbers(mst_session *session, mst_value fetch, mst_dtype dtype, int count, const double *expect) {
    mst_tensor *got = engine_fetch(session, NULL, 0, fetch);
    assert_int_equal(mst_tensor_dtype(got), dtype);
    assert_int_equal(mst_tensor_count(got), count);
    for (int i = 0; i < count; i++)
        if (!(fabs(mst_tensor_get(got, i) - expect[i]) <= 1e-6))
            fail_msg("'%s', element %d: %g, should be %g", mst_value_name(fetch), i, mst_tensor_get(got, i), expect[i]);
    mst_tensor_release(got);
}
#define EXPECT(session, fetch, dtype, ...)                                                               \
    expect_numbers((session), (fetch), (dtype), (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)), \
                   (double[]){__VA_ARGS__})

/* ---- scan ---- */

static int times_built;

/* The sum so far, and 10 times what came. */
static void add_up(mst_loop_step *s) {
    times_built++;
    s->next[0] = mst_add(s->carry[0], s->x[0]);
    s->y[0] = s->next[0];
    s->y[1] = mst_mul(s->x[0], s->captured[0]);
}

static void scan_carries_a_value_and_stacks_others(void **state) {
    static const mst_dtype dtypes[] = {MST_F32, MST_F64, MST_I32, MST_I64};
    (void)state;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        mst_graph *g = engine_graph();
        const mst_value x = numbers(g, dtypes[d], 4, (double[]){1, 2, 3, 4});
        const mst_value first = mst_scalar(g, dtypes[d], 5), ten = mst_scalar(g, dtypes[d], 10);
        times_built = 0;
        const mst_value sum = mst_scan(add_up, .carry = {first}, .x = {x}, .captured = {ten});
        const mst_value back = mst_scan(add_up, .carry = {first}, .x = {x}, .captured = {ten}, .reverse = true);
        EXPECT_OK(mst_graph_check(g));
        assert_int_equal(times_built, 2);
        mst_session *session = engine_session(g, NULL);
        EXPECT(session, sum, dtypes[d], 15);
        EXPECT(session, mst_value_output(sum, 1), dtypes[d], 6, 8, 11, 15);
        EXPECT(session, mst_value_output(sum, 2), dtypes[d], 10, 20, 30, 40);
        EXPECT(session, back, dtypes[d], 15);
        EXPECT(session, mst_value_output(back, 1), dtypes[d], 15, 14, 12, 9);
        engine_end(g, session);
    }
}

static void scan_of_no_steps_gives_its_first_carry(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    const mst_value x = mst_placeholder(g, MST_F32, MST_SHAPE(-1)), first = mst_scalar(g, MST_F32, 5);
    const mst_value sum = mst_scan(add_up, .carry = {first}, .x = {x}, .captured = {first});
    mst_value gradient[2];
    mst_gradients(mst_mul(sum, sum), (mst_value[]){first, x}, 2, gradient);
    EXPECT_OK(mst_graph_check(g));
    mst_session *session = engine_session(g, NULL);
    for (int steps = 0; steps < 3; steps++) { /* the same graph for any number of steps */
        mst_feed feed = {.value = x, .tensor = engine_tensor(MST_F32, MST_SHAPE(steps), (double[]){1, 2})};
        mst_tensor *out[4] = {NULL};
        EXPECT_OK(mst_session_run(session, &feed, 1,
                                  (mst_value[]){sum, mst_value_output(sum, 1), gradient[0], gradient[1]}, 4, out));
        const double last = 5 + (steps > 0) + 2 * (steps > 1);
        assert_true(mst_tensor_get(out[0], 0) == last);
        assert_int_equal(mst_tensor_count(out[1]), steps);
        assert_true(mst_tensor_get(out[2], 0) == 2 * last);
        assert_int_equal(mst_tensor_count(out[3]), steps);
        for (int i = 0; i < steps; i++) assert_true(mst_tensor_get(out[3], i) == 2 * last);
        for (int i = 0; i < 4; i++) mst_tensor_release(out[i]);
        mst_tensor_release(feed.tensor);
    }
    engine_end(g, session);
}

/* Fibonacci's numbers: carries that change places. */
static void swap(mst_loop_step *s) {
    s->next[0] = s->carry[1];
    s->next[1] = mst_add(s->carry[0], s->carry[1]);
    s->y[0] = s->carry[0];
}

static void carries_may_change_places(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    const mst_value zero = mst_scalar(g, MST_I64, 0), one = mst_scalar(g, MST_I64, 1);
    const mst_value last = mst_scan(swap, .carry = {zero, one}, .num_steps = 8);
    EXPECT_OK(mst_graph_check(g));
    mst_session *session = engine_session(g, NULL);
    EXPECT(session, last, MST_I64, 21);
    EXPECT(session, mst_value_output(last, 1), MST_I64, 34);
    EXPECT(session, mst_value_output(last, 2), MST_I64, 0, 1, 1, 2, 3, 5, 8, 13);
    engine_end(g, session);
}

/* A row: the running sum of its elements, from the last of the row before on. */
static void add_row(mst_loop_step *s) {
    const mst_value inner = mst_scan(add_up, .carry = {s->carry[0]}, .x = {s->x[0]}, .captured = {s->captured[0]});
    s->next[0] = inner;
    s->y[0] = mst_value_output(inner, 1);
}

static void scans_may_be_nested(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    const mst_value x = mst_values(g, MST_F32, MST_SHAPE(2, 3), (double[]){1, 2, 3, 4, 5, 6});
    const mst_value zero = mst_scalar(g, MST_F32, 0), ten = mst_scalar(g, MST_F32, 10);
    const mst_value sum = mst_scan(add_row, .carry = {zero}, .x = {x}, .captured = {ten});
    mst_value gradient;
    mst_gradients(mst_square(mst_value_output(sum, 1)), &x, 1, &gradient);
    EXPECT_OK(mst_graph_check(g));
    mst_session *session = engine_session(g, NULL);
    EXPECT(session, sum, MST_F32, 21);
    EXPECT(session, mst_value_output(sum, 1), MST_F32, 1, 3, 6, 10, 15, 21);
    /* 2 times the running sums from here on */
    EXPECT(session, gradient, MST_F32, 112, 110, 104, 92, 72, 42);
    engine_end(g, session);
}

/* ---- cells ---- */

enum { ROWS = 3, STEPS = 5, UNITS = 4 };

static void rnn_step(mst_loop_step *s) {
    s->next[0] = mst_tanh(mst_add(s->x[0], mst_matmul(s->carry[0], s->captured[0])));
    s->y[0] = s->next[0];
}

/* Keras' order of the gates: input, forget, the new memory, output. */
static void lstm_step(mst_loop_step *s) {
    const mst_value gate = mst_split(mst_add(s->x[0], mst_matmul(s->carry[0], s->captured[0])), 4, 1);
    const mst_value memory = mst_tanh(mst_value_output(gate, 2));
    s->next[1] =
        mst_add(mst_mul(mst_sigmoid(mst_value_output(gate, 1)), s->carry[1]), mst_mul(mst_sigmoid(gate), memory));
    s->next[0] = mst_mul(mst_sigmoid(mst_value_output(gate, 3)), mst_tanh(s->next[1]));
    s->y[0] = s->next[0];
}

/* [rows, steps, ...] and back. */
static mst_value turned(mst_value value) {
    return mst_transpose(value, .perm = MST_AXES(1, 0, 2));
}

/* The sum of squares of all steps of a cell, by its op and by a scan, and its gradients. */
static void check_cell(int gates) {
    mst_graph *g = engine_graph();
    const mst_value src = mst_placeholder(g, MST_F64, MST_SHAPE(ROWS, STEPS, gates * UNITS));
    const mst_value recurrent = mst_placeholder(g, MST_F64, MST_SHAPE(UNITS, gates * UNITS));
    const mst_value zeros = mst_values(g, MST_F64, MST_SHAPE(ROWS, UNITS), (double[ROWS * UNITS]){0});
    const mst_value fused =
        mst_call_text(g, gates == 1 ? "simple_rnn" : "lstm", NULL, 2, (mst_value[]){src, recurrent}, NULL);
    const mst_value loop =
        gates == 1 ? mst_scan(rnn_step, .carry = {zeros}, .x = {turned(src)}, .captured = {recurrent})
                   : mst_scan(lstm_step, .carry = {zeros, zeros}, .x = {turned(src)}, .captured = {recurrent});
    mst_value out[] = {fused,   turned(mst_value_output(loop, gates == 1 ? 1 : 2)), MST_NONE, MST_NONE, MST_NONE,
                       MST_NONE};
    for (int i = 0; i < 2; i++)
        mst_gradients(mst_reduce_sum(mst_square(out[i])), (mst_value[]){src, recurrent}, 2, &out[2 + 2 * i]);
    EXPECT_OK(mst_graph_check(g));
    mst_session *session = engine_session(g, NULL);
    mst_feed feed[] = {
        {.value = src, .tensor = engine_random(MST_F64, MST_SHAPE(ROWS, STEPS, gates * UNITS), -1, 1, 3)},
        {.value = recurrent, .tensor = engine_random(MST_F64, MST_SHAPE(UNITS, gates * UNITS), -1, 1, 4)}};
    mst_tensor *got[6] = {NULL};
    EXPECT_OK(mst_session_run(session, feed, 2, out, 6, got));
    assert_true(engine_distance(got[1], got[0]) < 1e-12);
    assert_true(engine_distance(got[4], got[2]) < 1e-12);
    assert_true(engine_distance(got[5], got[3]) < 1e-12);
    for (int i = 0; i < 6; i++) mst_tensor_release(got[i]);
    for (int i = 0; i < 2; i++) mst_tensor_release(feed[i].tensor);
    engine_end(g, session);
}

static void scan_of_a_cell_is_the_op_of_the_cell(void **state) {
    (void)state;
    check_cell(1);
    check_cell(4);
}

/* ---- plans ---- */

/* A graph with the gradients of a recurrent net in f32, whose products threads share. */
static mst_graph *recurrent_graph(mst_value *out) {
    enum { BATCH = 64, WIDE = 96, LONG = 6 };
    mst_graph *g = engine_graph();
    mst_value x = mst_random_normal(g, MST_SHAPE(LONG, BATCH, WIDE), .seed = 1);
    mst_value w = mst_scale(mst_random_normal(g, MST_SHAPE(WIDE, WIDE), .seed = 2), 0.1);
    mst_value zeros = mst_zeros_like(mst_random_normal(g, MST_SHAPE(BATCH, WIDE), .seed = 3));
    const mst_value last = mst_scan(rnn_step, .carry = {zeros}, .x = {x}, .captured = {w});
    mst_gradients(mst_square(last), (mst_value[]){x, w}, 2, out);
    out[2] = last;
    EXPECT_OK(mst_graph_check(g));
    return g;
}

static void bits_do_not_depend_on_threads(void **state) {
    (void)state;
    mst_tensor *first[3] = {NULL};
    static const char *const devices[] = {"cpu:1/1", "cpu:1/2", "cpu:1/3"};
    for (int d = 0; d < 3; d++) {
        mst_value out[3];
        mst_graph *g = recurrent_graph(out);
        mst_session *session = engine_session(g, devices[d]);
        mst_tensor *got[3] = {NULL};
        EXPECT_OK(mst_session_run(session, NULL, 0, out, 3, got));
        for (int i = 0; i < 3; i++) {
            if (d) assert_true(engine_same_bits(got[i], first[i]));
            mst_tensor_release(d ? got[i] : NULL);
            if (!d) first[i] = got[i];
        }
        engine_end(g, session);
    }
    for (int i = 0; i < 3; i++) mst_tensor_release(first[i]);
}

/* A replica that trains a recurrent weight on a shard of rows. */
static void replica(void *context, mst_graph *g, int shard, mst_replica *out) {
    enum { SHARD = 2, LONG = 3, WIDE = 4 };
    const mst_value x = mst_placeholder(g, MST_F32, MST_SHAPE(LONG, SHARD, WIDE));
    const mst_value w =
        mst_get_variable(g, "w", MST_SHAPE(WIDE, WIDE), .initializer = mst_glorot_uniform_initializer(.seed = 7));
    const mst_value zeros = mst_values(g, MST_F32, MST_SHAPE(SHARD, WIDE), (double[SHARD * WIDE]){0});
    const mst_value last = mst_scan(rnn_step, .carry = {zeros}, .x = {x}, .captured = {w});
    ((mst_value *)context)[shard] = x;
    out->loss = mst_reduce_sum(mst_square(last), .axes = MST_AXES(1));
}

static mst_tensor *trained(const char *devices) {
    enum { SHARDS = 4, UPDATES = 3 };
    mst_graph *g = engine_graph();
    mst_session *session = engine_session(g, devices);
    const mst_optimizer sgd = mst_sgd(.learning_rate = 0.1);
    mst_strategy mirrored = {.kind = MST_STRATEGY_MIRRORED, .num_shards = SHARDS};
    mst_value x[SHARDS];
    mst_step_values step;
    engine_build_step(g, session, &mirrored, &sgd, replica, x, &step);
    mst_feed feed[SHARDS];
    for (int i = 0; i < SHARDS; i++)
        feed[i] = (mst_feed){.value = x[i], .tensor = engine_random(MST_F32, MST_SHAPE(3, 2, 4), -1, 1, (unsigned)i)};
    for (int i = 0; i < UPDATES; i++) EXPECT_OK(mst_session_run(session, feed, SHARDS, &step.train, 1, NULL));
    mst_tensor *w;
    EXPECT_OK(mst_session_get_variable(session, (mst_value){mst_graph_find(g, "w"), 0}, &w));
    for (int i = 0; i < SHARDS; i++) mst_tensor_release(feed[i].tensor);
    engine_end(g, session);
    return w;
}

static void training_gives_the_same_bits_on_any_devices(void **state) {
    (void)state;
    mst_tensor *one = trained("cpu:1/1");
    static const char *const devices[] = {"cpu:2/1", "cpu:4/1", "cpu:1/3"};
    for (int d = 0; d < 3; d++) {
        mst_tensor *other = trained(devices[d]);
        assert_true(engine_same_bits(other, one));
        mst_tensor_release(other);
    }
    mst_tensor_release(one);
}

static int64_t arena_of(int64_t steps, bool gradient) {
    enum { SIDE = 64 };
    mst_graph *g = engine_graph();
    const mst_value x = mst_placeholder(g, MST_F32, MST_SHAPE(-1, 1, SIDE));
    const mst_value w = mst_placeholder(g, MST_F32, MST_SHAPE(SIDE, SIDE));
    const mst_value zeros = mst_values(g, MST_F32, MST_SHAPE(1, SIDE), (double[SIDE]){0});
    const mst_value last = mst_scan(rnn_step, .carry = {zeros}, .x = {x}, .captured = {w});
    mst_value out = last;
    if (gradient) mst_gradients(mst_square(last), &w, 1, &out);
    mst_session *session = engine_session(g, NULL);
    mst_feed feed[] = {{.value = x, .tensor = engine_tensor(MST_F32, MST_SHAPE(steps, 1, SIDE), NULL)},
                       {.value = w, .tensor = engine_tensor(MST_F32, MST_SHAPE(SIDE, SIDE), NULL)}};
    mst_tensor_release(engine_fetch(session, feed, 2, out));
    const int64_t bytes = mst_session_plan_info(session).arena_bytes;
    for (int i = 0; i < 2; i++) mst_tensor_release(feed[i].tensor);
    engine_end(g, session);
    return bytes;
}

static void what_nobody_needs_takes_no_memory(void **state) {
    (void)state;
    enum { BYTES = 64 * 4 };
    if (strcmp(engine_here("cpu"), "cpu") != 0) skip(); /* what is fed is copied to the device */
    /* only the last carry: nothing is kept of a step */
    assert_int_equal(arena_of(100, false), arena_of(10, false));
    /* with the gradient of w the carries of all steps are, but not the sums of gradients after each */
    assert_int_equal(arena_of(100, true) - arena_of(10, true), 90 * BYTES);
}

static void graph_files_hold_the_bodies(void **state) {
    (void)state;
    mst_graph *g = engine_graph(), *read;
    const mst_value x = mst_values(g, MST_F32, MST_SHAPE(2, 3), (double[]){1, 2, 3, 4, 5, 6});
    const mst_value zero = mst_scalar(g, MST_F32, 0), ten = mst_scalar(g, MST_F32, 10);
    const mst_value sum = mst_scan(add_row, .carry = {zero}, .x = {x}, .captured = {ten}, .name = "sums");
    mst_value gradient;
    mst_gradients(sum, &x, 1, &gradient);
    char *text;
    EXPECT_OK(mst_graph_print(g, &text));
    assert_non_null(strstr(text, "body=graph(5 nodes)"));
    assert_non_null(strstr(text, "\n    body:\n        carry = placeholder()"));
    free(text);
    void *data;
    size_t size;
    EXPECT_OK(mst_graph_encode(g, &data, &size));
    EXPECT_OK(mst_graph_decode(data, size, &read));
    graph_pair_expect_same(g, read);
    const mst_value fetches[] = {mst_value_output(sum, 1), gradient};
    graph_pair_run(g, read, NULL, 1, NULL, 0, fetches, 2);
    mst_graph_destroy(read);
    for (size_t cut = 0; cut < size; cut += 7) /* a damaged file is an error, whatever is missing */
        if (!mst_graph_decode(data, cut, &read)) mst_graph_destroy(read);
    free(data);
    mst_graph_destroy(g);
}

/* ---- while ---- */

static mst_value is_small(mst_loop_step *s) {
    return mst_less(s->carry[0], s->captured[0]);
}

static void double_it(mst_loop_step *s) {
    s->next[0] = mst_add(s->carry[0], s->carry[0]);
    s->next[1] = mst_add(s->carry[1], mst_ones_like(s->carry[1]));
}

static void while_goes_on_as_long_as_its_condition_holds(void **state) {
    static const mst_dtype dtypes[] = {MST_F32, MST_F64, MST_I32, MST_I64};
    (void)state;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
        mst_graph *g = engine_graph();
        const mst_value limit = mst_scalar(g, dtypes[d], 100), three = mst_scalar(g, dtypes[d], 3);
        const mst_value zero = mst_scalar(g, MST_I32, 0);
        const mst_value power = mst_while(is_small, double_it, .carry = {three, zero}, .captured = {limit});
        const mst_value none = mst_while(is_small, double_it, .carry = {limit, zero}, .captured = {three});
        EXPECT_OK(mst_graph_check(g));
        mst_session *session = engine_session(g, NULL);
        EXPECT(session, power, dtypes[d], 192);
        EXPECT(session, mst_value_output(power, 1), MST_I32, 6);
        EXPECT(session, none, dtypes[d], 100);
        EXPECT(session, mst_value_output(none, 1), MST_I32, 0);
        engine_end(g, session);
    }
}

static void while_that_does_not_end_is_an_error(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    const mst_value zero = mst_scalar(g, MST_I32, 0), one = mst_scalar(g, MST_I32, 1);
    const mst_value stuck =
        mst_while(is_small, double_it, .carry = {zero, zero}, .captured = {one}, .limit = 50, .name = "stuck");
    mst_session *session = engine_session(g, NULL);
    EXPECT_ERROR(mst_session_run(session, NULL, 0, &stuck, 1, NULL), MST_INVALID,
                 "while 'stuck': its condition still holds after 50 steps: give it a higher .limit");
    engine_end(g, session);
}

static void while_has_no_gradient(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    const mst_value x = engine_input(g, "x", MST_SCALAR), zero = mst_scalar(g, MST_I32, 0);
    const mst_value power = mst_while(is_small, double_it, .carry = {x, zero}, .captured = {mst_square(x)});
    mst_value gradient;
    mst_gradients(power, &x, 1, &gradient);
    EXPECT_ERROR(mst_graph_check(g), MST_UNIMPLEMENTED, "while 'while': it has no gradient");
    mst_graph_destroy(g);
}

/* ---- errors ---- */

static void takes_outer(mst_loop_step *s) {
    s->next[0] = *(const mst_value *)s->context;
}

static void sets_nothing(mst_loop_step *s) {
    (void)s;
}

static void grows(mst_loop_step *s) {
    s->next[0] = mst_concat((mst_value[]){s->carry[0], s->carry[0]}, 2, 0);
}

static void draws(mst_loop_step *s) {
    s->next[0] = mst_add(s->carry[0], mst_random_normal(s->graph, MST_SHAPE(2)));
}

static void has_a_weight(mst_loop_step *s) {
    s->next[0] = mst_add(s->carry[0], mst_variable(s->graph, "w", mst_ones_like(s->carry[0])));
}

static void mismatches(mst_loop_step *s) {
    s->next[0] = mst_matmul(s->carry[0], s->carry[0]);
}

static void refused(void (*body)(mst_loop_step *), const char *text) {
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(2));
    const mst_value out = mst_scan(body, .carry = {x}, .num_steps = 2, .context = &x);
    assert_true(mst_value_is_none(out));
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, text);
    mst_graph_destroy(g);
}

static void bodies_that_cannot_be_are_refused(void **state) {
    (void)state;
    refused(takes_outer, "next 0 of its body, 'x', is of another graph: pass it in .captured");
    refused(sets_nothing, "its body has set no next 0");
    refused(grows, "scan 'scan': carry 0 is f32[2] before a step and f32[4] after it, must stay the same");
    refused(draws, "its body has an op with a state, random_normal 'random_normal'");
    refused(has_a_weight, "its body has a variable, 'w'");
    refused(mismatches, "in the body of scan: matmul 'matmul'");
    mst_graph *g = engine_graph();
    const mst_value x = engine_input(g, "x", MST_SHAPE(2)), y = engine_input(g, "y", MST_SHAPE(3));
    (void)mst_scan(add_up, .carry = {x}, .x = {x, y});
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "");
    mst_graph_destroy(g);
    g = engine_graph();
    const mst_value one = mst_scalar(g, MST_F32, 1);
    (void)mst_scan(swap, .carry = {one, one});
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "scan 'scan': without x it needs .num_steps");
    mst_graph_destroy(g);
    g = engine_graph();
    (void)mst_scan(swap, .carry = {mst_scalar(g, MST_F32, 1), MST_NONE, mst_scalar(g, MST_F32, 1)}, .num_steps = 1);
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "scan: .carry 1 is no value");
    mst_graph_destroy(g);
    g = engine_graph();
    const mst_value x1 = engine_input(g, "x", MST_SHAPE(3)), x2 = engine_input(g, "x", MST_SHAPE(4));
    (void)mst_scan(swap, .carry = {mst_scalar(g, MST_F32, 1), mst_scalar(g, MST_F32, 1)}, .x = {x1, x2});
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "3 and 4");
    mst_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scan_carries_a_value_and_stacks_others),
        cmocka_unit_test(scan_of_no_steps_gives_its_first_carry),
        cmocka_unit_test(carries_may_change_places),
        cmocka_unit_test(scans_may_be_nested),
        cmocka_unit_test(scan_of_a_cell_is_the_op_of_the_cell),
        cmocka_unit_test(bits_do_not_depend_on_threads),
        cmocka_unit_test(training_gives_the_same_bits_on_any_devices),
        cmocka_unit_test(what_nobody_needs_takes_no_memory),
        cmocka_unit_test(graph_files_hold_the_bodies),
        cmocka_unit_test(while_goes_on_as_long_as_its_condition_holds),
        cmocka_unit_test(while_that_does_not_end_is_an_error),
        cmocka_unit_test(while_has_no_gradient),
        cmocka_unit_test(bodies_that_cannot_be_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
