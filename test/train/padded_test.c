/* Training on batches whose rows have lengths of their own. */
#include "support/pipeline.h"
#include "support/test.h"
#include "support/training.h"

enum { ROWS = 61, WORDS = 20, CLASSES = 3, BATCH = 8 };

/* Row i: 1 + i % 6 words, and a class that the first of them tells. */
static mst_status make_sentence(const mst_array *in, mst_array *out, void *context) {
    const int64_t i = *(const int64_t *)in[0].data / 10, length = 1 + i % 6;
    (void)context;
    int64_t *word = out[0].data = mst_map_alloc((size_t)length * sizeof *word);
    if (!word) return mst_error()->code;
    for (int64_t j = 0; j < length; j++) word[j] = 1 + (i * 7 + j * 3) % (WORDS - 1);
    out[0].count = out[0].shape.dim[0] = length;
    *(int64_t *)out[1].data = word[0] % CLASSES;
    return MST_OK;
}

static mst_dataset *open_sentences(void) {
    static const mst_spec specs[] = {{MST_I64, {1, {-1}}}, {MST_I64, {0, {0}}}};
    mst_dataset *numbers = pipeline_numbers(ROWS), *rows;
    EXPECT_OK(mst_dataset_map(numbers, make_sentence, NULL, specs, 2, &rows));
    mst_dataset_release(numbers);
    return rows;
}

static mst_value mean_over_words(void *context, mst_value src, bool training) {
    (void)context, (void)training;
    return mst_reduce_mean(src, .axes = MST_AXES(1));
}

static mst_model *make_model(const char *devices, int shards) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    mst_embedding(model, WORDS, 8);
    mst_lambda(model, mean_over_words);
    mst_dense(model, CLASSES);
    EXPECT_OK(mst_compile(model, .optimizer = mst_adam(.learning_rate = 0.05), .seed = 4,
                          .session = {.devices = devices}, .strategy = {.num_shards = shards}));
    return model;
}

static void train(const char *devices, const mst_padding *padding, bool prefetch, char sha256[65], double *loss) {
    mst_dataset *rows = open_sentences(), *batches, *ahead;
    mst_model *model = make_model(devices, 4);
    mst_result result;
    EXPECT_OK(mst_dataset_padded_batch(rows, BATCH, false, padding, &batches));
    EXPECT_OK(mst_dataset_prefetch(batches, 2, &ahead));
    EXPECT_OK(mst_fit(model, .data = prefetch ? ahead : batches, .epochs = 4, .no_shuffle = true));
    EXPECT_OK(mst_model_sha256(model, sha256));
    EXPECT_OK(mst_evaluate(model, batches, 0, &result, NULL));
    assert_int_equal(result.examples, ROWS);
    *loss = result.loss;
    mst_model_destroy(model);
    mst_dataset_release(ahead);
    mst_dataset_release(batches);
    mst_dataset_release(rows);
}

/* The shards of a batch have one padded length, whatever rows they have: else their means would differ. */
static void weights_do_not_depend_on_devices_or_prefetch(void **state) {
    (void)state;
    char one[65], two[65], ahead[65], wide[65];
    double loss, same;
    const mst_padding eight[] = {{.shape = MST_SHAPE(8)}, {0}};
    train("cpu:1/1", NULL, false, one, &loss);
    train("cpu:2/1", NULL, false, two, &same);
    train("cpu:2/1", NULL, true, ahead, &same);
    assert_string_equal(one, two);
    assert_string_equal(one, ahead);
    assert_true(loss < 1.0); /* log(3) at first */
    train("cpu:2/1", eight, false, wide, &same);
    assert_string_not_equal(one, wide);
}

static void rows_that_are_not_padded_and_strings_are_refused(void **state) {
    (void)state;
    mst_dataset *rows = open_sentences(), *texts;
    mst_model *model = make_model("cpu:1/1", 1);
    mst_tensor *tensor[2];
    EXPECT_ERROR(mst_fit(model, .data = rows, .batch_size = BATCH), MST_INVALID,
                 "inputs: component 0 has rows of different lengths: pad it (mst_dataset_padded_batch)");
    EXPECT_OK(mst_tensor_create(MST_STRING, MST_SHAPE(5), &tensor[0]));
    tensor[1] = engine_tensor(MST_I64, MST_SHAPE(5), NULL);
    EXPECT_OK(mst_dataset_from_tensors(tensor, 2, &texts));
    EXPECT_ERROR(mst_fit(model, .data = texts, .batch_size = BATCH), MST_INVALID, "inputs are strings");
    mst_tensor_release(tensor[0]);
    mst_tensor_release(tensor[1]);
    mst_dataset_release(texts);
    mst_dataset_release(rows);
    mst_model_destroy(model);
}

static void predictions_have_a_row_for_each_sentence(void **state) {
    (void)state;
    mst_dataset *rows = open_sentences(), *batches;
    mst_model *model = make_model("cpu:1/1", 1);
    mst_tensor *out;
    EXPECT_OK(mst_dataset_padded_batch(rows, BATCH, false, NULL, &batches));
    EXPECT_OK(mst_predict(model, batches, 0, &out));
    assert_true(mst_shape_equal(mst_tensor_shape(out), MST_SHAPE(ROWS, CLASSES)));
    mst_tensor_release(out);
    mst_dataset_release(batches);
    mst_dataset_release(rows);
    mst_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_do_not_depend_on_devices_or_prefetch),
        cmocka_unit_test(rows_that_are_not_padded_and_strings_are_refused),
        cmocka_unit_test(predictions_have_a_row_for_each_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
