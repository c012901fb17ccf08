/* Well-known networks: their sizes, and the options that they refuse. test/parity/applications_test.py compares them
 * with Keras. */
#include <string.h>

#include "muster/applications.h"
#include "support/test.h"

static mst_model *new_model(void) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    return model;
}

/* The number of parameters of MODEL, which is destroyed. */
static int64_t parameters(mst_model *model) {
    const mst_weight *weight;
    int64_t count, sum = 0;
    EXPECT_OK(mst_model_weights(model, &weight, &count));
    for (int64_t i = 0; i < count; i++) sum += mst_shape_count(weight[i].spec.shape);
    mst_model_destroy(model);
    return sum;
}

/* As published for each width. */
static void mobilenet_v2_has_the_published_numbers_of_parameters(void **state) {
    static const struct {
        double alpha;
        int64_t parameters;
    } published[] = {{0.35, 1691208}, {0.5, 1987224}, {0.75, 2663064}, {1, 3538984}, {1.3, 5431048}, {1.4, 6156712}};
    (void)state;
    for (size_t i = 0; i < sizeof published / sizeof *published; i++) {
        mst_model *model = new_model();
        mst_mobilenet_v2(model, .alpha = published[i].alpha);
        assert_int_equal(parameters(model), published[i].parameters);
    }
    mst_model *model = new_model();
    mst_mobilenet_v2(model, .no_top = true);
    assert_int_equal(parameters(model), 2257984);
}

static void resnet50_and_lenet_have_theirs(void **state) {
    (void)state;
    mst_model *model = new_model();
    mst_resnet50(model, .input_shape = MST_SHAPE(64, 64, 3));
    assert_int_equal(parameters(model), 25636712);
    model = new_model();
    mst_lenet(model);
    assert_int_equal(parameters(model), 61706);
}

/* The sum over the convolutions of the paper's figure 1, for three channels and two classes. */
static void unet_has_those_of_its_convolutions(void **state) {
    (void)state;
    mst_model *model = new_model();
    mst_unet(model, .input_shape = MST_SHAPE(32, 48, 3));
    assert_int_equal(parameters(model), 31031810);
    model = new_model();
    mst_unet(model, .input_shape = MST_SHAPE(16, 16, 3), .alpha = 0.25);
    assert_int_equal(parameters(model), 1941122);
}

static void text_cnn_has_the_published_number_of_parameters(void **state) {
    (void)state;
    mst_model *model = new_model();
    mst_text_cnn(model);
    assert_int_equal(parameters(model), 332856);
    model = new_model();
    mst_text_cnn(model, .vocabulary_size = 100, .input_shape = MST_SHAPE(12), .classes = 2);
    assert_int_equal(parameters(model), 700 + 2304 + 6176 + 66);
}

static void check_refused(mst_model *model, const char *why) {
    assert_int_equal(mst_model_check(model), MST_INVALID);
    assert_non_null(strstr(mst_error()->message, why));
    mst_model_destroy(model);
}

static void what_cannot_be_built_is_refused(void **state) {
    (void)state;
    mst_model *model = new_model();
    mst_flatten(model);
    mst_lenet(model);
    check_refused(model, "the model has layers");
    model = new_model();
    mst_resnet50(model, .input_shape = MST_SHAPE(64));
    check_refused(model, "must be height and width, or these and channels");
    model = new_model();
    mst_mobilenet_v2(model, .alpha = -1);
    check_refused(model, "alpha is -1");
    model = new_model();
    mst_unet(model, .input_shape = MST_SHAPE(24, 16, 3));
    check_refused(model, "mst_unet: height and width must be multiples of 16, not 24 and 16");
    model = new_model();
    mst_lenet(model, .alpha = 0.5);
    check_refused(model, "mst_lenet: has no alpha");
    model = new_model();
    mst_resnet50(model, .classes = -2);
    check_refused(model, "classes is -2");
    model = new_model();
    mst_lenet_with(model, NULL);
    check_refused(model, "mst_lenet: options is NULL");
    model = new_model();
    mst_lenet(model, .vocabulary_size = 5);
    check_refused(model, "mst_lenet: has no vocabulary");
    model = new_model();
    mst_text_cnn(model, .vocabulary_size = -5);
    check_refused(model, "mst_text_cnn: vocabulary_size is -5");
    model = new_model();
    mst_text_cnn(model, .input_shape = MST_SHAPE(28, 28));
    check_refused(model, "mst_text_cnn: input_shape must be the length of a text, above 0");
    model = new_model();
    mst_text_cnn(model, .input_shape = MST_SHAPE(11));
    check_refused(model, "mst_text_cnn: texts have 11 tokens, at least 12 are needed");
    mst_resnet50(NULL);
    assert_non_null(strstr(mst_error()->message, "mst_resnet50: model is NULL"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mobilenet_v2_has_the_published_numbers_of_parameters),
        cmocka_unit_test(resnet50_and_lenet_have_theirs),
        cmocka_unit_test(unet_has_those_of_its_convolutions),
        cmocka_unit_test(text_cnn_has_the_published_number_of_parameters),
        cmocka_unit_test(what_cannot_be_built_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
