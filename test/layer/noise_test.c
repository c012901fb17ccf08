/* Layers that add noise or drop values in training: which elements share a draw, and what the values are. */
#include <math.h>

#include "muster/ops.h"
#include "support/test.h"

enum { N = 40, STEPS = 6, CHANNELS = 50, ALL = N * STEPS * CHANNELS };

static mst_model *new_model(void) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    mst_input(model, MST_SHAPE(STEPS, CHANNELS));
    return model;
}

/* What MODEL, which is destroyed, gives for [N, STEPS, CHANNELS] of VALUE. */
static mst_tensor *given(mst_model *model, double value, bool training) {
    mst_graph *g = engine_graph();
    const mst_value x = mst_fill(g, MST_F32, MST_SHAPE(N, STEPS, CHANNELS), value);
    const mst_value y = mst_model_call(model, x, training);
    EXPECT_OK(mst_graph_check(g));
    mst_session *session = engine_session(g, NULL);
    mst_tensor *out = engine_fetch(session, NULL, 0, y);
    engine_end(g, session);
    mst_model_destroy(model);
    return out;
}

static double at(const mst_tensor *y, int64_t n, int64_t step, int64_t channel) {
    return mst_tensor_get(y, (n * STEPS + step) * CHANNELS + channel);
}

/* Checks that values are 0 or 1 / (1 - 0.25), a quarter of them 0, and equal along the dimensions named by SHARED. */
static void expect_dropped(mst_tensor *y, bool shares_examples, bool shares_steps, bool shares_channels) {
    int64_t draws = 0, dropped = 0;
    for (int64_t n = 0; n < N; n++)
        for (int64_t t = 0; t < STEPS; t++)
            for (int64_t c = 0; c < CHANNELS; c++) {
                const double x = at(y, n, t, c);
                const int64_t own[] = {shares_examples ? 0 : n, shares_steps ? 0 : t, shares_channels ? 0 : c};
                assert_true(x == 0 || fabs(x - 4.0 / 3) < 1e-6);
                assert_true(x == at(y, own[0], own[1], own[2]));
                if (own[0] != n || own[1] != t || own[2] != c) continue;
                draws++;
                dropped += x == 0;
            }
    assert_true(fabs((double)dropped / (double)draws - 0.25) < 4 * sqrt(0.25 * 0.75 / (double)draws));
    mst_tensor_release(y);
}

static void dropout_drops_along_the_noise_shape(void **state) {
    (void)state;
    mst_model *model = new_model();
    mst_dropout(model, .rate = 0.25f, .noise_shape = MST_SHAPE(-1, 1, -1));
    expect_dropped(given(model, 1, true), false, true, false);
    model = new_model();
    mst_dropout(model, .rate = 0.25f, .noise_shape = MST_SHAPE(-1, STEPS, 1));
    expect_dropped(given(model, 1, true), false, false, true);
    model = new_model();
    mst_dropout(model, .rate = 0.25f, .noise_shape = MST_SHAPE(1, -1, -1));
    expect_dropped(given(model, 1, true), true, false, false);
    model = new_model();
    mst_spatial_dropout1d(model, .rate = 0.25f);
    expect_dropped(given(model, 1, true), false, true, false);
}

/* Checks the mean and the deviation of numbers that were drawn one by one. */
static void expect_moments(mst_tensor *y, double mean, double deviation) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < ALL; i++) sum += mst_tensor_get(y, i);
    for (int64_t i = 0; i < ALL; i++) squares += pow(mst_tensor_get(y, i) - sum / ALL, 2);
    assert_true(fabs(sum / ALL - mean) < 4 * deviation / sqrt(ALL));
    assert_true(fabs(sqrt(squares / ALL) / deviation - 1) < 0.05);
    mst_tensor_release(y);
}

static void noise_has_the_deviation_of_its_layer(void **state) {
    (void)state;
    mst_model *model = new_model();
    mst_gaussian_noise(model, .stddev = 0.5f);
    expect_moments(given(model, 3, true), 3, 0.5);
    model = new_model();
    mst_gaussian_dropout(model, .rate = 0.2f);
    expect_moments(given(model, 3, true), 3, 3 * 0.5);
}

/* A source of mean 0 and variance 1 keeps both: here sources of 1 and of -1 together. */
static void alpha_dropout_keeps_mean_and_variance(void **state) {
    (void)state;
    double sum = 0, squares = 0;
    for (int sign = -1; sign < 2; sign += 2) {
        mst_model *model = new_model();
        mst_alpha_dropout(model, .rate = 0.25f);
        mst_tensor *y = given(model, sign, true);
        for (int64_t i = 0; i < ALL; i++) {
            sum += mst_tensor_get(y, i);
            squares += pow(mst_tensor_get(y, i), 2);
        }
        mst_tensor_release(y);
    }
    assert_true(fabs(sum / (2 * ALL)) < 0.05);
    assert_true(fabs(squares / (2 * ALL) - 1) < 0.05);
}

static void predictions_are_not_changed(void **state) {
    (void)state;
    mst_model *model = new_model();
    mst_dropout(model, .rate = 0.25f, .noise_shape = MST_SHAPE(-1, 1, 1));
    mst_spatial_dropout1d(model, .rate = 0.25f);
    mst_gaussian_noise(model, .stddev = 0.5f);
    mst_gaussian_dropout(model, .rate = 0.5f);
    mst_alpha_dropout(model, .rate = 0.5f);
    mst_tensor *y = given(model, 3, false);
    for (int64_t i = 0; i < ALL; i++) assert_true(mst_tensor_get(y, i) == 3);
    mst_tensor_release(y);
}

/* The channels of pictures and of volumes */
static void spatial_dropout_takes_pictures_and_volumes(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    const mst_value picture = mst_fill(g, MST_F32, MST_SHAPE(3, 2, 2, 20), 1);
    const mst_value volume = mst_fill(g, MST_F32, MST_SHAPE(3, 2, 2, 2, 20), 1);
    const mst_value y[] = {mst_spatial_dropout2d(picture, .rate = 0.5f), mst_spatial_dropout3d(volume, .rate = 0.5f)};
    EXPECT_OK(mst_graph_check(g));
    mst_session *session = engine_session(g, NULL);
    mst_tensor *out[2] = {NULL};
    EXPECT_OK(mst_session_run(session, NULL, 0, y, 2, out));
    for (int k = 0; k < 2; k++) {
        const int64_t pixels = k == 0 ? 4 : 8;
        for (int64_t i = 0; i < 3 * pixels * 20; i++) {
            const int64_t first = i / (pixels * 20) * pixels * 20 + i % 20;
            assert_true(mst_tensor_get(out[k], i) == mst_tensor_get(out[k], first));
        }
        mst_tensor_release(out[k]);
    }
    engine_end(g, session);
}

static void shapes_that_do_not_fit_are_errors(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_dropout(mst_placeholder(g, MST_F32, MST_SHAPE(-1, 3, 4)), .rate = 0.5f, .noise_shape = MST_SHAPE(-1, 1));
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "noise_shape has 2 dimensions, must have 3");
    mst_graph_destroy(g);
    g = engine_graph();
    mst_dropout(mst_placeholder(g, MST_F32, MST_SHAPE(-1, 3)), .rate = 0.5f, .noise_shape = MST_SHAPE(-1, 2));
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "dimension 1 of noise_shape is 2, must be 1 or 3");
    mst_graph_destroy(g);
    g = engine_graph();
    mst_spatial_dropout2d(mst_placeholder(g, MST_F32, MST_SHAPE(-1, 3, 4)), .rate = 0.5f);
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "needs [n, height, width, channels]");
    mst_graph_destroy(g);
    mst_model *model = new_model();
    mst_dropout(model, .rate = 0.5f, .noise_shape = MST_SHAPE(-1, 0, 1));
    EXPECT_ERROR(mst_model_check(model), MST_INVALID, "noise_shape has a dimension of 0");
    mst_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dropout_drops_along_the_noise_shape),
        cmocka_unit_test(noise_has_the_deviation_of_its_layer),
        cmocka_unit_test(alpha_dropout_keeps_mean_and_variance),
        cmocka_unit_test(predictions_are_not_changed),
        cmocka_unit_test(spatial_dropout_takes_pictures_and_volumes),
        cmocka_unit_test(shapes_that_do_not_fit_are_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
