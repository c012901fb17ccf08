/* Layers that are Python's operators in Keras: power, rescaling by several numbers, quotients; and take. */
#include <math.h>

#include "muster/model.h"
#include "support/test.h"

static mst_tensor *numbers(mst_dtype dtype, mst_shape shape, const double *values) {
    return engine_tensor(dtype, shape, values);
}

/* What BUILD makes of the 2 x 3 numbers. */
static void expect_values(mst_value (*build)(mst_value src), const double *wanted, mst_shape shape) {
    static const double src[] = {1, 4, 0.25, 9, 2, 16};
    mst_graph *g = engine_graph();
    const mst_value y = build(mst_values(g, MST_F32, MST_SHAPE(2, 3), src));
    EXPECT_OK(mst_graph_check(g));
    mst_session *session = engine_session(g, NULL);
    mst_tensor *out = engine_fetch(session, NULL, 0, y);
    assert_true(mst_shape_equal(mst_tensor_shape(out), shape));
    for (int64_t i = 0; i < mst_tensor_count(out); i++)
        if (!(fabs(mst_tensor_get(out, i) - wanted[i]) < 1e-6))
            fail_msg("element %lld is %.9g, must be %.9g", (long long)i, mst_tensor_get(out, i), wanted[i]);
    mst_tensor_release(out);
    engine_end(g, session);
}

static mst_value squares(mst_value src) {
    return mst_power(src);
}

static mst_value roots(mst_value src) {
    return mst_power(src, .exponent = 0.5, .factor = 2);
}

static mst_value cubes(mst_value src) {
    return mst_power(src, .exponent = 3);
}

static mst_value inverses(mst_value src) {
    return mst_power(src, .exponent = -1, .factor = 4);
}

static void powers_are_those_of_python(void **state) {
    (void)state;
    expect_values(squares, (const double[]){1, 16, 0.0625, 81, 4, 256}, MST_SHAPE(2, 3));
    expect_values(roots, (const double[]){2, 4, 1, 6, 2 * sqrt(2), 8}, MST_SHAPE(2, 3));
    expect_values(cubes, (const double[]){1, 64, 0.015625, 729, 8, 4096}, MST_SHAPE(2, 3));
    expect_values(inverses, (const double[]){4, 1, 16, 4.0 / 9, 2, 0.25}, MST_SHAPE(2, 3));
}

static mst_value rescaled(mst_value src) {
    mst_tensor *scales = numbers(MST_F32, MST_SHAPE(3), (const double[]){1, -1, 8});
    mst_tensor *offsets = numbers(MST_F32, MST_SHAPE(1, 3), (const double[]){0, 10, 1});
    const mst_value y = mst_rescaling(src, .scales = scales, .offsets = offsets);
    mst_tensor_release(scales);
    mst_tensor_release(offsets);
    return y;
}

static void each_element_of_the_last_axis_is_rescaled(void **state) {
    (void)state;
    expect_values(rescaled, (const double[]){1, 6, 3, 9, 8, 129}, MST_SHAPE(2, 3));
}

static mst_value take_two(mst_value src) {
    mst_tensor *indices = numbers(MST_I64, MST_SHAPE(2), (const double[]){2, 0});
    const mst_value y = mst_take(src, indices);
    mst_tensor_release(indices);
    return y;
}

static mst_value take_one(mst_value src) {
    mst_tensor *index = numbers(MST_I64, MST_SCALAR, (const double[]){1});
    const mst_value y = mst_take(src, index, .axis = 1);
    mst_tensor_release(index);
    return y;
}

/* Negative indices count from the end, as in Keras; the first pair is consecutive, the second is not. */
static mst_value take_at_end(mst_value src) {
    mst_tensor *indices = numbers(MST_I64, MST_SHAPE(2), (const double[]){-3, 1});
    const mst_value y = mst_take(src, indices);
    mst_tensor_release(indices);
    return y;
}

static mst_value take_ends(mst_value src) {
    mst_tensor *indices = numbers(MST_I64, MST_SHAPE(2), (const double[]){-1, -3});
    const mst_value y = mst_take(src, indices);
    mst_tensor_release(indices);
    return y;
}

static void elements_of_an_axis_are_taken(void **state) {
    (void)state;
    expect_values(take_two, (const double[]){0.25, 1, 16, 9}, MST_SHAPE(2, 2));
    expect_values(take_one, (const double[]){4, 2}, MST_SHAPE(2));
    expect_values(take_at_end, (const double[]){1, 4, 9, 2}, MST_SHAPE(2, 2));
    expect_values(take_ends, (const double[]){0.25, 1, 16, 9}, MST_SHAPE(2, 2));
}

/* The error of the layer that ADD adds after an input of three numbers. */
static void expect_error(void (*add)(mst_output in, mst_tensor *given), mst_dtype dtype, mst_shape shape, double value,
                         const char *message) {
    mst_model *model;
    mst_tensor *given = numbers(dtype, shape, NULL);
    for (int64_t i = 0; i < mst_tensor_count(given); i++) mst_tensor_set(given, i, value);
    EXPECT_OK(mst_model_create(&model));
    add(mst_input(model, MST_SHAPE(3)), given);
    mst_status status = mst_model_check(model);
    if (!status) status = mst_model_summary(model, NULL, stdout);
    EXPECT_ERROR(status, MST_INVALID, message);
    mst_tensor_release(given);
    mst_model_destroy(model);
}

static void add_take(mst_output in, mst_tensor *given) {
    mst_take(in, given, .name = "t");
}

static void add_scales(mst_output in, mst_tensor *given) {
    mst_rescaling(in, .scales = given, .name = "r");
}

static void add_both(mst_output in, mst_tensor *given) {
    mst_rescaling(in, .scale = 2, .scales = given, .name = "r");
}

static void add_three(mst_output in, mst_tensor *given) {
    (void)given;
    mst_merge(MST_OUTPUTS(in, in, in), MST_MERGE_DIVIDE, .name = "m");
}

static void mistakes_are_told(void **state) {
    (void)state;
    expect_error(add_take, MST_I64, MST_SHAPE(2), 3, "take 't': there is no element 3 along axis -1 of [?, 3]");
    expect_error(add_take, MST_I64, MST_SHAPE(2), -4, "take 't': there is no element -4");
    expect_error(add_take, MST_F32, MST_SHAPE(2), 0, "take 't': indices must be i64 [k] or []");
    expect_error(add_scales, MST_I64, MST_SHAPE(3), 1, "rescaling 'r': scales must be f32");
    expect_error(add_scales, MST_F32, MST_SHAPE(2, 1, 3), 1, "rescaling 'r': its scales or offsets make [2, ?, 3] of");
    expect_error(add_both, MST_F32, MST_SHAPE(3), 1, "rescaling 'r': give either scale or scales");
    expect_error(add_three, MST_F32, MST_SHAPE(3), 1, "merge 'm': divides one source by another, has 3");
}

static mst_value scaled_by_weights(mst_value src) {
    return mst_layer_scale(src, 3, .init_values = 0.5f, .name = "scale");
}

static void channels_are_scaled_by_weights(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    mst_session *session;
    mst_tensor *out = NULL;
    const mst_value y = scaled_by_weights(mst_values(g, MST_F32, MST_SHAPE(1, 3), ((const double[]){1, 4, -6})));
    EXPECT_OK(mst_graph_check(g));
    EXPECT_OK(mst_session_create(g, NULL, &session));
    EXPECT_OK(mst_session_init_variables(session));
    EXPECT_OK(mst_session_run(session, NULL, 0, &y, 1, &out));
    static const double wanted[] = {0.5, 2, -3};
    for (int64_t i = 0; i < 3; i++) assert_true(fabs(mst_tensor_get(out, i) - wanted[i]) < 1e-6);
    mst_tensor_release(out);
    mst_session_destroy(session);
    mst_graph_destroy(g);
    g = engine_graph();
    scaled_by_weights(mst_placeholder(g, MST_F32, MST_SHAPE(-1, 4)));
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "layer_scale 'scale': its source has 4 channels, must have 3");
    mst_graph_destroy(g);
}

static void a_scaled_source_is_added(void **state) {
    (void)state;
    mst_model *model;
    mst_graph *g = engine_graph();
    EXPECT_OK(mst_model_create(&model));
    const mst_output x = mst_input(model, MST_SHAPE(3));
    mst_scaled_add(MST_OUTPUTS(x, mst_power(x)), .scale = 0.5f);
    const mst_value fed = mst_values(g, MST_F32, MST_SHAPE(1, 3), ((const double[]){1, 2, -4}));
    const mst_value y = mst_model_call(model, fed, true);
    EXPECT_OK(mst_graph_check(g));
    mst_session *session = engine_session(g, NULL);
    mst_tensor *out = engine_fetch(session, NULL, 0, y);
    static const double wanted[] = {1.5, 4, 4};
    for (int64_t i = 0; i < 3; i++) assert_true(fabs(mst_tensor_get(out, i) - wanted[i]) < 1e-6);
    mst_tensor_release(out);
    engine_end(g, session);
    mst_model_destroy(model);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(powers_are_those_of_python),    cmocka_unit_test(each_element_of_the_last_axis_is_rescaled),
        cmocka_unit_test(elements_of_an_axis_are_taken), cmocka_unit_test(channels_are_scaled_by_weights),
        cmocka_unit_test(a_scaled_source_is_added),      cmocka_unit_test(mistakes_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
