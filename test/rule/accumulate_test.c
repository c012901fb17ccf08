/* Sums of the gradients of several steps. */
#include "rule/accumulate.h"

#include "support/test.h"

enum { COUNT = 37 };

static void the_last_of_n_steps_makes_the_update(void **state) {
    (void)state;
    const mst_optimizer none = {.rule = "sgd"}, one = {.gradient_accumulation_steps = 1},
                        four = {.gradient_accumulation_steps = 4};
    assert_false(mst_accumulates(&none) || mst_accumulates(&one));
    assert_true(mst_accumulates(&four));
    assert_int_equal(mst_accumulated_mean(&none, 0), 1);
    assert_int_equal(mst_accumulated_mean(&one, 0), 1);
    for (int added = 0; added < 3; added++) assert_int_equal(mst_accumulated_mean(&four, added), 0);
    assert_int_equal(mst_accumulated_mean(&four, 3), 4);
    assert_int_equal(mst_accumulated_mean(&four, 6), 7); /* 6 of a checkpoint that was made with more steps */
}

static void updates_are_counted_by_whole_runs_of_steps(void **state) {
    (void)state;
    const mst_optimizer none = {.rule = "sgd"}, three = {.gradient_accumulation_steps = 3};
    static const int64_t wanted[] = {0, 0, 0, 1, 1, 1, 2};
    for (int64_t step = 0; step < 7; step++) {
        assert_int_equal(mst_accumulated_updates(&none, step), step);
        assert_int_equal(mst_accumulated_updates(&three, step), wanted[step]);
    }
}

/* The mean of 0.1 i, 0.2 i and 0.3 i, rounded as the division rounds it. */
static void sums_and_means_are_those_of_each_element(void **state) {
    (void)state;
    float sum[COUNT] = {0}, gradient[COUNT];
    double sum_f64[COUNT] = {0}, gradient_f64[COUNT];
    for (int k = 1; k <= 3; k++) {
        for (int i = 0; i < COUNT; i++) gradient[i] = (float)(gradient_f64[i] = 0.1 * k * i);
        if (k == 3) break;
        mst_accumulate_f32(sum, gradient, COUNT);
        mst_accumulate_f64(sum_f64, gradient_f64, COUNT);
    }
    mst_take_mean_f32(gradient, gradient, sum, 3, COUNT);
    mst_take_mean_f64(gradient_f64, gradient_f64, sum_f64, 3, COUNT);
    for (int i = 0; i < COUNT; i++) {
        const float first = (float)(0.1 * i), second = (float)(0.1 * 2 * i), third = (float)(0.1 * 3 * i);
        assert_true(gradient[i] == (third + (first + second)) / 3);
        assert_true(gradient_f64[i] == (0.1 * 3 * i + (0.1 * i + 0.1 * 2 * i)) / 3);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_of_n_steps_makes_the_update),
        cmocka_unit_test(updates_are_counted_by_whole_runs_of_steps),
        cmocka_unit_test(sums_and_means_are_those_of_each_element),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
