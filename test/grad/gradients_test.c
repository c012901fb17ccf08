/* mst_gradients on compositions of ops: first and second order against central differences in f64; and the rules
 * about what has no gradient, what is added up, where the nodes are placed, and which targets are refused. The
 * gradient of each op alone is checked by its examples. */
#include <math.h>

#include "support/test.h"

enum { MOST_SRC = 5 };

/* A function of a few f64 values, given as placeholders. */
typedef mst_value (*function)(const mst_value *x);

typedef struct problem {
    mst_graph *graph;
    mst_session *session;
    int num_src;
    mst_value src[MOST_SRC], target, gradient[MOST_SRC];
    mst_feed feed[MOST_SRC];
} problem;

static double target_of(const problem *p) {
    mst_tensor *y = engine_fetch(p->session, p->feed, p->num_src, p->target);
    double sum = 0;
    for (int64_t i = 0; i < mst_tensor_count(y); i++) sum += mst_tensor_get(y, i);
    mst_tensor_release(y);
    return sum;
}

/* Central differences, whose error is of the order step^2. */
static void expect_differences(const problem *p, double tolerance) {
    static const double step = 1e-5;
    for (int s = 0; s < p->num_src; s++) {
        mst_tensor *gradient = engine_fetch(p->session, p->feed, p->num_src, p->gradient[s]);
        mst_tensor *x = p->feed[s].tensor;
        assert_true(mst_shape_equal(mst_tensor_shape(gradient), mst_tensor_shape(x)));
        for (int64_t i = 0; i < mst_tensor_count(x); i++) {
            double at = mst_tensor_get(x, i);
            mst_tensor_set(x, i, at + step);
            double above = target_of(p);
            mst_tensor_set(x, i, at - step);
            double below = target_of(p);
            mst_tensor_set(x, i, at);
            double wanted = (above - below) / (2 * step), got = mst_tensor_get(gradient, i);
            if (!(fabs(got - wanted) <= tolerance * fmax(1, fabs(wanted))))
                fail_msg("source %d, element %d: %.12g, differences give %.12g", s, (int)i, got, wanted);
        }
        mst_tensor_release(gradient);
    }
}

/* ORDER 1 checks the gradients, 2 the gradients of the sum of squares of the gradients. */
static void check(function f, int order, int num_src, const mst_shape *shape, double low, double high) {
    problem p = {.graph = engine_graph(), .num_src = num_src};
    for (int i = 0; i < num_src; i++) {
        p.src[i] = mst_placeholder(p.graph, MST_F64, shape[i]);
        p.feed[i] =
            (mst_feed){.value = p.src[i], .tensor = engine_random(MST_F64, shape[i], low, high, 17 + (unsigned)i)};
    }
    p.target = f(p.src);
    for (int k = 1; k < order; k++) {
        mst_value square[MOST_SRC];
        int count = 0;
        mst_gradients(p.target, p.src, num_src, p.gradient);
        for (int i = 0; i < num_src; i++)
            if (!mst_value_is_none(p.gradient[i])) square[count++] = mst_reduce_sum(mst_square(p.gradient[i]));
        p.target = mst_add_n(square, count);
    }
    mst_gradients(p.target, p.src, num_src, p.gradient);
    EXPECT_OK(mst_graph_check(p.graph));
    p.session = engine_session(p.graph, NULL);
    expect_differences(&p, order > 1 ? 1e-5 : 1e-6);
    for (int i = 0; i < num_src; i++) mst_tensor_release(p.feed[i].tensor);
    engine_end(p.graph, p.session);
}
#define CHECK(f, order, low, high, ...)                                                                            \
    check((f), (order), (int)(sizeof((mst_shape[]){__VA_ARGS__}) / sizeof(mst_shape)), (mst_shape[]){__VA_ARGS__}, \
          (low), (high))

/* ---- compositions ---- */

static mst_value network(const mst_value *x) {
    mst_value h = mst_tanh(mst_add(mst_matmul(x[0], x[1]), x[2]));
    mst_value logits = mst_matmul(h, x[3], .transpose_b = true);
    mst_value labels = mst_values(mst_value_graph(x[0]), MST_I32, MST_SHAPE(3), (double[]){1, 0, 1});
    return mst_reduce_mean(mst_sparse_softmax_cross_entropy(logits, labels));
}

static void gradient_of_a_network_matches_finite_differences(void **state) {
    (void)state;
    CHECK(network, 1, -1, 1, MST_SHAPE(3, 4), MST_SHAPE(4, 5), MST_SHAPE(5), MST_SHAPE(2, 5));
}

static mst_value broadcast(const mst_value *x) {
    mst_value y = mst_div(mst_mul(x[0], x[1]), mst_add(mst_square(x[2]), x[1]));
    return mst_reduce_sum(y, .axes = MST_AXES(0));
}

static void gradients_sum_over_what_was_broadcast(void **state) {
    (void)state;
    CHECK(broadcast, 1, 1, 2, MST_SHAPE(2, 3), MST_SHAPE(3), MST_SHAPE(2, 1));
    CHECK(broadcast, 1, 1, 2, MST_SHAPE(3), MST_SHAPE(4, 1), MST_SCALAR);
}

static mst_value rearrange(const mst_value *x) {
    mst_value both = mst_concat((mst_value[]){x[0], mst_transpose(x[1])}, 2, 0); /* [4, 3] */
    mst_value parts = mst_split(both, 2, 0);
    mst_value product = mst_mul(mst_exp(parts), mst_value_output(parts, 1));
    mst_value piece = mst_slice(mst_reshape(product, MST_SHAPE(3, -1)), MST_SHAPE(1, 0), MST_SHAPE(2, 2));
    return mst_reduce_max(mst_pad(piece, .before = MST_SHAPE(1, 0), .after = MST_SHAPE(0, 1)), .axes = MST_AXES(1));
}

static void gradients_go_through_shapes(void **state) {
    (void)state;
    CHECK(rearrange, 1, -1, 1, MST_SHAPE(2, 3), MST_SHAPE(3, 2));
}

static mst_value curved(const mst_value *x) {
    mst_value y = mst_pow(x[0], x[1]);
    return mst_reduce_mean(mst_log(mst_add(y, mst_sqrt(mst_mul(x[0], mst_sigmoid(x[1]))))));
}

static void second_order_gradients_match_finite_differences(void **state) {
    (void)state;
    CHECK(curved, 1, 1, 2, MST_SHAPE(2, 3), MST_SHAPE(3));
    CHECK(curved, 2, 1, 2, MST_SHAPE(2, 3), MST_SHAPE(3));
    CHECK(broadcast, 2, 1, 2, MST_SHAPE(2, 3), MST_SHAPE(3), MST_SHAPE(2, 1));
}

static mst_value smooth_network(const mst_value *x) {
    mst_value h = mst_softplus(mst_matmul(x[0], x[1]));
    mst_value p = mst_softmax(mst_matmul(h, x[2]));
    return mst_reduce_sum(mst_mul(p, mst_log(p)));
}

static void second_order_gradients_of_a_network_match_finite_differences(void **state) {
    (void)state;
    CHECK(smooth_network, 2, -1, 1, MST_SHAPE(2, 3), MST_SHAPE(3, 4), MST_SHAPE(4, 2));
}

/* A recurrent net of two layers of carries, whose x, first carries and weights all get gradients. */
static void recurrent_step(mst_loop_step *s) {
    s->next[0] = mst_tanh(mst_add(mst_matmul(s->carry[0], s->captured[0]), s->x[0]));
    s->next[1] = mst_add(mst_mul(s->carry[1], s->captured[1]), s->next[0]);
    s->y[0] = mst_sigmoid(mst_sub(s->next[1], s->carry[0]));
}

static mst_value recurrent(const mst_value *x) {
    const mst_value last = mst_scan(recurrent_step, .carry = {x[1], x[2]}, .x = {x[0]}, .captured = {x[3], x[4]});
    const mst_value back =
        mst_scan(recurrent_step, .carry = {x[2], last}, .x = {x[0]}, .captured = {x[3], x[4]}, .reverse = true);
    return mst_add_n((mst_value[]){mst_reduce_sum(mst_square(mst_value_output(last, 2))),
                                   mst_reduce_sum(mst_mul(last, mst_value_output(last, 1))), mst_reduce_sum(back)},
                     3);
}

static void gradients_go_through_all_steps_of_a_scan(void **state) {
    (void)state;
    for (int order = 1; order <= 2; order++)
        CHECK(recurrent, order, -1, 1, MST_SHAPE(3, 2, 2), MST_SHAPE(2, 2), MST_SHAPE(2, 2), MST_SHAPE(2, 2),
              MST_SHAPE(2));
}

static mst_value looked_up(const mst_value *x) {
    mst_value indices = mst_values(mst_value_graph(x[0]), MST_I32, MST_SHAPE(4), (double[]){2, 0, 2, 1});
    return mst_reduce_sum(mst_square(mst_mul(mst_gather(x[0], indices, 0), x[1])));
}

static void rows_looked_up_twice_get_both_gradients(void **state) {
    (void)state;
    CHECK(looked_up, 1, -1, 1, MST_SHAPE(3, 2), MST_SHAPE(4, 1));
    CHECK(looked_up, 2, -1, 1, MST_SHAPE(3, 2), MST_SHAPE(4, 1));
}

/* ---- rules ---- */

static void higher_order_gradients_of_a_power_follow_the_formula(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = mst_scalar(g, MST_F64, 2), y = mst_mul(mst_square(x), mst_square(x));
    static const double derivative[] = {32, 48, 48, 24, 0}; /* of x^4 at 2 */
    mst_value all[4];
    for (int k = 0; k < 4; k++) {
        mst_gradients(k ? all[k - 1] : y, &x, 1, &all[k]);
        assert_false(mst_value_is_none(all[k]));
    }
    mst_session *session = engine_session(g, NULL);
    for (int k = 0; k < 4; k++) assert_true(fabs(engine_number(session, all[k]) - derivative[k]) < 1e-12);
    engine_end(g, session);
}

static void gradient_by_a_value_that_the_target_does_not_use_is_none(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = mst_scalar(g, MST_F32, 2), other = mst_scalar(g, MST_F32, 3), d[3];
    mst_value y = mst_square(x), later = mst_neg(y);
    mst_gradients(y, (mst_value[]){x, other, later}, 3, d);
    assert_false(mst_value_is_none(d[0]));
    assert_true(mst_value_is_none(d[1]));
    assert_true(mst_value_is_none(d[2]));
    EXPECT_OK(mst_graph_check(g));
    mst_graph_destroy(g);
}

static void gradient_of_a_value_by_itself_is_one(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = mst_values(g, MST_F32, MST_SHAPE(2), (double[]){5, 6}), d;
    mst_gradients(x, &x, 1, &d);
    mst_session *session = engine_session(g, NULL);
    assert_true(engine_number(session, mst_reduce_sum(d)) == 2);
    engine_end(g, session);
}

static void gradients_of_all_uses_are_added(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = mst_scalar(g, MST_F64, 3), d;
    mst_value y = mst_add_n((mst_value[]){mst_mul(x, x), x, mst_scale(x, 10), x}, 4);
    mst_gradients(y, &x, 1, &d);
    mst_session *session = engine_session(g, NULL);
    assert_true(engine_number(session, d) == 6 + 1 + 10 + 1);
    engine_end(g, session);
}

static void gradient_by_an_intermediate_value_is_found(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = mst_scalar(g, MST_F64, 3), middle = mst_square(x), d[2];
    mst_gradients(mst_square(middle), (mst_value[]){x, middle}, 2, d);
    mst_session *session = engine_session(g, NULL);
    assert_true(engine_number(session, d[0]) == 4 * 27);
    assert_true(engine_number(session, d[1]) == 2 * 9);
    engine_end(g, session);
}

static void no_gradient_flows_through_stop_gradient(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = mst_scalar(g, MST_F64, 3), d[2];
    mst_value stopped = mst_stop_gradient(mst_square(x));
    mst_gradients(mst_mul(stopped, x), &x, 1, &d[0]);
    mst_gradients(stopped, &x, 1, &d[1]);
    mst_session *session = engine_session(g, NULL);
    assert_true(engine_number(session, d[0]) == 9);
    assert_true(mst_value_is_none(d[1]));
    engine_end(g, session);
}

static void given_gradient_of_the_target_is_multiplied_in(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = mst_values(g, MST_F64, MST_SHAPE(3), (double[]){1, 2, 3}), d;
    mst_value weights = mst_values(g, MST_F64, MST_SHAPE(3), (double[]){10, 0, -1});
    mst_gradients_from(mst_square(x), weights, &x, 1, &d);
    mst_session *session = engine_session(g, NULL);
    mst_tensor *got = engine_fetch(session, NULL, 0, d);
    assert_true(mst_tensor_get(got, 0) == 20 && mst_tensor_get(got, 1) == 0 && mst_tensor_get(got, 2) == -6);
    mst_tensor_release(got);
    engine_end(g, session);
}

static void batch_that_is_not_known_while_building_may_have_any_size(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = mst_placeholder(g, MST_F64, MST_SHAPE(-1, 3), "x"), d[3];
    mst_value w = mst_fill(g, MST_F64, MST_SHAPE(3, 2), 0.5), b = mst_fill(g, MST_F64, MST_SHAPE(2), 0.25);
    mst_value y = mst_add(mst_matmul(x, w), b);
    mst_gradients(mst_reduce_mean(mst_square(y)), (mst_value[]){x, w, b}, 3, d);
    assert_true(mst_shape_equal(mst_value_spec(d[0]).shape, MST_SHAPE(-1, 3)));
    assert_true(mst_shape_equal(mst_value_spec(d[1]).shape, MST_SHAPE(3, 2)));
    assert_true(mst_shape_equal(mst_value_spec(d[2]).shape, MST_SHAPE(2)));
    mst_session *session = engine_session(g, NULL);
    for (int64_t n = 1; n < 6; n += 2) {
        mst_tensor *ones = engine_tensor(MST_F64, MST_SHAPE(n, 3), NULL);
        for (int64_t i = 0; i < 3 * n; i++) mst_tensor_set(ones, i, 1);
        mst_feed feed = {.value = x, .tensor = ones};
        mst_tensor *db = engine_fetch(session, &feed, 1, d[2]), *dx = engine_fetch(session, &feed, 1, d[0]);
        /* y = 1.75; d mean(y^2) / db_j = 2 y n / 2n; / dx_ik = 2 y (w_k0 + w_k1) / 2n */
        assert_true(fabs(mst_tensor_get(db, 1) - 1.75) < 1e-12);
        assert_int_equal(mst_tensor_count(dx), 3 * n);
        assert_true(fabs(mst_tensor_get(dx, 3 * n - 1) - 1.75 / (double)n) < 1e-12);
        mst_tensor_release(db);
        mst_tensor_release(dx);
        mst_tensor_release(ones);
    }
    engine_end(g, session);
}

static void target_must_be_a_float(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = mst_rename(mst_scalar(g, MST_I32, 2), "whole"), d;
    mst_gradients(x, &x, 1, &d);
    assert_true(mst_value_is_none(d));
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "the target 'whole' is i32");
    mst_graph_destroy(g);
}

static void gradient_nodes_are_on_the_device_of_their_node_and_in_a_scope_of_their_own(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = mst_placeholder(g, MST_F32, MST_SHAPE(2), "x"), y = MST_NONE, d;
    mst_with_device (g, "/cpu:1") y = mst_square(x);
    mst_with_device (g, "/cpu:2") y = mst_exp(y);
    int64_t before = mst_graph_num_nodes(g);
    mst_gradients(y, &x, 1, &d);
    bool one = false, two = false;
    for (int64_t i = before; i < mst_graph_num_nodes(g); i++) {
        const mst_node *node = mst_graph_node(g, i);
        one |= strcmp(mst_node_device(node), engine_here("/device:CPU:1")) == 0;
        two |= strcmp(mst_node_device(node), engine_here("/device:CPU:2")) == 0;
        if (i > before) assert_int_equal(strncmp(mst_node_name(node), "gradients/", 10), 0);
    }
    assert_true(one && two);
    assert_string_equal(mst_name_scope(g), "");
    mst_graph_destroy(g);
}

static void gradients_by_values_of_another_graph_or_from_another_shape_are_refused(void **state) {
    (void)state;
    mst_graph *g = engine_graph(), *other = engine_graph();
    for (int i = 0; i < 100; i++) mst_scalar(other, MST_F32, 1);
    mst_value x = mst_scalar(g, MST_F32, 2), far = mst_rename(mst_scalar(other, MST_F32, 1), "far"), out;
    mst_gradients(mst_square(x), &far, 1, &out);
    assert_true(mst_value_is_none(out));
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "source 0, 'far', is of another graph");
    mst_graph_destroy(other);
    mst_graph_destroy(g);
    g = engine_graph();
    x = engine_input(g, "x", MST_SHAPE(2));
    mst_gradients_from(mst_rename(mst_square(x), "y"), mst_fill(g, MST_F32, MST_SHAPE(5, 2), 1), &x, 1, &out);
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "is f32[5, 2], the target 'y' f32[2]");
    mst_graph_destroy(g);
}

static void gradients_may_be_written_over_the_array_of_sources(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    const double two = 2, three = 3;
    mst_value x[2] = {mst_values(g, MST_F32, MST_SCALAR, &two), mst_values(g, MST_F32, MST_SCALAR, &three)};
    mst_gradients(mst_mul(x[0], x[1]), x, 2, x);
    mst_session *s = engine_session(g, NULL);
    assert_true(engine_number(s, x[0]) == 3);
    assert_true(engine_number(s, x[1]) == 2);
    engine_end(g, s);
}

static void target_that_is_no_value_is_an_error_of_the_graph(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_value x = engine_input(g, "x", MST_SHAPE(2)), out = x;
    mst_gradients(MST_NONE, &x, 1, &out);
    assert_true(mst_value_is_none(out));
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "gradients: the target is no value");
    mst_graph_destroy(g);
    g = engine_graph();
    x = engine_input(g, "x", MST_SHAPE(2));
    mst_gradients_from(x, MST_NONE, &x, 1, &out);
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "gradients: the gradient is no value");
    mst_graph_destroy(g);
    g = engine_graph();
    x = engine_input(g, "x", MST_SHAPE(2));
    mst_gradients(x, &x, -1, &out);
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "gradients: -1 sources");
    mst_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_of_a_network_matches_finite_differences),
        cmocka_unit_test(gradients_sum_over_what_was_broadcast),
        cmocka_unit_test(gradients_go_through_shapes),
        cmocka_unit_test(second_order_gradients_match_finite_differences),
        cmocka_unit_test(second_order_gradients_of_a_network_match_finite_differences),
        cmocka_unit_test(gradients_go_through_all_steps_of_a_scan),
        cmocka_unit_test(rows_looked_up_twice_get_both_gradients),
        cmocka_unit_test(higher_order_gradients_of_a_power_follow_the_formula),
        cmocka_unit_test(gradient_by_a_value_that_the_target_does_not_use_is_none),
        cmocka_unit_test(gradient_of_a_value_by_itself_is_one),
        cmocka_unit_test(gradients_of_all_uses_are_added),
        cmocka_unit_test(gradient_by_an_intermediate_value_is_found),
        cmocka_unit_test(no_gradient_flows_through_stop_gradient),
        cmocka_unit_test(given_gradient_of_the_target_is_multiplied_in),
        cmocka_unit_test(batch_that_is_not_known_while_building_may_have_any_size),
        cmocka_unit_test(target_must_be_a_float),
        cmocka_unit_test(gradient_nodes_are_on_the_device_of_their_node_and_in_a_scope_of_their_own),
        cmocka_unit_test(gradients_may_be_written_over_the_array_of_sources),
        cmocka_unit_test(target_that_is_no_value_is_an_error_of_the_graph),
        cmocka_unit_test(gradients_by_values_of_another_graph_or_from_another_shape_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
