/* Products in bf16: their values, which nodes are computed in bf16, and that the bits do not depend on devices. On a
 * processor without instructions for bf16, everything is f32. */
#include <stdio.h>
#include <string.h>

#include "support/test.h"

enum { MOST_SRC = 2 };
enum { MANY = 64 };                   /* terms of a sum, enough for bf16 on all processors */
static const double TOLERANCE = 2e-5; /* of sums of the same products in another order */

static bool here(void) {
    return mst_precision_here(MST_MIXED_BFLOAT16) == MST_MIXED_BFLOAT16;
}

typedef mst_value (*product)(mst_value a, mst_value b, mst_precision precision);

/* X as a product in bf16 reads it. */
static mst_value rounded(mst_value x) {
    return here() ? mst_cast(mst_cast(x, MST_BF16), MST_F32) : x;
}

/* The product and both of its gradients in bf16, against those in f32 of what was rounded before. */
static void expect_product_of_rounded(product make, mst_shape a, mst_shape b) {
    mst_graph *g = engine_graph();
    const mst_value src[MOST_SRC] = {engine_input(g, "a", a), engine_input(g, "b", b)};
    const mst_value low = make(src[0], src[1], MST_MIXED_BFLOAT16);
    const mst_value high = make(rounded(src[0]), rounded(src[1]), MST_FLOAT32);
    mst_tensor *factor = engine_random(MST_F32, mst_value_spec(low).shape, -1, 1, 5);
    const mst_value weights = mst_constant(g, factor);
    mst_value by[2][MOST_SRC];
    mst_gradients(mst_reduce_sum(mst_mul(low, weights)), src, MOST_SRC, by[0]);
    const mst_value other[MOST_SRC] = {rounded(src[0]), rounded(src[1])};
    mst_gradients(mst_reduce_sum(mst_mul(make(other[0], other[1], MST_FLOAT32), rounded(weights))), other, MOST_SRC,
                  by[1]);
    mst_feed feed[MOST_SRC];
    for (int i = 0; i < MOST_SRC; i++)
        feed[i] = (mst_feed){.value = src[i], .tensor = engine_random(MST_F32, i ? b : a, -2, 2, 3 + (unsigned)i)};
    mst_session *session = engine_session(g, "cpu:1/2");
    const mst_value fetch[2][3] = {{low, by[0][0], by[0][1]}, {high, by[1][0], by[1][1]}};
    for (int i = 0; i < 3; i++) {
        mst_tensor *got = engine_fetch(session, feed, MOST_SRC, fetch[0][i]);
        mst_tensor *wanted = engine_fetch(session, feed, MOST_SRC, fetch[1][i]);
        assert_true(engine_distance(got, wanted) < TOLERANCE);
        mst_tensor_release(got);
        mst_tensor_release(wanted);
    }
    for (int i = 0; i < MOST_SRC; i++) mst_tensor_release(feed[i].tensor);
    mst_tensor_release(factor);
    engine_end(g, session);
}

static mst_value plain(mst_value a, mst_value b, mst_precision precision) {
    return mst_matmul(a, b, .precision = precision);
}

static mst_value transposed_a(mst_value a, mst_value b, mst_precision precision) {
    return mst_matmul(a, b, .transpose_a = true, .precision = precision);
}

static mst_value transposed_b(mst_value a, mst_value b, mst_precision precision) {
    return mst_matmul(a, b, .transpose_b = true, .precision = precision);
}

static mst_value transposed_both(mst_value a, mst_value b, mst_precision precision) {
    return mst_matmul(a, b, .transpose_a = true, .transpose_b = true, .precision = precision);
}

static mst_value convolved(mst_value a, mst_value b, mst_precision precision) {
    return mst_convolve2d(a, b, .padding = MST_PADDING_SAME, .precision = precision);
}

static mst_value strided(mst_value a, mst_value b, mst_precision precision) {
    return mst_convolve2d(a, b, .strides = MST_AXES(2), .dilations = MST_AXES(2, 1), .precision = precision);
}

static mst_value in_groups(mst_value a, mst_value b, mst_precision precision) {
    return mst_convolve2d(a, b, .groups = 2, .precision = precision);
}

static void products_are_of_rounded_factors(void **state) {
    (void)state;
    expect_product_of_rounded(plain, MST_SHAPE(7, 33), MST_SHAPE(33, 17));
    expect_product_of_rounded(plain, MST_SHAPE(1, 1), MST_SHAPE(1, 1));
    expect_product_of_rounded(transposed_a, MST_SHAPE(33, 7), MST_SHAPE(33, 17));
    expect_product_of_rounded(transposed_b, MST_SHAPE(7, 33), MST_SHAPE(17, 33));
    expect_product_of_rounded(transposed_both, MST_SHAPE(33, 7), MST_SHAPE(17, 33));
    expect_product_of_rounded(plain, MST_SHAPE(500, 100), MST_SHAPE(100, 230)); /* several parts */
    expect_product_of_rounded(plain, MST_SHAPE(3, 5, 4), MST_SHAPE(3, 4, 6));
    expect_product_of_rounded(transposed_b, MST_SHAPE(2, 3, 5, 4), MST_SHAPE(3, 6, 4));
}

static void convolutions_are_of_rounded_sources_and_weights(void **state) {
    (void)state;
    expect_product_of_rounded(convolved, MST_SHAPE(2, 5, 6, 3), MST_SHAPE(3, 3, 3, 8));
    expect_product_of_rounded(convolved, MST_SHAPE(5, 14, 14, 32), MST_SHAPE(1, 1, 32, 48)); /* several parts */
    expect_product_of_rounded(convolved, MST_SHAPE(3, 7, 5, 17), MST_SHAPE(1, 1, 17, 9));
    expect_product_of_rounded(convolved, MST_SHAPE(1, 1, 1, 1), MST_SHAPE(1, 1, 1, 1));
    expect_product_of_rounded(convolved, MST_SHAPE(17, 24, 4, 64), MST_SHAPE(1, 1, 64, 130)); /* the last is smaller */
    expect_product_of_rounded(convolved, MST_SHAPE(1, 7, 7, 1), MST_SHAPE(5, 5, 1, 16));
    expect_product_of_rounded(strided, MST_SHAPE(3, 9, 8, 4), MST_SHAPE(2, 3, 4, 5));
}

static void empty_products_are_left_in_f32(void **state) {
    (void)state;
    expect_product_of_rounded(plain, MST_SHAPE(0, 3), MST_SHAPE(3, 4));
    expect_product_of_rounded(plain, MST_SHAPE(2, 0), MST_SHAPE(0, 4));
    expect_product_of_rounded(convolved, MST_SHAPE(0, 5, 6, 3), MST_SHAPE(3, 3, 3, 8));
}

/* How often TEXT is in the plan of FETCH as it is after the pass, in a session of PRECISION. */
static int count_in_plan(mst_graph *g, mst_precision precision, const mst_value *fetch, int num_fetches,
                         const char *text) {
    char *log = NULL;
    size_t size;
    FILE *file = open_memstream(&log, &size);
    mst_session *session;
    const mst_session_options options = {
        .devices = "cpu:1/1", .precision = precision, .plan_log = file, .plan_pass = "autocast"};
    EXPECT_OK(mst_session_create(g, &options, &session));
    EXPECT_OK(mst_session_init_variables(session));
    fflush(file);
    const size_t before = size; /* plans of the first values */
    EXPECT_OK(mst_session_run(session, NULL, 0, fetch, num_fetches, NULL));
    mst_session_destroy(session);
    fclose(file);
    int count = 0;
    for (const char *at = log + before; (at = strstr(at, text)); at++) count++;
    free(log);
    return count;
}

static mst_value number(mst_graph *g, mst_shape shape) {
    return mst_random_uniform(g, shape); /* not folded */
}

static void the_session_decides_where_the_node_does_not(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    const mst_value x = number(g, MST_SHAPE(4, MANY)), w = mst_variable(g, "w", number(g, MST_SHAPE(MANY, 5)));
    const mst_value y = mst_matmul(x, w), z = mst_matmul(x, w, .precision = MST_FLOAT32);
    assert_int_equal(count_in_plan(g, MST_PRECISION_DEFAULT, &y, 1, "dtype=bf16"), 0);
    assert_int_equal(count_in_plan(g, MST_FLOAT32, &y, 1, "dtype=bf16"), 0);
    assert_int_equal(count_in_plan(g, MST_MIXED_BFLOAT16, &y, 1, "dtype=bf16"), here() ? 2 : 0);
    assert_int_equal(count_in_plan(g, MST_MIXED_BFLOAT16, &z, 1, "dtype=bf16"), 0);
    mst_graph_destroy(g);
}

static void a_value_is_cast_once(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    const mst_value x = number(g, MST_SHAPE(MANY, MANY)), w = mst_variable(g, "w", number(g, MST_SHAPE(MANY, 5)));
    const mst_value y[] = {mst_matmul(x, w), mst_matmul(number(g, MST_SHAPE(2, MANY)), w),
                           mst_matmul(x, x, .transpose_a = true)};
    assert_int_equal(count_in_plan(g, MST_MIXED_BFLOAT16, y, 3, "dtype=bf16"), here() ? 3 : 0);
    mst_graph_destroy(g);
}

/* The gradient of a dense layer's weights sums over the examples, and that of its input over the units. */
static void sums_of_few_terms_are_left_in_f32(void **state) {
    (void)state;
    enum { FEW = 31 };
    mst_graph *g = engine_graph();
    const mst_value x = number(g, MST_SHAPE(FEW, MANY)), w = number(g, MST_SHAPE(MANY, FEW));
    const mst_value by_units = mst_matmul(w, x), by_inputs = mst_matmul(x, w);
    const mst_value by_examples = mst_matmul(x, number(g, MST_SHAPE(FEW, 5)), .transpose_a = true);
    const mst_value asked = mst_matmul(w, x, .precision = MST_MIXED_BFLOAT16);
    assert_int_equal(count_in_plan(g, MST_MIXED_BFLOAT16, &by_units, 1, "dtype=bf16"), 0);
    assert_int_equal(count_in_plan(g, MST_MIXED_BFLOAT16, &by_examples, 1, "dtype=bf16"), 0);
    assert_int_equal(count_in_plan(g, MST_MIXED_BFLOAT16, &by_inputs, 1, "dtype=bf16"), here() ? 2 : 0);
    assert_int_equal(count_in_plan(g, MST_MIXED_BFLOAT16, &asked, 1, "dtype=bf16"), here() ? 2 : 0);
    mst_graph_destroy(g);
}

static void convolutions_in_groups_are_left_in_f32(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    const mst_value y =
        in_groups(number(g, MST_SHAPE(1, 4, 4, 2)), number(g, MST_SHAPE(3, 3, 1, 2)), MST_PRECISION_DEFAULT);
    const mst_value z =
        convolved(number(g, MST_SHAPE(1, 4, 4, 2)), number(g, MST_SHAPE(3, 3, 2, 2)), MST_PRECISION_DEFAULT);
    assert_int_equal(count_in_plan(g, MST_MIXED_BFLOAT16, &y, 1, "precision=mixed_bfloat16"), 0);
    assert_int_equal(count_in_plan(g, MST_MIXED_BFLOAT16, &z, 1, "precision=mixed_bfloat16"), here());
    mst_graph_destroy(g);
}

static mst_value deep(mst_value a, mst_value b, mst_precision precision) {
    return mst_convolve3d(a, b, .padding = MST_PADDING_SAME, .precision = precision);
}

static mst_value deep_strided(mst_value a, mst_value b, mst_precision precision) {
    return mst_convolve3d(a, b, .strides = MST_AXES(2), .precision = precision);
}

static mst_value deep_transposed(mst_value a, mst_value b, mst_precision precision) {
    return mst_convolve3d_transpose(a, b, .strides = MST_AXES(2), .precision = precision);
}

static mst_value depthwise_row(mst_value a, mst_value b, mst_precision precision) {
    (void)precision;
    return mst_convolve1d_depthwise(a, b);
}

static mst_value depthwise(mst_value a, mst_value b, mst_precision precision) {
    (void)precision;
    return mst_convolve2d_depthwise(a, b);
}

static mst_value lstm(mst_value a, mst_value b, mst_precision precision) {
    (void)precision;
    return mst_lstm_with((mst_lstm_options){.src = a, .recurrent = b});
}

static mst_value simple_rnn(mst_value a, mst_value b, mst_precision precision) {
    (void)precision;
    return mst_simple_rnn_with((mst_simple_rnn_options){.src = a, .recurrent = b});
}

static mst_value gru(mst_value a, mst_value b, mst_precision precision) {
    (void)precision;
    const mst_shape recurrent = mst_value_spec(b).shape;
    const mst_value bias = mst_fill(mst_value_graph(b), MST_F32, MST_SHAPE(recurrent.dim[1]), 0.1);
    return mst_gru_with((mst_gru_options){.src = a, .recurrent = b, .bias = bias});
}

/* The op, its gradients and, unless recurrent, theirs: the same bits in sessions of both precisions. */
static void expect_f32(product make, mst_precision precision, bool twice, mst_shape a, mst_shape b) {
    enum { FETCHES = 5 };
    mst_graph *g = engine_graph();
    const mst_value src[MOST_SRC] = {engine_input(g, "a", a), engine_input(g, "b", b)};
    const mst_value y = make(src[0], src[1], precision);
    mst_tensor *factor = engine_random(MST_F32, mst_value_spec(y).shape, -1, 1, 5);
    mst_value by[MOST_SRC], again[MOST_SRC] = {{0}};
    mst_gradients(mst_reduce_sum(mst_mul(mst_mul(y, y), mst_constant(g, factor))), src, MOST_SRC, by);
    const mst_value norm = mst_add(mst_reduce_sum(mst_mul(by[0], by[0])), mst_reduce_sum(mst_mul(by[1], by[1])));
    if (twice) mst_gradients(norm, src, MOST_SRC, again);
    const int num_fetches = twice ? FETCHES : FETCHES - MOST_SRC;
    const mst_value fetch[FETCHES] = {y, by[0], by[1], again[0], again[1]};
    mst_feed feed[MOST_SRC];
    for (int i = 0; i < MOST_SRC; i++)
        feed[i] = (mst_feed){.value = src[i], .tensor = engine_random(MST_F32, i ? b : a, -2, 2, 3 + (unsigned)i)};
    mst_tensor *got[2][FETCHES] = {{NULL}};
    for (int i = 0; i < 2; i++) {
        mst_session *session;
        const mst_session_options options = {.devices = "cpu:1/1", .precision = i ? MST_MIXED_BFLOAT16 : MST_FLOAT32};
        EXPECT_OK(mst_session_create(g, &options, &session));
        EXPECT_OK(mst_session_run(session, feed, MOST_SRC, fetch, num_fetches, got[i]));
        mst_session_destroy(session);
    }
    for (int i = 0; i < num_fetches; i++) {
        if (!engine_same_bits(got[0][i], got[1][i])) fail_msg("%s, fetch %d", mst_value_name(y), i);
        mst_tensor_release(got[0][i]);
        mst_tensor_release(got[1][i]);
    }
    for (int i = 0; i < MOST_SRC; i++) mst_tensor_release(feed[i].tensor);
    mst_tensor_release(factor);
    mst_graph_destroy(g);
}

/* All that docs/daily-use.md says of. */
static void what_stays_f32_has_gradients_of_f32(void **state) {
    (void)state;
    static const mst_precision asked[] = {MST_PRECISION_DEFAULT, MST_MIXED_BFLOAT16};
    for (int i = 0; i < 2; i++) {
        expect_f32(deep, asked[i], true, MST_SHAPE(2, 4, 5, 6, 8), MST_SHAPE(3, 3, 3, 8, 16));
        expect_f32(deep_strided, asked[i], true, MST_SHAPE(2, 5, 6, 5, 8), MST_SHAPE(2, 3, 2, 8, 8));
        expect_f32(deep_transposed, asked[i], true, MST_SHAPE(2, 3, 3, 2, 8), MST_SHAPE(2, 2, 3, 16, 8));
        expect_f32(in_groups, asked[i], true, MST_SHAPE(2, 6, 6, 16), MST_SHAPE(3, 3, 8, 32));
    }
    expect_f32(depthwise, MST_PRECISION_DEFAULT, true, MST_SHAPE(2, 6, 6, 16), MST_SHAPE(3, 3, 16, 1));
    expect_f32(depthwise_row, MST_PRECISION_DEFAULT, true, MST_SHAPE(2, 9, 16), MST_SHAPE(3, 16, 2));
    expect_f32(lstm, MST_PRECISION_DEFAULT, false, MST_SHAPE(4, 3, 16), MST_SHAPE(4, 16));
    expect_f32(gru, MST_PRECISION_DEFAULT, false, MST_SHAPE(4, 3, 12), MST_SHAPE(4, 12));
    expect_f32(simple_rnn, MST_PRECISION_DEFAULT, false, MST_SHAPE(4, 3, 8), MST_SHAPE(8, 8));
}

static void f64_and_integers_are_left_alone(void **state) {
    (void)state;
    static const mst_dtype dtypes[] = {MST_F64, MST_I32};
    for (int i = 0; i < 2; i++) {
        mst_graph *g = engine_graph();
        const mst_value x = mst_cast(number(g, MST_SHAPE(MANY, MANY)), dtypes[i]), y = mst_matmul(x, x);
        assert_int_equal(count_in_plan(g, MST_MIXED_BFLOAT16, &y, 1, "dtype=bf16"), 0);
        mst_graph_destroy(g);
    }
}

static void what_is_folded_is_left_alone(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    const mst_value x = mst_fill(g, MST_F32, MST_SHAPE(MANY, MANY), 1),
                    z = mst_fill(g, MST_F32, MST_SHAPE(1, 2, 2, 1), 1);
    const mst_value y[] = {mst_matmul(x, x), mst_convolve2d(z, mst_fill(g, MST_F32, MST_SHAPE(1, 1, 1, 1), 1),
                                                            .padding = MST_PADDING_SAME)};
    assert_int_equal(count_in_plan(g, MST_MIXED_BFLOAT16, y, 1, "dtype=bf16"), 0);
    assert_int_equal(count_in_plan(g, MST_MIXED_BFLOAT16, y + 1, 1, "precision=mixed_bfloat16"), 0);
    mst_graph_destroy(g);
}

/* A cast belongs to what reads it: before an assignment it is of the old value, after it of the new one. */
static void reads_before_and_after_a_write_are_cast_apart(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    const mst_value w = mst_variable(g, "w", mst_fill(g, MST_F32, MST_SHAPE(MANY, MANY), 1));
    const mst_value before = mst_matmul(w, w), written = mst_assign(w, mst_scale(w, 3));
    const mst_value y[] = {before, mst_matmul(written, written)};
    mst_session *session;
    mst_tensor *got[2] = {NULL};
    EXPECT_OK(
        mst_session_create(g, &(mst_session_options){.devices = "cpu:1/1", .precision = MST_MIXED_BFLOAT16}, &session));
    EXPECT_OK(mst_session_init_variables(session));
    EXPECT_OK(mst_session_run(session, NULL, 0, y, 2, got));
    assert_true(mst_tensor_get(got[0], 0) == MANY);
    assert_true(mst_tensor_get(got[1], 0) == 9 * MANY);
    for (int i = 0; i < 2; i++) mst_tensor_release(got[i]);
    engine_end(g, session);
}

static void a_precision_that_is_none_is_refused(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_session *session = NULL;
    EXPECT_ERROR(mst_session_create(g, &(mst_session_options){.precision = (mst_precision)4}, &session), MST_INVALID,
                 "4 is no precision");
    mst_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_of_rounded_factors),
        cmocka_unit_test(convolutions_are_of_rounded_sources_and_weights),
        cmocka_unit_test(empty_products_are_left_in_f32),
        cmocka_unit_test(the_session_decides_where_the_node_does_not),
        cmocka_unit_test(a_value_is_cast_once),
        cmocka_unit_test(sums_of_few_terms_are_left_in_f32),
        cmocka_unit_test(convolutions_in_groups_are_left_in_f32),
        cmocka_unit_test(what_stays_f32_has_gradients_of_f32),
        cmocka_unit_test(f64_and_integers_are_left_alone),
        cmocka_unit_test(what_is_folded_is_left_alone),
        cmocka_unit_test(reads_before_and_after_a_write_are_cast_apart),
        cmocka_unit_test(a_precision_that_is_none_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
