/* Learning-rate schedules: their values, the same values computed in a graph, and members that are missing or out of
 * range. */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "muster/ops.h"
#include "muster/schedule.h"
#include "muster/session.h"
#include "support/expect.h"

enum { POINTS = 8 };

/* Values by hand, or from Keras 3 in double precision. */
static const struct {
    const char *name;
    mst_schedule schedule;
    struct {
        int64_t step;
        double rate;
    } at[POINTS]; /* ended by a rate of 0 */
} cases[] = {
    {"exponential",
     {.kind = MST_SCHEDULE_EXPONENTIAL, .rate = 0.1, .decay_rate = 0.5, .decay_steps = 10},
     {{0, 0.1}, {5, 0.1 * 0.70710678118654752}, {10, 0.05}, {20, 0.025}, {25, 0.025 * 0.70710678118654752}}},
    {"exponential with staircase",
     {.kind = MST_SCHEDULE_EXPONENTIAL, .rate = 0.1, .decay_rate = 0.5, .decay_steps = 10, .staircase = true},
     {{0, 0.1}, {9, 0.1}, {10, 0.05}, {19, 0.05}, {20, 0.025}, {1000, 0.1 * 0x1p-100}}},
    {"the schedule of the MNIST examples",
     {.kind = MST_SCHEDULE_EXPONENTIAL, .rate = 0.001, .decay_rate = 0.99, .decay_steps = 600},
     {{0, 0.001}, {600, 0.00099}, {1200, 0.0009801}}},
    {"piecewise",
     {.kind = MST_SCHEDULE_PIECEWISE, .num_pieces = 3, .boundary = {100, 200}, .value = {1, 0.5, 0.1}},
     {{0, 1}, {99, 1}, {100, 1}, {101, 0.5}, {200, 0.5}, {201, 0.1}, {1000000, 0.1}}},
    {"piecewise with one piece",
     {.kind = MST_SCHEDULE_PIECEWISE, .num_pieces = 1, .value = {0.25}},
     {{0, 0.25}, {7, 0.25}}},
    {"polynomial",
     {.kind = MST_SCHEDULE_POLYNOMIAL, .rate = 1, .decay_steps = 10, .end = 0.5, .power = 2},
     {{0, 1}, {1, 0.5 + 0.5 * 0.81}, {5, 0.625}, {10, 0.5}, {11, 0.5}, {100, 0.5}}},
    {"polynomial with defaults",
     {.kind = MST_SCHEDULE_POLYNOMIAL, .rate = 1, .decay_steps = 10},
     {{0, 1}, {5, 0.50005}, {10, 0.0001}}},
    {"polynomial with cycle",
     {.kind = MST_SCHEDULE_POLYNOMIAL, .rate = 1, .decay_steps = 10, .end = 0.5, .cycle = true},
     {{0, 1}, {5, 0.75}, {10, 0.5}, {11, 0.725}, {20, 0.5}, {21, 0.65}}},
    {"polynomial with cycle at a step after which f32 rounds the end of the cycle down",
     {.kind = MST_SCHEDULE_POLYNOMIAL, .rate = 1, .decay_steps = 3, .end = 0.5, .power = 2.5, .cycle = true},
     {{25165834, 0.5}}},
    {"inverse time",
     {.kind = MST_SCHEDULE_INVERSE_TIME, .rate = 1, .decay_rate = 0.5, .decay_steps = 10},
     {{0, 1}, {5, 0.8}, {10, 1 / 1.5}, {20, 0.5}}},
    {"inverse time with staircase",
     {.kind = MST_SCHEDULE_INVERSE_TIME, .rate = 1, .decay_rate = 0.5, .decay_steps = 10, .staircase = true},
     {{0, 1}, {9, 1}, {10, 1 / 1.5}, {19, 1 / 1.5}, {20, 0.5}}},
    {"cosine",
     {.kind = MST_SCHEDULE_COSINE, .rate = 0.2, .decay_steps = 100},
     {{0, 0.2}, {25, 0.1 * (1 + 0.70710678118654752)}, {50, 0.1}, {75, 0.1 * (1 - 0.70710678118654752)}}},
    {"cosine with a part that stays",
     {.kind = MST_SCHEDULE_COSINE, .rate = 0.2, .decay_steps = 100, .alpha = 0.5},
     {{0, 0.2}, {50, 0.15}, {100, 0.1}, {1000, 0.1}}},
    {"cosine after a warm-up",
     {.kind = MST_SCHEDULE_COSINE, .rate = 0.2, .decay_steps = 100, .warmup_steps = 10, .warmup_from = 0.1},
     {{0, 0.1}, {1, 0.11}, {9, 0.19}, {10, 0.2}, {60, 0.1}}},
    {"piecewise after a warm-up",
     {.kind = MST_SCHEDULE_PIECEWISE, .num_pieces = 2, .boundary = {5}, .value = {1, 0.5}, .warmup_steps = 4},
     {{1, 0.25}, {3, 0.75}, {4, 1}, {9, 1}, {10, 0.5}}},
    {"polynomial with cycle after a warm-up",
     {.kind = MST_SCHEDULE_POLYNOMIAL,
      .rate = 1,
      .decay_steps = 10,
      .end = 0.5,
      .cycle = true,
      .warmup_steps = 4,
      .warmup_from = 0.5},
     {{0, 0.5}, {2, 0.75}, {4, 1}, {14, 0.5}, {15, 0.725}}},
    {"constant after a warm-up", {.rate = 0.3, .warmup_steps = 3}, {{1, 0.1}, {2, 0.2}, {3, 0.3}, {1000, 0.3}}},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static void expect_rate(int c, int k, double rate, double tolerance) {
    if (!(fabs(rate - cases[c].at[k].rate) <= tolerance * cases[c].at[k].rate))
        fail_msg("%s, step %lld: %.17g, must be %.17g", cases[c].name, (long long)cases[c].at[k].step, rate,
                 cases[c].at[k].rate);
}

static void each_schedule_has_the_values_of_its_formula(void **state) {
    (void)state;
    for (int c = 0; c < CASES; c++) {
        EXPECT_OK(mst_schedule_check(&cases[c].schedule));
        assert_true(mst_schedule_is_set(&cases[c].schedule));
        for (int k = 0; k < POINTS && cases[c].at[k].rate != 0; k++)
            expect_rate(c, k, mst_schedule_at(&cases[c].schedule, cases[c].at[k].step), 1e-12);
    }
}

static void the_graph_computes_the_same_in_f32(void **state) {
    (void)state;
    for (int c = 0; c < CASES; c++) {
        mst_graph *graph;
        mst_session *session;
        EXPECT_OK(mst_graph_create(&graph));
        mst_value step = mst_placeholder(.graph = graph, .dtype = MST_I64, .shape = MST_SCALAR);
        mst_value rate = mst_schedule_value(graph, &cases[c].schedule, step);
        EXPECT_OK(mst_graph_check(graph));
        assert_int_equal(mst_value_spec(rate).dtype, MST_F32);
        EXPECT_OK(mst_session_create(graph, &(mst_session_options){.check_numerics = true}, &session));
        for (int k = 0; k < POINTS && cases[c].at[k].rate != 0; k++) {
            mst_tensor *fed, *out = NULL;
            EXPECT_OK(mst_tensor_copy(MST_I64, MST_SCALAR, &cases[c].at[k].step, &fed));
            EXPECT_OK(mst_session_run(session, &(mst_feed){.value = step, .tensor = fed}, 1, &rate, 1, &out));
            expect_rate(c, k, mst_tensor_get(out, 0), 1e-5);
            mst_tensor_release(out);
            mst_tensor_release(fed);
        }
        mst_session_destroy(session);
        mst_graph_destroy(graph);
    }
}

static void an_empty_schedule_is_not_set(void **state) {
    (void)state;
    assert_false(mst_schedule_is_set(&(mst_schedule){0}));
}

static void missing_and_out_of_range_members_are_named(void **state) {
    (void)state;
    static const struct {
        mst_schedule schedule;
        const char *text;
    } wrong[] = {
        {{.kind = MST_SCHEDULE_EXPONENTIAL, .decay_rate = 0.9, .decay_steps = 5}, "exponential: rate is not set"},
        {{.kind = MST_SCHEDULE_EXPONENTIAL, .rate = 1, .decay_rate = 0.9}, "exponential: decay_steps is not set"},
        {{.kind = MST_SCHEDULE_EXPONENTIAL, .rate = 1, .decay_steps = 5}, "exponential: decay_rate is not set"},
        {{.kind = MST_SCHEDULE_COSINE, .rate = 1, .decay_steps = -5}, "cosine: decay_steps is -5"},
        {{.kind = MST_SCHEDULE_COSINE, .rate = NAN, .decay_steps = 5}, "cosine: rate is nan"},
        {{.kind = MST_SCHEDULE_COSINE, .rate = 1, .decay_steps = 5, .alpha = 2}, "cosine: alpha is 2"},
        {{.kind = MST_SCHEDULE_COSINE, .rate = 1, .decay_steps = 5, .warmup_steps = -1}, "warmup_steps is -1"},
        {{.kind = MST_SCHEDULE_POLYNOMIAL, .rate = 1}, "polynomial: decay_steps is not set"},
        {{.kind = MST_SCHEDULE_INVERSE_TIME, .rate = 1}, "inverse_time: decay_steps is not set"},
        {{.kind = MST_SCHEDULE_PIECEWISE}, "piecewise: num_pieces is not set"},
        {{.kind = MST_SCHEDULE_PIECEWISE, .num_pieces = 17}, "piecewise: num_pieces is 17"},
        {{.kind = MST_SCHEDULE_PIECEWISE, .num_pieces = 3, .boundary = {5, 5}}, "boundary 1 is 5"},
        {{.kind = MST_SCHEDULE_PIECEWISE, .num_pieces = 2, .value = {1, -1}}, "value 1 is -1"},
        {{.warmup_steps = 5}, "none: rate is not set"},
        {{.kind = (mst_schedule_kind)99}, "kind is 99"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        EXPECT_ERROR(mst_schedule_check(&wrong[i].schedule), MST_INVALID, wrong[i].text);
}

static void a_step_that_is_no_i64_scalar_is_refused(void **state) {
    (void)state;
    mst_graph *graph;
    EXPECT_OK(mst_graph_create(&graph));
    mst_value step = mst_placeholder(.graph = graph, .name = "when", .dtype = MST_F32, .shape = MST_SHAPE(2));
    mst_schedule_value(graph, &cases[0].schedule, step);
    EXPECT_ERROR(mst_graph_check(graph), MST_INVALID, "'when' is f32[2], must be an i64 scalar");
    mst_graph_destroy(graph);
}

static void only_schedules_with_an_end_report_one(void **state) {
    (void)state;
    assert_true(mst_schedule_ends(MST_SCHEDULE_COSINE) && mst_schedule_ends(MST_SCHEDULE_POLYNOMIAL));
    assert_false(mst_schedule_ends(MST_SCHEDULE_NONE) || mst_schedule_ends(MST_SCHEDULE_EXPONENTIAL));
    assert_false(mst_schedule_ends(MST_NUM_SCHEDULES) || mst_schedule_ends((mst_schedule_kind)-1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_schedule_has_the_values_of_its_formula),
        cmocka_unit_test(the_graph_computes_the_same_in_f32),
        cmocka_unit_test(only_schedules_with_an_end_report_one),
        cmocka_unit_test(an_empty_schedule_is_not_set),
        cmocka_unit_test(missing_and_out_of_range_members_are_named),
        cmocka_unit_test(a_step_that_is_no_i64_scalar_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
