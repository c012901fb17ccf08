/* Models with convolutions, pooling and batch normalization: the shapes and parameters of Keras, the same results on
 * any devices, and moving statistics. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "muster/ops.h"
#include "support/test.h"
#include "support/training.h"

static mst_model *new_model(void) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    return model;
}

/* ---- the table of layers ---- */

static void a_text_cnn_has_the_table_that_keras_prints(void **state) {
    (void)state;
    mst_model *model = new_model();
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    mst_input(model, MST_SHAPE(300), .dtype = MST_I32);
    mst_embedding(model, 30982, 7);
    mst_conv1d(model, 64, 5, .activation = MST_RELU);
    mst_max_pooling1d(model, .pool_size = 2);
    mst_conv1d(model, 32, 3, .activation = MST_RELU);
    mst_max_pooling1d(model);
    mst_flatten(model);
    mst_dense(model, 46, .activation = MST_SOFTMAX);
    EXPECT_OK(mst_model_summary(model, NULL, file));
    fclose(file);
    assert_string_equal(text,
                        "Model: \"sequential\"\n"
                        "┏━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━━━━━━━━━━┳━━━━━━━━━━━━━━━┓\n"
                        "┃ Layer (type)                    ┃ Output Shape           ┃       Param # ┃\n"
                        "┡━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━━━━━━━━━━╇━━━━━━━━━━━━━━━┩\n"
                        "│ embedding (Embedding)           │ (None, 300, 7)         │       216,874 │\n"
                        "├─────────────────────────────────┼────────────────────────┼───────────────┤\n"
                        "│ conv1d (Conv1D)                 │ (None, 296, 64)        │         2,304 │\n"
                        "├─────────────────────────────────┼────────────────────────┼───────────────┤\n"
                        "│ max_pooling1d (MaxPooling1D)    │ (None, 148, 64)        │             0 │\n"
                        "├─────────────────────────────────┼────────────────────────┼───────────────┤\n"
                        "│ conv1d_1 (Conv1D)               │ (None, 146, 32)        │         6,176 │\n"
                        "├─────────────────────────────────┼────────────────────────┼───────────────┤\n"
                        "│ max_pooling1d_1 (MaxPooling1D)  │ (None, 73, 32)         │             0 │\n"
                        "├─────────────────────────────────┼────────────────────────┼───────────────┤\n"
                        "│ flatten (Flatten)               │ (None, 2336)           │             0 │\n"
                        "├─────────────────────────────────┼────────────────────────┼───────────────┤\n"
                        "│ dense (Dense)                   │ (None, 46)             │       107,502 │\n"
                        "└─────────────────────────────────┴────────────────────────┴───────────────┘\n"
                        " Total params: 332,856 (1.27 MB)\n"
                        " Trainable params: 332,856 (1.27 MB)\n"
                        " Non-trainable params: 0 (0.00 B)\n");
    free(text);
    mst_model_destroy(model);
}

static void a_reshape_keeps_the_elements_of_an_example(void **state) {
    (void)state;
    mst_model *model = new_model();
    mst_output x = mst_input(model, MST_SHAPE(4, 6));
    EXPECT_OK(mst_model_check(model));
    x = mst_reshape_to(mst_reshape_to(x, MST_SHAPE(2, -1, 3)), MST_SHAPE(24));
    mst_dense(x, 1);
    EXPECT_OK(mst_compile(model, .seed = 1));
    mst_model_destroy(model);

    static const struct {
        mst_shape target;
        const char *error;
    } wrong[] = {{{2, {5, -1}}, "reshape 'reshape': [?, 4, 6] as [5, ?]: an example has another number of elements"},
                 {{1, {23}}, "another number of elements"},
                 {{2, {-1, -1}}, "two dimensions are -1"},
                 {{1, {0}}, "another number of elements"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        model = new_model();
        mst_dense(mst_reshape_to(mst_input(model, MST_SHAPE(4, 6)), wrong[i].target), 1);
        EXPECT_ERROR(mst_model_summary(model, NULL, stderr), MST_INVALID, wrong[i].error);
        mst_model_destroy(model);
    }
}

/* ---- one answer ---- */

enum { ROWS = 46, SIDE = 8, CLASSES = 5, BATCH = 20 /* the last batch has 6 rows: shards of 2, 2, 1, 1 */ };

static mst_value as_pictures(void *context, mst_value src, bool training) {
    (void)context, (void)training;
    return mst_reshape(src, MST_SHAPE(-1, SIDE, SIDE, 1));
}

/* What MobileNetV2 is made of, a pooling, and layers that make pictures larger and normalize each example by itself. */
static mst_model *small_network(bool synchronized) {
    mst_model *model = new_model();
    mst_lambda(model, as_pictures, .name = "pictures");
    mst_zero_padding2d(model, .sides = MST_AXES(0, 1, 0, 1));
    mst_conv2d(model, 8, 3, .strides = 2, .no_bias = true);
    mst_batch_normalization(model, .momentum = 0.9f, .synchronized = synchronized);
    mst_output x = mst_re_lu(model, .max_value = 6);
    mst_output y = mst_depthwise_conv2d(x, 3, .padding = MST_PADDING_SAME, .no_bias = true);
    y = mst_re_lu(mst_batch_normalization(y, .synchronized = synchronized), .max_value = 6);
    y = mst_batch_normalization(mst_conv2d(y, 8, 1, .no_bias = true), .synchronized = synchronized);
    y = mst_max_pooling2d(mst_merge(MST_OUTPUTS(x, y), MST_MERGE_ADD));
    y = mst_conv2d_transpose(mst_group_normalization(y, .groups = 4), 4, 3, .strides = 2);
    y = mst_up_sampling2d(mst_layer_normalization(y), .interpolation = MST_INTERPOLATION_BILINEAR);
    mst_dense(mst_global_average_pooling2d(y), CLASSES);
    return model;
}

static void train(mst_strategy_kind kind, const char *devices, int64_t batch, bool synchronized, char hex[65]) {
    mst_dataset *data = training_data(ROWS, SIDE * SIDE, CLASSES, 3);
    mst_model *model = small_network(synchronized);
    EXPECT_OK(mst_compile(model, .optimizer = mst_adam(.learning_rate = 0.01),
                          .strategy = {.kind = kind, .num_shards = 4}, .session = {.devices = devices}, .seed = 1));
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = batch, .epochs = 2));
    EXPECT_OK(mst_model_sha256(model, hex));
    mst_model_destroy(model);
    mst_dataset_release(data);
}

static void expect_one_answer(int64_t batch, bool synchronized) {
    static const struct {
        mst_strategy_kind kind;
        const char *devices;
    } places[] = {
        {MST_STRATEGY_ONE, "cpu:1/1"},         {MST_STRATEGY_ONE, "cpu:1/3"},
        {MST_STRATEGY_TOWERS, "cpu:2/1"},      {MST_STRATEGY_MIRRORED, "cpu:2/1"},
        {MST_STRATEGY_MIRRORED, "cpu:2/2"},    {MST_STRATEGY_MIRRORED, "cpu:4/1"},
        {MST_STRATEGY_MIRRORED, "island:2/1"}, {MST_STRATEGY_MIRRORED, "island:4/1"},
        {MST_STRATEGY_TOWERS, "island:2/1"},
    };
    char wanted[65], got[65];
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (engine_has_other_bits(places[i].devices)) continue;
        train(places[i].kind, places[i].devices, batch, synchronized, i ? got : wanted);
        if (i && strcmp(got, wanted) != 0)
            fail_msg("batches of %d: strategy %d on %s gives %s, one device %s", (int)batch, (int)places[i].kind,
                     places[i].devices, got, wanted);
    }
}

static void a_network_of_convolutions_gives_one_answer_on_any_devices(void **state) {
    (void)state;
    expect_one_answer(BATCH, false);
}

/* A shard without examples has no statistics. */
static void so_it_does_where_a_batch_has_fewer_rows_than_there_are_shards(void **state) {
    (void)state;
    expect_one_answer(3, false);
}

static void so_it_does_where_statistics_are_synchronized(void **state) {
    (void)state;
    expect_one_answer(BATCH, true);
    expect_one_answer(3, true);
}

/* ---- batch normalization ---- */

static double weight_of(mst_model *model, const char *name, int64_t i) {
    mst_tensor *tensor;
    EXPECT_OK(mst_store_get(mst_model_store(model), NULL, name, &tensor));
    const double value = mst_tensor_get(tensor, i);
    mst_tensor_release(tensor);
    return value;
}

/* Trains with 15 rows a batch, in shards of 4, 4, 4 and 3. */
static mst_model *trained(int shards, bool synchronized) {
    mst_dataset *data = training_data(30, 6, 3, 3);
    mst_model *model = new_model();
    mst_dense(model, 8);
    mst_batch_normalization(model, .momentum = 0.8f, .synchronized = synchronized);
    mst_dense(mst_activate(model, MST_TANH), 3);
    EXPECT_OK(mst_compile(model, .optimizer = mst_sgd(.learning_rate = 0.5),
                          .strategy = {.kind = MST_STRATEGY_ONE, .num_shards = shards}, .seed = 1));
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = 15, .epochs = 3));
    mst_dataset_release(data);
    return model;
}

/* The kernel of ordinary normalization sees the whole batch where there is one shard. */
static void synchronized_shards_train_as_the_whole_batch_does(void **state) {
    (void)state;
    static const char *const names[] = {"dense/kernel", "batch_normalization/gamma", "batch_normalization/beta",
                                        "batch_normalization/moving_mean", "batch_normalization/moving_variance"};
    mst_model *whole = trained(1, false), *shards = trained(4, true), *apart = trained(4, false);
    double most = 0;
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 8; k++) {
            assert_float_equal(weight_of(shards, names[i], k), weight_of(whole, names[i], k), 2e-5);
            most = fmax(most, fabs(weight_of(apart, names[i], k) - weight_of(whole, names[i], k)));
        }
    assert_true(most > 0.01); /* that of each shard by itself is something else */
    mst_model_destroy(whole);
    mst_model_destroy(shards);
    mst_model_destroy(apart);
}

/* A convolution and its normalization that are frozen stay as they are and give what they give without training; the
 * layers after them train, and so do all once they are no longer frozen. */
static void frozen_layers_stay_as_they_are(void **state) {
    (void)state;
    static const char *const names[] = {"conv1d/kernel", "conv1d/bias", "batch_normalization/gamma",
                                        "batch_normalization/moving_mean", "dense/kernel"};
    enum { NUM = sizeof names / sizeof *names, FROZEN = NUM - 1 };
    const double label[] = {0, 1, 0, 1, 1, 1, 0, 0};
    mst_tensor *rows[2] = {NULL, engine_tensor(MST_I32, MST_SHAPE(8), label)}, *slot;
    mst_dataset *data;
    double before[NUM];
    mst_model *model = new_model();
    mst_result result;
    const mst_weight *weight;
    int64_t count;
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(8, 6, 2), &rows[0]));
    for (int64_t i = 0; i < mst_tensor_count(rows[0]); i++) mst_tensor_set(rows[0], i, (double)(i * 7 % 11) / 5 - 1);
    EXPECT_OK(mst_dataset_from_tensors(rows, 2, &data));
    mst_conv1d(model, 3, 2, .l2 = 1e6f);
    mst_batch_normalization(model, .momentum = 0.5f);
    mst_dense(mst_flatten(model), 2);
    EXPECT_OK(mst_model_set_trainable(model, "conv1d", false));
    EXPECT_OK(mst_model_set_trainable(model, "batch_normalization", false));
    EXPECT_ERROR(mst_model_set_trainable(model, "conv2d", false), MST_NOT_FOUND, "did you mean 'conv1d'?");
    EXPECT_OK(mst_compile(model, .optimizer = mst_adam(.learning_rate = 0.1), .seed = 1));
    EXPECT_OK(mst_build(model, data, true));
    for (int i = 0; i < NUM; i++) before[i] = weight_of(model, names[i], 0);
    EXPECT_OK(mst_fit_with(model, &(mst_fit_options){.data = data, .batch_size = 8, .epochs = 1}, &result));
    assert_true(result.loss < 100); /* without the penalty */
    for (int i = 0; i < FROZEN; i++) assert_true(weight_of(model, names[i], 0) == before[i]);
    assert_true(weight_of(model, names[FROZEN], 0) != before[FROZEN]);
    EXPECT_OK(mst_store_get(mst_model_store(model), NULL, "dense/kernel/m", &slot));
    mst_tensor_release(slot);
    EXPECT_ERROR(mst_store_get(mst_model_store(model), NULL, "conv1d/kernel/m", &slot), MST_NOT_FOUND, "conv1d");
    EXPECT_OK(mst_model_weights(model, &weight, &count));
    for (int64_t i = 0; i < count; i++) assert_int_equal(weight[i].trainable, i >= 6);
    EXPECT_OK(mst_model_set_trainable(model, NULL, true));
    EXPECT_OK(mst_compile(model, .optimizer = mst_adam(.learning_rate = 0.1), .seed = 1));
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = 8, .epochs = 1));
    for (int i = 0; i < FROZEN; i++) assert_true(weight_of(model, names[i], 0) != before[i]);
    mst_model_destroy(model);
    mst_dataset_release(data);
    mst_tensor_release(rows[0]);
    mst_tensor_release(rows[1]);
}

/* Rows of one feature: 1, 3, 5, 11 in two shards, whose means are 2 and 8 and variances 1 and 9. */
static void moving_statistics_take_a_step_to_the_mean_of_those_of_the_shards(void **state) {
    (void)state;
    const double x[] = {1, 3, 5, 11}, label[] = {0, 1, 0, 1};
    mst_tensor *tensors[] = {engine_tensor(MST_F32, MST_SHAPE(4, 1), x), engine_tensor(MST_I32, MST_SHAPE(4), label)};
    mst_dataset *data;
    EXPECT_OK(mst_dataset_from_tensors(tensors, 2, &data));
    mst_model *model = new_model();
    const mst_weight *weight;
    int64_t count;
    mst_batch_normalization(model, .momentum = 0.75f, .epsilon = 3);
    mst_dense(model, 2);
    EXPECT_OK(mst_compile(model, .optimizer = mst_sgd(.learning_rate = 1e-30),
                          .strategy = {.kind = MST_STRATEGY_MIRRORED, .num_shards = 2},
                          .session = {.devices = "cpu:2/1"}));
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = 4, .no_shuffle = true));
    assert_float_equal(weight_of(model, "batch_normalization/moving_mean", 0), 0.25 * 5, 1e-6);
    assert_float_equal(weight_of(model, "batch_normalization/moving_variance", 0), 0.75 + 0.25 * 5, 1e-6);
    EXPECT_OK(mst_model_weights(model, &weight, &count));
    static const char *const names[] = {"batch_normalization/gamma", "batch_normalization/beta",
                                        "batch_normalization/moving_mean", "batch_normalization/moving_variance"};
    for (int i = 0; i < 4; i++) {
        assert_string_equal(weight[i].name, names[i]);
        assert_int_equal(weight[i].trainable, i < 2);
    }
    mst_model_destroy(model);
    mst_dataset_release(data);
    for (int i = 0; i < 2; i++) mst_tensor_release(tensors[i]);
}

/* ---- values ---- */

static void expect_output(mst_model *model, mst_shape shape, const double *x, const double *expected, int count) {
    mst_graph *graph = engine_graph();
    mst_tensor *value = engine_tensor(MST_F32, shape, x);
    const mst_value y = mst_model_call(model, mst_constant(graph, value), false);
    mst_session *session = engine_session(graph, NULL);
    EXPECT_OK(mst_session_init_variables(session));
    mst_tensor *got = engine_fetch(session, NULL, 0, y);
    assert_int_equal(mst_tensor_count(got), count);
    for (int i = 0; i < count; i++) assert_float_equal(mst_tensor_get(got, i), expected[i], 1e-5);
    mst_tensor_release(got);
    mst_tensor_release(value);
    mst_session_destroy(session);
    mst_graph_destroy(graph);
    mst_model_destroy(model);
}

static const double FOUR[] = {1, 2, 3, 4};

static void a_causal_convolution_sees_the_past_alone(void **state) {
    (void)state;
    mst_model *model = new_model();
    mst_conv1d(model, 1, 2, .causal = true, .dilation_rate = 2, .kernel_initializer = mst_ones_initializer(),
               .bias_initializer = mst_constant_initializer(10));
    expect_output(model, MST_SHAPE(1, 4, 1), FOUR, (const double[]){11, 12, 14, 16}, 4);
}

static void each_channel_of_a_depthwise_convolution_has_filters_of_its_own(void **state) {
    (void)state;
    const double filters[] = {1, 2, 10, 20};
    mst_tensor *kernel = engine_tensor(MST_F32, MST_SHAPE(1, 1, 2, 2), filters);
    mst_model *model = new_model();
    mst_depthwise_conv2d(model, 1, .depth_multiplier = 2, .depthwise_initializer = mst_tensor_initializer(kernel));
    expect_output(model, MST_SHAPE(1, 1, 2, 2), FOUR, (const double[]){1, 2, 20, 40, 3, 6, 40, 80}, 8);
    mst_tensor_release(kernel);
}

static void pooling_and_padding_do_what_keras_does(void **state) {
    (void)state;
    mst_model *model = new_model();
    mst_average_pooling1d(model, .pool_size = 3, .strides = 2, .padding = MST_PADDING_SAME);
    expect_output(model, MST_SHAPE(1, 4, 1), FOUR, (const double[]){2, 3.5}, 2);
    mst_zero_padding2d(model = new_model(), .sides = MST_AXES(0, 1, 1, 0));
    mst_average_pooling2d(model, .pool_size = 3, .strides = 1);
    expect_output(model, MST_SHAPE(1, 2, 2, 1), FOUR, (const double[]){10.0 / 9}, 1);
    mst_max_pooling2d(model = new_model(), .pool_size = 1, .pool_width = 2);
    expect_output(model, MST_SHAPE(1, 2, 2, 1), FOUR, (const double[]){2, 4}, 2);
    mst_global_max_pooling1d(model = new_model());
    expect_output(model, MST_SHAPE(1, 2, 2), FOUR, (const double[]){3, 4}, 2);
    mst_global_average_pooling1d(model = new_model(), .keep_dims = true);
    expect_output(model, MST_SHAPE(1, 2, 2), FOUR, (const double[]){2, 3}, 2);
    mst_global_max_pooling2d(model = new_model());
    expect_output(model, MST_SHAPE(1, 2, 2, 1), FOUR, (const double[]){4}, 1);
}

/* 2 channels, whose filters give 1, 2, 30 and 40 times what they see, in sum 3 of the first and 70 of the second. */
static void a_separable_convolution_mixes_what_its_depthwise_filters_give(void **state) {
    (void)state;
    const double filters[] = {1, 2, 30, 40};
    mst_tensor *kernel[] = {engine_tensor(MST_F32, MST_SHAPE(1, 1, 2, 2), filters),
                            engine_tensor(MST_F32, MST_SHAPE(1, 2, 2), filters)};
    mst_model *model = new_model();
    mst_separable_conv2d(model, 1, 1, .depth_multiplier = 2, .depthwise_initializer = mst_tensor_initializer(kernel[0]),
                         .pointwise_initializer = mst_ones_initializer(),
                         .bias_initializer = mst_constant_initializer(1000));
    expect_output(model, MST_SHAPE(1, 1, 2, 2), FOUR, (const double[]){1143, 1289}, 2);
    mst_separable_conv1d(model = new_model(), 1, 1, .depth_multiplier = 2, .no_bias = true,
                         .depthwise_initializer = mst_tensor_initializer(kernel[1]),
                         .pointwise_initializer = mst_ones_initializer());
    expect_output(model, MST_SHAPE(1, 2, 2), FOUR, (const double[]){143, 289}, 2);
    mst_depthwise_conv1d(model = new_model(), 2, .padding = MST_PADDING_SAME,
                         .depthwise_initializer = mst_ones_initializer());
    expect_output(model, MST_SHAPE(1, 2, 2), FOUR, (const double[]){4, 6, 3, 4}, 4);
    for (int i = 0; i < 2; i++) mst_tensor_release(kernel[i]);
}

static const double EIGHT[] = {1, 2, 3, 4, 5, 6, 7, 8};

static void sides_are_cut_off_and_put_on(void **state) {
    (void)state;
    mst_model *model = new_model();
    mst_cropping1d(model);
    expect_output(model, MST_SHAPE(1, 4, 1), FOUR, (const double[]){2, 3}, 2);
    mst_cropping1d(model = new_model(), .sides = MST_AXES(3, 0));
    expect_output(model, MST_SHAPE(1, 4, 1), FOUR, (const double[]){4}, 1);
    mst_cropping2d(model = new_model());
    expect_output(model, MST_SHAPE(1, 2, 2, 1), FOUR, FOUR, 4);
    mst_cropping2d(model = new_model(), .sides = MST_AXES(0, 1, 1, 2));
    expect_output(model, MST_SHAPE(1, 2, 4, 1), EIGHT, (const double[]){2}, 1);
    mst_cropping3d(model = new_model(), .sides = MST_AXES(1, 0, 0, 1, 0, 0));
    expect_output(model, MST_SHAPE(1, 2, 2, 1, 2), EIGHT, (const double[]){5, 6}, 2);
    mst_zero_padding1d(model = new_model(), .sides = MST_AXES(0, 2));
    expect_output(model, MST_SHAPE(1, 1, 2), FOUR, (const double[]){1, 2, 0, 0, 0, 0}, 6);
    mst_zero_padding1d(model = new_model());
    expect_output(model, MST_SHAPE(1, 1, 1), FOUR, (const double[]){0, 1, 0}, 3);
    mst_zero_padding3d(model = new_model(), .sides = MST_AXES(1, 0, 0, 1, 0, 0));
    expect_output(model, MST_SHAPE(1, 1, 1, 2, 1), FOUR, (const double[]){0, 0, 0, 0, 1, 2, 0, 0}, 8);
}

static void elements_are_repeated_and_reordered(void **state) {
    (void)state;
    mst_model *model = new_model();
    mst_up_sampling1d(model, .size = 3);
    expect_output(model, MST_SHAPE(1, 2, 1), FOUR, (const double[]){1, 1, 1, 2, 2, 2}, 6);
    mst_up_sampling3d(model = new_model(), .size = MST_AXES(1, 2, 1));
    expect_output(model, MST_SHAPE(1, 2, 1, 2, 1), FOUR, (const double[]){1, 2, 1, 2, 3, 4, 3, 4}, 8);
    mst_up_sampling3d(model = new_model());
    expect_output(model, MST_SHAPE(1, 1, 1, 1, 1), FOUR, (const double[]){1, 1, 1, 1, 1, 1, 1, 1}, 8);
    mst_repeat_vector(model = new_model(), 2);
    expect_output(model, MST_SHAPE(2, 2), FOUR, (const double[]){1, 2, 1, 2, 3, 4, 3, 4}, 8);
    mst_permute(model = new_model(), MST_AXES(2, 1));
    expect_output(model, MST_SHAPE(1, 2, 2), FOUR, (const double[]){1, 3, 2, 4}, 4);
    mst_permute(model = new_model(), MST_AXES(3, 1, 2));
    expect_output(model, MST_SHAPE(1, 2, 2, 2), EIGHT, (const double[]){1, 3, 5, 7, 2, 4, 6, 8}, 8);
}

static void a_layer_sees_each_step_by_itself(void **state) {
    (void)state;
    const double twice[] = {2, 0, 0, 2};
    mst_tensor *kernel = engine_tensor(MST_F32, MST_SHAPE(2, 2), twice);
    mst_model *model = new_model();
    mst_time_distributed(model, MST_INNER(dense, .units = 2, .kernel_initializer = mst_tensor_initializer(kernel)));
    expect_output(model, MST_SHAPE(1, 4, 2), EIGHT, (const double[]){2, 4, 6, 8, 10, 12, 14, 16}, 8);
    mst_time_distributed(model = new_model(), MST_INNER(global_max_pooling1d));
    expect_output(model, MST_SHAPE(2, 2, 2, 1), EIGHT, (const double[]){2, 4, 6, 8}, 4);
    mst_time_distributed(model = new_model(), MST_INNER(conv1d, .filters = 1, .kernel_size = 2,
                                                        .kernel_initializer = mst_ones_initializer()));
    expect_output(model, MST_SHAPE(1, 2, 2, 2), EIGHT, (const double[]){10, 26}, 2);
    mst_tensor_release(kernel);
}

/* As Keras prints it, and with the names of weights that it has. */
static void layers_inside_are_part_of_the_names_of_weights(void **state) {
    (void)state;
    static const char *const names[] = {"time_distributed/inside/kernel", "time_distributed/inside/bias",
                                        "outer/dense/kernel"};
    mst_model *model = new_model();
    const mst_weight *weight;
    int64_t count;
    char *text;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    const mst_output x = mst_input(model, MST_SHAPE(4, 5, 5, 2));
    const mst_output y = mst_time_distributed(x, MST_INNER(conv2d, .filters = 3, .kernel_size = 2, .name = "inside"));
    const mst_output z = mst_time_distributed(y, MST_INNER(flatten));
    mst_time_distributed(z, MST_INNER(dense, .units = 3, .no_bias = true), .name = "outer");
    EXPECT_OK(mst_model_summary(model, NULL, file));
    fclose(file);
    assert_non_null(strstr(text,
                           "│ time_distributed                │ (None, 4, 4, 4, 3)     │            27 │\n"
                           "│ (TimeDistributed)               │                        │               │\n"));
    assert_non_null(strstr(text, "│ outer (TimeDistributed)         │ (None, 4, 3)           │           144 │\n"));
    EXPECT_OK(mst_model_weights(model, &weight, &count));
    assert_int_equal(count, 3);
    for (int i = 0; i < 3; i++) assert_string_equal(weight[i].name, names[i]);
    free(text);
    mst_model_destroy(model);
}

/* The layer can be applied to a value too, and has the same weights in all calls. */
static void a_layer_inside_can_be_shared_and_applied_to_values(void **state) {
    (void)state;
    mst_model *model = new_model();
    const mst_weight *weight;
    int64_t count;
    const mst_output x = mst_input(model, MST_SHAPE(4, 3));
    const mst_output y = mst_time_distributed(x, MST_INNER(dense, .units = 3));
    mst_model_outputs(model, MST_OUTPUTS(mst_share(y, y)));
    EXPECT_OK(mst_model_weights(model, &weight, &count));
    assert_int_equal(count, 2);
    mst_model_destroy(model);
    mst_graph *graph = engine_graph();
    const mst_value ones = mst_fill(graph, MST_F32, MST_SHAPE(2, 4, 3), 1);
    const mst_value z = mst_time_distributed(ones, MST_INNER(dense, .units = 5));
    EXPECT_OK(mst_graph_check(graph));
    assert_true(mst_shape_equal(mst_value_spec(z).shape, MST_SHAPE(-1, 4, 5)) ||
                mst_shape_equal(mst_value_spec(z).shape, MST_SHAPE(2, 4, 5)));
    mst_graph_destroy(graph);
}

static void layers_over_three_axes_do_what_keras_does(void **state) {
    (void)state;
    mst_model *model = new_model();
    mst_conv3d(model, 1, MST_AXES(1, 2, 1), .kernel_initializer = mst_ones_initializer(),
               .bias_initializer = mst_constant_initializer(10));
    expect_output(model, MST_SHAPE(1, 2, 2, 1, 1), FOUR, (const double[]){13, 17}, 2);
    mst_conv3d_transpose(model = new_model(), 1, MST_AXES(2, 1, 1), .kernel_initializer = mst_ones_initializer());
    expect_output(model, MST_SHAPE(1, 2, 2, 1, 1), FOUR, (const double[]){1, 2, 4, 6, 3, 4}, 6);
    mst_conv1d_transpose(model = new_model(), 1, 2, .strides = 2, .kernel_initializer = mst_ones_initializer());
    expect_output(model, MST_SHAPE(1, 2, 1), FOUR, (const double[]){1, 1, 2, 2}, 4);
    mst_max_pooling3d(model = new_model(), .pool_size = MST_AXES(2, 1, 1));
    expect_output(model, MST_SHAPE(1, 2, 2, 1, 1), FOUR, (const double[]){3, 4}, 2);
    mst_average_pooling3d(model = new_model(), .padding = MST_PADDING_SAME);
    expect_output(model, MST_SHAPE(1, 2, 2, 1, 1), FOUR, (const double[]){2.5}, 1);
    mst_global_max_pooling3d(model = new_model());
    expect_output(model, MST_SHAPE(1, 2, 1, 1, 2), FOUR, (const double[]){3, 4}, 2);
    mst_global_average_pooling3d(model = new_model(), .keep_dims = true);
    expect_output(model, MST_SHAPE(1, 2, 1, 1, 2), FOUR, (const double[]){2, 3}, 2);
}

static void unit_normalization_divides_by_the_norm(void **state) {
    (void)state;
    const double x[] = {3, 4, 0, 0, 0, -0.5};
    mst_model *model = new_model();
    mst_unit_normalization(model);
    expect_output(model, MST_SHAPE(3, 2), x, (const double[]){0.6, 0.8, 0, 0, 0, -1}, 6);
    mst_unit_normalization(model = new_model(), .axes = MST_AXES(1, 2));
    expect_output(model, MST_SHAPE(1, 2, 2), (const double[]){1, 1, -1, 1}, (const double[]){0.5, 0.5, -0.5, 0.5}, 4);
}

static void re_lu_has_a_largest_value_and_a_slope(void **state) {
    (void)state;
    const double x[] = {-2, 3, 7, 5};
    mst_model *model = new_model();
    mst_re_lu(model, .max_value = 6);
    expect_output(model, MST_SHAPE(1, 4), x, (const double[]){0, 3, 6, 5}, 4);
    mst_re_lu(model = new_model(), .max_value = 4, .negative_slope = 0.5f);
    expect_output(model, MST_SHAPE(1, 4), x, (const double[]){-1, 3, 4, 4}, 4);
    mst_re_lu(model = new_model());
    expect_output(model, MST_SHAPE(1, 4), x, (const double[]){0, 3, 7, 5}, 4);
}

/* ---- mistakes ---- */

static void expect_refusal(mst_model *model, mst_shape shape, const char *message) {
    mst_graph *graph = engine_graph();
    mst_value y = mst_model_call(model, mst_fill(graph, MST_F32, shape, 1), true);
    (void)y;
    EXPECT_ERROR(mst_graph_check(graph), MST_INVALID, message);
    mst_graph_destroy(graph);
    mst_model_destroy(model);
}

/* As tf.image.resize: column i of 3 is at (i + 1/2) 2/3 - 1/2 in a picture of 2, and an area is 2/3 of a pixel. */
static void pictures_get_the_size_that_is_asked_for(void **state) {
    (void)state;
    static const double x[] = {1, 4}, bilinear[] = {1, 2.5, 4}, nearest[] = {1, 4, 4}, area[] = {1, 2.5, 4};
    static const struct {
        mst_resizing_interpolation interpolation;
        const double *expected;
    } rows[] = {{MST_RESIZING_BILINEAR, bilinear}, {MST_RESIZING_NEAREST, nearest}, {MST_RESIZING_AREA, area}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mst_model *model = new_model();
        mst_resizing(model, 1, 3, .interpolation = rows[i].interpolation);
        expect_output(model, MST_SHAPE(1, 1, 2, 1), x, rows[i].expected, 3);
    }
}

static void mistakes_name_the_layer_and_what_it_needs(void **state) {
    (void)state;
    mst_model *model = new_model();
    mst_conv2d(model, 3, 3, .name = "first");
    expect_refusal(model, MST_SHAPE(2, 8, 8), "conv2d 'first': needs [n, height, width, channels]");
    mst_conv2d(model = new_model(), 3, 5);
    expect_refusal(model, MST_SHAPE(2, 4, 8, 1), "a window of 5 does not fit into 4");
    mst_conv1d(model = new_model(), 3, 2, .groups = 2);
    expect_refusal(model, MST_SHAPE(2, 8, 2), "2 channels and 3 filters are no multiples of 2 groups");
    mst_conv1d(model = new_model(), 3, 2, .causal = true, .padding = MST_PADDING_SAME);
    expect_refusal(model, MST_SHAPE(2, 8, 2), "causal is a padding of its own");
    mst_max_pooling1d(model = new_model());
    expect_refusal(model, MST_SHAPE(2, 8), "needs 3");
    mst_batch_normalization(model = new_model(), .name = "norm");
    expect_refusal(model, MST_SHAPE(2), "batch_normalization 'norm': needs [n, ..., channels]");
    mst_layer_normalization(model = new_model(), .axes = MST_AXES(1), .name = "norm");
    expect_refusal(model, MST_SHAPE(2, 3, 4), "layer_normalization 'norm': of [2, 3, 4] the last axes are taken");
    mst_layer_normalization(model = new_model(), .axes = MST_AXES(-2, -1));
    expect_refusal(model, MST_SHAPE(2, 3), "without the batch");
    mst_group_normalization(model = new_model(), .groups = 2, .name = "norm");
    expect_refusal(model, MST_SHAPE(2, 3), "group_normalization 'norm': 3 channels are no multiple of 2 groups");
    mst_unit_normalization(model = new_model(), .axes = MST_AXES(0), .name = "unit");
    expect_refusal(model, MST_SHAPE(2, 3), "unit_normalization 'unit': a source of 2 dimensions has no axis 0 beside");
    mst_conv2d_transpose(model = new_model(), 3, 3, .name = "larger");
    expect_refusal(model, MST_SHAPE(2, 8, 8), "conv2d_transpose 'larger': needs [n, height, width, channels]");
    mst_up_sampling2d(model = new_model(), .name = "larger");
    expect_refusal(model, MST_SHAPE(2, 8, 8), "up_sampling2d 'larger': needs [n, height, width, channels]");
    mst_resizing(model = new_model(), 3, 4, .name = "size");
    expect_refusal(model, MST_SHAPE(2, 8, 8), "resizing 'size': needs [n, height, width, channels]");
    mst_conv3d(model = new_model(), 3, MST_AXES(3), .name = "deep");
    expect_refusal(model, MST_SHAPE(2, 8, 8, 1), "conv3d 'deep': needs [n, depth, height, width, channels]");
    mst_conv3d(model = new_model(), 3, MST_AXES(1), .groups = 2);
    expect_refusal(model, MST_SHAPE(2, 3, 3, 3, 2), "2 channels and 3 filters are no multiples of 2 groups");
    mst_global_max_pooling3d(model = new_model(), .name = "pool");
    expect_refusal(model, MST_SHAPE(2, 8, 8, 1),
                   "global_max_pooling3d 'pool': needs [n, depth, height, width, channels]");
    mst_max_pooling3d(model = new_model(), .pool_size = MST_AXES(2, 2), .name = "pool");
    EXPECT_ERROR(mst_model_check(model), MST_INVALID,
                 "max_pooling3d 'pool': pool_size of 2 numbers, give one or three");
    mst_model_destroy(model);
    mst_conv3d_transpose(model = new_model(), 3, MST_AXES(3), .strides = MST_AXES(1, 0, 1), .name = "deep");
    EXPECT_ERROR(mst_model_check(model), MST_INVALID, "conv3d_transpose 'deep': strides of 0, must be at least 1");
    mst_model_destroy(model);
    mst_zero_padding2d(model = new_model(), .sides = MST_AXES(1, 1));
    EXPECT_ERROR(mst_model_check(model), MST_INVALID, "2 sides, give top, bottom, left and right");
    mst_model_destroy(model);
}

static void so_do_those_of_sides_and_orders(void **state) {
    (void)state;
    mst_model *model = new_model();
    mst_cropping1d(model, .cropping = 2, .name = "cut");
    expect_refusal(model, MST_SHAPE(2, 4, 1), "cropping1d 'cut': 2 + 2 elements less than 4 along axis 1 leave none");
    mst_cropping2d(model = new_model());
    expect_refusal(model, MST_SHAPE(2, 4, 1), "cropping2d 'cropping2d': needs [n, height, width, channels]");
    mst_zero_padding3d(model = new_model());
    expect_refusal(model, MST_SHAPE(2, 4, 1), "needs [n, depth, height, width, channels], got 3 dimensions");
    mst_up_sampling1d(model = new_model());
    expect_refusal(model, MST_SHAPE(2, 4), "up_sampling1d 'up_sampling1d': needs [n, steps, channels], all known but");
    mst_repeat_vector(model = new_model(), 3);
    expect_refusal(model, MST_SHAPE(2, 4, 1), "repeat_vector 'repeat_vector': needs [batch, features]");
    mst_permute(model = new_model(), MST_AXES(2, 1), .name = "turn");
    expect_refusal(model, MST_SHAPE(2, 4), "permute 'turn': of 2 dimensions behind the first, got 1");
    mst_separable_conv1d(model = new_model(), 2, 2);
    expect_refusal(model, MST_SHAPE(2, 4), "separable_conv1d 'separable_conv1d': needs [n, steps, channels]");
    mst_permute(model = new_model(), MST_AXES(1, 3));
    EXPECT_ERROR(mst_model_check(model), MST_INVALID, "dims must be the numbers from 1 to 2, each once");
    mst_model_destroy(model);
    mst_cropping3d(model = new_model(), .sides = MST_AXES(1, 1));
    EXPECT_ERROR(mst_model_check(model), MST_INVALID, "2 sides, give front, back, top, bottom, left and right");
    mst_model_destroy(model);
    mst_time_distributed(model = new_model(), MST_INNER(dense, .units = 2), .name = "each");
    expect_refusal(model, MST_SHAPE(2, 4),
                   "time_distributed 'each': needs [n, steps, ...], all known but n, got [2, 4]");
    mst_time_distributed(model = new_model(), MST_INNER(conv1d, .filters = 2, .kernel_size = 2), .name = "each");
    expect_refusal(model, MST_SHAPE(2, 4, 3), "needs [n, steps, channels]");
    const struct {
        mst_inner_layer layer;
        const char *error;
    } inside[] = {{{NULL, NULL}, "no layer inside of it"},
                  {{"dens", ""}, "did you mean 'dense'?"},
                  {MST_INNER(batch_normalization), "is not taken"},
                  {MST_INNER(dense), "dense 'each': units"},
                  {MST_INNER(normalization), "normalization inside of it"},
                  {MST_INNER(merge), "merge inside of it"}};
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
        mst_time_distributed(model = new_model(), inside[i].layer, .name = "each");
        EXPECT_ERROR(mst_model_check(model), i == 2 ? MST_UNIMPLEMENTED : MST_INVALID, inside[i].error);
        mst_model_destroy(model);
    }
    mst_zero_padding1d(model = new_model(), .sides = MST_AXES(1, -1));
    EXPECT_ERROR(mst_model_check(model), MST_INVALID, "-1 at a side, must be 0 or more");
    mst_model_destroy(model);
}

/* ---- a graph of one's own ---- */

static void in_a_graph_of_ones_own_the_statistics_are_a_value_to_run(void **state) {
    (void)state;
    mst_graph *graph = engine_graph();
    mst_tensor *x = engine_tensor(MST_F32, MST_SHAPE(4, 1), FOUR);
    const mst_value y = mst_batch_normalization(mst_constant(graph, x), .momentum = 0.5f);
    const mst_value updates = mst_state_updates(graph);
    const mst_value mean = {.node = mst_graph_find(graph, "batch_normalization/moving_mean")};
    mst_session *session = engine_session(graph, NULL);
    EXPECT_OK(mst_session_init_variables(session));
    (void)y;
    for (int i = 0; i < 2; i++) EXPECT_OK(mst_session_run(session, NULL, 0, &updates, 1, NULL));
    mst_tensor *got = engine_fetch(session, NULL, 0, mean);
    assert_float_equal(mst_tensor_get(got, 0), 2.5 * 0.75, 1e-6);
    mst_tensor_release(got);
    mst_tensor_release(x);
    mst_session_destroy(session);
    mst_graph_destroy(graph);
}

/* As Keras does it: each call takes a step from where the call before it has come. With the mean m of the first batch,
 * and that of the second, which is the first normalised: 0. */
static void a_layer_that_is_called_twice_takes_two_steps(void **state) {
    (void)state;
    const double x[] = {1, 3, 5, 11}, label[] = {0, 1, 0, 1};
    mst_tensor *tensors[] = {engine_tensor(MST_F32, MST_SHAPE(4, 1), x), engine_tensor(MST_I32, MST_SHAPE(4), label)};
    mst_dataset *data;
    EXPECT_OK(mst_dataset_from_tensors(tensors, 2, &data));
    for (int synchronized = 0; synchronized < 2; synchronized++) {
        mst_model *model = new_model();
        const mst_output in = mst_input(model, MST_SHAPE(1));
        const mst_output once =
            mst_batch_normalization(in, .momentum = 0.75f, .synchronized = synchronized, .name = "norm");
        mst_model_outputs(model, MST_OUTPUTS(mst_dense(mst_share(once, once), 2)));
        EXPECT_OK(mst_compile(model, .optimizer = mst_sgd(.learning_rate = 1e-30),
                              .strategy = {.kind = MST_STRATEGY_MIRRORED, .num_shards = 2},
                              .session = {.devices = "cpu:2/1"}));
        EXPECT_OK(mst_fit(model, .data = data, .batch_size = 4, .no_shuffle = true));
        assert_float_equal(weight_of(model, "norm/moving_mean", 0), 0.75 * 0.25 * 5, 1e-6);
        mst_model_destroy(model);
    }
    mst_dataset_release(data);
    for (int i = 0; i < 2; i++) mst_tensor_release(tensors[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_cnn_has_the_table_that_keras_prints),
        cmocka_unit_test(a_network_of_convolutions_gives_one_answer_on_any_devices),
        cmocka_unit_test(so_it_does_where_a_batch_has_fewer_rows_than_there_are_shards),
        cmocka_unit_test(so_it_does_where_statistics_are_synchronized),
        cmocka_unit_test(synchronized_shards_train_as_the_whole_batch_does),
        cmocka_unit_test(frozen_layers_stay_as_they_are),
        cmocka_unit_test(moving_statistics_take_a_step_to_the_mean_of_those_of_the_shards),
        cmocka_unit_test(a_layer_that_is_called_twice_takes_two_steps),
        cmocka_unit_test(a_causal_convolution_sees_the_past_alone),
        cmocka_unit_test(each_channel_of_a_depthwise_convolution_has_filters_of_its_own),
        cmocka_unit_test(pooling_and_padding_do_what_keras_does),
        cmocka_unit_test(re_lu_has_a_largest_value_and_a_slope),
        cmocka_unit_test(a_separable_convolution_mixes_what_its_depthwise_filters_give),
        cmocka_unit_test(sides_are_cut_off_and_put_on),
        cmocka_unit_test(elements_are_repeated_and_reordered),
        cmocka_unit_test(a_layer_sees_each_step_by_itself),
        cmocka_unit_test(layers_inside_are_part_of_the_names_of_weights),
        cmocka_unit_test(a_layer_inside_can_be_shared_and_applied_to_values),
        cmocka_unit_test(layers_over_three_axes_do_what_keras_does),
        cmocka_unit_test(unit_normalization_divides_by_the_norm),
        cmocka_unit_test(a_reshape_keeps_the_elements_of_an_example),
        cmocka_unit_test(pictures_get_the_size_that_is_asked_for),
        cmocka_unit_test(mistakes_name_the_layer_and_what_it_needs),
        cmocka_unit_test(so_do_those_of_sides_and_orders),
        cmocka_unit_test(in_a_graph_of_ones_own_the_statistics_are_a_value_to_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
