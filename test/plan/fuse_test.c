/* Nodes that the plan makes one of, products with bias and activation: the same values as of the parts, and which
 * parts are left alone. */
#include <math.h>

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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
