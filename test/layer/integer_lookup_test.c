/* Integers as category indices: the results of keras.layers.IntegerLookup of Keras 3.15, and learning the
 * vocabulary. */
#include <math.h>
#include <string.h>

#include "muster/muster.h"
#include "support/test.h"
#include "support/training.h"

static mst_tensor *integers_of(mst_shape shape, const int64_t *numbers) {
    mst_tensor *tensor;
    EXPECT_OK(mst_tensor_create(MST_I64, shape, &tensor));
    memcpy(mst_tensor_data(tensor), numbers, mst_tensor_bytes(tensor));
    return tensor;
}

static mst_tensor *vocabulary; /* 12, -7, 2^60 + 1 */
static const int64_t large = ((int64_t)1 << 60) + 1;

typedef mst_value (*builder)(mst_value src);

/* What a layer that BUILD makes gives for the 2 x 3 integers. */
static void expect_values(builder build, mst_shape wanted_shape, const double *wanted) {
    const int64_t numbers[] = {large, -7, 5, 12, -4, 12};
    mst_tensor *fed = integers_of(MST_SHAPE(2, 3), numbers);
    engine_expect_built(build, fed, wanted_shape, wanted);
    mst_tensor_release(fed);
}

static mst_value as_int(mst_value src) {
    return mst_integer_lookup(src, .vocabulary = vocabulary);
}

static mst_value with_three_others(mst_value src) {
    return mst_integer_lookup(src, .vocabulary = vocabulary, .num_oov_indices = 3);
}

static mst_value masked(mst_value src) {
    return mst_integer_lookup(src, .vocabulary = vocabulary, .num_oov_indices = 3, .has_mask = true, .mask_token = 5);
}

static mst_value masked_one_hot(mst_value src) {
    return mst_integer_lookup(src, .vocabulary = vocabulary, .has_mask = true, .mask_token = 5,
                              .output_mode = MST_OUTPUT_MODE_ONE_HOT);
}

static mst_value as_multi_hot(mst_value src) {
    return mst_integer_lookup(src, .vocabulary = vocabulary, .output_mode = MST_OUTPUT_MODE_MULTI_HOT);
}

static mst_value as_count(mst_value src) {
    return mst_integer_lookup(src, .vocabulary = vocabulary, .output_mode = MST_OUTPUT_MODE_COUNT);
}

static mst_value of_floats(mst_value src) {
    const mst_value x = mst_add(mst_cast(src, MST_F64), mst_scalar(mst_value_graph(src), MST_F64, 0.5));
    return mst_integer_lookup(x, .vocabulary = vocabulary);
}

static mst_value before_adapt(mst_value src) {
    return mst_integer_lookup(src, .max_tokens = 5);
}

static void integers_are_numbered_as_keras_does(void **state) {
    (void)state;
    vocabulary = integers_of(MST_SHAPE(3), (const int64_t[]){12, -7, large});
    expect_values(as_int, MST_SHAPE(2, 3), (const double[]){3, 2, 0, 1, 0, 1});
    expect_values(with_three_others, MST_SHAPE(2, 3), (const double[]){5, 4, 2, 3, 2, 3});
    expect_values(masked, MST_SHAPE(2, 3), (const double[]){6, 5, 0, 4, 3, 4});
    expect_values(masked_one_hot, MST_SHAPE(2, 3, 4),
                  (const double[]){0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0});
    expect_values(as_multi_hot, MST_SHAPE(2, 4), (const double[]){1, 0, 1, 1, 1, 1, 0, 0});
    expect_values(as_count, MST_SHAPE(2, 4), (const double[]){1, 0, 1, 1, 1, 2, 0, 0});
    expect_values(of_floats, MST_SHAPE(2, 3), (const double[]){0, 0, 0, 1, 0, 1}); /* -6.5 is -6, 2^60 + 1 is 2^60 */
    expect_values(before_adapt, MST_SHAPE(2, 3), (const double[]){0, 0, 0, 0, 0, 0});
    mst_tensor_release(vocabulary);
}

/* ---- what is learnt ---- */

enum { ROWS = 7 };

static mst_dataset *data_of(mst_dtype dtype, const double numbers[ROWS]) {
    mst_tensor *tensor[2] = {engine_tensor(dtype, MST_SHAPE(ROWS), NULL),
                             engine_tensor(MST_F32, MST_SHAPE(ROWS, 1), NULL)};
    for (int64_t i = 0; i < ROWS; i++) mst_tensor_set(tensor[0], i, numbers[i]);
    mst_dataset *data = mst_data_from_tensors(tensor, 2);
    for (int i = 0; i < 2; i++) mst_tensor_release(tensor[i]);
    return data;
}

/* Keys and places of a layer that has learnt DATA. */
static void expect_learnt(mst_dataset *data, int64_t max_tokens, bool has_mask, int64_t count, const int64_t *keys,
                          const int64_t *places) {
    mst_model *model;
    mst_tensor *got[2];
    EXPECT_OK(mst_model_create(&model));
    const mst_output in = mst_input(model, MST_SCALAR, .dtype = MST_I64);
    const mst_output lookup = mst_integer_lookup(in, .max_tokens = max_tokens, .has_mask = has_mask,
                                                 .mask_token = has_mask ? 3 : 0, .output_mode = MST_OUTPUT_MODE_COUNT);
    EXPECT_OK(mst_adapt(lookup, data, 0));
    mst_dense(lookup, 1);
    EXPECT_OK(mst_compile(model, .loss = MST_LOSS_MEAN_SQUARED_ERROR, .session = {.devices = "cpu:1/1"}));
    EXPECT_OK(mst_build(model, data, true));
    EXPECT_OK(mst_store_get(mst_model_store(model), NULL, "integer_lookup/vocabulary_integers", &got[0]));
    EXPECT_OK(mst_store_get(mst_model_store(model), NULL, "integer_lookup/vocabulary_places", &got[1]));
    assert_int_equal(mst_tensor_count(got[0]), count);
    assert_memory_equal(mst_tensor_data(got[0]), keys, (size_t)count * sizeof *keys);
    assert_memory_equal(mst_tensor_data(got[1]), places, (size_t)count * sizeof *places);
    for (int i = 0; i < 2; i++) mst_tensor_release(got[i]);
    mst_model_destroy(model);
}

static void the_most_frequent_integers_are_learnt(void **state) {
    (void)state;
    /* -1 is Keras' name for what is not known; of two that are equally frequent the larger is first */
    mst_dataset *data = data_of(MST_I64, (const double[ROWS]){3, 8, 3, -1, 5, 3, -1});
    mst_dataset *floats = data_of(MST_F32, (const double[ROWS]){3.2, 8, 3, -1.5, 5.9, 3, NAN});
    expect_learnt(data, 0, false, 3, (const int64_t[]){3, 5, 8}, (const int64_t[]){0, 2, 1});
    expect_learnt(floats, 0, false, 3, (const int64_t[]){3, 5, 8}, (const int64_t[]){0, 2, 1});
    expect_learnt(data, 3, false, 2, (const int64_t[]){3, 8}, (const int64_t[]){0, 1});
    expect_learnt(data, 6, false, 5, (const int64_t[]){3, 5, 8, 8, 8}, (const int64_t[]){0, 2, 1, 1, 1});
    expect_learnt(data, 0, true, 3, (const int64_t[]){3, 5, 8}, (const int64_t[]){2, 1, 0}); /* 3 is the masked one */
    expect_learnt(data, 2, true, 2, (const int64_t[]){3, 8}, (const int64_t[]){1, 0});
    mst_dataset_release(data);
    mst_dataset_release(floats);
}

/* ---- mistakes ---- */

static void expect_refused(mst_tensor *words, int64_t max_tokens, int64_t num_oov_indices, bool has_mask,
                           int64_t mask_token, const char *message) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    mst_integer_lookup(mst_input(model, MST_SHAPE(2), .dtype = MST_I64), .vocabulary = words, .max_tokens = max_tokens,
                       .num_oov_indices = num_oov_indices, .has_mask = has_mask, .mask_token = mask_token);
    EXPECT_ERROR(mst_model_check(model), MST_INVALID, message);
    mst_model_destroy(model);
}

static void mistakes_are_told(void **state) {
    (void)state;
    mst_tensor *twice = integers_of(MST_SHAPE(3), (const int64_t[]){4, 2, 4});
    mst_tensor *good = integers_of(MST_SHAPE(3), (const int64_t[]){4, 2, 0});
    mst_tensor *floats = engine_tensor(MST_F32, MST_SHAPE(3), NULL);
    expect_refused(twice, 0, 0, false, 0, "integers 0 and 2 of the vocabulary are the same");
    expect_refused(good, 0, 0, true, 0, "'integer_lookup': mask_token is in the vocabulary, at 2");
    expect_refused(good, 0, 0, false, 9, "mask_token is given without .has_mask = true");
    expect_refused(good, 9, 0, false, 0, "give either a vocabulary or max_tokens");
    expect_refused(floats, 0, 0, false, 0, "the vocabulary must be i64 [k]");
    expect_refused(NULL, 3, 2, true, 0, "max_tokens is 3, must be above num_oov_indices + 1, for mask_token");
    mst_tensor_release(twice);
    mst_tensor_release(good);
    mst_tensor_release(floats);
    mst_dataset *nothing = data_of(MST_I64, (const double[ROWS]){-1, -1, -1, -1, -1, -1, -1});
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    const mst_output lookup = mst_integer_lookup(mst_input(model, MST_SHAPE(1), .dtype = MST_I64));
    EXPECT_ERROR(mst_adapt(lookup, nothing, 0), MST_INVALID, "'integer_lookup': the data has no integers");
    mst_model_destroy(model);
    mst_dataset_release(nothing);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_numbered_as_keras_does),
        cmocka_unit_test(the_most_frequent_integers_are_learnt),
        cmocka_unit_test(mistakes_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
