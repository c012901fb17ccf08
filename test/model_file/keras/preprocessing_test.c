/* Keras' preprocessing layers in files: what they have learnt, and options that are refused.
 * test/parity/keras_test.py compares the values. */
#include <stdio.h>

#include "module/module.h"
#include "muster/model_file.h"
#include "muster/train.h"
#include "support/folder.h"
#include "support/test.h"

enum { ROWS = 6, WIDTH = 3, BINS = 3 };

static mst_dataset *rows(void) {
    mst_tensor *x;
    mst_dataset *data;
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(ROWS, WIDTH), &x));
    for (int64_t i = 0; i < ROWS * WIDTH; i++) mst_tensor_set(x, i, (double)(i * 7 % 19) + 100 * (double)(i % WIDTH));
    EXPECT_OK(mst_dataset_from_tensors(&x, 1, &data));
    mst_tensor_release(x);
    return data;
}

static mst_tensor *row_of(double a, double b, double c) {
    mst_tensor *row;
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(WIDTH), &row));
    mst_tensor_set(row, 0, a);
    mst_tensor_set(row, 1, b);
    mst_tensor_set(row, 2, c);
    return row;
}

/* Each layer of preprocessing, all that can be learnt from DATA. */
static mst_model *learnt(mst_dataset *data, uint64_t seed) {
    mst_model *model;
    mst_tensor *mean = row_of(1, 2, 3), *variance = row_of(4, 0.3, 9);
    mst_tensor *places;
    EXPECT_OK(mst_tensor_create(MST_I64, MST_SHAPE(2), &places));
    mst_tensor_set(places, 0, -1); /* what Keras takes for any other integer */
    mst_tensor_set(places, 1, 2);
    EXPECT_OK(mst_model_create(&model));
    const mst_output in = mst_input(model, MST_SHAPE(WIDTH));
    const mst_output own = mst_normalization(in), all = mst_normalization(in, .no_axis = true, .invert = true);
    const mst_output told = mst_normalization(in, .axis = 1, .mean = mean, .variance = variance);
    const mst_output bins = mst_discretization(in, .num_bins = BINS);
    const mst_output counts = mst_category_encoding(bins, BINS, .output_mode = MST_OUTPUT_MODE_COUNT);
    EXPECT_OK(mst_adapt(own, data, 0));
    EXPECT_OK(mst_adapt(all, data, 0));
    EXPECT_OK(mst_adapt(bins, data, 0));
    const mst_output kinds = mst_integer_lookup(in, .num_oov_indices = 2, .has_mask = true, .mask_token = 14);
    const mst_output known = mst_integer_lookup(bins, .vocabulary = places, .output_mode = MST_OUTPUT_MODE_COUNT);
    EXPECT_OK(mst_adapt(kinds, data, 0));
    const mst_output vectors = mst_flatten(mst_embedding(kinds, 3 + ROWS * WIDTH, 2));
    mst_dense(mst_concatenate(MST_OUTPUTS(own, all, told, counts, known, vectors)), 2);
    EXPECT_OK(mst_compile(model, .seed = seed, .loss = MST_LOSS_MEAN_SQUARED_ERROR));
    mst_tensor_release(mean);
    mst_tensor_release(variance);
    mst_tensor_release(places);
    return model;
}

static void expect_same_predictions(mst_model *a, mst_model *b, mst_dataset *data) {
    mst_tensor *of_a, *of_b;
    EXPECT_OK(mst_predict(a, data, ROWS, &of_a));
    EXPECT_OK(mst_predict(b, data, ROWS, &of_b));
    assert_memory_equal(mst_tensor_data(of_a), mst_tensor_data(of_b), mst_tensor_bytes(of_a));
    mst_tensor_release(of_a);
    mst_tensor_release(of_b);
}

static void what_was_learnt_is_in_the_file(void **state) {
    (void)state;
    static const char *const files[] = {"m.keras", "m.h5"};
    mst_dataset *data = rows();
    mst_model *model = learnt(data, 1), *copy;
    EXPECT_OK(mst_build(model, data, false));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        EXPECT_OK(mst_model_save(model, folder_path(files[i])));
        EXPECT_OK(mst_model_load(folder_path(files[i]), &copy, NULL));
        EXPECT_OK(mst_compile(copy, .seed = 2, .loss = MST_LOSS_MEAN_SQUARED_ERROR));
        expect_same_predictions(model, copy, data);
        /* what the first kept in a weight, the second has as an option */
        EXPECT_OK(mst_model_save(copy, folder_path("again.keras")));
        mst_model_destroy(copy);
    }
    /* weights alone: boundaries are no weights in Keras, and stay as they are */
    mst_model *other = learnt(data, 3);
    EXPECT_OK(mst_build(other, data, false));
    EXPECT_OK(mst_model_save(model, folder_path("m.weights.h5")));
    EXPECT_OK(mst_model_load_weights(other, folder_path("m.weights.h5")));
    expect_same_predictions(model, other, data);
    mst_model_destroy(other);
    mst_model_destroy(model);
    mst_dataset_release(data);
}

static void what_keras_lacks_is_not_saved(void **state) {
    (void)state;
    mst_model *model;
    mst_dataset *data = rows();
    EXPECT_OK(mst_model_create(&model));
    mst_normalization(mst_input(model, MST_SHAPE(WIDTH)), .fill_missing = true, .name = "fills");
    EXPECT_ERROR(mst_model_save(model, folder_path("no.keras")), MST_UNIMPLEMENTED, "layer 'fills'");
    mst_model_destroy(model);
    EXPECT_OK(mst_model_create(&model));
    mst_discretization(mst_input(model, MST_SHAPE(WIDTH)), .num_bins = BINS, .name = "bins");
    EXPECT_OK(mst_compile(model, .loss = MST_LOSS_MEAN_SQUARED_ERROR));
    EXPECT_ERROR(mst_model_save(model, folder_path("no.keras")), MST_INVALID, "'bins': has no boundaries yet");
    EXPECT_OK(mst_build(model, data, false));
    EXPECT_ERROR(mst_model_save(model, folder_path("no.keras")), MST_INVALID, "'bins': has no boundaries yet");
    mst_model_destroy(model);
    EXPECT_OK(mst_model_create(&model));
    mst_string_lookup(mst_input(model, MST_SHAPE(WIDTH), .dtype = MST_STRING), .max_tokens = 9, .mask_token = "",
                      .name = "words");
    EXPECT_ERROR(mst_model_save(model, folder_path("no.keras")), MST_UNIMPLEMENTED, "'words': cannot be saved");
    mst_model_destroy(model);
    EXPECT_OK(mst_model_create(&model));
    mst_text_vectorization(mst_input(model, MST_SHAPE(1), .dtype = MST_STRING), .max_tokens = 9, .name = "texts");
    EXPECT_ERROR(mst_model_save(model, folder_path("no.keras")), MST_UNIMPLEMENTED, "'texts': cannot be saved");
    mst_model_destroy(model);
    /* columns that no integer has are Keras' pad_to_max_tokens */
    EXPECT_OK(mst_model_create(&model));
    const mst_output lookup =
        mst_integer_lookup(mst_input(model, MST_SHAPE(WIDTH)), .max_tokens = 1000, .name = "kinds");
    EXPECT_ERROR(mst_model_save(model, folder_path("no.keras")), MST_INVALID, "'kinds': has no vocabulary yet");
    EXPECT_OK(mst_adapt(lookup, data, 0));
    EXPECT_ERROR(mst_model_save(model, folder_path("no.keras")), MST_UNIMPLEMENTED, "and max_tokens is for 999");
    mst_model_destroy(model);
    mst_dataset_release(data);
}

/* A stack of an input of SHAPE and one layer. */
static mst_status load_stack(const char *shape, const char *class_name, const char *config) {
    char text[1000];
    mst_model *model = NULL;
    snprintf(text, sizeof text,
             "{\"class_name\": \"Sequential\", \"config\": {\"name\": \"s\", \"layers\": ["
             "{\"class_name\": \"InputLayer\", \"config\": {\"name\": \"in\", \"batch_shape\": [null%s], "
             "\"dtype\": \"%s\"}}, {\"class_name\": \"%s\", \"config\": {\"name\": \"layer\", %s}}]}}",
             shape,
             strcmp(class_name, "StringLookup") == 0        ? "string"
             : strcmp(class_name, "TextVectorization") == 0 ? "string"
             : strcmp(class_name, "IntegerLookup") == 0     ? "int64"
                                                            : "float32",
             class_name, config);
    const mst_status status = mst_model_load(folder_write_text("m.json", text), &model, NULL);
    mst_model_destroy(model);
    return status;
}

static void options_of_keras_are_taken_or_named(void **state) {
    (void)state;
    static const struct {
        const char *class_name, *shape, *config, *refused; /* NULL: it is taken */
    } cases[] = {
        {"Normalization", ", 3", "\"axis\": [-1], \"mean\": null, \"variance\": null, \"invert\": false", NULL},
        {"Normalization", ", 3", "\"axis\": 1", NULL},
        {"Normalization", ", 3", "\"axis\": null, \"mean\": 1, \"variance\": 2.5", NULL},
        {"Normalization", ", 3", "\"axis\": [], \"mean\": [[1]], \"variance\": [[2]]", NULL},
        {"Normalization", ", 3", "\"axis\": [1], \"mean\": [[1, 2, 3]], \"variance\": [[1, 2, 3]]", NULL},
        {"Normalization", ", 3", "\"axis\": [1, 2]", "layer 'layer' (Normalization): axis = [1,2] is not taken here"},
        {"Normalization", ", 3", "\"axis\": [0]", "axis = [0]"},
        {"Normalization", ", 3", "\"axis\": \"a\"", "axis = \"a\""},
        {"Normalization", ", 3", "\"axis\": [2]", "has no axis 2"},
        {"Normalization", ", 3", "\"mean\": [1, 2, 3]", "mean is given and variance is not"},
        {"Normalization", ", 3", "\"mean\": [[1, 2], [3, 4]], \"variance\": 1", "mean = [[1,2],[3,4]]"},
        {"Normalization", ", 3", "\"mean\": [[1, 2], [3]], \"variance\": 1", "mean = "},
        {"Normalization", ", 3", "\"mean\": [], \"variance\": 1", "mean = []"},
        {"Normalization", ", 3", "\"mean\": [1, 2], \"variance\": [1, 2]", "layer"},
        {"CategoryEncoding", ", 3", "\"num_tokens\": 4, \"output_mode\": \"binary\"", NULL},
        {"CategoryEncoding", "", "\"num_tokens\": 4, \"output_mode\": \"one_hot\"", NULL},
        {"CategoryEncoding", "", "\"num_tokens\": 4", "output_mode = \"multi_hot\""},
        {"CategoryEncoding", ", 3, 2", "\"num_tokens\": 4, \"output_mode\": \"count\"",
         "2 dimensions beside the batch"},
        {"CategoryEncoding", ", 3", "\"num_tokens\": 4, \"output_mode\": \"tf_idf\"", "output_mode = \"tf_idf\""},
        {"CategoryEncoding", ", 3", "\"num_tokens\": 4, \"sparse\": true", "sparse = true"},
        {"Discretization", ", 3", "\"bin_boundaries\": [1, 2.5], \"num_bins\": 3", NULL},
        {"Discretization", ", 3", "\"bin_boundaries\": null, \"num_bins\": 3", "it has no boundaries yet"},
        {"Discretization", ", 3", "\"bin_boundaries\": [2, 1]", "boundary 1 is below"},
        {"Discretization", ", 3", "\"bin_boundaries\": [2, null]", "bin_boundaries = [2,null]"},
        {"StringLookup", ", 1", "\"vocabulary\": [\"[UNK]\", \"b\", \"a\"], \"output_mode\": \"one_hot\"", NULL},
        {"StringLookup", ", 1", "\"vocabulary\": [\"b\"], \"num_oov_indices\": 0, \"output_mode\": \"count\"", NULL},
        {"StringLookup", ", 1", "\"vocabulary\": null", "it has no vocabulary"},
        {"StringLookup", ", 1", "\"vocabulary\": [\"[UNK]\"]", "it has no vocabulary"},
        {"StringLookup", ", 1", "\"vocabulary\": [\"b\", 3]", "vocabulary = [\"b\",3]"},
        {"StringLookup", ", 1", "\"vocabulary\": \"words.txt\"", "vocabulary = \"words.txt\""},
        {"StringLookup", ", 1", "\"vocabulary\": [\"b\", \"b\"]", "are the same"},
        {"StringLookup", ", 1", "\"vocabulary\": [\"\", \"[UNK]\", \"b\"], \"mask_token\": \"\"", NULL},
        {"StringLookup", ", 1", "\"vocabulary\": [\"b\", \"\"], \"mask_token\": \"\"",
         "mask_token is in the vocabulary"},
        {"StringLookup", ", 1", "\"vocabulary\": [\"b\"], \"mask_token\": 0", "mask_token = 0"},
        {"StringLookup", ", 1", "\"vocabulary\": [\"b\"], \"output_mode\": \"tf_idf\"", "output_mode = \"tf_idf\""},
        {"StringLookup", ", 1", "\"vocabulary\": [\"b\"], \"num_oov_indices\": -1", "num_oov_indices = -1"},
        {"TextVectorization", ", 1", "\"vocabulary\": [\"\", \"[UNK]\", \"b\"], \"output_sequence_length\": 4", NULL},
        {"TextVectorization", "", "\"vocabulary\": [\"b\"], \"split\": \"character\", \"standardize\": null", NULL},
        {"TextVectorization", ", 1", "\"vocabulary\": [\"b\"], \"output_mode\": \"count\"", NULL},
        {"TextVectorization", ", 1", "\"vocabulary\": null", "it has no vocabulary"},
        {"TextVectorization", ", 1", "\"vocabulary\": [\"\", \"[UNK]\"]", "it has no vocabulary"},
        {"TextVectorization", ", 1", "\"vocabulary\": [\"b\", \"b\"]", "are the same"},
        {"TextVectorization", ", 1", "\"vocabulary\": [\"b\"], \"standardize\": {}", "standardize = {}"},
        {"TextVectorization", ", 1", "\"vocabulary\": [\"b\"], \"split\": null", "split = null"},
        {"TextVectorization", ", 1", "\"vocabulary\": [\"b\"], \"ngrams\": 2", "ngrams = 2"},
        {"TextVectorization", ", 1", "\"vocabulary\": [\"b\"], \"ragged\": true", "ragged = true"},
        {"TextVectorization", ", 1", "\"vocabulary\": [\"b\"], \"output_mode\": \"tf_idf\"",
         "output_mode = \"tf_idf\""},
        {"TextVectorization", ", 1", "\"vocabulary\": [\"b\"], \"output_mode\": \"one_hot\"", "is for one token"},
        {"TextVectorization", ", 1", "\"vocabulary\": [\"b\"], \"output_sequence_length\": 0",
         "output_sequence_length = 0"},
        {"TextVectorization", ", 1", "\"vocabulary\": [\"b\"], \"output_sequence_length\": 1e30",
         "output_sequence_length = 1e"},
        {"IntegerLookup", ", 1", "\"vocabulary\": [-1, 7, 5], \"output_mode\": \"one_hot\"", NULL},
        {"IntegerLookup", ", 1", "\"vocabulary\": [0, -1, 5], \"mask_token\": 0, \"oov_token\": -1", NULL},
        {"IntegerLookup", ", 3", "\"vocabulary\": [-1, 5], \"mask_token\": 0, \"output_mode\": \"count\"", NULL},
        {"IntegerLookup", ", 1", "\"vocabulary\": [5, 0], \"mask_token\": 0", "mask_token is in the vocabulary, at 1"},
        {"IntegerLookup", ", 1", "\"vocabulary\": [5], \"mask_token\": \"\"", "mask_token = \"\""},
        {"IntegerLookup", ", 1", "\"vocabulary\": [0, -1], \"mask_token\": 0", "it has no vocabulary"},
        {"IntegerLookup", ", 1", "\"vocabulary\": [5, \"b\"]", "(IntegerLookup): vocabulary = [5,\"b\"]"},
        {"IntegerLookup", ", 1", "\"vocabulary\": [5], \"invert\": true",
         "layer 'layer' (IntegerLookup): invert = true is not taken here"},
        {"IntegerLookup", ", 1", "\"vocabulary\": [5], \"oov_method\": \"farmhash\"", "oov_method = \"farmhash\""},
        {"IntegerLookup", ", 1", "\"vocabulary\": [5], \"pad_to_max_tokens\": true", "pad_to_max_tokens = true"},
        {"IntegerLookup", ", 3, 2", "\"vocabulary\": [5], \"output_mode\": \"count\"", "2 dimensions beside"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const mst_status status = load_stack(cases[i].shape, cases[i].class_name, cases[i].config);
        if (!cases[i].refused && status) fail_msg("%s: %s", cases[i].config, mst_error()->message);
        if (!cases[i].refused) continue;
        if (!status) fail_msg("%s: is taken", cases[i].config);
        if (!strstr(mst_error()->message, cases[i].refused)) fail_msg("%s: %s", cases[i].config, mst_error()->message);
    }
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(what_was_learnt_is_in_the_file),
        TEST_IN_FOLDER(what_keras_lacks_is_not_saved),
        TEST_IN_FOLDER(options_of_keras_are_taken_or_named),
    };
    if (!mst_module_is_here("hdf5") || !mst_module_is_here("zip")) {
        print_message("skipped: the module hdf5 or zip is not there\n");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
