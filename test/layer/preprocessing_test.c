/* Layers that learn from data before training: values are those of Keras 3.15. */
#include <math.h>
#include <string.h>

#include "muster/train.h"
#include "support/test.h"
#include "support/training.h"

static mst_tensor *tensor_of(mst_shape shape, const float *values) {
    mst_tensor *tensor;
    EXPECT_OK(mst_tensor_copy(MST_F32, shape, values, &tensor));
    return tensor;
}

/* The values of a layer that build makes on src. */
static void expect_values(mst_value (*build)(mst_value src), mst_shape shape, const double *src, const double *wanted,
                          mst_shape wanted_shape) {
    mst_graph *g = engine_graph();
    const mst_value x = engine_input(g, "x", shape), y = build(x);
    EXPECT_OK(mst_graph_check(g));
    mst_tensor *fed = engine_tensor(MST_F32, shape, src), *out = NULL;
    mst_session *session = engine_session(g, NULL);
    EXPECT_OK(mst_session_init_variables(session));
    EXPECT_OK(mst_session_run(session, &(mst_feed){.value = x, .tensor = fed}, 1, &y, 1, &out));
    assert_true(mst_shape_equal(mst_tensor_shape(out), wanted_shape));
    for (int64_t i = 0; i < mst_tensor_count(out); i++)
        if (!(fabs(mst_tensor_get(out, i) - wanted[i]) < 1e-6))
            fail_msg("element %lld is %.9g, must be %.9g", (long long)i, mst_tensor_get(out, i), wanted[i]);
    mst_tensor_release(fed);
    mst_tensor_release(out);
    engine_end(g, session);
}

/* ---- category_encoding ---- */

static mst_value one_hot(mst_value src) {
    return mst_category_encoding(src, 4, .output_mode = MST_OUTPUT_MODE_ONE_HOT);
}

static mst_value multi_hot(mst_value src) {
    return mst_category_encoding(src, 4);
}

static mst_value count(mst_value src) {
    return mst_category_encoding(src, 4, .output_mode = MST_OUTPUT_MODE_COUNT);
}

static void categories_are_encoded_as_keras_does(void **state) {
    (void)state;
    const double src[] = {3, 2, 0, 0};
    const mst_shape one = MST_SHAPE(4, 1), two = MST_SHAPE(2, 2);
    const double rows[] = {0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0};
    expect_values(one_hot, one, src, rows, MST_SHAPE(4, 4));
    expect_values(one_hot, MST_SHAPE(4), src, rows, MST_SHAPE(4, 4));
    expect_values(one_hot, two, src, rows, MST_SHAPE(2, 2, 4));
    expect_values(multi_hot, two, src, (const double[]){0, 0, 1, 1, 1, 0, 0, 0}, MST_SHAPE(2, 4));
    expect_values(count, two, src, (const double[]){0, 0, 1, 1, 2, 0, 0, 0}, MST_SHAPE(2, 4));
    expect_values(multi_hot, MST_SHAPE(4), src, rows, MST_SHAPE(4, 4));
}

static void numbers_of_no_category_are_rows_of_zeros(void **state) {
    (void)state;
    expect_values(one_hot, MST_SHAPE(2, 1), (const double[]){-1, 4}, (const double[8]){0}, MST_SHAPE(2, 4));
}

/* ---- normalization ---- */

static mst_tensor *given[2];

static mst_value normalized(mst_value src) {
    return mst_normalization(src, .mean = given[0], .variance = given[1]);
}

static mst_value inverted(mst_value src) {
    return mst_normalization(src, .mean = given[0], .variance = given[1], .invert = true);
}

static mst_value along_axis_1(mst_value src) {
    return mst_normalization(src, .axis = 1, .mean = given[0], .variance = given[1]);
}

static mst_value filled(mst_value src) {
    return mst_normalization(src, .mean = given[0], .variance = given[1], .fill_missing = true);
}

static void numbers_are_normalized_as_keras_does(void **state) {
    (void)state;
    given[0] = tensor_of(MST_SCALAR, (const float[]){3});
    given[1] = tensor_of(MST_SCALAR, (const float[]){2});
    const double src[] = {1, 2, 3};
    expect_values(normalized, MST_SHAPE(3, 1), src, (const double[]){-1.4142135, -0.70710677, 0}, MST_SHAPE(3, 1));
    mst_tensor_release(given[0]);
    mst_tensor_release(given[1]);
    given[0] = tensor_of(MST_SHAPE(2), (const float[]){1, 2});
    given[1] = tensor_of(MST_SHAPE(2), (const float[]){4, 0});
    expect_values(normalized, MST_SHAPE(1, 2), (const double[]){5, 2}, (const double[]){2, 0}, MST_SHAPE(1, 2));
    expect_values(inverted, MST_SHAPE(1, 2), (const double[]){2, 5}, (const double[]){5, 2.0000005}, MST_SHAPE(1, 2));
    expect_values(along_axis_1, MST_SHAPE(1, 2, 2), (const double[]){5, 1, 2, 2}, (const double[]){2, 0, 0, 0},
                  MST_SHAPE(1, 2, 2));
    expect_values(filled, MST_SHAPE(2, 2), (const double[]){5, NAN, NAN, 2}, (const double[]){2, 0, 0, 0},
                  MST_SHAPE(2, 2));
    mst_tensor_release(given[0]);
    mst_tensor_release(given[1]);
}

/* ---- discretization ---- */

static mst_value bins(mst_value src) {
    return mst_discretization(src, .bin_boundaries = given[0]);
}

static mst_value bins_one_hot(mst_value src) {
    return mst_discretization(src, .bin_boundaries = given[0], .output_mode = MST_OUTPUT_MODE_ONE_HOT);
}

static void numbers_are_cut_into_bins_as_keras_does(void **state) {
    (void)state;
    given[0] = tensor_of(MST_SHAPE(3), (const float[]){0, 1, 2});
    expect_values(bins, MST_SHAPE(2, 4), (const double[]){-1.5, 1, 3.4, 0.5, 0, 3, 1.3, 0},
                  (const double[]){0, 2, 3, 1, 1, 3, 2, 1}, MST_SHAPE(2, 4));
    expect_values(bins_one_hot, MST_SHAPE(2, 1), (const double[]){-1.5, 1}, (const double[]){1, 0, 0, 0, 0, 0, 1, 0},
                  MST_SHAPE(2, 4));
    mst_tensor_release(given[0]);
}

/* ---- what is learnt ---- */

static mst_dataset *data_of(mst_shape shape, const float *values) {
    mst_dataset *data;
    mst_tensor *tensor[2] = {tensor_of(shape, values)};
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(shape.dim[0]), &tensor[1]));
    memset(mst_tensor_data(tensor[1]), 0, mst_tensor_bytes(tensor[1]));
    EXPECT_OK(mst_dataset_from_tensors(tensor, 2, &data));
    mst_tensor_release(tensor[0]);
    mst_tensor_release(tensor[1]);
    return data;
}

static void expect_weight(mst_model *model, const char *name, const float *wanted) {
    mst_tensor *weight;
    EXPECT_OK(mst_store_get(mst_model_store(model), NULL, name, &weight));
    for (int64_t i = 0; i < mst_tensor_count(weight); i++)
        if (!(fabs(mst_tensor_get(weight, i) - (double)wanted[i]) < 1e-5))
            fail_msg("%s[%lld] is %.9g, must be %.9g", name, (long long)i, mst_tensor_get(weight, i),
                     (double)wanted[i]);
    mst_tensor_release(weight);
}

static mst_model *new_model(void) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    return model;
}

static void compile_and_build(mst_model *model, mst_dataset *data) {
    EXPECT_OK(mst_compile(model, .loss = MST_LOSS_MEAN_SQUARED_ERROR, .session = {.devices = "cpu:1"}));
    EXPECT_OK(mst_build(model, data, true));
}

static void a_normalization_learns_mean_and_variance(void **state) {
    (void)state;
    /* 1e6 + x: squares in f32 would be lost */
    const float values[] = {1000000, 7, NAN, 1000002, 9, 6, 1000000, 7, 4, 1000002, 9, 6};
    mst_dataset *data = data_of(MST_SHAPE(4, 3), values);
    mst_model *model = new_model();
    EXPECT_OK(mst_adapt(mst_normalization(model), data, 0));
    mst_dense(model, 1);
    compile_and_build(model, data);
    expect_weight(model, "normalization/mean", (const float[]){1000001, 8, 16.0f / 3});
    expect_weight(model, "normalization/variance", (const float[]){1, 1, 8.0f / 9});
    EXPECT_ERROR(mst_adapt((mst_output){model, 1}, data, 0), MST_INVALID, "compiled already");
    mst_model_destroy(model);
    mst_dataset_release(data);
}

/* A number that was the same in all rows: Keras keeps its variance of 0. */
static void a_constant_has_a_variance_of_1_where_asked_for(void **state) {
    (void)state;
    mst_dataset *data = data_of(MST_SHAPE(3, 2), (const float[]){0.1f, 1, 0.1f, 2, 0.1f, 3});
    for (int keep = 0; keep < 2; keep++) {
        mst_model *model = new_model();
        EXPECT_OK(mst_adapt(mst_normalization(model, .keep_constant = keep), data, 0));
        mst_dense(model, 1);
        compile_and_build(model, data);
        expect_weight(model, "normalization/variance", (const float[]){(float)keep, 2.0f / 3});
        mst_model_destroy(model);
    }
    mst_dataset_release(data);
}

static void a_discretization_learns_the_boundaries_of_keras(void **state) {
    (void)state;
    mst_dataset *data = data_of(MST_SHAPE(8, 1), (const float[]){-1.5f, 1.0f, 3.4f, .5f, 0.0f, 3.0f, 1.3f, 0.0f});
    mst_model *model = new_model();
    EXPECT_OK(mst_adapt(mst_discretization(model, .num_bins = 4), data, 0));
    mst_category_encoding(model, 4, .output_mode = MST_OUTPUT_MODE_ONE_HOT);
    mst_dense(model, 1);
    compile_and_build(model, data);
    expect_weight(model, "discretization/bin_boundaries", (const float[]){0, 0.5f, 1.3f});
    mst_model_destroy(model);
    mst_dataset_release(data);
}

/* What is learnt is not trained, and saved with the weights: another model gets it back. */
static void what_is_learnt_is_restored(void **state) {
    (void)state;
    mst_dataset *data = data_of(MST_SHAPE(4, 1), (const float[]){1, 2, 3, 6});
    mst_tensor *kept;
    for (int pass = 0; pass < 2; pass++) {
        mst_model *model = new_model();
        const mst_output layer = mst_normalization(model);
        if (pass == 0) EXPECT_OK(mst_adapt(layer, data, 0));
        mst_dense(model, 1);
        compile_and_build(model, data);
        if (pass == 0) EXPECT_OK(mst_fit(model, .data = data, .batch_size = 2, .epochs = 2));
        if (pass == 1)
            EXPECT_OK(mst_store_set(mst_model_store(model), NULL, "normalization/mean", MST_STATE_WEIGHT, kept));
        expect_weight(model, "normalization/mean", (const float[]){3});
        if (pass == 0) EXPECT_OK(mst_store_get(mst_model_store(model), NULL, "normalization/mean", &kept));
        mst_model_destroy(model);
    }
    mst_tensor_release(kept);
    mst_dataset_release(data);
}

static void mistakes_are_told(void **state) {
    (void)state;
    mst_dataset *data = data_of(MST_SHAPE(4, 1), (const float[]){1, 2, 3, 6});
    mst_model *model = new_model();
    EXPECT_ERROR(mst_adapt(mst_dense(model, 1), data, 0), MST_INVALID, "dense 'dense' learns nothing");
    EXPECT_ERROR(mst_adapt(mst_normalization(model), data, 2), MST_INVALID, "no component 2");
    mst_discretization(model, .epsilon = 0.1);
    EXPECT_ERROR(mst_model_check(model), MST_INVALID, "give either bin_boundaries or num_bins");
    mst_model_destroy(model);
    model = new_model();
    mst_category_encoding(model, 0);
    EXPECT_ERROR(mst_model_check(model), MST_INVALID, "num_tokens");
    mst_model_destroy(model);
    mst_dataset_release(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(categories_are_encoded_as_keras_does),
        cmocka_unit_test(numbers_of_no_category_are_rows_of_zeros),
        cmocka_unit_test(numbers_are_normalized_as_keras_does),
        cmocka_unit_test(numbers_are_cut_into_bins_as_keras_does),
        cmocka_unit_test(a_normalization_learns_mean_and_variance),
        cmocka_unit_test(a_constant_has_a_variance_of_1_where_asked_for),
        cmocka_unit_test(a_discretization_learns_the_boundaries_of_keras),
        cmocka_unit_test(what_is_learnt_is_restored),
        cmocka_unit_test(mistakes_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
