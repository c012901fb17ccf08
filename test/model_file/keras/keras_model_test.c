/* Models in files of Keras: read back, or damaged. cmocka needs the first four headers before its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "model/model.h"
#include "model_file/keras/network_text.h"
#include "module/module.h"
#include "muster/model_file.h"
#include "muster/train.h"
#include "support/expect.h"
#include "support/folder.h"

enum { ROWS = 6, SIDE = 5, CHANNELS = 2, CLASSES = 3 };

static mst_dataset *pictures(void) {
    mst_tensor *tensor[2];
    mst_dataset *data;
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(ROWS, SIDE, SIDE, CHANNELS), &tensor[0]));
    EXPECT_OK(mst_tensor_create(MST_I64, MST_SHAPE(ROWS), &tensor[1]));
    for (int64_t i = 0; i < mst_tensor_count(tensor[0]); i++)
        mst_tensor_set(tensor[0], i, (double)(i * 37 % 19) / 9 - 1);
    for (int64_t i = 0; i < ROWS; i++) mst_tensor_set(tensor[1], i, (double)(i % CLASSES));
    EXPECT_OK(mst_dataset_from_tensors(tensor, 2, &data));
    mst_tensor_release(tensor[0]);
    mst_tensor_release(tensor[1]);
    return data;
}

static const mst_optimizer *adam(void) {
    static mst_optimizer optimizer;
    optimizer = mst_adam(.learning_rate = 0.01, .epsilon = 1e-4);
    return &optimizer;
}

/* A functional model, trained for six steps. */
static mst_model *trained_by(const mst_optimizer *optimizer, mst_dataset *data) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    const mst_output in = mst_input(model, MST_SHAPE(SIDE, SIDE, CHANNELS));
    const mst_output a = mst_conv2d(in, 4, 3, .kernel_width = 2, .padding = MST_PADDING_SAME, .no_bias = true);
    const mst_output b = mst_re_lu(mst_batch_normalization(a, .momentum = 0.5f), .max_value = 6);
    const mst_output sum = mst_merge(MST_OUTPUTS(a, b), MST_MERGE_ADD);
    mst_dense(mst_flatten(mst_zero_padding2d(sum, .sides = MST_AXES(0, 1, 2, 0))), CLASSES, .l2 = 0.02f);
    EXPECT_OK(mst_compile(model, .optimizer = *optimizer, .seed = 3));
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = 2, .epochs = 2, .no_shuffle = true));
    return model;
}

static mst_model *trained(mst_dataset *data) {
    return trained_by(adam(), data);
}

static void expect_same_weights(mst_model *a, mst_model *b) {
    char of_a[65], of_b[65];
    EXPECT_OK(mst_model_sha256(a, of_a));
    EXPECT_OK(mst_model_sha256(b, of_b));
    assert_string_equal(of_a, of_b);
}

/* One more epoch changes both models' weights in the same way: slots and step are there too. */
static void goes_on_in(const char *name, const mst_optimizer *optimizer) {
    mst_dataset *data = pictures();
    mst_model *model = trained_by(optimizer, data), *copy;
    mst_model_compiled compiled;
    const mst_loss loss = MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY;
    const char *path = folder_path(name);
    EXPECT_OK(mst_model_save(model, path, .optimizer = optimizer, .loss = &loss));
    EXPECT_OK(mst_model_load(path, &copy, &compiled));
    assert_true(compiled.has_loss && compiled.has_optimizer && compiled.has_optimizer_state);
    assert_string_equal(compiled.optimizer.rule, "adam");
    assert_true(compiled.optimizer.ema_decay == optimizer->ema_decay);
    assert_int_equal(compiled.optimizer.gradient_accumulation_steps, optimizer->gradient_accumulation_steps);
    EXPECT_OK(mst_compile(copy, .optimizer = *optimizer, .loss = compiled.loss, .seed = 3));
    EXPECT_OK(mst_build(copy, data, true));
    expect_same_weights(model, copy);
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = 2, .epochs = 1, .no_shuffle = true));
    EXPECT_OK(mst_fit(copy, .data = data, .batch_size = 2, .epochs = 1, .no_shuffle = true));
    expect_same_weights(model, copy);
    mst_model_destroy(model);
    mst_model_destroy(copy);
    mst_dataset_release(data);
}

static void goes_on(void **state) {
    (void)state;
    goes_on_in("m.keras", adam());
    goes_on_in("m.h5", adam());
    /* six steps: one gradient is in the sums; what is in the sums has no penalties here and has them there */
    mst_optimizer sums = mst_adam(.learning_rate = 0.01, .ema_decay = 0.9, .gradient_accumulation_steps = 5);
    goes_on_in("m.keras", &sums);
}

static void weights_without_values_are_told(void **state) {
    (void)state;
    static const char *const files[] = {"m.keras", "m.h5", "m.weights.h5", "m.onnx"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        mst_model *model;
        EXPECT_OK(mst_model_create(&model));
        mst_dense(mst_input(model, MST_SHAPE(2), .name = "in"), 2, .name = "ab");
        EXPECT_OK(mst_compile(model, .loss = MST_LOSS_MEAN_SQUARED_ERROR));
        EXPECT_ERROR(mst_model_save(model, folder_path(files[i])), MST_NOT_FOUND,
                     "the weights have no values yet, such as 'ab/kernel': build the model first");
        mst_model_destroy(model);
    }
}

/* The name of a layer becomes part of a path: it may not lead into another folder. */
static void names_that_are_paths_are_refused(void **state) {
    (void)state;
    mst_model *model;
    static const char stack[] =
        "{\"class_name\": \"Sequential\", \"config\": {\"name\": \"s\", \"layers\": ["
        "{\"class_name\": \"Dense\", \"config\": {\"name\": \"../../x\", \"units\": 2}}]}}";
    static const char control[] =
        "{\"class_name\": \"Sequential\", \"config\": {\"name\": \"s\", \"layers\": ["
        "{\"class_name\": \"ReLU\", \"config\": {\"name\": \"a\\u001b[1m\"}}]}}";
    EXPECT_ERROR(mst_model_load(folder_write_text("m.json", stack), &model, NULL), MST_INVALID,
                 "layer '../../x' (Dense): dense: name '../../x': use letters");
    EXPECT_ERROR(mst_model_load(folder_write_text("m.json", control), &model, NULL), MST_INVALID,
                 "layer 'a?[1m' (ReLU): re_lu: name 'a?[1m'");
    EXPECT_OK(mst_model_create(&model));
    mst_dense(mst_input(model, MST_SHAPE(2)), 2, .name = "a/b");
    EXPECT_ERROR(mst_model_save(model, folder_path("m.keras")), MST_INVALID,
                 "layer 'a/b': Keras takes no name with '/'");
    mst_model_destroy(model);
}

/* Lists of names that are longer than an attribute can be. */
static void many_layers(void **state) {
    (void)state;
    enum { LAYERS = 400, LONG = 200 };
    char name[LONG + 20];
    mst_model *model, *copy;
    mst_tensor *x;
    mst_dataset *data;
    EXPECT_OK(mst_model_create(&model));
    mst_output h = mst_input(model, MST_SHAPE(2));
    for (int i = 0; i < LAYERS; i++) {
        snprintf(name, sizeof name, "%0*d", LONG, i);
        h = i % 2 ? mst_flatten(h, .name = name) : mst_dense(h, 2, .name = name);
    }
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(1, 2), &x));
    EXPECT_OK(mst_dataset_from_tensors(&x, 1, &data));
    EXPECT_OK(mst_compile(model, .seed = 1));
    EXPECT_OK(mst_build(model, data, false));
    EXPECT_OK(mst_model_save(model, folder_path("m.h5")));
    EXPECT_OK(mst_model_load(folder_path("m.h5"), &copy, NULL));
    EXPECT_OK(mst_compile(copy, .seed = 2));
    EXPECT_OK(mst_build(copy, data, false));
    expect_same_weights(model, copy);
    mst_model_destroy(copy);
    mst_model_destroy(model);
    mst_dataset_release(data);
    mst_tensor_release(x);
}

/* What is read of what was written of what was read is written the same. */
static void expect_same_text(const char *text) {
    mst_model *model, *copy;
    char *first, *second;
    EXPECT_OK(mst_network_parse("net", text, &model));
    EXPECT_OK(mst_network_print(model, &first));
    EXPECT_OK(mst_network_parse("again", first, &copy));
    EXPECT_OK(mst_network_print(copy, &second));
    assert_string_equal(first, second);
    mst_model_destroy(model);
    mst_model_destroy(copy);
    free(first);
    free(second);
}

/* Sides that are given for all axes, or for each; kernels with penalties of their own. */
static void separable_convolutions_and_sides(void **state) {
    (void)state;
    mst_dataset *data = pictures();
    mst_model *model, *copy;
    const mst_layer_separable_conv2d_options *o;
    EXPECT_OK(mst_model_create(&model));
    mst_zero_padding2d(mst_input(model, MST_SHAPE(SIDE, SIDE, CHANNELS)), .padding = 2);
    mst_cropping2d(model, .cropping = 1);
    mst_separable_conv2d(model, 4, 3, .depthwise_l1 = 0.25f, .pointwise_l2 = 0.5f, .name = "s");
    mst_reshape_to(mst_permute(model, MST_AXES(3, 1, 2)), MST_SHAPE(-1, 4));
    mst_cropping1d(mst_zero_padding1d(mst_up_sampling1d(model)), .sides = MST_AXES(0, 2));
    mst_depthwise_conv1d(mst_separable_conv1d(model, 4, 2), 2, .depth_multiplier = 2);
    mst_reshape_to(model, MST_SHAPE(-1, 2, 2, 2));
    mst_flatten(mst_cropping3d(mst_zero_padding3d(mst_up_sampling3d(model), .sides = MST_AXES(0, 1, 2, 0, 1, 1))));
    mst_time_distributed(mst_repeat_vector(model, 2), MST_INNER(dense, .units = 3, .l2 = 0.5f, .name = "inside"));
    mst_time_distributed(mst_reshape_to(model, MST_SHAPE(2, 3, 1)), MST_INNER(gru, .units = 2), .name = "each");
    mst_dense(mst_flatten(model), CLASSES);
    EXPECT_OK(mst_compile(model, .optimizer = *adam(), .seed = 3));
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = 2, .epochs = 1, .no_shuffle = true));
    for (int h5 = 0; h5 < 2; h5++) {
        const char *path = folder_path(h5 ? "s.h5" : "s.keras");
        EXPECT_OK(mst_model_save(model, path));
        EXPECT_OK(mst_model_load(path, &copy, NULL));
        o = copy->layer[3].options;
        assert_true(o->depthwise_l1 == 0.25f && o->depthwise_l2 == 0 && o->pointwise_l1 == 0 &&
                    o->pointwise_l2 == 0.5f);
        EXPECT_OK(mst_compile(copy, .seed = 4));
        EXPECT_OK(mst_build(copy, data, false));
        expect_same_weights(model, copy);
        mst_model_destroy(copy);
    }
    mst_model_destroy(model);
    mst_dataset_release(data);
}

/* Layers that are frozen are so in the file, and in what is read of it. */
static void frozen_layers(void **state) {
    (void)state;
    mst_dataset *data = pictures();
    mst_model *model = trained(data), *copy;
    mst_model_compiled compiled;
    const mst_weight *weight;
    int64_t count;
    EXPECT_OK(mst_model_set_trainable(model, "conv2d", false));
    EXPECT_OK(mst_model_set_trainable(model, "batch_normalization", false));
    EXPECT_OK(mst_model_save(model, folder_path("m.keras"), .optimizer = adam()));
    EXPECT_OK(mst_model_load(folder_path("m.keras"), &copy, &compiled));
    EXPECT_OK(mst_model_weights(copy, &weight, &count));
    assert_int_equal(count, 7);
    for (int64_t i = 0; i < count; i++) assert_int_equal(weight[i].trainable, strcmp(weight[i].layer, "dense") == 0);
    assert_true(compiled.has_optimizer_state);
    mst_model_destroy(model);
    mst_model_destroy(copy);
    mst_dataset_release(data);
}

/* The loss, of logits or of probabilities, and the notes of the store are in the file, without an optimizer too. */
static void losses_and_notes(void **state) {
    (void)state;
    mst_dataset *data = pictures();
    mst_model *model = trained(data), *copy;
    mst_model_compiled compiled;
    const mst_loss loss = MST_LOSS_CATEGORICAL_CROSSENTROPY;
    char *note;
    EXPECT_OK(mst_store_set_note(mst_model_store(model), "classes", "[\"cat\", \"d\xc3\xb6g\"]"));
    for (int probabilities = 0; probabilities < 2; probabilities++) {
        EXPECT_OK(mst_model_save(model, folder_path("m.keras"), .loss = &loss, .from_probabilities = probabilities));
        EXPECT_OK(mst_model_load(folder_path("m.keras"), &copy, &compiled));
        assert_true(compiled.has_loss && !compiled.has_optimizer);
        assert_int_equal(compiled.loss, loss);
        assert_int_equal(compiled.from_probabilities, probabilities);
        EXPECT_OK(mst_store_get_note(mst_model_store(copy), "classes", &note));
        assert_string_equal(note, "[\"cat\", \"d\xc3\xb6g\"]");
        free(note);
        mst_model_destroy(copy);
    }
    mst_model_destroy(model);
    mst_dataset_release(data);
}

/* An output that ends in a softmax, and one without a loss between two. */
static void losses_of_outputs(void **state) {
    (void)state;
    static const mst_output_loss losses[] = {
        {.has_loss = true, .weight = 2}, {.has_loss = false}, {true, MST_LOSS_HUBER, false, MST_ZERO}};
    mst_model *model, *copy;
    mst_model_compiled compiled;
    EXPECT_OK(mst_model_create(&model));
    const mst_output in = mst_input(model, MST_SHAPE(4));
    const mst_output a = mst_dense(in, 3, .activation = MST_SOFTMAX, .name = "a"), b = mst_dense(in, 1, .name = "b");
    mst_model_outputs(model, MST_OUTPUTS(a, b, mst_dense(in, 1, .name = "c")));
    EXPECT_OK(mst_compile(model, .loss = MST_LOSS_HUBER));
    mst_tensor *rows;
    mst_dataset *data;
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(1, 4), &rows));
    EXPECT_OK(mst_dataset_from_tensors(&rows, 1, &data));
    EXPECT_OK(mst_build(model, data, false));
    EXPECT_OK(mst_model_save(model, folder_path("m.keras"), .output_losses = losses));
    EXPECT_OK(mst_model_load(folder_path("m.keras"), &copy, &compiled));
    assert_false(compiled.has_loss || compiled.output[1].has_loss || compiled.output[3].has_loss);
    assert_true(compiled.output[0].has_loss && compiled.output[0].loss == MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY);
    assert_true(compiled.output[0].from_probabilities && compiled.output[0].weight == 2);
    assert_true(compiled.output[2].has_loss && compiled.output[2].loss == MST_LOSS_HUBER);
    assert_true(compiled.output[2].weight == 0 && signbit(compiled.output[2].weight));
    mst_model_destroy(copy);
    mst_tensor_release(rows);
    mst_dataset_release(data);
    mst_model_destroy(model);
}

static void weights_alone(void **state) {
    (void)state;
    mst_dataset *data = pictures();
    mst_model *model = trained(data), *copy, *other;
    mst_model_compiled compiled;
    EXPECT_OK(mst_model_save(model, folder_path("m.weights.h5")));
    EXPECT_OK(mst_model_save(model, folder_path("m.json")));
    EXPECT_OK(mst_model_load(folder_path("m.json"), &copy, &compiled));
    assert_false(compiled.has_loss || compiled.has_optimizer || compiled.has_optimizer_state);
    EXPECT_OK(mst_model_load_weights(copy, folder_path("m.weights.h5")));
    EXPECT_OK(mst_compile(copy, .seed = 1));
    EXPECT_OK(mst_build(copy, data, false));
    expect_same_weights(model, copy);
    EXPECT_ERROR(mst_model_load(folder_path("m.weights.h5"), &other, NULL), MST_INVALID, "no network");
    EXPECT_OK(mst_model_create(&other));
    mst_input(other, MST_SHAPE(7));
    mst_dense(other, 2);
    EXPECT_ERROR(mst_model_load_weights(other, folder_path("m.weights.h5")), MST_INVALID, "another model's");
    EXPECT_ERROR(mst_model_load_weights(other, folder_path("m.json")), MST_INVALID, "no weights");
    mst_model_destroy(other);
    mst_model_destroy(model);
    mst_model_destroy(copy);
    mst_dataset_release(data);
}

/* Same bytes each time, and nothing is left beside the file. */
/* ---- layers by their names ---- */

/* Two dense layers, of 4 and UNITS numbers, after an input of 3. */
static mst_model *two_layers(const char *first, int64_t middle, int64_t units, uint64_t seed) {
    mst_model *model;
    mst_tensor *x;
    mst_dataset *data;
    EXPECT_OK(mst_model_create(&model));
    mst_dense(mst_dense(mst_input(model, MST_SHAPE(3)), middle, .name = first), units, .name = "end");
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(1, 3), &x));
    EXPECT_OK(mst_dataset_from_tensors(&x, 1, &data));
    EXPECT_OK(mst_compile(model, .seed = seed));
    EXPECT_OK(mst_build(model, data, false));
    mst_dataset_release(data);
    mst_tensor_release(x);
    return model;
}

/* Whether weight NAME of A and B has the same values. */
static bool same_weight(mst_model *a, mst_model *b, const char *name) {
    mst_tensor *of_a, *of_b;
    EXPECT_OK(mst_store_get(mst_model_store(a), NULL, name, &of_a));
    EXPECT_OK(mst_store_get(mst_model_store(b), NULL, name, &of_b));
    const bool same = mst_tensor_bytes(of_a) == mst_tensor_bytes(of_b) &&
                      memcmp(mst_tensor_data(of_a), mst_tensor_data(of_b), mst_tensor_bytes(of_a)) == 0;
    mst_tensor_release(of_a);
    mst_tensor_release(of_b);
    return same;
}

static void layers_go_to_those_of_their_names(void **state) {
    (void)state;
    static const char *const files[] = {"m.keras", "m.h5", "m.weights.h5"};
    mst_model *model = two_layers("first", 4, 2, 1);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const char *path = folder_path(files[i]);
        mst_loaded_layers loaded;
        mst_model *same = two_layers("first", 4, 2, 2), *other = two_layers("first", 4, 5, 2),
                  *none = two_layers("begin", 4, 5, 2), *wide = two_layers("first", 6, 2, 2);
        EXPECT_OK(mst_model_save(model, path));
        EXPECT_OK(mst_model_load_layers(same, path, NULL));
        expect_same_weights(model, same);
        EXPECT_OK(mst_model_load_layers(other, path, &loaded));
        assert_true(same_weight(model, other, "first/kernel"));
        assert_string_equal(loaded.missing, "end");
        assert_string_equal(loaded.left_over, "end");
        assert_int_equal(loaded.count, 2);
        mst_loaded_layers_free(&loaded);
        EXPECT_ERROR(mst_model_load_layers(none, path, NULL), MST_NOT_FOUND, "it has first, end; the model has begin");
        EXPECT_ERROR(mst_model_load_layers(wide, path, NULL), MST_INVALID, "only the last layer may differ");
        assert_false(same_weight(model, none, "end/bias") && same_weight(model, wide, "end/kernel"));
        mst_model_destroy(same);
        mst_model_destroy(other);
        mst_model_destroy(none);
        mst_model_destroy(wide);
    }
    mst_model_destroy(model);
}

/* Attention, and layers of and with recurrent ones. */
static mst_model *made_of_others(uint64_t seed) {
    mst_model *model;
    mst_tensor *x;
    mst_dataset *data;
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(1, 4, 3), &x));
    EXPECT_OK(mst_dataset_from_tensors(&x, 1, &data));
    EXPECT_OK(mst_model_create(&model));
    mst_output y = mst_input(model, MST_SHAPE(4, 3));
    y = mst_gru(mst_multi_head_attention(MST_OUTPUTS(y, y), 2, 2), 3, .return_sequences = true);
    y = mst_time_distributed(mst_bidirectional(y, 2, .return_sequences = true), MST_INNER(dense, .units = 3));
    mst_time_distributed(mst_reshape_to(y, MST_SHAPE(4, 3, 1)), MST_INNER(lstm, .units = 2), .name = "each");
    EXPECT_OK(mst_compile(model, .seed = seed));
    EXPECT_OK(mst_build(model, data, false));
    mst_dataset_release(data);
    mst_tensor_release(x);
    return model;
}

/* Their weights are in folders inside of theirs. */
static void so_do_layers_made_of_others(void **state) {
    (void)state;
    static const char *const files[] = {"m.keras", "m.h5", "m.weights.h5"};
    mst_model *model = made_of_others(1);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        mst_loaded_layers loaded;
        mst_model *copy = made_of_others(2);
        EXPECT_OK(mst_model_save(model, folder_path(files[i])));
        EXPECT_OK(mst_model_load_layers(copy, folder_path(files[i]), &loaded));
        assert_string_equal(loaded.missing, "");
        assert_string_equal(loaded.left_over, "");
        mst_loaded_layers_free(&loaded);
        expect_same_weights(model, copy);
        mst_model_destroy(copy);
    }
    mst_model_destroy(model);
}

static void writing(void **state) {
    (void)state;
    mst_dataset *data = pictures();
    mst_model *model = trained(data);
    void *first, *second;
    size_t first_size, second_size;
    int count = 0;
    EXPECT_OK(mst_model_save(model, folder_path("a.keras")));
    EXPECT_OK(mst_model_save(model, folder_path("b.keras")));
    EXPECT_OK(mst_file_read(folder_path("a.keras"), 1 << 24, &first, &first_size));
    EXPECT_OK(mst_file_read(folder_path("b.keras"), 1 << 24, &second, &second_size));
    assert_int_equal(first_size, second_size);
    assert_memory_equal(first, second, first_size);
    free(first);
    free(second);
    EXPECT_ERROR(mst_model_save(model, folder_path("a.pickle")), MST_INVALID, ".keras");
    EXPECT_ERROR(mst_model_save(model, folder_path("nowhere/a.keras")), MST_IO, "nowhere");
    mst_optimizer momentum = mst_optimizer_named("momentum", (mst_optimizer){0}); /* of TensorFlow 1 */
    EXPECT_ERROR(mst_model_save(model, folder_path("a.keras"), .optimizer = &momentum), MST_UNIMPLEMENTED, "momentum");
    mst_optimizer counted = mst_optimizer_named("adam", (mst_optimizer){.ema_decay = 0.9, .ema_num_updates = true});
    EXPECT_ERROR(mst_model_save(model, folder_path("a.keras"), .optimizer = &counted), MST_UNIMPLEMENTED,
                 "'adam', with its options");
    DIR *folder = opendir(folder_path(""));
    for (const struct dirent *entry; (entry = readdir(folder));) count += entry->d_name[0] != '.';
    closedir(folder);
    assert_int_equal(count, 2);
    mst_model_destroy(model);
    mst_dataset_release(data);
}

static mst_status load_text(const char *text) {
    mst_model *model;
    const mst_status status = mst_model_load(folder_write_text("net.json", text), &model, NULL);
    mst_model_destroy(model);
    return status;
}

#define SEQUENTIAL(layers) "{\"class_name\": \"Sequential\", \"config\": {\"name\": \"s\", \"layers\": [" layers "]}}"
#define INPUT "{\"class_name\": \"InputLayer\", \"config\": {\"batch_shape\": [null, 4, 3], \"name\": \"in\"}}, "
#define OF_MODULE(module, class, config) \
    "{\"module\": " module ", \"class_name\": \"" class "\", \"config\": {\"name\": \"it\"" config "}}"
#define LAYER(class, config) "{\"class_name\": \"" class "\", \"config\": {\"name\": \"it\"" config "}}"

static void networks(void **state) {
    (void)state;
    EXPECT_OK(load_text(SEQUENTIAL(INPUT LAYER("RMSNormalization", ", \"axis\": [-1]")))); /* as Keras 3 writes it */
    EXPECT_ERROR(load_text(SEQUENTIAL(INPUT LAYER("RMSNormalization", ", \"axis\": [1]"))), MST_UNIMPLEMENTED, "axis");
    /* Keras 2: a bare list, and the shape at the first layer; the axis as a list */
    EXPECT_OK(
        load_text("{\"class_name\": \"Sequential\", \"config\": [{\"class_name\": \"Dense\", \"config\": {\"name\": "
                  "\"d\", \"units\": 2, \"batch_input_shape\": [null, 3], \"activation\": \"linear\"}}]}"));
    EXPECT_OK(load_text(SEQUENTIAL(INPUT LAYER("BatchNormalization", ", \"axis\": [2]"))));
    EXPECT_ERROR(load_text(SEQUENTIAL(INPUT LAYER("BatchNormalization", ", \"axis\": [1]"))), MST_UNIMPLEMENTED,
                 "layer 'it' (BatchNormalization): is over axis 1");
    EXPECT_ERROR(load_text(SEQUENTIAL(INPUT LAYER("Lambda", ", \"function\": [\"4wEAAA==\"]"))), MST_UNIMPLEMENTED,
                 "layer 'it' (Lambda): it is code of Python, which is never run");
    /* Keras 3 notes null as the module of a class of one's own, also where it has the name of one of Keras' */
    EXPECT_OK(load_text(SEQUENTIAL(INPUT OF_MODULE("\"keras.layers\"", "ReLU", ""))));
    EXPECT_OK(load_text(SEQUENTIAL(INPUT OF_MODULE("\"tf_keras.src.layers.activation\"", "ReLU", ""))));
    EXPECT_ERROR(load_text(SEQUENTIAL(INPUT OF_MODULE("null", "ReLU", ""))), MST_UNIMPLEMENTED,
                 "layer 'it' (ReLU): its class is not Keras' own but code of Python");
    EXPECT_ERROR(load_text(SEQUENTIAL(INPUT OF_MODULE("\"kerasish.layers\"", "ReLU", ""))), MST_UNIMPLEMENTED,
                 "layer 'it' (ReLU): its class is not Keras' own");
    EXPECT_ERROR(load_text(SEQUENTIAL(INPUT LAYER("Dense",
                                                  ", \"units\": 2, \"kernel_initializer\": {\"module\": null, "
                                                  "\"class_name\": \"Zeros\", \"config\": {}}"))),
                 MST_UNIMPLEMENTED, "the initializer 'of its own'");
    EXPECT_ERROR(load_text(SEQUENTIAL(INPUT LAYER("Dense",
                                                  ", \"units\": 2, \"kernel_regularizer\": {\"module\": null, "
                                                  "\"class_name\": \"L2\", \"config\": {\"l2\": 1}}"))),
                 MST_UNIMPLEMENTED, "the regularizer 'of its own'");
    EXPECT_ERROR(load_text("{\"module\": null, \"class_name\": \"Sequential\", \"config\": {\"name\": \"s\", "
                           "\"layers\": [" INPUT LAYER("ReLU", "") "]}}"),
                 MST_UNIMPLEMENTED, "code of Python");
    EXPECT_ERROR(load_text(SEQUENTIAL(INPUT LAYER("ConvLSTM1D", ""))), MST_UNIMPLEMENTED, "layer 'it' (ConvLSTM1D)");
    EXPECT_ERROR(load_text(SEQUENTIAL(INPUT LAYER("Sequential", ""))), MST_CORRUPT, "a model without layers");
    EXPECT_ERROR(load_text(SEQUENTIAL(INPUT LAYER("Dense", ", \"units\": 2, \"activation\": \"celu\""))),
                 MST_UNIMPLEMENTED, "'celu'");
    EXPECT_ERROR(load_text(SEQUENTIAL(INPUT LAYER("Conv1D", ", \"filters\": 2, \"kernel_size\": [2, 2]"))),
                 MST_UNIMPLEMENTED, "kernel_size = [2,2]");
    EXPECT_ERROR(load_text(SEQUENTIAL(INPUT LAYER("Dense", ", \"units\": 1e300"))), MST_UNIMPLEMENTED, "units");
    EXPECT_ERROR(load_text(SEQUENTIAL(INPUT LAYER("Dense", ""))), MST_INVALID, "units");
    EXPECT_ERROR(load_text(SEQUENTIAL(INPUT LAYER("LSTM", ", \"units\": 2, \"zero_output_for_mask\": true"))),
                 MST_UNIMPLEMENTED, "zero_output_for_mask = true");
    EXPECT_ERROR(load_text(SEQUENTIAL(INPUT LAYER("ReLU", ", \"max_value\": 0"))), MST_UNIMPLEMENTED, "max_value");
    EXPECT_ERROR(load_text("{\"class_name\": \"Mine\", \"config\": {}}"), MST_UNIMPLEMENTED, "'Mine'");
    EXPECT_ERROR(load_text("{\"class_name\": "), MST_CORRUPT, "JSON");
    EXPECT_ERROR(load_text("cos\nsystem"), MST_CORRUPT, "no model of Keras");
    /* layers that wait for each other */
    EXPECT_ERROR(load_text("{\"class_name\": \"Functional\", \"config\": {\"layers\": [{\"class_name\": \"Flatten\", "
                           "\"config\": {\"name\": \"a\"}, \"inbound_nodes\": [[[\"a\", 0, 0, {}]]]}], "
                           "\"input_layers\": [], \"output_layers\": [[\"a\", 0, 0]]}}"),
                 MST_CORRUPT, "applied to one another");
}

static void sides_are_numbers_pairs_or_left_out(void **state) {
    (void)state;
    static const char *const good[] = {"\"Cropping1D\", \"config\": {\"name\": \"it\"",
                                       "\"Cropping1D\", \"config\": {\"name\": \"it\", \"cropping\": [2, 0]",
                                       "\"ZeroPadding1D\", \"config\": {\"name\": \"it\", \"padding\": 3"};
    char text[1024];
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        snprintf(text, sizeof text, SEQUENTIAL(INPUT "{\"class_name\": %s}}"), good[i]);
        expect_same_text(text);
    }
    EXPECT_ERROR(load_text(SEQUENTIAL(INPUT LAYER("Cropping1D", ", \"cropping\": [1, 1, 1]"))), MST_UNIMPLEMENTED,
                 "layer 'it' (Cropping1D): cropping = [1,1,1]");
    EXPECT_ERROR(load_text(SEQUENTIAL(INPUT LAYER("ZeroPadding1D", ", \"padding\": [1, -1]"))), MST_UNIMPLEMENTED,
                 "padding = [1,-1]");
    EXPECT_ERROR(load_text(SEQUENTIAL(INPUT LAYER("ZeroPadding2D", ", \"padding\": [[1, 1]]"))), MST_UNIMPLEMENTED,
                 "padding = [[1,1]]");
    EXPECT_ERROR(load_text(SEQUENTIAL(INPUT LAYER("Permute", ", \"dims\": [2, 2]"))), MST_INVALID,
                 "permute 'it': dims must be the numbers from 1 to 2, each once");
    EXPECT_ERROR(load_text(SEQUENTIAL(INPUT LAYER("RepeatVector", ", \"n\": 2"))), MST_INVALID,
                 "needs [batch, features]");
    EXPECT_ERROR(load_text(SEQUENTIAL(INPUT LAYER("SeparableConv1D",
                                                  ", \"filters\": 2, \"kernel_size\": 2, "
                                                  "\"padding\": \"causal\""))),
                 MST_UNIMPLEMENTED, "padding = \"causal\"");
}

#define INSIDE(layer) LAYER("TimeDistributed", ", \"layer\": " layer)
#define DENSE(more) "{\"class_name\": \"Dense\", \"config\": {\"name\": \"d\", \"units\": 2" more "}}"

static void layers_inside_of_time_distributed(void **state) {
    (void)state;
    mst_model *model;
    const mst_weight *weight;
    int64_t count;
    expect_same_text(SEQUENTIAL(INPUT INSIDE(DENSE(", \"use_bias\": false"))));
    EXPECT_OK(mst_network_parse("frozen", SEQUENTIAL(INPUT INSIDE(DENSE(", \"trainable\": false"))), &model));
    EXPECT_OK(mst_model_weights(model, &weight, &count));
    assert_int_equal(count, 2);
    assert_string_equal(weight[0].name, "it/d/kernel");
    assert_false(weight[0].trainable);
    mst_model_destroy(model);
    EXPECT_ERROR(
        load_text(SEQUENTIAL(INPUT INSIDE(LAYER("BatchNormalization", "")))), MST_UNIMPLEMENTED,
        "layer 'it' (TimeDistributed): time_distributed 'it': a batch_normalization inside of it is not taken");
    EXPECT_ERROR(load_text(SEQUENTIAL(INPUT INSIDE(LAYER("Sequential", "")))), MST_UNIMPLEMENTED,
                 "a layer Sequential in it is not taken");
    EXPECT_ERROR(load_text(SEQUENTIAL(INPUT INSIDE(INSIDE(DENSE(""))))), MST_UNIMPLEMENTED,
                 "a layer TimeDistributed in it is not taken");
    EXPECT_ERROR(load_text(SEQUENTIAL(INPUT INSIDE(OF_MODULE("null", "ReLU", "")))), MST_UNIMPLEMENTED,
                 "a layer ReLU in it is not taken");
    EXPECT_ERROR(load_text(SEQUENTIAL(INPUT LAYER("TimeDistributed", ""))), MST_UNIMPLEMENTED, "without a class");
    EXPECT_ERROR(load_text(SEQUENTIAL(INPUT INSIDE(DENSE(", \"activation\": \"celu\"")))), MST_UNIMPLEMENTED, "'celu'");
    EXPECT_ERROR(load_text(SEQUENTIAL(INPUT INSIDE(LAYER("Add", "")))), MST_INVALID, "merge inside of it");
}

static mst_precision precision_of(const mst_model *model, int64_t layer) {
    return ((const mst_layer_dense_options *)model->layer[layer].options)->precision;
}

static void policies_are_the_precision_of_layers(void **state) {
    (void)state;
#define NAMED(name, policy) \
    "{\"class_name\": \"Dense\", \"config\": {\"name\": \"" name "\", \"units\": 2, \"dtype\": " policy "}}"
    mst_model *model, *copy;
    char *text;
    EXPECT_OK(mst_network_parse(
        "mixed",
        SEQUENTIAL(INPUT NAMED("a", "{\"config\": {\"name\": \"mixed_bfloat16\"}}") ", " NAMED("b", "\"float32\"")),
        &model));
    EXPECT_OK(mst_network_print(model, &text));
    EXPECT_OK(mst_network_parse("again", text, &copy));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(precision_of(i ? copy : model, 1), MST_MIXED_BFLOAT16);
        assert_int_equal(precision_of(i ? copy : model, 2), MST_FLOAT32);
    }
    mst_model_destroy(model);
    mst_model_destroy(copy);
    free(text);
    /* without such a layer it is that of the session */
    EXPECT_OK(mst_network_parse("plain", SEQUENTIAL(INPUT NAMED("a", "\"float32\"")), &model));
    assert_int_equal(precision_of(model, 1), MST_PRECISION_DEFAULT);
    mst_model_destroy(model);
    /* a map of policies for layers that names none has its default alone */
#define MAP(in, all) \
    "{\"class_name\": \"DTypePolicyMap\", \"config\": {\"policy_map\": {" in "}, \"default_policy\": " all "}}"
    static const char maps[] =
        SEQUENTIAL(INPUT NAMED("a", MAP("", "\"mixed_bfloat16\"")) ", " NAMED("b", MAP("", "null")));
    EXPECT_OK(mst_network_parse("maps", maps, &model));
    assert_int_equal(precision_of(model, 1), MST_MIXED_BFLOAT16);
    assert_int_equal(precision_of(model, 2), MST_FLOAT32);
    mst_model_destroy(model);
    EXPECT_ERROR(mst_network_parse("maps", SEQUENTIAL(INPUT NAMED("a", MAP("\"b\": \"float32\"", "null"))), &model),
                 MST_UNIMPLEMENTED, "layer 'a' (Dense): weights of a DTypePolicyMap are not read");
    EXPECT_ERROR(mst_network_parse("quantized",
                                   SEQUENTIAL(INPUT NAMED("a", "{\"class_name\": \"QuantizedDTypePolicy\"}")), &model),
                 MST_UNIMPLEMENTED, "layer 'a' (Dense): weights of a QuantizedDTypePolicy are not read");
#undef NAMED
}

#define LSTM(more) "{\"class_name\": \"LSTM\", \"config\": {\"name\": \"l\", \"units\": 2" more "}}"

static void layers_inside_of_bidirectional(void **state) {
    (void)state;
    EXPECT_OK(load_text(SEQUENTIAL(INPUT LAYER("Bidirectional", ", \"layer\": " LSTM("")))));
    EXPECT_OK(load_text(SEQUENTIAL(INPUT LAYER(
        "Bidirectional", ", \"layer\": " LSTM("") ", \"backward_layer\": " LSTM(", \"go_backwards\": true")))));
    EXPECT_ERROR(load_text(SEQUENTIAL(INPUT LAYER("Bidirectional", ", \"layer\": " LSTM("") ", \"merge_mode\": null"))),
                 MST_UNIMPLEMENTED, "merge_mode = null");
    EXPECT_ERROR(load_text(SEQUENTIAL(INPUT LAYER("Bidirectional", ", \"layer\": {\"class_name\": \"Dense\"}"))),
                 MST_UNIMPLEMENTED, "a layer Dense in it is not taken");
    EXPECT_ERROR(load_text(SEQUENTIAL(INPUT LAYER("Bidirectional", ""))), MST_UNIMPLEMENTED, "without a class");
    EXPECT_ERROR(load_text(SEQUENTIAL(INPUT LAYER("Bidirectional", ", \"layer\": " LSTM(", \"go_backwards\": true")))),
                 MST_UNIMPLEMENTED, "go_backwards = true");
    EXPECT_ERROR(
        load_text(SEQUENTIAL(INPUT LAYER("Bidirectional", ", \"layer\": " LSTM("") ", \"backward_layer\": " LSTM(
                                                              ", \"go_backwards\": true, \"activation\": \"relu\"")))),
        MST_UNIMPLEMENTED, "backward_layer that is not as the other layer");
}

/* Layers in an order in which each waits for the one after it: time that grows with the square of their number would
 * be minutes here, and longer than a test may take. */
static void long_networks_take_little_time(void **state) {
    (void)state;
    enum { LAYERS = 20000 };
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    fputs("{\"class_name\": \"Functional\", \"config\": {\"layers\": [", file);
    for (int i = LAYERS; i > 0; i--)
        fprintf(file,
                "{\"class_name\": \"ReLU\", \"config\": {\"name\": \"r%d\", \"trainable\": false}, \"inbound_nodes\": "
                "[[[\"r%d\", 0, 0, {}]]]},",
                i, i - 1);
    fputs(
        "{\"class_name\": \"InputLayer\", \"config\": {\"name\": \"r0\", \"batch_shape\": [null, 2]}}], "
        "\"input_layers\": [[\"r0\", 0, 0]], \"output_layers\": [[\"r20000\", 0, 0]]}}",
        file);
    fclose(file);
    EXPECT_OK(load_text(text));
    free(text);
}

static mst_status load_whole(mst_model *model, const char *path) {
    mst_model *loaded;
    (void)model;
    const mst_status status = mst_model_load(path, &loaded, NULL);
    if (status) assert_null(loaded);
    mst_model_destroy(loaded);
    return status;
}

/* Each beginning of a file, and files with bytes that are others, are loaded or are one error. */
static void damage(const char *source, int64_t changes, mst_status (*load)(mst_model *model, const char *path),
                   mst_model *model) {
    void *bytes;
    size_t size;
    uint64_t random = 88172645463325252u;
    EXPECT_OK(mst_file_read(source, 1 << 24, &bytes, &size));
    for (size_t part = 0; part < size; part += 1 + size / 64) {
        const char *path = folder_write("cut", bytes, part);
        assert_int_not_equal(load(model, path), MST_OK);
        assert_non_null(strstr(mst_error()->message, "cut"));
    }
    for (int64_t i = 0; i < changes; i++) {
        unsigned char *copy = malloc(size);
        memcpy(copy, bytes, size);
        for (int k = 0; k < 1 + i % 4; k++) {
            random ^= random << 13, random ^= random >> 7, random ^= random << 17;
            copy[random % size] = (unsigned char)(random >> 32);
        }
        const char *path = folder_write("changed", copy, size);
        if (load(model, path)) assert_non_null(strstr(mst_error()->message, "changed"));
        free(copy);
    }
    free(bytes);
}

static void damaged_files(void **state) {
    (void)state;
    mst_dataset *data = pictures();
    mst_model *model = trained(data);
    EXPECT_OK(mst_model_save(model, folder_path("m.keras"), .optimizer = adam()));
    EXPECT_OK(mst_model_save(model, folder_path("m.json")));
    EXPECT_OK(mst_model_save(model, folder_path("m.weights.h5"), .optimizer = adam()));
    EXPECT_OK(mst_model_save(model, folder_path("m.h5"), .optimizer = adam()));
    damage(folder_path("m.keras"), 300, load_whole, NULL);
    damage(folder_path("m.h5"), 100, load_whole, NULL);
    damage(folder_path("m.json"), 2000, load_whole, NULL);
    damage(folder_path("m.weights.h5"), 200, mst_model_load_weights, model);
    mst_model_destroy(model);
    mst_dataset_release(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST_IN_FOLDER(goes_on),
                                       TEST_IN_FOLDER(weights_without_values_are_told),
                                       TEST_IN_FOLDER(names_that_are_paths_are_refused),
                                       TEST_IN_FOLDER(many_layers),
                                       TEST_IN_FOLDER(separable_convolutions_and_sides),
                                       TEST_IN_FOLDER(frozen_layers),
                                       TEST_IN_FOLDER(losses_and_notes),
                                       TEST_IN_FOLDER(losses_of_outputs),
                                       TEST_IN_FOLDER(weights_alone),
                                       TEST_IN_FOLDER(writing),
                                       TEST_IN_FOLDER(networks),
                                       TEST_IN_FOLDER(sides_are_numbers_pairs_or_left_out),
                                       TEST_IN_FOLDER(layers_inside_of_time_distributed),
                                       cmocka_unit_test(policies_are_the_precision_of_layers),
                                       TEST_IN_FOLDER(layers_inside_of_bidirectional),
                                       TEST_IN_FOLDER(damaged_files),
                                       TEST_IN_FOLDER(layers_go_to_those_of_their_names),
                                       TEST_IN_FOLDER(so_do_layers_made_of_others),
                                       TEST_IN_FOLDER(long_networks_take_little_time)};
    if (!mst_module_is_here("hdf5") || !mst_module_is_here("zip")) {
        print_message("skipped: the module hdf5 or zip is not there\n");
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
