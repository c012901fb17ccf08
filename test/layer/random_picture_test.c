/* Layers that change pictures at random. Where a range is one number the change is not random: the values are those of
 * Keras 3.15 on TensorFlow. */
#include <math.h>

#include "muster/ops.h"
#include "support/test.h"

enum { HEIGHT = 4, WIDTH = 5, PIXELS = HEIGHT * WIDTH };
static const double picture[PIXELS] = {30, 10, 40, 10, 50, 90, 20, 60, 50, 30, 50, 80, 90, 70, 90, 30, 20, 30, 80, 40};

static mst_model *new_model(void) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    mst_input(model, MST_SHAPE(HEIGHT, WIDTH, 1));
    return model;
}

/* What MODEL, which is destroyed, gives for N pictures, of which each is 100 brighter than the one before. */
static mst_tensor *shown(mst_model *model, int64_t n, bool training) {
    mst_graph *g = engine_graph();
    mst_tensor *x = engine_tensor(MST_F32, MST_SHAPE(n, HEIGHT, WIDTH, 1), NULL);
    for (int64_t i = 0; i < n * PIXELS; i++) {
        const int64_t before = i / PIXELS; /* pictures */
        mst_tensor_set(x, i, picture[i % PIXELS] + 100 * (double)before);
    }
    const mst_value fed = mst_placeholder(g, MST_F32, MST_SHAPE(-1, HEIGHT, WIDTH, 1));
    const mst_value y = mst_model_call(model, fed, training);
    EXPECT_OK(mst_graph_check(g));
    mst_session *session = engine_session(g, NULL);
    mst_tensor *out = engine_fetch(session, &(mst_feed){.value = fed, .tensor = x}, 1, y);
    engine_end(g, session);
    mst_tensor_release(x);
    mst_model_destroy(model);
    return out;
}

static void expect_picture(mst_tensor *y, int64_t row, double brighter, const double *wanted) {
    for (int64_t i = 0; i < PIXELS; i++) {
        const double got = mst_tensor_get(y, row * PIXELS + i);
        if (!(fabs(got - wanted[i] - brighter) < 2e-3))
            fail_msg("pixel %lld of picture %lld is %.9g, must be %.9g", (long long)i, (long long)row, got,
                     wanted[i] + brighter);
    }
}

typedef enum kind { rotation, translation, zoom } kind;

static void add(mst_model *model, kind kind, mst_picture_fill fill, mst_picture_sampling sampling) {
    if (kind == rotation)
        mst_random_rotation(model, .lower = 0.1f, .upper = 0.1f, .fill_mode = fill, .interpolation = sampling,
                            .fill_value = 7);
    if (kind == translation)
        mst_random_translation(model, .height_lower = 0.3f, .height_upper = 0.3f, .width_lower = -0.45f,
                               .width_upper = -0.45f, .fill_mode = fill, .interpolation = sampling, .fill_value = 7);
    if (kind == zoom)
        mst_random_zoom(model, .height_lower = 0.3f, .height_upper = 0.3f, .width_lower = 0.7f, .width_upper = 0.7f,
                        .fill_mode = fill, .interpolation = sampling, .fill_value = 7);
}

static void pixels_are_moved_as_in_keras(void **state) {
    (void)state;
    static const struct {
        kind kind;
        mst_picture_fill fill;
        mst_picture_sampling sampling;
        double pixel[PIXELS];
    } rows[] = {
        {rotation, MST_PICTURE_FILL_REFLECT, MST_PICTURE_BILINEAR, {17.90932, 37.82017, 24.33072, 36.36738, 57.72269,
                                                                    16.48283, 32.08508, 59.64518, 64.41997, 76.11784,
                                                                    68.76481, 42.94767, 83.35439, 67.91136, 67.03434,
                                                                    68.4818,  55.20866, 38.37169, 29.27339, 66.81781}},
        {translation, MST_PICTURE_FILL_REFLECT, MST_PICTURE_BILINEAR, {37.5,     25, 46,       39,       24.5,
                                                                       32.5,     20, 50,       40,       17.5,
                                                                       52.5,     40, 34,       36,       45.5,
                                                                       79.49999, 69, 77.99999, 74.99999, 70.5}},
        {zoom, MST_PICTURE_FILL_REFLECT, MST_PICTURE_BILINEAR, {22,   24,   40,   38.00001, 34,       55.99999, 62.25,
                                                                57,   36.3, 37.4, 56.6,     54.2,     80.99999, 79.2,
                                                                78.1, 26,   27,   30,       51.99999, 56}},
        {rotation, MST_PICTURE_FILL_REFLECT, MST_PICTURE_NEAREST, {10, 40, 10, 30, 30, 10, 20, 60, 70, 90,
                                                                   90, 20, 90, 70, 80, 50, 50, 20, 30, 80}},
        {translation, MST_PICTURE_FILL_REFLECT, MST_PICTURE_NEAREST, {40, 10, 50, 50, 10, 40, 10, 50, 50, 10,
                                                                      60, 50, 30, 30, 50, 90, 70, 90, 90, 70}},
        {zoom, MST_PICTURE_FILL_REFLECT, MST_PICTURE_NEAREST, {30, 30, 40, 50, 50, 90, 90, 60, 30, 30,
                                                               50, 50, 90, 90, 90, 30, 30, 30, 40, 40}},
        {rotation, MST_PICTURE_FILL_WRAP, MST_PICTURE_BILINEAR, {22.63644, 33.63305, 24.33072, 36.36738, 71.5182,
                                                                 23.24141, 32.08508, 59.64518, 64.41997, 76.11784,
                                                                 68.76481, 42.94767, 83.35439, 67.91136, 22.96566,
                                                                 62.27731, 55.20866, 38.37169, 37.82018, 17.90931}},
        {translation, MST_PICTURE_FILL_WRAP, MST_PICTURE_BILINEAR, {51,   71,       34,   33.5, 34.5, 42.5,     70,
                                                                    30,   27.5,     22.5, 52.5, 40,   77.99999, 63,
                                                                    27.5, 79.49999, 69,   58,   60.5, 71.99999}},
        {zoom, MST_PICTURE_FILL_WRAP, MST_PICTURE_BILINEAR, {56,   27,   30,       51.99999, 26,       37.4,     62.25,
                                                             57,   36.3, 55.99999, 78.1,     54.2,     80.99999, 79.2,
                                                             56.6, 34,   24,       40,       38.00001, 22}},
        {rotation, MST_PICTURE_FILL_WRAP, MST_PICTURE_NEAREST, {20, 30, 10, 30, 90, 20, 20, 60, 70, 90,
                                                                90, 20, 90, 70, 10, 90, 50, 20, 40, 10}},
        {translation, MST_PICTURE_FILL_WRAP, MST_PICTURE_NEAREST, {30, 80, 30, 30, 20, 30, 80, 30, 30, 20,
                                                                   60, 50, 90, 90, 20, 90, 70, 50, 50, 80}},
        {zoom, MST_PICTURE_FILL_WRAP, MST_PICTURE_NEAREST, {40, 30, 30, 40, 30, 30, 90, 60, 30, 90,
                                                            90, 50, 90, 90, 50, 50, 30, 40, 50, 30}},
        {rotation, MST_PICTURE_FILL_CONSTANT, MST_PICTURE_BILINEAR, {8.209887, 28.53372, 24.33072, 36.36738, 32.37596,
                                                                     15.72345, 32.08508, 59.64518, 64.41997, 76.11784,
                                                                     68.76481, 42.94767, 83.35439, 67.91136, 62.22686,
                                                                     37.75861, 55.20866, 38.37169, 22.56218, 13.63403}},
        {translation, MST_PICTURE_FILL_CONSTANT, MST_PICTURE_BILINEAR, {7,    7,        7,  7,     7,  27.4,  17.4,
                                                                        32.8, 7,        7,  52.5,  40, 27.25, 7,
                                                                        7,    79.49999, 69, 60.25, 7,  7}},
        {zoom, MST_PICTURE_FILL_CONSTANT, MST_PICTURE_BILINEAR, {7,  16.35, 25.15, 24.05001, 7,     7,        62.25,
                                                                 57, 36.3,  7,     7,        54.2,  80.99999, 79.2,
                                                                 7,  7,     18,    19.65001, 31.75, 7}},
        {rotation, MST_PICTURE_FILL_CONSTANT, MST_PICTURE_NEAREST, {7,  40, 10, 30, 30, 10, 20, 60, 70, 90,
                                                                    90, 20, 90, 70, 80, 50, 50, 20, 30, 7}},
        {translation, MST_PICTURE_FILL_CONSTANT, MST_PICTURE_NEAREST, {7,  7,  7,  7, 7, 40, 10, 50, 7, 7,
                                                                       60, 50, 30, 7, 7, 90, 70, 90, 7, 7}},
        {zoom, MST_PICTURE_FILL_CONSTANT, MST_PICTURE_NEAREST, {7, 30, 40, 50, 7, 7, 90, 60, 30, 7,
                                                                7, 50, 90, 90, 7, 7, 30, 30, 40, 7}},
        {rotation, MST_PICTURE_FILL_NEAREST, MST_PICTURE_BILINEAR, {17.90932, 37.82017, 24.33072, 36.36738, 57.72269,
                                                                    16.48283, 32.08508, 59.64518, 64.41997, 76.11784,
                                                                    68.76481, 42.94767, 83.35439, 67.91136, 67.03434,
                                                                    68.4818,  55.20866, 38.37169, 29.27339, 66.81781}},
        {translation, MST_PICTURE_FILL_NEAREST, MST_PICTURE_BILINEAR, {32.5,     20, 50,       50,       50,
                                                                       32.5,     20, 50,       50,       50,
                                                                       52.5,     40, 34,       34,       34,
                                                                       79.49999, 69, 77.99999, 77.99999, 77.99999}},
        {zoom, MST_PICTURE_FILL_NEAREST, MST_PICTURE_BILINEAR, {30,   24,   40, 38.00001, 50,       81,       62.25,
                                                                57,   36.3, 33, 47,       54.2,     80.99999, 79.2,
                                                                82.5, 30,   27, 30,       51.99999, 40}},
        {rotation, MST_PICTURE_FILL_NEAREST, MST_PICTURE_NEAREST, {10, 40, 10, 30, 30, 10, 20, 60, 70, 90,
                                                                   90, 20, 90, 70, 80, 50, 50, 20, 30, 80}},
        {translation, MST_PICTURE_FILL_NEAREST, MST_PICTURE_NEAREST, {40, 10, 50, 50, 50, 40, 10, 50, 50, 50,
                                                                      60, 50, 30, 30, 30, 90, 70, 90, 90, 90}},
        {zoom, MST_PICTURE_FILL_NEAREST, MST_PICTURE_NEAREST, {30, 30, 40, 50, 50, 90, 90, 60, 30, 30,
                                                               50, 50, 90, 90, 90, 30, 30, 30, 40, 40}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mst_model *model = new_model();
        add(model, rows[i].kind, rows[i].fill, rows[i].sampling);
        mst_tensor *y = shown(model, 2, true);
        expect_picture(y, 0, 0, rows[i].pixel);
        if (rows[i].fill != MST_PICTURE_FILL_CONSTANT) expect_picture(y, 1, 100, rows[i].pixel);
        mst_tensor_release(y);
    }
}

static void a_zoom_without_a_range_of_the_width_keeps_the_shape(void **state) {
    (void)state;
    static const double wanted[PIXELS] = {26, 30.4, 52,       41.2, 34.8, 42,   45.6, 66,       58.8, 51.6,
                                          66, 74.4, 83.99999, 73.2, 68.4, 53.2, 60,   65.99999, 70.8, 73.2};
    mst_model *model = new_model();
    mst_random_zoom(model, .height_lower = -0.4f, .height_upper = -0.4f);
    mst_tensor *y = shown(model, 2, true);
    expect_picture(y, 0, 0, wanted);
    expect_picture(y, 1, 100, wanted);
    mst_tensor_release(y);
}

static void contrast_and_brightness_are_those_of_keras(void **state) {
    (void)state;
    static const double contrast[PIXELS] = {20.75001, 10, 35.75001, 10, 50.75, 60,       10, 60,       50.75, 20.75001,
                                            50.75,    60, 60,       60, 60,    20.75001, 10, 20.75001, 60,    35.75001};
    static const double brightness[PIXELS] = {40, 20, 50, 20, 60, 60, 30, 60, 60, 40,
                                              60, 60, 60, 60, 60, 40, 30, 40, 60, 50};
    mst_model *model = new_model();
    mst_random_contrast(model, .lower = 0.5f, .upper = 0.5f, .low = 10, .high = 60);
    mst_tensor *y = shown(model, 1, true);
    expect_picture(y, 0, 0, contrast);
    mst_tensor_release(y);
    model = new_model();
    mst_random_brightness(model, .lower = 0.2f, .upper = 0.2f, .low = 10, .high = 60);
    y = shown(model, 1, true);
    expect_picture(y, 0, 0, brightness);
    mst_tensor_release(y);
}

static void each_picture_is_flipped_or_not(void **state) {
    (void)state;
    enum { N = 64 };
    static const mst_picture_flip modes[] = {MST_PICTURE_FLIP_BOTH, MST_PICTURE_FLIP_HORIZONTAL,
                                             MST_PICTURE_FLIP_VERTICAL};
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        double other[PIXELS];
        int flipped = 0;
        for (int i = 0; i < PIXELS; i++) {
            const int row = i / WIDTH, column = i % WIDTH;
            const int from_row = modes[m] == MST_PICTURE_FLIP_HORIZONTAL ? row : HEIGHT - 1 - row;
            const int from_column = modes[m] == MST_PICTURE_FLIP_VERTICAL ? column : WIDTH - 1 - column;
            other[i] = picture[from_row * WIDTH + from_column];
        }
        mst_model *model = new_model();
        mst_random_flip(model, .mode = modes[m]);
        mst_tensor *y = shown(model, N, true);
        for (int64_t n = 0; n < N; n++) {
            bool is_flipped = false;
            for (int i = 0; i < PIXELS; i++)
                is_flipped |= mst_tensor_get(y, n * PIXELS + i) != picture[i] + 100 * (double)n;
            expect_picture(y, n, 100 * (double)n, is_flipped ? other : picture);
            flipped += is_flipped;
        }
        assert_in_range(flipped, N / 4, N - N / 4);
        mst_tensor_release(y);
    }
}

static void pictures_have_draws_of_their_own_and_stay_as_they_are_in_predictions(void **state) {
    (void)state;
    for (int training = 0; training < 2; training++) {
        mst_model *model = new_model();
        mst_random_brightness(model, .lower = -0.5f, .upper = 0.5f, .low = -1000, .high = 10000);
        mst_tensor *y = shown(model, 3, training);
        const double first = mst_tensor_get(y, 0) - picture[0];
        const double second = mst_tensor_get(y, PIXELS) - picture[0] - 100;
        assert_true(training ? fabs(first - second) > 1 : first == 0 && second == 0);
        mst_tensor_release(y);
    }
}

static void mistakes_are_told(void **state) {
    (void)state;
    mst_model *model = new_model();
    mst_random_rotation(model, .lower = 0.2f, .upper = 0.1f);
    EXPECT_ERROR(mst_model_check(model), MST_INVALID, "random_rotation 'random_rotation': lower is 0.2");
    mst_model_destroy(model);
    mst_graph *g = engine_graph();
    mst_random_flip(mst_placeholder(g, MST_F32, MST_SHAPE(-1, 3)), .seed = 1);
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "random_flip");
    mst_graph_destroy(g);
    g = engine_graph();
    mst_random_rotation(mst_placeholder(g, MST_F32, MST_SHAPE(-1, -1, 4, 3)), .upper = 0.1f);
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "height, width and channels must be known");
    mst_graph_destroy(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pixels_are_moved_as_in_keras),
        cmocka_unit_test(a_zoom_without_a_range_of_the_width_keeps_the_shape),
        cmocka_unit_test(contrast_and_brightness_are_those_of_keras),
        cmocka_unit_test(each_picture_is_flipped_or_not),
        cmocka_unit_test(pictures_have_draws_of_their_own_and_stay_as_they_are_in_predictions),
        cmocka_unit_test(mistakes_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
