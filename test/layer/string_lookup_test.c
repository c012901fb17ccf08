/* Strings as indices: the results of keras.layers.StringLookup of Keras 3.15, and models whose inputs are strings. */
#include <string.h>

#include "muster/muster.h"
#include "support/folder.h"
#include "support/test.h"
#include "support/training.h"

static mst_tensor *strings_of(mst_shape shape, const char *const *words) {
    mst_tensor *tensor;
    EXPECT_OK(mst_tensor_create(MST_STRING, shape, &tensor));
    for (int64_t i = 0; i < mst_tensor_count(tensor); i++)
        EXPECT_OK(mst_tensor_set_string(tensor, i, mst_string_of(words[i])));
    return tensor;
}

static mst_tensor *vocabulary;

/* What a layer that BUILD makes gives for the 2 x 3 strings. */
static void expect_values(mst_value (*build)(mst_value src), mst_shape wanted_shape, const double *wanted) {
    const char *const words[] = {"c", "a", "z", "b", "y", "b"};
    mst_tensor *fed = strings_of(MST_SHAPE(2, 3), words);
    engine_expect_built(build, fed, wanted_shape, wanted);
    mst_tensor_release(fed);
}

static mst_value as_int(mst_value src) {
    return mst_string_lookup(src, .vocabulary = vocabulary);
}

static mst_value with_three_others(mst_value src) {
    return mst_string_lookup(src, .vocabulary = vocabulary, .num_oov_indices = 3);
}

static mst_value as_one_hot(mst_value src) {
    return mst_string_lookup(src, .vocabulary = vocabulary, .output_mode = MST_OUTPUT_MODE_ONE_HOT);
}

static mst_value as_multi_hot(mst_value src) {
    return mst_string_lookup(src, .vocabulary = vocabulary, .output_mode = MST_OUTPUT_MODE_MULTI_HOT);
}

static mst_value as_count(mst_value src) {
    return mst_string_lookup(src, .vocabulary = vocabulary, .output_mode = MST_OUTPUT_MODE_COUNT);
}

static mst_value masked(mst_value src) {
    return mst_string_lookup(src, .vocabulary = vocabulary, .num_oov_indices = 3, .mask_token = "y");
}

static mst_value before_adapt(mst_value src) {
    return mst_string_lookup(src, .max_tokens = 5);
}

static void strings_are_numbered_as_keras_does(void **state) {
    (void)state;
    const char *const words[] = {"b", "a", "c"};
    vocabulary = strings_of(MST_SHAPE(3), words);
    expect_values(as_int, MST_SHAPE(2, 3), (const double[]){3, 2, 0, 1, 0, 1});
    expect_values(with_three_others, MST_SHAPE(2, 3), (const double[]){5, 4, 1, 3, 2, 3});
    expect_values(as_one_hot, MST_SHAPE(2, 3, 4),
                  (const double[]){0, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0});
    expect_values(as_multi_hot, MST_SHAPE(2, 4), (const double[]){1, 0, 1, 1, 1, 1, 0, 0});
    expect_values(as_count, MST_SHAPE(2, 4), (const double[]){1, 0, 1, 1, 1, 2, 0, 0});
    expect_values(masked, MST_SHAPE(2, 3), (const double[]){6, 5, 2, 4, 0, 4});
    expect_values(before_adapt, MST_SHAPE(2, 3), (const double[]){0, 0, 0, 0, 0, 0});
    mst_tensor_release(vocabulary);
}

/* ---- models ---- */

enum { ROWS = 60, KINDS = 4 };
static const char *const kinds[KINDS] = {"oak", "ash", "elm", "yew"};

/* Kind 0 is the most frequent one; the label is 1 for kinds 0 and 2. With ODD there is one that no other data has. */
static mst_dataset *trees(const char *odd) {
    const char *words[ROWS];
    mst_tensor *tensor[2] = {NULL, engine_tensor(MST_I64, MST_SHAPE(ROWS), NULL)};
    for (int i = 0; i < ROWS; i++) {
        const int kind = i % 10 < 4 ? 0 : i % 10 < 7 ? 1 : i % 10 < 9 ? 2 : 3;
        words[i] = odd && i == 0 ? odd : kinds[kind];
        mst_tensor_set(tensor[1], i, kind % 2 == 0);
    }
    tensor[0] = strings_of(MST_SHAPE(ROWS), words);
    mst_dataset *data = mst_data_from_tensors(tensor, 2);
    for (int i = 0; i < 2; i++) mst_tensor_release(tensor[i]);
    return data;
}

static mst_output lookup_of(mst_model *model, int64_t max_tokens, bool no_oov) {
    const mst_output kind = mst_input(model, MST_SCALAR, .dtype = MST_STRING, .name = "kind");
    return mst_string_lookup(kind, .max_tokens = max_tokens, .no_oov = no_oov, .output_mode = MST_OUTPUT_MODE_ONE_HOT);
}

static mst_model *new_model(int64_t max_tokens, bool no_oov, mst_dataset *data) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    const mst_output lookup = lookup_of(model, max_tokens, no_oov);
    if (data) EXPECT_OK(mst_adapt(lookup, data, 0));
    mst_dense(lookup, 2);
    EXPECT_OK(mst_compile(model, .optimizer = mst_sgd(.learning_rate = 1), .metric = {MST_METRIC_ACCURACY},
                          .strategy = {.num_shards = 4}, .session = {.devices = "cpu:2/1"}, .seed = 1));
    return model;
}

static void a_model_learns_from_strings(void **state) {
    (void)state;
    mst_dataset *data = trees(NULL), *other = trees("palm");
    mst_model *model = new_model(0, false, data);
    mst_result result;
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = 20, .epochs = 20));
    EXPECT_OK(mst_evaluate(model, data, 20, &result, NULL));
    assert_true(result.metric[0] == 1);
    mst_tensor *kernel, *out;
    EXPECT_OK(mst_store_get(mst_model_store(model), NULL, "dense/kernel", &kernel));
    assert_int_equal(mst_tensor_shape(kernel).dim[0], 1 + KINDS);
    mst_tensor_release(kernel);
    EXPECT_OK(mst_predict(model, other, 7, &out));
    assert_true(mst_tensor_get(out, 0) == mst_tensor_get(out, 0)); /* a string that is new is no error */
    for (int64_t i = 1; i < ROWS; i++)
        assert_true((mst_tensor_get(out, 2 * i + 1) > mst_tensor_get(out, 2 * i)) ==
                    (i % 10 < 4 || (i % 10 > 6 && i % 10 < 9)));
    mst_tensor_release(out);
    mst_model_destroy(model);
    mst_dataset_release(data);
    mst_dataset_release(other);
}

/* Another program, which has not seen the data: its vocabulary comes with the weights, from files of each format. */
static void the_vocabulary_is_kept_with_the_weights(void **state) {
    (void)state;
    static const char *const formats[] = {"model.safetensors", "model.npz", "model"};
    mst_dataset *data = trees(NULL);
    mst_model *model = new_model(7, false, data);
    mst_tensor *wanted;
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = 20, .epochs = 3));
    EXPECT_OK(mst_predict(model, data, 20, &wanted));
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        const char *path = folder_path(formats[i]);
        mst_snapshot *snapshot;
        mst_tensor *got;
        EXPECT_OK(mst_store_snapshot(mst_model_store(model), &snapshot));
        EXPECT_OK(mst_checkpoint_write(path, snapshot, NULL));
        mst_snapshot_release(snapshot);
        mst_model *fresh = new_model(7, false, NULL);
        EXPECT_OK(mst_build(fresh, data, false));
        EXPECT_OK(mst_checkpoint_restore(path, mst_model_store(fresh), NULL, NULL));
        EXPECT_OK(mst_predict(fresh, data, 20, &got));
        assert_true(engine_same_bits(got, wanted));
        mst_tensor_release(got);
        mst_model_destroy(fresh);
    }
    mst_tensor_release(wanted);
    mst_model_destroy(model);
    mst_dataset_release(data);
}

static void a_vocabulary_has_the_most_frequent_strings(void **state) {
    (void)state;
    mst_dataset *data = trees(NULL);
    mst_model *model = new_model(3, false, data);
    mst_tensor *places, *hashes;
    EXPECT_OK(mst_build(model, data, true));
    EXPECT_OK(mst_store_get(mst_model_store(model), NULL, "string_lookup/vocabulary_places", &places));
    EXPECT_OK(mst_store_get(mst_model_store(model), NULL, "string_lookup/vocabulary_hashes", &hashes));
    assert_int_equal(mst_tensor_count(places), 2);
    const int64_t *hash = mst_tensor_data(hashes), *place = mst_tensor_data(places);
    assert_true(hash[0] < hash[1] && place[0] + place[1] == 1 && place[0] != place[1]);
    mst_tensor_release(places);
    mst_tensor_release(hashes);
    mst_model_destroy(model);
    mst_dataset_release(data);
}

static void a_string_that_is_not_known_can_be_an_error(void **state) {
    (void)state;
    mst_dataset *data = trees(NULL), *other = trees("palm");
    mst_model *model = new_model(0, true, data);
    mst_tensor *out = NULL;
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = 20, .epochs = 1));
    EXPECT_ERROR(mst_predict(model, other, 20, &out), MST_INVALID, "element 0 is none of the 4 that are known");
    EXPECT_OK(mst_predict(model, data, 20, &out));
    mst_tensor_release(out);
    mst_model_destroy(model);
    mst_dataset_release(data);
    mst_dataset_release(other);
}

static void mistakes_are_told(void **state) {
    (void)state;
    const char *const twice[] = {"a", "b", "a"};
    mst_dataset *data = trees(NULL), *numbers = training_data(8, 3, 2, 1);
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    const mst_output lookup = mst_string_lookup(model);
    EXPECT_ERROR(mst_adapt(lookup, numbers, 0), MST_INVALID, "the data is f32, must be string");
    mst_string_lookup(model, .max_tokens = 3, .num_oov_indices = 3);
    EXPECT_ERROR(mst_model_check(model), MST_INVALID, "must be above num_oov_indices");
    mst_model_destroy(model);
    EXPECT_OK(mst_model_create(&model));
    mst_tensor *wrong = strings_of(MST_SHAPE(3), twice);
    mst_string_lookup(model, .vocabulary = wrong);
    EXPECT_ERROR(mst_model_check(model), MST_INVALID, "strings 0 and 2 of the vocabulary are the same");
    mst_model_destroy(model);
    EXPECT_OK(mst_model_create(&model));
    EXPECT_OK(mst_tensor_set_string(wrong, 2, mst_string_of("c")));
    mst_string_lookup(model, .vocabulary = wrong, .mask_token = "c");
    EXPECT_ERROR(mst_model_check(model), MST_INVALID, "mask_token is in the vocabulary, at 2");
    mst_tensor_release(wrong);
    mst_model_destroy(model);
    EXPECT_OK(mst_model_create(&model));
    mst_dense(lookup_of(model, 0, false), 2);
    EXPECT_OK(mst_compile(model, .seed = 1));
    EXPECT_ERROR(mst_fit(model, .data = data), MST_INVALID, "has no vocabulary: call mst_adapt before");
    mst_model_destroy(model);
    /* the first layer of a model without an input of strings */
    model = training_model(4, 2, 0);
    EXPECT_OK(mst_compile(model, .session = {.devices = "cpu:1/1"}));
    EXPECT_ERROR(mst_fit(model, .data = data), MST_INVALID, "are strings: make numbers of them");
    mst_model_destroy(model);
    mst_dataset_release(data);
    mst_dataset_release(numbers);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings_are_numbered_as_keras_does),
        cmocka_unit_test(a_model_learns_from_strings),
        TEST_IN_FOLDER(the_vocabulary_is_kept_with_the_weights),
        cmocka_unit_test(a_vocabulary_has_the_most_frequent_strings),
        cmocka_unit_test(a_string_that_is_not_known_can_be_an_error),
        cmocka_unit_test(mistakes_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
