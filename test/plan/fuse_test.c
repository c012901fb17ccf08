/* Products that the plan fuses with a bias and an activation: the values are those of the separate nodes. The test
 * also shows which nodes are not fused. */
#include <math.h>
#include <string.h>

#include "support/test.h"

/* relu(x w + b) with the parts fetched too, so that nothing can be fused, against the result alone. */
static void expect_fused_like_unfused(mst_dtype dtype, int64_t m, int64_t k, int64_t n, bool transpose_a,
                                      bool transpose_b, mst_value (*activation)(mst_value), bool bias_first) {
    mst_graph *g = engine_graph();
    mst_value x = mst_placeholder(g, dtype, transpose_a ? MST_SHAPE(k, m) : MST_SHAPE(m, k), "x");
    mst_value w = mst_placeholder(g, dtype, transpose_b ? MST_SHAPE(n, k) : MST_SHAPE(k, n), "w");
    mst_value b = mst_placeholder(g, dtype, MST_SHAPE(n), "b");
    mst_value product = mst_matmul(x, w, .transpose_a = transpose_a, .transpose_b = transpose_b);
    mst_value sum = bias_first ? mst_add(b, product) : mst_add(product, b), y = activation ? activation(sum) : sum;
    mst_value src[3] = {x, w, b};
    mst_feed feed[3];
    for (int i = 0; i < 3; i++)
        feed[i] = (mst_feed){.value = src[i],
                             .tensor = engine_random(dtype, mst_value_spec(src[i]).shape, -2, 2, 3 + (unsigned)i)};
    char *log = NULL;
    size_t size;
    FILE *file = open_memstream(&log, &size);
    mst_session *session;
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "cpu:1/1", .plan_log = file}, &session));
    mst_tensor *fused = engine_fetch(session, feed, 3, y), *unfused[3] = {NULL};
    fflush(file);
    if (!strstr(log, " = fused_matmul(")) fail_msg("not fused");
    EXPECT_OK(mst_session_run(session, feed, 3, (mst_value[]){product, sum, y}, 3, unfused));
    assert_true(engine_distance(fused, unfused[2]) < (dtype == MST_F32 ? 1e-5 : 1e-12));
    mst_tensor_release(fused);
    for (int i = 0; i < 3; i++) mst_tensor_release(unfused[i]);
    for (int i = 0; i < 3; i++) mst_tensor_release(feed[i].tensor);
    engine_end(g, session);
    fclose(file);
    free(log);
}

static void fused_matmul_gives_what_its_parts_give(void **state) {
    (void)state;
    expect_fused_like_unfused(MST_F32, 7, 33, 17, false, false, mst_relu, false);
    expect_fused_like_unfused(MST_F32, 100, 64, 50, false, false, mst_relu, false);
    expect_fused_like_unfused(MST_F32, 7, 5, 17, false, false, mst_relu6, false);
    expect_fused_like_unfused(MST_F32, 7, 5, 17, false, false, NULL, true);
    expect_fused_like_unfused(MST_F32, 1, 1, 1, false, false, mst_relu, false);
}

static void fused_matmul_keeps_transposes(void **state) {
    (void)state;
    expect_fused_like_unfused(MST_F32, 7, 33, 17, true, false, mst_relu, false);
    expect_fused_like_unfused(MST_F32, 7, 33, 17, false, true, mst_relu, false);
    expect_fused_like_unfused(MST_F32, 7, 33, 17, true, true, NULL, false);
}

static void products_of_integers_are_not_fused(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value a = mst_values(g, MST_I64, MST_SHAPE(2, 2), (const double[]){1, 2, 3, 4});
    mst_value v = mst_variable(g, "v", a), b = mst_values(g, MST_I64, MST_SHAPE(2), (const double[]){10, 20});
    mst_session *session = engine_session(g, NULL);
    mst_tensor *got = engine_fetch(session, NULL, 0, mst_add(mst_matmul(v, v), b));
    static const double wanted[] = {17, 30, 25, 42};
    for (int i = 0; i < 4; i++) assert_true(mst_tensor_get(got, i) == wanted[i]);
    mst_tensor_release(got);
    engine_end(g, session);
}

static void fused_matmul_does_f64_and_no_rows(void **state) {
    (void)state;
    expect_fused_like_unfused(MST_F64, 7, 33, 17, false, false, mst_relu, false);
    expect_fused_like_unfused(MST_F32, 0, 3, 4, false, false, mst_relu, false);
}

static bool plan_has(mst_graph *g, mst_value *fetch, int num_fetches, const char *text) {
    char *log = NULL;
    size_t size;
    FILE *file = open_memstream(&log, &size);
    mst_session *session;
    EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "cpu:2/1", .plan_log = file}, &session));
    EXPECT_OK(mst_session_init_variables(session));
    EXPECT_OK(mst_session_run(session, NULL, 0, fetch, num_fetches, NULL));
    mst_session_destroy(session);
    fclose(file);
    bool found = strstr(log, text) != NULL;
    free(log);
    return found;
}

static mst_value number(mst_graph *g, mst_shape shape) {
    return mst_random_uniform(g, shape); /* not folded */
}

static void parts_that_are_used_elsewhere_are_not_fused(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value product = mst_matmul(number(g, MST_SHAPE(2, 3)), number(g, MST_SHAPE(3, 4)));
    mst_value y[2] = {mst_add(product, number(g, MST_SHAPE(4))), mst_neg(product)};
    assert_true(plan_has(g, y, 1, "fused_matmul("));
    assert_false(plan_has(g, y, 2, "fused_matmul("));
    mst_graph_destroy(g);
}

static void additions_that_are_no_bias_are_not_fused(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value product = mst_matmul(number(g, MST_SHAPE(4, 3)), number(g, MST_SHAPE(3, 4)));
    mst_value y[3] = {mst_add(product, number(g, MST_SHAPE(4, 4))), mst_add(product, number(g, MST_SHAPE(4, 1))),
                      mst_add(product, number(g, MST_SHAPE(1)))};
    for (int i = 0; i < 3; i++) assert_false(plan_has(g, &y[i], 1, "fused_matmul("));
    mst_graph_destroy(g);
}

static void parts_on_two_devices_are_not_fused(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value y = mst_matmul(number(g, MST_SHAPE(2, 3)), number(g, MST_SHAPE(3, 4)));
    mst_with_device (g, "/cpu:1") y = mst_add(y, number(g, MST_SHAPE(4)));
    assert_false(plan_has(g, &y, 1, "fused_matmul("));
    mst_graph_destroy(g);
}

static void fused_activations_keep_a_nan(void **state) {
    (void)state;
    static mst_value (*const activations[])(mst_value) = {mst_relu, mst_relu6};
    for (int k = 0; k < 2; k++) {
        mst_graph *g = engine_graph();
        mst_value x = engine_input(g, "x", MST_SHAPE(2, 3)), w = mst_fill(g, MST_F32, MST_SHAPE(3, 4), 1);
        mst_value y = activations[k](mst_add(mst_matmul(x, w), mst_fill(g, MST_F32, MST_SHAPE(4), 1)));
        mst_session *session;
        EXPECT_OK(mst_session_create(g, &(mst_session_options){.devices = "cpu:1/1"}, &session));
        mst_feed feed = {.value = x, .tensor = engine_tensor(MST_F32, MST_SHAPE(2, 3), (double[]){NAN, 0, 0, 1, 2, 3})};
        mst_tensor *got = engine_fetch(session, &feed, 1, y);
        for (int j = 0; j < 4; j++) {
            assert_true(isnan(mst_tensor_get(got, j)));
            assert_true(mst_tensor_get(got, 4 + j) == (k ? 6 : 7));
        }
        mst_tensor_release(got);
        mst_tensor_release(feed.tensor);
        engine_end(g, session);
    }
}

/* ---- batch norm and zeros around convolutions ---- */

enum { NUM_INPUTS = 5, NUM_FETCHES = 6 };

/* relu(batch_norm(conv2d(x with zeros around it, w))), and the gradients of a weighted sum of it. */
typedef struct block {
    mst_graph *graph;
    mst_value normalized, relu, fetch[NUM_FETCHES];
    mst_feed feed[NUM_INPUTS];
} block;

static block make_block(mst_dtype dtype, mst_value (*activation)(mst_value), bool pads_apart) {
    block b = {.graph = engine_graph()};
    static const mst_shape shape[NUM_INPUTS] = {{.ndim = 4, .dim = {3, 6, 5, 4}},
                                                {.ndim = 4, .dim = {3, 3, 4, 8}},
                                                {.ndim = 1, .dim = {8}},
                                                {.ndim = 1, .dim = {8}},
                                                {.ndim = 4, .dim = {3, 3, 3, 8}}};
    static const char *const name[NUM_INPUTS] = {"x", "w", "gamma", "beta", "factors"};
    mst_value in[NUM_INPUTS];
    for (int i = 0; i < NUM_INPUTS; i++) {
        in[i] = mst_placeholder(b.graph, dtype, shape[i], name[i]);
        b.feed[i] = (mst_feed){.value = in[i], .tensor = engine_random(dtype, shape[i], -2, 4, 7 + (unsigned)i)};
    }
    mst_value padded = mst_pad(in[0], .before = MST_SHAPE(0, 0, 1, 0), .after = MST_SHAPE(0, 1, 0, 0));
    mst_value y = pads_apart ? mst_convolve2d(padded, in[1], .strides = MST_AXES(2), .pads = MST_AXES(0, 0, 0, 1))
                             : mst_convolve2d(in[0], in[1], .strides = MST_AXES(2), .pads = MST_AXES(0, 1, 1, 1));
    b.normalized = mst_batch_norm(y, in[2], in[3]);
    b.relu = activation(b.normalized);
    mst_gradients(mst_reduce_sum(mst_mul(b.relu, in[4])), in, 4, b.fetch);
    b.fetch[4] = mst_value_output(b.normalized, 1);
    b.fetch[5] = mst_value_output(b.normalized, 2);
    return b;
}

/* Runs B; with WHOLE the output of the batch norm is fetched too, so that it stays a node of its own. LOG is freed by
 * the caller. */
static void run_block(block *b, bool whole, mst_tensor *out[NUM_FETCHES + 2], char **log) {
    size_t size;
    mst_session *session;
    mst_value fetch[NUM_FETCHES + 2];
    FILE *file = open_memstream(log, &size);
    memcpy(fetch, b->fetch, sizeof b->fetch);
    fetch[NUM_FETCHES] = b->relu;
    fetch[NUM_FETCHES + 1] = b->normalized;
    EXPECT_OK(mst_session_create(b->graph, &(mst_session_options){.devices = "cpu:1/1", .plan_log = file}, &session));
    EXPECT_OK(mst_session_run(session, b->feed, NUM_INPUTS, fetch, NUM_FETCHES + 1 + whole, out));
    for (int i = 0; i < NUM_INPUTS; i++) mst_tensor_release(b->feed[i].tensor);
    engine_end(b->graph, session);
    fclose(file);
}

static void expect_block_like_its_parts(mst_dtype dtype, mst_value (*activation)(mst_value)) {
    block fused = make_block(dtype, activation, true), parts = make_block(dtype, activation, false);
    mst_tensor *got[NUM_FETCHES + 2] = {NULL}, *wanted[NUM_FETCHES + 2] = {NULL};
    char *log = NULL, *other = NULL;
    run_block(&fused, false, got, &log);
    run_block(&parts, true, wanted, &other);
    assert_non_null(strstr(log, " = fused_batch_norm("));
    assert_non_null(strstr(log, " = fused_batch_norm_grad("));
    assert_null(strstr(strstr(log, "after fuse"), " = pad("));
    assert_null(strstr(strstr(log, "after fuse"), " = slice_like("));
    assert_null(strstr(other, "fused_batch_norm"));
    for (int i = 0; i <= NUM_FETCHES; i++)
        if (!(engine_distance(got[i], wanted[i]) < (dtype == MST_F32 ? 2e-4 : 1e-12)))
            fail_msg("fetch %d: %g", i, engine_distance(got[i], wanted[i]));
    for (int i = 0; i < NUM_FETCHES + 2; i++) mst_tensor_release(got[i]);
    for (int i = 0; i < NUM_FETCHES + 2; i++) mst_tensor_release(wanted[i]);
    free(log);
    free(other);
}

static void fused_batch_norms_and_pads_give_what_their_parts_give(void **state) {
    (void)state;
    expect_block_like_its_parts(MST_F32, mst_relu6);
    expect_block_like_its_parts(MST_F32, mst_relu);
    expect_block_like_its_parts(MST_F64, mst_relu6);
    expect_block_like_its_parts(MST_F64, mst_relu);
}

/* The gradient by X of relu(batch_norm(x)), weighted by a variable that the step has changed before, and 1 to all
 * elements of beta, where BETA_CHANGES; the gradient runs when nothing can fail any more. */
static mst_tensor *gradient_behind_the_gate(bool beta_changes) {
    mst_graph *g = engine_graph();
    const mst_value x = mst_variable(g, "x", mst_reshape(mst_range(g, MST_F32, 0, 6, 1), MST_SHAPE(3, 2)));
    const mst_value gamma = mst_variable(g, "gamma", mst_fill(g, MST_F32, MST_SHAPE(2), 1));
    const mst_value beta = mst_variable(g, "beta", mst_fill(g, MST_F32, MST_SHAPE(2), 0));
    const mst_value factors = mst_variable(g, "factors", mst_random_uniform(g, MST_SHAPE(3, 2)));
    const mst_value gradient = mst_variable(g, "gradient", mst_fill(g, MST_F32, MST_SHAPE(3, 2), 0));
    const mst_value out = mst_relu(mst_batch_norm(x, gamma, beta));
    mst_value now = MST_NONE, of_x, steps[3];
    steps[0] = mst_assign_add(factors, mst_fill(g, MST_F32, MST_SHAPE(3, 2), 1));
    mst_with_control (g, steps[0]) now = mst_neg(factors);
    mst_gradients_from(out, now, &x, 1, &of_x);
    steps[1] = mst_assign(gradient, of_x);
    steps[2] = mst_assign_add(beta, mst_fill(g, MST_F32, MST_SHAPE(2), 10));
    mst_session *session = engine_session(g, NULL);
    engine_run(session, mst_group(steps, 2 + beta_changes));
    mst_tensor *got = engine_fetch(session, NULL, 0, gradient);
    engine_end(g, session);
    return got;
}

static void a_gradient_of_a_batch_norm_sees_the_beta_of_its_output(void **state) {
    (void)state;
    mst_tensor *wanted = gradient_behind_the_gate(false), *got = gradient_behind_the_gate(true);
    assert_true(engine_same_bits(got, wanted));
    mst_tensor_release(wanted);
    mst_tensor_release(got);
}

static void pads_that_are_no_zeros_around_pictures_stay(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = number(g, MST_SHAPE(2, 4, 4, 3)), w = number(g, MST_SHAPE(2, 2, 3, 5));
    mst_value few = number(g, MST_SHAPE(2, 4, 4, 2));
    mst_value y[4] = {
        mst_convolve2d(mst_pad(x, .before = MST_SHAPE(0, 1, 0, 0), .value = 1), w),
        mst_convolve2d(mst_pad(x, .after = MST_SHAPE(1, 0, 0, 0)), w),
        mst_convolve2d(mst_pad(few, .before = MST_SHAPE(0, 0, 0, 1)), w),
        mst_convolve2d(mst_pad(x, .before = MST_SHAPE(0, 1, 0, 0)), w, .padding = MST_PADDING_SAME),
    };
    for (int i = 0; i < 4; i++) assert_true(plan_has(g, &y[i], 1, " = pad("));
    mst_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fused_matmul_gives_what_its_parts_give),
        cmocka_unit_test(fused_matmul_keeps_transposes),
        cmocka_unit_test(fused_matmul_does_f64_and_no_rows),
        cmocka_unit_test(products_of_integers_are_not_fused),
        cmocka_unit_test(parts_that_are_used_elsewhere_are_not_fused),
        cmocka_unit_test(additions_that_are_no_bias_are_not_fused),
        cmocka_unit_test(parts_on_two_devices_are_not_fused),
        cmocka_unit_test(fused_activations_keep_a_nan),
        cmocka_unit_test(fused_batch_norms_and_pads_give_what_their_parts_give),
        cmocka_unit_test(a_gradient_of_a_batch_norm_sees_the_beta_of_its_output),
        cmocka_unit_test(pads_that_are_no_zeros_around_pictures_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
