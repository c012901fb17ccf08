/* Clipping of gradients by value and by norm. */
#include "rule/gradient_clip.h"

#include <math.h>

#include "support/test.h"

enum { COUNT = 37 };

static void values_beyond_the_limit_become_the_limit(void **state) {
    (void)state;
    float f32[COUNT];
    double f64[COUNT];
    const int middle = COUNT / 2;
    for (int i = 0; i < COUNT; i++) f32[i] = (float)(f64[i] = (i - middle) * 0.25);
    f32[5] = NAN;
    f64[5] = NAN;
    f32[6] = -INFINITY;
    f64[6] = -INFINITY;
    mst_clip_value_f32(f32, f32, 1.5f, COUNT);
    mst_clip_value_f64(f64, f64, 1.5, COUNT);
    for (int i = 0; i < COUNT; i++) {
        const double value = (i - middle) * 0.25, wanted = i == 6 ? -1.5 : fmin(fmax(value, -1.5), 1.5);
        assert_true(i == 5 ? isnan(f64[i]) : f64[i] == wanted);
        assert_true(i == 5 ? isnan(f32[i]) : (double)f32[i] == wanted);
    }
}

static void norms_above_the_limit_are_scaled_down_to_it(void **state) {
    (void)state;
    const double squares[] = {9, 16, 0.25};
    double factor[3];
    const mst_optimizer none = {.clip_value = 1}, each = {.clip_norm = 2}, all = {.clip_global_norm = 2.5};
    assert_false(mst_clips_by_norm(&none));
    assert_true(mst_clips_by_norm(&each) && mst_clips_by_norm(&all));
    mst_clip_factors(&each, squares, 3, factor);
    assert_true(factor[0] == 2.0 / 3 && factor[1] == 0.5 && factor[2] == 1);
    mst_clip_factors(&all, squares, 3, factor);
    for (int v = 0; v < 3; v++) assert_true(factor[v] == 2.5 / sqrt(25.25));
}

static void an_infinite_norm_does_not_scale_to_a_finite_gradient(void **state) {
    (void)state;
    double factor[] = {INFINITY, 1};
    mst_clip_factors(&(const mst_optimizer){.clip_global_norm = 1}, factor, 2, factor);
    assert_true(isnan(factor[0]) && isnan(factor[1]));
    factor[0] = NAN;
    factor[1] = 4;
    mst_clip_factors(&(const mst_optimizer){.clip_norm = 1}, factor, 2, factor);
    assert_true(isnan(factor[0]) && factor[1] == 0.5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_beyond_the_limit_become_the_limit),
        cmocka_unit_test(norms_above_the_limit_are_scaled_down_to_it),
        cmocka_unit_test(an_infinite_norm_does_not_scale_to_a_finite_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
