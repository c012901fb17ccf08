/* Moving averages of weights. */
#include "rule/moving_average.h"

#include "support/test.h"

enum { COUNT = 37 };

static void averages_follow_as_fast_as_the_decay_says(void **state) {
    (void)state;
    const mst_optimizer plain = {.ema_decay = 0.9999}, counted = {.ema_decay = 0.9999, .ema_num_updates = true};
    assert_true(mst_moving_average_rest(&plain, 0) == (double)(1.0f - 0.9999f));
    assert_true(mst_moving_average_rest(&counted, 0) == (double)(1.0f - 0.1f));
    assert_true(mst_moving_average_rest(&counted, 90) == (double)(1.0f - 0.91f));
    assert_true(mst_moving_average_rest(&counted, 1000000) == (double)(1.0f - 0.9999f));
    float average[COUNT], w[COUNT];
    double wide[COUNT], target[COUNT];
    for (int i = 0; i < COUNT; i++) {
        average[i] = (float)(wide[i] = i);
        w[i] = (float)(target[i] = 2.0 * i);
    }
    mst_moving_average_f32(average, w, 0.25f, COUNT);
    mst_moving_average_f64(wide, target, 0.25, COUNT);
    for (int i = 0; i < COUNT; i++) assert_true((double)average[i] == 1.25 * i && wide[i] == 1.25 * i);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(averages_follow_as_fast_as_the_decay_says)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
