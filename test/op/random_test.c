/* What random ops promise about seeds, steps and names; their values are examples of the ops. */
#include <math.h>

#include "support/test.h"

enum { MANY = 20000 };

static mst_tensor *draw(uint64_t graph_seed, const char *scope, uint64_t seed, int64_t step, int64_t count) {
    mst_graph *graph = engine_graph();
    mst_graph_set_seed(graph, graph_seed);
    mst_value value = MST_NONE;
    mst_with_name (graph, scope) value = mst_random_normal(.graph = graph, .shape = MST_SHAPE(count), .seed = seed);
    mst_session *session = engine_session(graph, NULL);
    engine_set_run(session, step);
    mst_tensor *tensor = engine_fetch(session, NULL, 0, value);
    engine_end(graph, session);
    return tensor;
}

static void expect_same(mst_tensor *a, mst_tensor *b, bool same) {
    assert_int_equal(engine_same_bits(a, b), same);
    mst_tensor_release(a);
    mst_tensor_release(b);
}

static void values_depend_on_seeds_step_and_name_only(void **state) {
    (void)state;
    expect_same(draw(1, "a", 0, 3, 100), draw(1, "a", 0, 3, 100), true);
    expect_same(draw(1, "a", 0, 3, 100), draw(2, "a", 0, 3, 100), false);
    expect_same(draw(1, "a", 0, 3, 100), draw(1, "b", 0, 3, 100), false);
    expect_same(draw(1, "a", 0, 3, 100), draw(1, "a", 0, 4, 100), false);
    expect_same(draw(1, "a", 5, 3, 100), draw(1, "b", 5, 3, 100), true);
    expect_same(draw(1, "a", 5, 3, 100), draw(1, "a", 6, 3, 100), false);
}

static void an_element_does_not_depend_on_the_shape(void **state) {
    (void)state;
    mst_tensor *few = draw(1, "a", 0, 0, 5), *many = draw(1, "a", 0, 0, 500);
    for (int64_t i = 0; i < 5; i++) assert_true(mst_tensor_get(few, i) == mst_tensor_get(many, i));
    mst_tensor_release(few);
    mst_tensor_release(many);
}

static void each_step_of_a_session_draws_anew_and_can_be_drawn_again(void **state) {
    (void)state;
    mst_graph *graph = engine_graph();
    mst_value value = mst_random_uniform(.graph = graph, .shape = MST_SHAPE(10));
    mst_session *session = engine_session(graph, NULL);
    engine_set_run(session, 7);
    mst_tensor *first = engine_fetch(session, NULL, 0, value), *second = engine_fetch(session, NULL, 0, value);
    engine_set_run(session, 7);
    mst_tensor *again = engine_fetch(session, NULL, 0, value);
    assert_false(engine_same_bits(first, second));
    assert_true(engine_same_bits(first, again));
    mst_tensor_release(first);
    mst_tensor_release(second);
    mst_tensor_release(again);
    engine_end(graph, session);
}

/* Alike but for their names, so a plan must not merge them; one fetched twice is one. */
static void two_nodes_draw_different_values(void **state) {
    (void)state;
    mst_graph *graph = engine_graph();
    mst_value a = mst_random_uniform(.graph = graph, .shape = MST_SHAPE(10));
    mst_value b = mst_random_uniform(.graph = graph, .shape = MST_SHAPE(10));
    mst_session *session = engine_session(graph, NULL);
    mst_tensor *outputs[3] = {NULL};
    EXPECT_OK(mst_session_run(session, NULL, 0, (const mst_value[]){a, b, a}, 3, outputs));
    assert_false(engine_same_bits(outputs[0], outputs[1]));
    assert_true(engine_same_bits(outputs[0], outputs[2]));
    for (int i = 0; i < 3; i++) mst_tensor_release(outputs[i]);
    engine_end(graph, session);
}

static void dropout_keeps_its_part_and_the_mean(void **state) {
    (void)state;
    static const float rates[] = {0.1f, 0.5f, 0.9f};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        mst_graph *graph = engine_graph();
        mst_value ones = mst_fill(graph, MST_F32, MST_SHAPE(MANY), 1);
        mst_value dropped = mst_dropout(ones, .rate = rates[i]);
        mst_session *session = engine_session(graph, NULL);
        mst_tensor *tensor = engine_fetch(session, NULL, 0, dropped);
        const double rate = (double)rates[i];
        double kept = 0;
        for (int64_t e = 0; e < MANY; e++) {
            const double x = mst_tensor_get(tensor, e);
            assert_true(x == 0 || fabs(x * (1 - rate) - 1) < 1e-6);
            kept += x != 0;
        }
        /* four standard deviations */
        assert_true(fabs(kept / MANY - (1 - rate)) < 4 * sqrt(rate * (1 - rate) / MANY));
        mst_tensor_release(tensor);
        engine_end(graph, session);
    }
}

static void the_gradient_of_dropout_applies_the_mask_of_the_same_step(void **state) {
    (void)state;
    mst_graph *graph = engine_graph();
    mst_value ones = mst_fill(graph, MST_F32, MST_SHAPE(100), 1), gradient;
    mst_value dropped = mst_dropout(ones, .rate = 0.5f);
    mst_gradients(dropped, &ones, 1, &gradient);
    mst_session *session = engine_session(graph, NULL);
    for (int step = 0; step < 3; step++) {
        mst_tensor *outputs[2] = {NULL};
        EXPECT_OK(mst_session_run(session, NULL, 0, (const mst_value[]){dropped, gradient}, 2, outputs));
        assert_true(engine_same_bits(outputs[0], outputs[1]));
        mst_tensor_release(outputs[0]);
        mst_tensor_release(outputs[1]);
    }
    engine_end(graph, session);
}

static void uniform_stays_below_its_bound(void **state) {
    (void)state;
    mst_graph *graph = engine_graph();
    /* between two neighbouring floats, so that every draw rounds to one of them */
    const double low = 1, high = 1 + 0x1p-23;
    mst_value value = mst_random_uniform(.graph = graph, .shape = MST_SHAPE(1000), .low = low, .high = high);
    mst_session *session = engine_session(graph, NULL);
    mst_tensor *tensor = engine_fetch(session, NULL, 0, value);
    for (int64_t i = 0; i < 1000; i++) assert_true(mst_tensor_get(tensor, i) == low);
    mst_tensor_release(tensor);
    engine_end(graph, session);
}

static void ops_of_one_seed_share_no_numbers(void **state) {
    (void)state;
    mst_graph *graph = engine_graph();
    mst_value drawn[3] = {mst_random_uniform(graph, MST_SHAPE(MANY), .seed = 5),
                          mst_random_normal(graph, MST_SHAPE(MANY), .seed = 5),
                          mst_random_truncated_normal(graph, MST_SHAPE(MANY), .seed = 5)};
    mst_session *session = engine_session(graph, NULL);
    mst_tensor *value[3] = {NULL};
    EXPECT_OK(mst_session_run(session, NULL, 0, drawn, 3, value));
    const double mean[3] = {0.5, 0, 0}, deviation[3] = {0.288675, 1, 0.8796};
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < a; b++) {
            double sum = 0;
            for (int64_t i = 0; i < MANY; i++)
                sum += (mst_tensor_get(value[a], i) - mean[a]) * (mst_tensor_get(value[b], i) - mean[b]);
            assert_true(fabs(sum / (MANY * deviation[a] * deviation[b])) < 0.03);
        }
    for (int i = 0; i < 3; i++) mst_tensor_release(value[i]);
    engine_end(graph, session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_depend_on_seeds_step_and_name_only),
        cmocka_unit_test(an_element_does_not_depend_on_the_shape),
        cmocka_unit_test(each_step_of_a_session_draws_anew_and_can_be_drawn_again),
        cmocka_unit_test(two_nodes_draw_different_values),
        cmocka_unit_test(dropout_keeps_its_part_and_the_mean),
        cmocka_unit_test(the_gradient_of_dropout_applies_the_mask_of_the_same_step),
        cmocka_unit_test(uniform_stays_below_its_bound),
        cmocka_unit_test(ops_of_one_seed_share_no_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
