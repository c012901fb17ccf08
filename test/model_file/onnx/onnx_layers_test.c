/* Operators of ONNX as layers: they predict what the operators compute, can be trained and saved as a file of Keras.
 * What is no layer is refused with its node. */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "model_file/model_file.h"
#include "muster/train.h"
#include "support/expect.h"
#include "support/folder.h"
#include "support/onnx_message.h"

enum { ROWS = 4, MOST_NUMBERS = 512 };

/* A tensor of f32 with numbers that look random; those of variances are around 1. */
static void add_floats(onnx_message *m, const char *name, mst_shape shape) {
    static float numbers[ONNX_MOST][MOST_NUMBERS];
    static int64_t dims[ONNX_MOST][MST_MAX_NDIM];
    const size_t i = m->graph.n_initializer, count = (size_t)mst_shape_count(shape);
    assert_true(count <= MOST_NUMBERS);
    Muster__OnnxTensor *tensor = onnx_add_list(m, name, NULL, 0);
    for (size_t k = 0; k < count; k++)
        numbers[i][k] = strstr(name, "var") ? 1 + (float)(k % 3) / 4 : (float)((k * 37 + i * 11) % 23) / 11 - 1;
    for (int k = 0; k < shape.ndim; k++) dims[i][k] = shape.dim[k];
    tensor->data_type = mst_onnx_type(MST_F32);
    tensor->n_dims = (size_t)shape.ndim;
    tensor->dims = dims[i];
    tensor->float_data = numbers[i];
    tensor->n_float_data = count;
}

static const char *write_message(const onnx_message *m) {
    size_t size;
    void *data = onnx_pack(m, &size);
    EXPECT_OK(mst_file_write(folder_path("m.onnx"), data, size));
    free(data);
    return folder_path("m.onnx");
}

static mst_dataset *rows_of(mst_shape shape, mst_dtype dtype) {
    mst_tensor *x;
    mst_dataset *data;
    EXPECT_OK(mst_tensor_create(dtype, shape, &x));
    for (int64_t i = 0; i < mst_tensor_count(x); i++)
        mst_tensor_set(x, i, dtype == MST_F32 ? (double)(i * 29 % 31) / 10 - 1.5 : (double)(i % 5));
    EXPECT_OK(mst_dataset_from_tensors(&x, 1, &data));
    mst_tensor_release(x);
    return data;
}

static mst_tensor *predict(mst_model *model, mst_dataset *data) {
    mst_tensor *y;
    EXPECT_OK(mst_compile(model, .session = {.devices = "cpu:1"}));
    EXPECT_OK(mst_predict(model, data, ROWS, &y));
    return y;
}

static void expect_same(mst_tensor *got, mst_tensor *want, const char *what) {
    bool good = mst_shape_equal(mst_tensor_shape(got), mst_tensor_shape(want));
    for (int64_t i = 0; good && i < mst_tensor_count(want); i++)
        good = fabs(mst_tensor_get(got, i) - mst_tensor_get(want, i)) < 1e-5 * (1 + fabs(mst_tensor_get(want, i)));
    if (!good) fail_msg("%s", what);
}

/* A model: nodes, the shape of x with the examples, those of tensors. */
typedef struct layers_case {
    const char *nodes;
    mst_shape x; /* channels second */
    int y_ndim;
    struct {
        const char *name;
        mst_shape shape;
    } tensor[8];
    const char *layers; /* names in their order */
} layers_case;

static int64_t pair_of_axes[] = {2, 3}, one_axis[] = {1}, flat[] = {0, -1}, zero_axis[] = {0}, both_axes[] = {0, 1},
               joined[] = {0, 0, -1}, last_step[] = {-1}, beyond[] = {INT64_MAX};

/* Factors 3 and 2 of the pixels, or 3. */
static void add_scales(onnx_message *m, int ndim) {
    static float scales[] = {1, 1, 3, 2};
    static int64_t count;
    count = ndim;
    Muster__OnnxTensor *tensor = onnx_add_list(m, "scales", NULL, 0);
    tensor->data_type = mst_onnx_type(MST_F32);
    tensor->n_dims = 1;
    tensor->dims = &count;
    tensor->float_data = scales;
    tensor->n_float_data = (size_t)ndim;
}

static void begin_case(onnx_message *m, const layers_case *c) {
    onnx_begin(m, 17);
    mst_shape x = c->x;
    x.dim[0] = -1;
    m->inputs[m->graph.n_input++] = onnx_add_value(m, "x", strstr(c->nodes, "Gather e table") ? MST_I64 : MST_F32, x);
    for (int i = 0; i < 8 && c->tensor[i].name; i++) add_floats(m, c->tensor[i].name, c->tensor[i].shape);
    if (onnx_nodes_name(c->nodes, "pair")) onnx_add_list(m, "pair", pair_of_axes, 2);
    if (onnx_nodes_name(c->nodes, "one")) onnx_add_list(m, "one", one_axis, 1);
    if (onnx_nodes_name(c->nodes, "flat")) onnx_add_list(m, "flat", flat, 2);
    if (onnx_nodes_name(c->nodes, "zero")) onnx_add_list(m, "zero", zero_axis, 1);
    if (onnx_nodes_name(c->nodes, "both")) onnx_add_list(m, "both", both_axes, 2);
    if (onnx_nodes_name(c->nodes, "joined")) onnx_add_list(m, "joined", joined, 3);
    if (onnx_nodes_name(c->nodes, "two")) onnx_add_list(m, "two", &pair_of_axes[0], 1);
    if (onnx_nodes_name(c->nodes, "huge")) onnx_add_list(m, "huge", beyond, 1);
    if (onnx_nodes_name(c->nodes, "last")) onnx_add_list(m, "last", last_step, 1);
    if (onnx_nodes_name(c->nodes, "scales")) add_scales(m, x.ndim);
    onnx_add_nodes(m, c->nodes);
    mst_shape y = {.ndim = c->y_ndim};
    for (int i = 0; i < y.ndim; i++) y.dim[i] = -1;
    onnx_add_output(m, "y", y);
}

static mst_shape channels_last(mst_shape shape) {
    mst_shape out = shape;
    const mst_axes perm = mst_onnx_last_perm(shape.ndim);
    for (int i = 0; i < shape.ndim; i++) out.dim[i] = shape.dim[perm.axis[i]];
    return shape.ndim > 3 ? out : shape;
}

static void expect_layers(const mst_model *model, const char *names) {
    char found[256] = "";
    const char *name;
    for (int64_t i = 0; (name = mst_model_layer_name(model, i)); i++) {
        if (i) strcat(found, " ");
        strcat(found, name);
    }
    assert_string_equal(found, names);
}

static const layers_case cases[] = {
    {"Gemm a x fc1.weight fc1.bias transB=1;Relu b a;Gemm c b fc2.weight alpha=0.5;Softmax y c axis=1",
     {.ndim = 2, .dim = {ROWS, 6}},
     2,
     {{"fc1.weight", {.ndim = 2, .dim = {5, 6}}},
      {"fc1.bias", {.ndim = 1, .dim = {5}}},
      {"fc2.weight", {.ndim = 2, .dim = {5, 3}}}},
     "x fc1 activation fc2 activation_1"},
    {"MatMul a x dense/kernel;Add b a dense/bias;Tanh c b;Mul d c factors;Sub y d terms",
     {.ndim = 2, .dim = {ROWS, 6}},
     2,
     {{"dense/kernel", {.ndim = 2, .dim = {6, 5}}},
      {"dense/bias", {.ndim = 1, .dim = {5}}},
      {"factors", {.ndim = 1, .dim = {5}}},
      {"terms", {.ndim = 2, .dim = {1, 5}}}},
     "x dense activation rescaling rescaling_1"},
    {"Conv a x k b pads=1,1,1,1;BatchNormalization n a gamma beta mean var;Relu r n;MaxPool p r kernel_shape=2,2 "
     "strides=2,2;Flatten f p;Gemm y f w v",
     {.ndim = 4, .dim = {ROWS, 2, 6, 4}},
     2,
     {{"k", {.ndim = 4, .dim = {3, 2, 3, 3}}},
      {"b", {.ndim = 1, .dim = {3}}},
      {"gamma", {.ndim = 1, .dim = {3}}},
      {"beta", {.ndim = 1, .dim = {3}}},
      {"mean", {.ndim = 1, .dim = {3}}},
      {"var", {.ndim = 1, .dim = {3}}},
      {"w", {.ndim = 2, .dim = {18, 5}}},
      {"v", {.ndim = 1, .dim = {5}}}},
     "x conv2d batch_normalization activation max_pooling2d flatten dense"},
    {"Conv a x k strides=2,1 pads=1,1,0,1;Relu r a;MaxPool p r kernel_shape=3,3 strides=2,1 pads=1,1,1,1;Conv d p dw "
     "group=4;Add s d p;GlobalAveragePool g s;Reshape f g flat;MatMul y f w",
     {.ndim = 4, .dim = {ROWS, 2, 9, 5}},
     2,
     {{"k", {.ndim = 4, .dim = {4, 2, 3, 3}}},
      {"dw", {.ndim = 4, .dim = {4, 1, 1, 1}}},
      {"w", {.ndim = 2, .dim = {4, 3}}}},
     "x zero_padding2d conv2d activation zero_padding2d_1 max_pooling2d depthwise_conv2d add "
     "global_average_pooling2d flatten dense"},
    {"Conv a x k;ReduceMean g a axes=2,3;Sigmoid s g;Mul y a s",
     {.ndim = 4, .dim = {ROWS, 2, 5, 6}},
     4,
     {{"k", {.ndim = 4, .dim = {3, 2, 2, 2}}}},
     "x conv2d global_average_pooling2d activation multiply"},
    {"Conv a x k;Flatten b a;Relu y b",
     {.ndim = 4, .dim = {ROWS, 2, 5, 6}},
     2,
     {{"k", {.ndim = 4, .dim = {3, 2, 2, 2}}}},
     "x conv2d flatten activation activation_1 permute flatten_1"},
    {"Transpose t x perm=0,3,1,2;Conv a t k;Transpose y a perm=0,2,3,1",
     {.ndim = 4, .dim = {ROWS, 5, 6, 2}},
     4,
     {{"k", {.ndim = 4, .dim = {3, 2, 2, 2}}}},
     "x conv2d"},
    {"Gather e table x;LayerNormalization n e gamma beta;ReduceMean r n axes=1, keepdims=0;MatMul y r w",
     {.ndim = 2, .dim = {ROWS, 7}},
     2,
     {{"table", {.ndim = 2, .dim = {5, 6}}},
      {"gamma", {.ndim = 1, .dim = {6}}},
      {"beta", {.ndim = 1, .dim = {6}}},
      {"w", {.ndim = 2, .dim = {6, 3}}}},
     "x embedding layer_normalization global_average_pooling1d dense"},
    {"ConvTranspose a x k b strides=2,2 pads=1,1,1,1;Relu r a;ConvTranspose c r m strides=2,2 pads=1,1,1,1 "
     "output_padding=1,1;ConvTranspose y c n strides=2,1",
     {.ndim = 4, .dim = {ROWS, 2, 3, 4}},
     4,
     {{"k", {.ndim = 4, .dim = {2, 3, 4, 4}}},
      {"b", {.ndim = 1, .dim = {3}}},
      {"m", {.ndim = 4, .dim = {3, 2, 3, 3}}},
      {"n", {.ndim = 4, .dim = {2, 3, 2, 3}}}},
     "x conv2d_transpose activation conv2d_transpose_1 cropping2d conv2d_transpose_2"},
    {"Conv a x k;Resize b a _ scales;Resize y b _ scales mode:linear nearest_mode:floor",
     {.ndim = 4, .dim = {ROWS, 2, 3, 4}},
     4,
     {{"k", {.ndim = 4, .dim = {3, 2, 2, 2}}}},
     "x conv2d up_sampling2d up_sampling2d_1"},
    {"ConvTranspose a x k pads=1,2;Resize y a _ scales nearest_mode:floor "
     "coordinate_transformation_mode:asymmetric",
     {.ndim = 3, .dim = {ROWS, 2, 5}},
     3,
     {{"k", {.ndim = 3, .dim = {2, 3, 4}}}},
     "x permute conv1d_transpose up_sampling1d permute_1"},
    {"Transpose t x perm=1,0,2;LSTM l t w r b hidden_size=3;Squeeze s l one;Transpose y s perm=1,0,2",
     {.ndim = 3, .dim = {ROWS, 7, 4}},
     3,
     {{"w", {.ndim = 3, .dim = {1, 12, 4}}}, {"r", {.ndim = 3, .dim = {1, 12, 3}}}, {"b", {.ndim = 2, .dim = {1, 24}}}},
     "x lstm"},
    {"Transpose t x perm=1,0,2;LSTM l t w r;Squeeze s l one;Transpose a s perm=1,0,2;Gather g a last axis=1;Squeeze h "
     "g "
     "one;Gemm y h fc.weight fc.bias transB=1",
     {.ndim = 3, .dim = {ROWS, 7, 4}},
     2,
     {{"w", {.ndim = 3, .dim = {1, 12, 4}}},
      {"r", {.ndim = 3, .dim = {1, 12, 3}}},
      {"fc.weight", {.ndim = 2, .dim = {2, 3}}},
      {"fc.bias", {.ndim = 1, .dim = {2}}}},
     "x lstm fc"},
    {"Transpose t x perm=1,0,2;GRU l t w r b direction:bidirectional linear_before_reset=1;Transpose p l perm=0,2,1,3;"
     "Reshape q p joined;Transpose u q perm=1,0,2;Gather v u last axis=1;Squeeze y v one",
     {.ndim = 3, .dim = {ROWS, 5, 4}},
     2,
     {{"w", {.ndim = 3, .dim = {2, 9, 4}}}, {"r", {.ndim = 3, .dim = {2, 9, 3}}}, {"b", {.ndim = 2, .dim = {2, 18}}}},
     "x bidirectional take"},
    {"Transpose t x perm=1,0,2;LSTM l t w r;Squeeze s l one;Transpose a s perm=1,0,2;Add g a x;Transpose u g "
     "perm=1,0,2;"
     "LSTM m u v q;Squeeze o m one;Transpose p o perm=1,0,2;Concat y a p axis=2",
     {.ndim = 3, .dim = {ROWS, 5, 4}},
     3,
     {{"w", {.ndim = 3, .dim = {1, 16, 4}}},
      {"r", {.ndim = 3, .dim = {1, 16, 4}}},
      {"v", {.ndim = 3, .dim = {1, 8, 4}}},
      {"q", {.ndim = 3, .dim = {1, 8, 2}}}},
     "x lstm add lstm_1 concatenate"},
    {"Conv a x k pads=1,1;Transpose t a perm=2,0,1;GRU l t w r linear_before_reset=1;Squeeze s l one;Slice f s last "
     "huge zero"
     ";Squeeze y f zero",
     {.ndim = 3, .dim = {ROWS, 2, 5}},
     2,
     {{"k", {.ndim = 3, .dim = {4, 2, 3}}}, {"w", {.ndim = 3, .dim = {1, 9, 4}}}, {"r", {.ndim = 3, .dim = {1, 9, 3}}}},
     "x permute conv1d gru"},
    {"Transpose t x perm=1,0,2;RNN l t w r direction:reverse;Slice f l zero one zero;Squeeze y f both",
     {.ndim = 3, .dim = {ROWS, 5, 4}},
     2,
     {{"w", {.ndim = 3, .dim = {1, 3, 4}}}, {"r", {.ndim = 3, .dim = {1, 3, 3}}}},
     "x simple_rnn"},
    {"Transpose t x perm=1,0,2;LSTM l t w r direction:bidirectional;Slice a l zero one one;Squeeze b a one;Slice d l "
     "one "
     "two one;Squeeze e d one;Concat g b e axis=2;Transpose y g perm=1,0,2",
     {.ndim = 3, .dim = {ROWS, 5, 4}},
     3,
     {{"w", {.ndim = 3, .dim = {2, 8, 4}}}, {"r", {.ndim = 3, .dim = {2, 8, 2}}}},
     "x bidirectional"},
};

static void layers_predict_what_the_operators_compute(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        onnx_message m;
        mst_model *ops, *layers, *keras;
        begin_case(&m, &cases[i]);
        const char *path = write_message(&m);
        EXPECT_OK(mst_model_load(path, &ops, NULL));
        EXPECT_OK(mst_layers_load(path, &layers, NULL));
        expect_layers(layers, cases[i].layers);
        const mst_shape shape = strstr(cases[i].nodes, "Transpose t x") ? cases[i].x : channels_last(cases[i].x);
        mst_dataset *data = rows_of(shape, strstr(cases[i].nodes, "Gather e table") ? MST_I64 : MST_F32);
        mst_tensor *want = predict(ops, data), *got = predict(layers, data);
        expect_same(got, want, cases[i].nodes);
        EXPECT_OK(mst_model_save(layers, folder_path("m.keras")));
        EXPECT_OK(mst_model_load(folder_path("m.keras"), &keras, NULL));
        mst_tensor *again = predict(keras, data);
        expect_same(again, want, cases[i].nodes);
        mst_tensor_release(want);
        mst_tensor_release(got);
        mst_tensor_release(again);
        mst_dataset_release(data);
        mst_model_destroy(ops);
        mst_model_destroy(layers);
        mst_model_destroy(keras);
    }
}

static mst_tensor *weight_of(mst_model *model, const char *name) {
    mst_tensor *tensor;
    EXPECT_OK(mst_store_get(mst_model_store(model), NULL, name, &tensor));
    return tensor;
}

/* The momentum of the file is that of the layer: 0.9 of the old and 0.1 of the batch, as PyTorch's momentum of 0.1. */
static void moving_statistics_are_trained_with_the_momentum_of_the_file(void **state) {
    (void)state;
    enum { FEATURES = 3 };
    onnx_message m;
    mst_model *model;
    mst_tensor *x, *y;
    mst_dataset *data;
    const layers_case norm = {"BatchNormalization n x gamma beta mean var momentum=0.75;MatMul y n w",
                              {.ndim = 2, .dim = {ROWS, FEATURES}},
                              2,
                              {{"gamma", {.ndim = 1, .dim = {FEATURES}}},
                               {"beta", {.ndim = 1, .dim = {FEATURES}}},
                               {"mean", {.ndim = 1, .dim = {FEATURES}}},
                               {"var", {.ndim = 1, .dim = {FEATURES}}},
                               {"w", {.ndim = 2, .dim = {FEATURES, 1}}}},
                              NULL};
    begin_case(&m, &norm);
    EXPECT_OK(mst_layers_load(write_message(&m), &model, NULL));
    mst_tensor *before = weight_of(model, "batch_normalization/moving_mean");
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(ROWS, FEATURES), &x));
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(ROWS, 1), &y));
    double mean[FEATURES] = {0};
    for (int64_t i = 0; i < mst_tensor_count(x); i++) {
        mst_tensor_set(x, i, (double)(i * 5 % 7));
        mean[i % FEATURES] += mst_tensor_get(x, i) / ROWS;
    }
    for (int64_t i = 0; i < ROWS; i++) mst_tensor_set(y, i, (double)i);
    EXPECT_OK(mst_dataset_from_tensors((mst_tensor *[]){x, y}, 2, &data));
    EXPECT_OK(mst_compile(model, .loss = MST_LOSS_MEAN_SQUARED_ERROR, .session = {.devices = "cpu:1"}));
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = ROWS, .epochs = 1));
    mst_tensor *after = weight_of(model, "batch_normalization/moving_mean");
    for (int i = 0; i < FEATURES; i++)
        assert_true(fabs(mst_tensor_get(after, i) - (0.75 * mst_tensor_get(before, i) + 0.25 * mean[i])) < 1e-5);
    mst_tensor_release(before);
    mst_tensor_release(after);
    mst_tensor_release(x);
    mst_tensor_release(y);
    mst_dataset_release(data);
    mst_model_destroy(model);
}

static void what_is_no_layer(void **state) {
    (void)state;
    const struct {
        const char *nodes;
        mst_shape x;
        mst_status code;
        const char *why;
    } refused[] = {
        {"Erf y x",
         {.ndim = 2, .dim = {-1, 6}},
         MST_UNIMPLEMENTED,
         "node 'y' (Erf, opset 17): the operator is no layer"},
        {"Gemm y x x", {.ndim = 2, .dim = {-1, 6}}, MST_UNIMPLEMENTED, "input 1 must be a constant"},
        {"Gemm y x w transA=1", {.ndim = 2, .dim = {-1, 6}}, MST_UNIMPLEMENTED, "transA must be 0"},
        {"MatMul a x w;MatMul y x w", {.ndim = 2, .dim = {-1, 6}}, MST_UNIMPLEMENTED, "shared weights"},
        {"MatMul y x vector", {.ndim = 2, .dim = {-1, 6}}, MST_UNIMPLEMENTED, "must be a matrix"},
        {"MatMul y x w", {.ndim = 2, .dim = {-1, 5}}, MST_INVALID, ""},
        {"Transpose y x perm=1,0", {.ndim = 2, .dim = {-1, 6}}, MST_UNIMPLEMENTED, "moves the examples"},
        {"Transpose y x perm=0,0", {.ndim = 2, .dim = {-1, 6}}, MST_INVALID, "an axis twice"},
        {"Conv y x k group=5", {.ndim = 4, .dim = {-1, 2, 5, 5}}, MST_INVALID, "does not divide its 3 filters"},
        {"Conv y x k pads=1,1", {.ndim = 4, .dim = {-1, 2, 5, 5}}, MST_INVALID, "pads has 2 numbers, and must have 4"},
        {"Conv y x k strides=0,1", {.ndim = 4, .dim = {-1, 2, 5, 5}}, MST_INVALID, "strides has 0"},
        {"Conv y x w", {.ndim = 4, .dim = {-1, 2, 5, 5}}, MST_INVALID, "its weights have 2"},
        {"Conv y x k auto_pad:SAME_LOWER", {.ndim = 4, .dim = {-1, 2, 5, 5}}, MST_UNIMPLEMENTED, "auto_pad"},
        {"MaxPool y x kernel_shape=3,3 strides=2,2 pads=1,1,1,1",
         {.ndim = 4, .dim = {-1, 2, 5, 5}},
         MST_UNIMPLEMENTED,
         "below 0"},
        {"MaxPool y x kernel_shape=2,2 dilations=2,2",
         {.ndim = 4, .dim = {-1, 2, 5, 5}},
         MST_UNIMPLEMENTED,
         "dilations"},
        {"MaxPool y x kernel_shape=2,2 ceil_mode=1", {.ndim = 4, .dim = {-1, 2, 5, 5}}, MST_UNIMPLEMENTED, "ceil_mode"},
        {"ConvTranspose y x q group=2", {.ndim = 4, .dim = {-1, 2, 5, 5}}, MST_UNIMPLEMENTED, "has groups"},
        {"ConvTranspose y x q strides=3,3", {.ndim = 4, .dim = {-1, 2, 5, 5}}, MST_UNIMPLEMENTED, "shorter than"},
        {"ConvTranspose y x q output_padding=1,1",
         {.ndim = 4, .dim = {-1, 2, 5, 5}},
         MST_UNIMPLEMENTED,
         "above its pads"},
        {"ConvTranspose y x w", {.ndim = 4, .dim = {-1, 2, 5, 5}}, MST_INVALID, "its weights have 2"},
        {"Resize y x _ vector", {.ndim = 4, .dim = {-1, 2, 5, 5}}, MST_UNIMPLEMENTED, "for whole scales"},
        {"Resize y x", {.ndim = 4, .dim = {-1, 2, 5, 5}}, MST_UNIMPLEMENTED, "by scales"},
        {"Add y x k", {.ndim = 4, .dim = {-1, 2, 5, 5}}, MST_UNIMPLEMENTED, "one number of float32, or one for each"},
        {"Relu y x other=1", {.ndim = 2, .dim = {-1, 6}}, MST_UNIMPLEMENTED, "'other' is not supported"},
        {"Relu a x", {.ndim = 2, .dim = {-1, 6}}, MST_CORRUPT, "'y' is made by no node"},
        {"Relu y z", {.ndim = 2, .dim = {-1, 6}}, MST_CORRUPT, "'z' is no input"},
        {"Softmax y x axis=7", {.ndim = 2, .dim = {-1, 6}}, MST_INVALID, "axis 7"},
        {"Identity y w", {.ndim = 2, .dim = {-1, 6}}, MST_UNIMPLEMENTED, "depends on no input"},
        {"Transpose t x perm=1,0,2;LSTM l t m n direction:bidirectional;Gather y l first axis=1",
         {.ndim = 3, .dim = {-1, 5, 4}},
         MST_UNIMPLEMENTED,
         "has the axes of a recurrent operator"},
        {"Transpose t x perm=1,0,2;LSTM l t m n direction:bidirectional;Squeeze y l first",
         {.ndim = 3, .dim = {-1, 5, 4}},
         MST_UNIMPLEMENTED,
         "it removes axis 1, which may have several"},
        {"Transpose t x perm=1,0,2;RNN l t o n direction:reverse;Squeeze s l first;Transpose y s perm=1,0,2",
         {.ndim = 3, .dim = {-1, 5, 4}},
         MST_UNIMPLEMENTED,
         "in the other order"},
        {"Transpose t x perm=1,0,2;LSTM l t m n direction:bidirectional;Add y l l",
         {.ndim = 3, .dim = {-1, 5, 4}},
         MST_UNIMPLEMENTED,
         "has the axes of a recurrent operator"},
        {"Transpose t x perm=1,0,2;Add y t t",
         {.ndim = 3, .dim = {-1, 5, 4}},
         MST_UNIMPLEMENTED,
         "axes of a recurrent"},
        {"Transpose t x perm=1,0,2;LSTM l t m n direction:bidirectional;Slice y l minus none none",
         {.ndim = 3, .dim = {-1, 5, 4}},
         MST_UNIMPLEMENTED,
         "the first or last step"},
        {"Gather y x first axis=1",
         {.ndim = 3, .dim = {-1, 5, 4}},
         MST_UNIMPLEMENTED,
         "only for one element of an axis beside"},
        {"Transpose t x perm=1,0,2;LSTM l t m n direction:bidirectional;Concat y l l axis=0",
         {.ndim = 3, .dim = {-1, 5, 4}},
         MST_UNIMPLEMENTED,
         "only ends of recurrent operators"},
        {"Transpose t x perm=1,0,2;LSTM l t m n direction:bidirectional;Reshape y l vector",
         {.ndim = 3, .dim = {-1, 5, 4}},
         MST_INVALID,
         "a list of at most 8"},
        {"LSTM y x m n", {.ndim = 3, .dim = {-1, 5, 4}}, MST_UNIMPLEMENTED, "must have the steps first"},
        {"Transpose t x perm=1,0,2;LSTM y t m n hidden_size=7",
         {.ndim = 3, .dim = {-1, 5, 4}},
         MST_INVALID,
         "its hidden_size is 7"},
        {"Transpose t x perm=1,0,2;LSTM y t m n _ _ m",
         {.ndim = 3, .dim = {-1, 5, 4}},
         MST_UNIMPLEMENTED,
         "a first state"},
        {"Transpose y x perm=1,0,2", {.ndim = 3, .dim = {-1, 5, 4}}, MST_UNIMPLEMENTED, "axes of a recurrent"},
        {"Reshape y x vector", {.ndim = 2, .dim = {-1, 6}}, MST_INVALID, "a list of at most 8 integers"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        onnx_message m;
        mst_model *model = NULL;
        onnx_begin(&m, 17);
        onnx_add_input(&m, "x", refused[i].x);
        add_floats(&m, "w", MST_SHAPE(6, 5));
        add_floats(&m, "vector", MST_SHAPE(6));
        add_floats(&m, "k", MST_SHAPE(3, 2, 2, 2));
        add_floats(&m, "m", MST_SHAPE(2, 8, 4));
        add_floats(&m, "n",
                   MST_SHAPE(strstr(refused[i].nodes, "RNN") ? 1 : 2, strstr(refused[i].nodes, "RNN") ? 2 : 8, 2));
        add_floats(&m, "o", MST_SHAPE(1, 2, 4));
        add_floats(&m, "q", MST_SHAPE(2, 3, 2, 2));
        onnx_add_list(&m, "first", one_axis, 1);
        onnx_add_list(&m, "minus", last_step, 1);
        onnx_add_list(&m, "none", zero_axis, 1);
        onnx_add_nodes(&m, refused[i].nodes);
        onnx_add_output(&m, "y", MST_SHAPE(-1, -1));
        const mst_status status = mst_layers_load(write_message(&m), &model, NULL);
        if (status != refused[i].code || !strstr(mst_error()->message, refused[i].why))
            fail_msg("%s: %d %s", refused[i].nodes, (int)status, status ? mst_error()->message : "it is read");
        assert_null(model);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST_IN_FOLDER(layers_predict_what_the_operators_compute),
                                       TEST_IN_FOLDER(moving_statistics_are_trained_with_the_momentum_of_the_file),
                                       TEST_IN_FOLDER(what_is_no_layer)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
