/* Texts as numbers of tokens: the results of keras.layers.TextVectorization of Keras 3.15; what the layer learns. */
#include "muster/muster.h"
#include "support/test.h"
#include "support/training.h"

static mst_tensor *strings_of(mst_shape shape, const char *const *words) {
    mst_tensor *tensor;
    EXPECT_OK(mst_tensor_create(MST_STRING, shape, &tensor));
    for (int64_t i = 0; i < mst_tensor_count(tensor); i++)
        EXPECT_OK(mst_tensor_set_string(tensor, i, mst_string_of(words[i])));
    return tensor;
}

enum { ROWS = 4, LENGTH = 5 };
static const char *const texts[ROWS] = {"The cat's (black) HAT", "", "a b c d e f the", " \tThe,hat.\n the"};
static mst_tensor *vocabulary;

static void expect_values(mst_value (*build)(mst_value src), mst_shape shape, mst_shape wanted_shape,
                          const double *wanted) {
    mst_tensor *fed = strings_of(shape, texts);
    engine_expect_built(build, fed, wanted_shape, wanted);
    mst_tensor_release(fed);
}

static mst_value words(mst_value src) {
    return mst_text_vectorization(src, .vocabulary = vocabulary, .sequence_length = LENGTH);
}

static mst_value as_they_are(mst_value src) {
    return mst_text_vectorization(src, .vocabulary = vocabulary, .sequence_length = LENGTH,
                                  .standardize = MST_TEXT_AS_IT_IS);
}

static mst_value characters(mst_value src) {
    return mst_text_vectorization(src, .vocabulary = vocabulary, .sequence_length = LENGTH,
                                  .standardize = MST_TEXT_LOWER, .split = MST_TEXT_SPLIT_CHARACTER);
}

static mst_value counted(mst_value src) {
    return mst_text_vectorization(src, .vocabulary = vocabulary, .output_mode = MST_OUTPUT_MODE_COUNT);
}

static void tokens_are_numbered_as_keras_does(void **state) {
    (void)state;
    const char *const tokens[] = {"the", "hat", "a", "c"};
    vocabulary = strings_of(MST_SHAPE(4), tokens);
    const double numbers[] = {2, 1, 1, 3, 0, 0, 0, 0, 0, 0, 4, 1, 5, 1, 1, 1, 2, 0, 0, 0};
    expect_values(words, MST_SHAPE(ROWS), MST_SHAPE(ROWS, LENGTH), numbers);
    expect_values(words, MST_SHAPE(ROWS, 1), MST_SHAPE(ROWS, LENGTH), numbers);
    expect_values(as_they_are, MST_SHAPE(ROWS), MST_SHAPE(ROWS, LENGTH),
                  (const double[]){1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 4, 1, 5, 1, 1, 1, 2, 0, 0, 0});
    expect_values(characters, MST_SHAPE(ROWS), MST_SHAPE(ROWS, LENGTH),
                  (const double[]){1, 1, 1, 1, 5, 0, 0, 0, 0, 0, 4, 1, 1, 1, 5, 1, 1, 1, 1, 1});
    expect_values(counted, MST_SHAPE(ROWS), MST_SHAPE(ROWS, 5),
                  (const double[]){2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 4, 1, 0, 1, 1, 1, 1, 0, 0, 0});
    mst_tensor_release(vocabulary);
}

/* The most frequent token comes first, then the one whose bytes are last: the, thehat. */
static void the_vocabulary_is_learnt(void **state) {
    (void)state;
    const double wanted[ROWS][3] = {{2, 1, 1}, {0, 0, 0}, {1, 1, 1}, {3, 2, 0}};
    mst_tensor *tensor = strings_of(MST_SHAPE(ROWS), texts), *out;
    mst_dataset *data = mst_data_from_tensors(&tensor, 1);
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    const mst_output made = mst_text_vectorization(mst_input(model, MST_SCALAR, .dtype = MST_STRING), .max_tokens = 4,
                                                   .sequence_length = 3);
    EXPECT_OK(mst_adapt(made, data, 0));
    EXPECT_OK(mst_compile(model, .loss = MST_LOSS_MEAN_SQUARED_ERROR));
    EXPECT_OK(mst_predict(model, data, ROWS, &out));
    for (int i = 0; i < ROWS; i++)
        for (int k = 0; k < 3; k++) assert_true(mst_tensor_get(out, i * 3 + k) == wanted[i][k]);
    mst_tensor_release(out);
    mst_model_destroy(model);
    mst_dataset_release(data);
    mst_tensor_release(tensor);
}

static void wrong_options_are_refused(void **state) {
    (void)state;
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    const mst_output text = mst_input(model, MST_SHAPE(1), .dtype = MST_STRING);
    mst_text_vectorization(text, .max_tokens = 9, .output_mode = MST_OUTPUT_MODE_ONE_HOT);
    EXPECT_ERROR(mst_model_check(model), MST_INVALID, "one_hot is for one token");
    mst_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_are_numbered_as_keras_does),
        cmocka_unit_test(the_vocabulary_is_learnt),
        cmocka_unit_test(wrong_options_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
