/* Names that have another meaning in files of Keras 2 than in files of Keras 3. */
#include "model_file/keras/keras2_names.h"

#include <math.h>
#include <stdlib.h>

#include "muster/model_file.h"
#include "muster/train.h"
#include "support/folder.h"
#include "support/test.h"

/* A network of one layer, ITS, over two steps of two numbers. */
static const char *network(const char *version, const char *its) {
    static char text[1024];
    snprintf(text, sizeof text,
             "{\"class_name\": \"Sequential\", \"keras_version\": \"%s\", \"config\": {\"name\": \"s\", \"layers\": ["
             "{\"class_name\": \"InputLayer\", \"config\": {\"batch_shape\": [null, 2, 2], \"name\": \"in\"}}, %s]}}",
             version, its);
    return folder_write_text("net.json", text);
}

/* Element 0 of what the network makes of -1s. */
static double computed(const char *version, const char *its) {
    mst_model *model;
    mst_tensor *x, *y;
    mst_dataset *data;
    EXPECT_OK(mst_model_load(network(version, its), &model, NULL));
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(1, 2, 2), &x));
    for (int i = 0; i < 4; i++) mst_tensor_set(x, i, -1);
    EXPECT_OK(mst_dataset_from_tensors(&x, 1, &data));
    EXPECT_OK(mst_compile(model, .session = {.devices = "cpu:1"}));
    EXPECT_OK(mst_build(model, data, false));
    EXPECT_OK(mst_predict(model, data, 1, &y));
    const double first = mst_tensor_get(y, 0);
    mst_tensor_release(y);
    mst_dataset_release(data);
    mst_tensor_release(x);
    mst_model_destroy(model);
    return first;
}

#define ACTIVATION(value) \
    "{\"class_name\": \"Activation\", \"config\": {\"name\": \"hard_sigmoid\", \"activation\": " value "}}"
#define FUNCTION                                                                              \
    "{\"module\": \"builtins\", \"class_name\": \"function\", \"config\": \"hard_sigmoid\", " \
    "\"registered_name\": \"hard_sigmoid\"}"
#define INSIDE                                                                                    \
    "{\"class_name\": \"TimeDistributed\", \"config\": {\"name\": \"t\", \"layer\": " ACTIVATION( \
        "\"hard_sigmoid\"") "}}"

static void hard_sigmoid_is_that_of_the_version(void **state) {
    (void)state;
    static const char *const layers[] = {ACTIVATION("\"hard_sigmoid\""), ACTIVATION(FUNCTION), INSIDE};
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        assert_true(fabs(computed("2.15.0", layers[i]) - (0.5 - 1.0 / 5)) < 1e-6);
        assert_true(fabs(computed("2.1.6-tf", layers[i]) - (0.5 - 1.0 / 5)) < 1e-6);
        assert_true(fabs(computed("3.15.0", layers[i]) - (0.5 - 1.0 / 6)) < 1e-6);
    }
}

/* Keras 3 has no name for it. */
static void hard_sigmoid_of_keras_2_is_not_written_as_the_other(void **state) {
    (void)state;
    mst_model *model;
    EXPECT_OK(mst_model_load(network("2.15.0", ACTIVATION("\"hard_sigmoid\"")), &model, NULL));
    EXPECT_ERROR(mst_model_save(model, folder_path("m.keras")), MST_UNIMPLEMENTED,
                 "layer 'hard_sigmoid': its activation 'hard_sigmoid_keras2' cannot be saved for Keras 3");
    EXPECT_OK(mst_model_save(model, folder_path("m.onnx")));
    mst_model_destroy(model);
}

#define GRU(more) "{\"class_name\": \"GRU\", \"config\": {\"name\": \"g\", \"units\": 2" more "}}"

/* Before Keras 2.2 there was no such option, and the layer did not do it. */
static void gru_without_reset_after(void **state) {
    (void)state;
    mst_model *model;
    EXPECT_ERROR(mst_model_load(network("2.1.6", GRU("")), &model, NULL), MST_UNIMPLEMENTED, "reset_after = false");
    EXPECT_OK(mst_model_load(network("2.15.0", GRU(", \"reset_after\": true")), &model, NULL));
    mst_model_destroy(model);
    EXPECT_OK(mst_model_load(network("3.0.0", GRU("")), &model, NULL));
    mst_model_destroy(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hard_sigmoid_is_that_of_the_version),
        cmocka_unit_test(hard_sigmoid_of_keras_2_is_not_written_as_the_other),
        cmocka_unit_test(gru_without_reset_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
