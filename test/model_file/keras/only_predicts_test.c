/* Models with parts that Keras uses only in training: those that Muster has train as in Keras; with the others models
 * can predict, but training them is an error. */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/graph.h"
#include "muster/model_file.h"
#include "muster/ops.h"
#include "muster/train.h"
#include "support/folder.h"
#include "support/test.h"

#define LAYER(class, config) "{\"class_name\": \"" class "\", \"config\": {\"name\": \"it\"" config "}}"
#define DENSE "{\"class_name\": \"Dense\", \"config\": {\"name\": \"d\", \"units\": 2, \"bias_constraint\": {}}}"

static mst_model *load(const char *layer) {
    char text[1024];
    mst_model *model;
    snprintf(text, sizeof text,
             "{\"class_name\": \"Sequential\", \"config\": {\"name\": \"s\", \"layers\": [{\"class_name\": "
             "\"InputLayer\", \"config\": {\"batch_shape\": [null, 4, 3], \"name\": \"in\"}}, %s]}}",
             layer);
    EXPECT_OK(mst_model_load(folder_write_text("net.json", text), &model, NULL));
    return model;
}

static mst_status build(mst_model *model, bool training, bool *is_same) {
    mst_graph *graph;
    EXPECT_OK(mst_graph_create(&graph));
    const mst_value x = mst_placeholder(graph, MST_F32, MST_SHAPE(2, 4, 3)), y = mst_model_call(model, x, training);
    const mst_status status = mst_graph_check(graph);
    if (is_same) *is_same = mst_shape_equal(mst_value_spec(y).shape, MST_SHAPE(2, 4, 3));
    mst_graph_destroy(graph);
    return status;
}

static void expect_only_predicts(const char *layer, const char *what) {
    mst_model *model = load(layer);
    char text[256];
    bool same;
    EXPECT_OK(build(model, false, &same));
    snprintf(text, sizeof text, "%s: training with this is not supported", what);
    EXPECT_ERROR(build(model, true, NULL), MST_UNIMPLEMENTED, text);
    snprintf(text, sizeof text, "%s: this cannot be written as a file of Keras", what);
    EXPECT_ERROR(mst_model_save(model, folder_path("m.json")), MST_UNIMPLEMENTED, text);
    mst_model_destroy(model);
}

static void layers_that_only_train_give_what_they_take(void **state) {
    (void)state;
    static const char *const classes[] = {"ActivityRegularization",
                                          "RandomColorJitter",
                                          "RandomColorDegeneration",
                                          "RandomElasticTransform",
                                          "RandomErasing",
                                          "RandomGaussianBlur",
                                          "RandomGrayscale",
                                          "RandomHeight",
                                          "RandomHue",
                                          "RandomInvert",
                                          "RandomPerspective",
                                          "RandomPosterization",
                                          "RandomSaturation",
                                          "RandomSharpness",
                                          "RandomShear",
                                          "RandomWidth"};
    char layer[256], what[128];
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        snprintf(layer, sizeof layer, LAYER("%s", ", \"rate\": 0.5, \"factor\": 0.2"), classes[i]);
        snprintf(what, sizeof what, "layer 'it' (%s)", classes[i]);
        expect_only_predicts(layer, what);
        mst_model *model = load(layer);
        bool same = false;
        EXPECT_OK(build(model, false, &same));
        assert_true(same);
        mst_model_destroy(model);
    }
}

static void settings_that_only_train(void **state) {
    (void)state;
    static const struct {
        const char *layer, *what;
    } rows[] = {
        {LAYER("Dense", ", \"units\": 2, \"kernel_constraint\": {\"class_name\": \"Sparse\"}"), "kernel_constraint"},
        {LAYER("Dense", ", \"units\": 2, \"bias_regularizer\": \"l2\""), "bias_regularizer"},
        {LAYER("Dense", ", \"units\": 2, \"activity_regularizer\": \"l1\""), "activity_regularizer"},
        {LAYER("LSTM", ", \"units\": 2, \"bias_regularizer\": \"l2\""), "(LSTM), bias_regularizer"},
        {LAYER("SimpleRNN", ", \"units\": 2, \"recurrent_regularizer\": \"l2\""), "recurrent_regularizer"},
        {LAYER("TimeDistributed", ", \"layer\": " DENSE), "(TimeDistributed), bias_constraint"},
        {LAYER("Bidirectional", ", \"layer\": " LAYER("LSTM", ", \"units\": 2, \"bias_constraint\": \"radial\"")),
         "bias_constraint"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) expect_only_predicts(rows[i].layer, rows[i].what);
    mst_model *model = load(LAYER("LSTM", ", \"units\": 2, \"dropout\": 0.0, \"kernel_constraint\": null"));
    EXPECT_OK(build(model, true, NULL));
    mst_model_destroy(model);
}

/* Whether the file PATH has TEXT, spaces aside. */
static void expect_in_file(const char *path, const char *text) {
    static char whole[1 << 14];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t size = fread(whole, 1, sizeof whole - 1, file), kept = 0;
    fclose(file);
    for (size_t i = 0; i < size; i++)
        if (whole[i] != ' ' && whole[i] != '\n') whole[kept++] = whole[i];
    whole[kept] = '\0';
    if (!strstr(whole, text)) fail_msg("%s is not in %s", text, whole);
}

/* Such layers that Muster has go through it: what is read from a file is written to the next one. */
static void layers_that_muster_has_are_written_as_they_were_read(void **state) {
    (void)state;
    static const struct {
        const char *layer, *written;
    } rows[] = {
        {LAYER("Dropout", ", \"rate\": 0.5, \"noise_shape\": [null, 1, 3]"), "\"noise_shape\":[null,1,3]"},
        {LAYER("SpatialDropout1D", ", \"rate\": 0.5"), "\"class_name\":\"SpatialDropout1D\""},
        {LAYER("GaussianNoise", ", \"stddev\": 0.5"), "\"stddev\":0.5"},
        {LAYER("GaussianDropout", ", \"rate\": 0.25"), "\"rate\":0.25"},
        {LAYER("AlphaDropout", ", \"rate\": 0.25, \"noise_shape\": [null, 1, 1]"), "\"noise_shape\":[null,1,1]"},
        {LAYER("LayerScale", ", \"projection_dim\": 3, \"init_values\": 0.5"),
         "\"module\":\"keras.src.applications.convnext\""},
        {LAYER("GRU", ", \"units\": 2, \"dropout\": 0.25, \"recurrent_dropout\": 0.5"), "\"recurrent_dropout\":0.5"},
        {LAYER("Bidirectional", ", \"layer\": " LAYER("LSTM", ", \"units\": 2, \"dropout\": 0.25")),
         "\"dropout\":0.25"},
        {LAYER("Dense", ", \"units\": 2, \"kernel_constraint\": \"non_neg\""),
         "\"kernel_constraint\":{\"module\":\"keras.constraints\",\"class_name\":\"NonNeg\",\"config\":{},"},
        {LAYER("Conv1D",
               ", \"filters\": 2, \"kernel_size\": 2, \"kernel_constraint\": {\"class_name\": \"MaxNorm\", "
               "\"config\": {\"max_value\": 3, \"axis\": [0, 1]}}"),
         "\"class_name\":\"MaxNorm\",\"config\":{\"max_value\":3.0,\"axis\":[0,1]}"},
        {LAYER("BatchNormalization",
               ", \"gamma_constraint\": {\"class_name\": \"MinMaxNorm\", \"config\": "
               "{\"min_value\": 0.5, \"max_value\": 0.0, \"rate\": 0.25, \"axis\": null}}"),
         "\"config\":{\"min_value\":0.5,\"max_value\":0.0,\"rate\":0.25,\"axis\":null}"},
        {LAYER("Bidirectional", ", \"layer\": " LAYER("GRU",
                                                      ", \"units\": 2, \"recurrent_constraint\": {\"class_name\": "
                                                      "\"UnitNorm\", \"config\": {\"axis\": -1}}")),
         "\"recurrent_constraint\":{\"module\":\"keras.constraints\",\"class_name\":\"UnitNorm\",\"config\":{\"axis\":-"
         "1}"},
        {LAYER("TimeDistributed", ", \"layer\": " LAYER("Dense", ", \"units\": 2, \"bias_constraint\": \"MaxNorm\"")),
         "\"bias_constraint\":{\"module\":\"keras.constraints\",\"class_name\":\"MaxNorm\",\"config\":{}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mst_model *model = load(rows[i].layer);
        EXPECT_OK(build(model, true, NULL));
        EXPECT_OK(mst_model_save(model, folder_path("m.json")));
        expect_in_file(folder_path("m.json"), rows[i].written);
        mst_model_destroy(model);
    }
}

/* BatchNormalization(training=False) of Keras 2 as JSON. */
static const char keras2[] =
    "{\"class_name\": \"Functional\", \"config\": {\"name\": \"f\", \"layers\": [{\"class_name\": \"InputLayer\", "
    "\"config\": {\"name\": \"in\", \"batch_input_shape\": [null, 4, 3]}}, {\"class_name\": \"BatchNormalization\", "
    "\"config\": {\"name\": \"bn\"}, \"inbound_nodes\": [[[\"in\", 0, 0, {\"training\": false}]]]}], "
    "\"input_layers\": [[\"in\", 0, 0]], \"output_layers\": [[\"bn\", 0, 0]]}}";

/* One step of SGD with the rate 1 on rows of (1, 2, 3) and labels 0, whose loss is the mean of y^2 / 2. With the moving
 * mean 0 and variance 1, which stay, y = s x with s = 1 / sqrt(1.001). Element c of gamma has the gradient
 * sum(y * s x) / (elements / 2) = 2 s^2 x^2 / 3, and of beta 2 s x / 3. */
static void expect_a_step(mst_model *model) {
    const float s = 1 / sqrtf(1.001f);
    mst_tensor *data[2], *weight;
    mst_dataset *rows;
    for (int i = 0; i < 2; i++) EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(2, 4, 3), &data[i]));
    for (int i = 0; i < 24; i++) {
        mst_tensor_set(data[0], i, 1 + i % 3);
        mst_tensor_set(data[1], i, 0);
    }
    EXPECT_OK(mst_dataset_from_tensors(data, 2, &rows));
    EXPECT_OK(mst_compile(model, .optimizer = mst_sgd(.learning_rate = 1), .loss = MST_LOSS_MEAN_SQUARED_ERROR));
    EXPECT_OK(mst_fit(model, .data = rows, .batch_size = 2, .epochs = 1));
    static const char *const names[] = {"bn/gamma", "bn/beta", "bn/moving_mean", "bn/moving_variance"};
    for (int w = 0; w < 4; w++) {
        EXPECT_OK(mst_store_get(mst_model_store(model), NULL, names[w], &weight));
        for (int c = 0; c < 3; c++) {
            const float x = (float)(c + 1), want[] = {1 - 2 * s * s * x * x / 3, -2 * s * x / 3, 0, 1};
            assert_float_equal(mst_tensor_get(weight, c), want[w], 1e-5f);
        }
        mst_tensor_release(weight);
    }
    for (int i = 0; i < 2; i++) mst_tensor_release(data[i]);
    mst_dataset_release(rows);
}

static void normalization_without_training_keeps_its_statistics(void **state) {
    (void)state;
    mst_model *model, *again;
    EXPECT_OK(mst_model_load(folder_write_text("net.json", keras2), &model, NULL));
    EXPECT_OK(mst_model_save(model, folder_path("m.json")));
    expect_in_file(folder_path("m.json"), "\"muster_options\":{\"moving_statistics\":true}");
    expect_a_step(model);
    mst_model_destroy(model);
    EXPECT_OK(mst_model_load(folder_path("m.json"), &again, NULL));
    expect_a_step(again);
    mst_model_destroy(again);
}

/* The mask of an Embedding reaches the output of a Dense, which is 2 at each step. Steps that are padding do not count:
 * the loss is the mean of (2 - 2)^2 and (4 - 2)^2. Keras' fit and evaluate give the same. */
static void steps_that_are_masked_at_the_output_do_not_count(void **state) {
    (void)state;
    static const char ones[] = "{\"class_name\": \"Ones\", \"config\": {}}";
    static const double token[] = {1, 2, 0, 0}, label[] = {2, 4, 9, 9};
    char text[1024];
    mst_model *model;
    mst_tensor *data[2];
    mst_dataset *rows;
    mst_result result;
    snprintf(
        text, sizeof text,
        "{\"class_name\": \"Sequential\", \"config\": {\"name\": \"s\", \"layers\": [{\"class_name\": "
        "\"InputLayer\", \"config\": {\"batch_shape\": [null, 4], \"dtype\": \"int32\", \"name\": \"in\"}}, "
        "{\"class_name\": \"Embedding\", \"config\": {\"name\": \"e\", \"input_dim\": 9, \"output_dim\": 2, "
        "\"mask_zero\": true, \"embeddings_initializer\": %s}}, {\"class_name\": \"Dense\", \"config\": {\"name\": "
        "\"d\", \"units\": 1, \"kernel_initializer\": %s}}]}}",
        ones, ones);
    EXPECT_OK(mst_model_load(folder_write_text("net.json", text), &model, NULL));
    EXPECT_OK(mst_tensor_create(MST_I32, MST_SHAPE(1, 4), &data[0]));
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(1, 4, 1), &data[1]));
    for (int i = 0; i < 4; i++) {
        mst_tensor_set(data[0], i, token[i]);
        mst_tensor_set(data[1], i, label[i]);
    }
    EXPECT_OK(mst_dataset_from_tensors(data, 2, &rows));
    EXPECT_OK(mst_compile(model, .optimizer = mst_sgd(.learning_rate = 1e-30), .loss = MST_LOSS_MEAN_SQUARED_ERROR));
    EXPECT_OK(mst_fit(model, .data = rows, .batch_size = 1, .epochs = 1));
    EXPECT_OK(mst_evaluate(model, rows, 1, &result, NULL));
    assert_float_equal(result.loss, 2, 1e-6);
    for (int i = 0; i < 2; i++) mst_tensor_release(data[i]);
    mst_dataset_release(rows);
    mst_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(layers_that_only_train_give_what_they_take),
        TEST_IN_FOLDER(settings_that_only_train),
        TEST_IN_FOLDER(layers_that_muster_has_are_written_as_they_were_read),
        TEST_IN_FOLDER(normalization_without_training_keeps_its_statistics),
        TEST_IN_FOLDER(steps_that_are_masked_at_the_output_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
