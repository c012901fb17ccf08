/* On real data, networks learn in bf16 what they learn in f32: a multi-layer perceptron and a small MobileNetV2 on
 * Fashion-MNIST, and a text CNN on the licence texts that Debian installs. */
#include <math.h>
#include <stdio.h>

#include "support/sanitized.h"
#include "support/test.h"

enum {
    PICTURE = 28,    /* height and width */
    PICTURES = 3000, /* to train on */
    FEW = 640,       /* the same for the slower network */
    TESTED = 1000,   /* to test on */
    WINDOW = 64,     /* bytes of a text */
    HOP = 16         /* bytes from the beginning of one text to that of the next */
};

/* How a network is trained. */
typedef struct lesson {
    void (*build)(mst_model *model);
    mst_optimizer optimizer;
    mst_dataset *train, *test;
    int64_t batch_size, epochs;
} lesson;

/* Loss and accuracy of the last epoch, and accuracy on the test part. */
typedef struct mark {
    double loss, accuracy, test;
} mark;

static mark learn(const lesson *l, mst_precision precision) {
    mst_model *model;
    mst_result fitted, tested = {.num_metrics = 0};
    EXPECT_OK(mst_model_create(&model));
    l->build(model);
    EXPECT_OK(mst_compile(model, .optimizer = l->optimizer, .metric = {MST_METRIC_ACCURACY}, .precision = precision,
                          .session = {.devices = "cpu:1/1"}, .seed = 3));
    const mst_fit_options options = {.data = l->train, .batch_size = l->batch_size, .epochs = l->epochs};
    EXPECT_OK(mst_fit_with(model, &options, &fitted));
    if (l->test) EXPECT_OK(mst_evaluate(model, l->test, TESTED, &tested, NULL));
    mst_model_destroy(model);
    return (mark){fitted.loss, fitted.metric[0], l->test ? tested.metric[0] : fitted.metric[0]};
}

/* Trains in both precisions. In f32, the accuracy on the test part must be more than LEAST. In bf16 it may be TOLERANCE
 * lower. The losses differ if this machine computes in bf16. */
static void expect_alike(const lesson *l, double least, double tolerance) {
    const mark high = learn(l, MST_FLOAT32), low = learn(l, MST_MIXED_BFLOAT16);
    print_message("f32: loss %.4f, accuracy %.4f, test %.4f; bf16: %.4f, %.4f, %.4f\n", high.loss, high.accuracy,
                  high.test, low.loss, low.accuracy, low.test);
    assert_true(high.test > least);
    assert_true(low.loss < high.loss + 2 * tolerance);
    assert_true(low.accuracy > high.accuracy - tolerance);
    assert_true(low.test > high.test - tolerance);
    assert_true(mst_precision_here(MST_MIXED_BFLOAT16) == MST_FLOAT32 || low.loss != high.loss);
    mst_dataset_release(l->train);
    mst_dataset_release(l->test);
}

/* N rows of Fashion-MNIST after the first SKIPPED, scaled to [0, 1]; NULL if it is not installed. */
static mst_dataset *pictures(int64_t skipped, int64_t n) {
    mst_dataset *all = mst_data_open("fashion-mnist", "train");
    if (mst_dataset_check(all)) {
        mst_dataset_release(all);
        return NULL;
    }
    return mst_data_scale(mst_data_take(mst_data_skip(all, skipped), n), 0, MST_F32, 1.0 / 255);
}

static void build_mlp(mst_model *model) {
    mst_flatten(model);
    mst_dense(model, 100, .activation = MST_RELU);
    mst_dense(model, 10);
}

static void a_perceptron_learns_in_bf16_as_in_f32(void **state) {
    (void)state;
    lesson l = {build_mlp, mst_adam(.learning_rate = 0.002), pictures(0, PICTURES), pictures(PICTURES, TESTED), 50, 3};
    if (!l.train || !l.test) skip();
    expect_alike(&l, 0.78, 0.02);
}

static void build_mobilenet(mst_model *model) {
    mst_mobilenet_v2(model, .input_shape = MST_SHAPE(PICTURE, PICTURE), .alpha = 0.35, .classes = 10);
}

static void a_mobilenet_learns_in_bf16_as_in_f32(void **state) {
    (void)state;
    lesson l = {build_mobilenet, mst_adam(.learning_rate = 0.003), pictures(0, FEW), NULL, 32, 6};
    if (SANITIZED || !l.train) skip();
    expect_alike(&l, 0.5, 0.1);
}

/* ---- texts ---- */

static const char *const licences[] = {"Apache-2.0", "Artistic", "GFDL-1.3", "GPL-3", "MPL-2.0"};
enum { NUM_LICENCES = sizeof licences / sizeof *licences, MOST_WINDOWS = 2000 };

static size_t read_licence(int i, unsigned char *text, size_t size) {
    char path[128];
    snprintf(path, sizeof path, "/usr/share/common-licenses/%s", licences[i]);
    FILE *file = fopen(path, "rb");
    const size_t count = file ? fread(text, 1, size, file) : 0;
    if (file) fclose(file);
    return count;
}

/* Texts of WINDOW bytes, equally many from each licence, and the number of the licence. The first text begins at byte
 * FROM. NULL if no licences are installed. */
static mst_dataset *windows(int64_t from) {
    enum { EACH = MOST_WINDOWS / NUM_LICENCES, SIZE = EACH * HOP + WINDOW };
    static unsigned char text[SIZE];
    mst_tensor *tensor[2];
    EXPECT_OK(mst_tensor_create(MST_I32, MST_SHAPE(MOST_WINDOWS, WINDOW), &tensor[0]));
    EXPECT_OK(mst_tensor_create(MST_I32, MST_SHAPE(MOST_WINDOWS), &tensor[1]));
    bool there = true;
    for (int i = 0; i < NUM_LICENCES; i++) {
        const size_t count = read_licence(i, text, sizeof text);
        there &= count > WINDOW;
        for (int64_t k = 0; there && k < EACH; k++) {
            const int64_t row = k * NUM_LICENCES + i, begin = (from + k * HOP) % (int64_t)(count - WINDOW);
            for (int64_t b = 0; b < WINDOW; b++) mst_tensor_set(tensor[0], row * WINDOW + b, text[begin + b]);
            mst_tensor_set(tensor[1], row, i);
        }
    }
    mst_dataset *data = there ? mst_data_from_tensors(tensor, 2) : NULL;
    for (int i = 0; i < 2; i++) mst_tensor_release(tensor[i]);
    return data;
}

static void build_text(mst_model *model) {
    mst_text_cnn(model, .input_shape = MST_SHAPE(WINDOW), .vocabulary_size = 256, .classes = NUM_LICENCES);
}

static void a_network_for_texts_learns_in_bf16_as_in_f32(void **state) {
    (void)state;
    lesson l = {build_text, mst_nadam(.learning_rate = 0.005), windows(0), windows(HOP / 2), 40, 8};
    if (!l.train) skip();
    expect_alike(&l, 0.6, 0.05);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_perceptron_learns_in_bf16_as_in_f32),
        cmocka_unit_test(a_mobilenet_learns_in_bf16_as_in_f32),
        cmocka_unit_test(a_network_for_texts_learns_in_bf16_as_in_f32),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
