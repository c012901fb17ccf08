/* Models and graphs in ONNX files: written files are read back, and files that are damaged, contradictory or not
 * supported are errors. */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "graph/graph.h"
#include "model_file/onnx/onnx_file.h"
#include "muster/model_file.h"
#include "muster/train.h"
#include "support/expect.h"
#include "support/folder.h"
#include "support/onnx_message.h"

enum { ROWS = 3, SIDE = 6, CHANNELS = 2 };

/* ---- what is written is read again ---- */

static mst_dataset *pictures(void) {
    mst_tensor *x;
    mst_dataset *data;
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(ROWS, SIDE, SIDE, CHANNELS), &x));
    for (int64_t i = 0; i < mst_tensor_count(x); i++) mst_tensor_set(x, i, (double)(i * 37 % 19) / 9 - 1);
    EXPECT_OK(mst_dataset_from_tensors(&x, 1, &data));
    mst_tensor_release(x);
    return data;
}

static mst_model *network(mst_dataset *data) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    mst_input(model, MST_SHAPE(SIDE, SIDE, CHANNELS));
    mst_conv2d(model, 4, 3, .strides = 2, .padding = MST_PADDING_SAME, .name = "conv");
    mst_batch_normalization(model, .name = "norm");
    mst_re_lu(model, .max_value = 6);
    mst_max_pooling2d(model, .pool_size = 2);
    mst_flatten(model);
    mst_dense(model, 3, .activation = MST_SOFTMAX, .name = "dense");
    EXPECT_OK(mst_compile(model, .seed = 5, .session = {.devices = "cpu:1"}));
    EXPECT_OK(mst_build(model, data, false));
    return model;
}

static mst_tensor *predict(mst_model *model, mst_dataset *data) {
    mst_tensor *out;
    EXPECT_OK(mst_predict(model, data, ROWS, &out));
    return out;
}

static void written_and_read_again(void **state) {
    (void)state;
    mst_dataset *data = pictures();
    mst_model *model = network(data), *copy;
    mst_model_compiled compiled;
    const mst_weight *weight;
    mst_state_info *before, *after;
    int64_t count, num_before, num_after;
    EXPECT_OK(mst_store_list(mst_model_store(model), &before, &num_before));
    EXPECT_OK(mst_model_save(model, folder_path("m.onnx")));
    EXPECT_OK(mst_store_list(mst_model_store(model), &after, &num_after));
    assert_int_equal(num_before, num_after);
    EXPECT_OK(mst_model_load(folder_path("m.onnx"), &copy, &compiled));
    assert_false(compiled.has_loss || compiled.has_optimizer);
    EXPECT_OK(mst_model_weights(copy, &weight, &count));
    assert_int_equal(count, 6); /* batch normalization is a factor and a shift */
    assert_string_equal(weight[0].name, "onnx/conv_kernel");
    assert_true(mst_shape_equal(weight[0].spec.shape, MST_SHAPE(3, 3, CHANNELS, 4)));
    EXPECT_OK(mst_compile(copy, .session = {.devices = "cpu:1"}));
    mst_tensor *a = predict(model, data), *b = predict(copy, data);
    assert_true(mst_shape_equal(mst_tensor_shape(a), mst_tensor_shape(b)));
    assert_memory_equal(mst_tensor_data(a), mst_tensor_data(b), mst_tensor_bytes(a));
    EXPECT_OK(mst_model_save(copy, folder_path("again.onnx")));
    EXPECT_ERROR(mst_model_save(copy, folder_path("m.json")), MST_UNIMPLEMENTED, "onnx");
    mst_tensor_release(a);
    mst_tensor_release(b);
    free(before);
    free(after);
    mst_model_destroy(copy);
    mst_model_destroy(model);
    mst_dataset_release(data);
}

/* Recurrent layers, attention, and volumes: the same outputs again, without another program. */
static void other_layers_written_and_read_again(void **state) {
    (void)state;
    mst_dataset *data = pictures();
    mst_model *model, *copy;
    EXPECT_OK(mst_model_create(&model));
    mst_output x = mst_input(model, MST_SHAPE(SIDE, SIDE, CHANNELS));
    x = mst_reshape_to(x, MST_SHAPE(SIDE, SIDE, CHANNELS, 1));
    x = mst_conv3d_transpose(x, 2, MST_AXES(2), .strides = MST_AXES(2, 1, 1));
    x = mst_group_normalization(mst_max_pooling3d(x, .pool_size = MST_AXES(2, 1, 1)), .groups = 2);
    x = mst_lstm(mst_reshape_to(x, MST_SHAPE(SIDE, -1)), 5, .return_sequences = true);
    x = mst_multi_head_attention(x, 4, 2, .num_key_value_heads = 2, .causal = true, .rotary_base = 100);
    x = mst_multi_head_attention(mst_rms_normalization(x), 2, 3);
    mst_bidirectional(mst_gru(x, 4, .return_sequences = true, .go_backwards = true), 3,
                      .cell = MST_RECURRENT_SIMPLE_RNN);
    EXPECT_OK(mst_compile(model, .seed = 5, .session = {.devices = "cpu:1"}));
    EXPECT_OK(mst_build(model, data, false));
    EXPECT_OK(mst_model_save(model, folder_path("m.onnx")));
    EXPECT_OK(mst_model_load(folder_path("m.onnx"), &copy, NULL));
    EXPECT_OK(mst_compile(copy, .session = {.devices = "cpu:1"}));
    mst_tensor *a = predict(model, data), *b = predict(copy, data);
    assert_true(mst_shape_equal(mst_tensor_shape(a), MST_SHAPE(ROWS, 6)));
    assert_true(mst_shape_equal(mst_tensor_shape(b), MST_SHAPE(ROWS, 6)));
    for (int64_t i = 0; i < mst_tensor_count(a); i++)
        assert_true(fabs(mst_tensor_get(a, i) - mst_tensor_get(b, i)) < 1e-5);
    EXPECT_OK(mst_model_save(copy, folder_path("again.onnx")));
    mst_tensor_release(a);
    mst_tensor_release(b);
    mst_model_destroy(copy);
    mst_model_destroy(model);
    mst_dataset_release(data);
}

static mst_value angles(void *context, mst_value x, bool training) {
    (void)context, (void)training;
    return mst_atan2(x, mst_tanh(x));
}

/* One error that names the layer; no file. */
static void what_is_not_written(void **state) {
    (void)state;
    mst_tensor *x;
    mst_dataset *data;
    mst_model *model;
    EXPECT_OK(mst_tensor_create(MST_I32, MST_SHAPE(ROWS, 4), &x));
    EXPECT_OK(mst_dataset_from_tensors(&x, 1, &data));
    EXPECT_OK(mst_model_create(&model));
    mst_embedding(mst_input(model, MST_SHAPE(4), .dtype = MST_I32), 9, 3, .mask_zero = true);
    mst_lstm(model, 2, .name = "reader");
    EXPECT_OK(mst_compile(model, .session = {.devices = "cpu:1"}));
    EXPECT_OK(mst_build(model, data, false));
    EXPECT_ERROR(mst_model_save(model, folder_path("m.onnx")), MST_UNIMPLEMENTED,
                 "m.onnx': lstm 'reader/lstm': a mask of its steps is not written as ONNX");
    mst_model_destroy(model);
    EXPECT_OK(mst_model_create(&model));
    mst_lambda(mst_input(model, MST_SHAPE(4)), angles, .name = "angles");
    EXPECT_ERROR(mst_model_save(model, folder_path("m.onnx")), MST_UNIMPLEMENTED,
                 "m.onnx': op atan2 of 'angles/atan2' cannot be written as ONNX");
    mst_model_destroy(model);
    assert_int_equal(access(folder_path("m.onnx"), F_OK), -1);
    mst_tensor_release(x);
    mst_dataset_release(data);
}

static void weights_without_a_value(void **state) {
    (void)state;
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    mst_input(model, MST_SHAPE(4));
    mst_dense(model, 3);
    EXPECT_ERROR(mst_model_save(model, folder_path("none.onnx")), MST_NOT_FOUND,
                 "none.onnx': the weights have no values yet, such as 'dense/kernel'");
    mst_model_destroy(model);
}

/* ---- what others write ---- */

/* Sizes that nodes compute: [n, 2, 3] to [n, 6], whatever n is. */
static void shapes_that_nodes_compute(void **state) {
    (void)state;
    onnx_message m;
    int64_t zero = 0, first = 0, rest = -1;
    onnx_begin(&m, 17);
    onnx_add_input(&m, "x", MST_SHAPE(-1, 2, 3));
    onnx_add_list(&m, "zero", &zero, 1);
    onnx_add_list(&m, "axis", &first, 1);
    onnx_add_list(&m, "rest", &rest, 1);
    m.tensor[0].n_dims = 0;
    onnx_add_node(&m, "Shape shape x");
    onnx_add_node(&m, "Gather rows shape zero");
    onnx_add_node(&m, "Unsqueeze row rows axis");
    onnx_add_node(&m, "Concat target row rest");
    onnx_add_attribute(&m, "axis", MST_ONNX_INT);
    onnx_add_node(&m, "Reshape y x target");
    onnx_add_output(&m, "y", MST_SHAPE(-1, 6));
    mst_graph *graph = onnx_decode(&m);
    const mst_value y = {mst_graph_find(graph, "y"), 0};
    assert_non_null(mst_graph_find(graph, "x"));
    assert_true(mst_shape_equal(mst_value_spec(y).shape, MST_SHAPE(-1, 6)));
    mst_graph_destroy(graph);
}

static int count_ops(const mst_graph *graph, const char *name) {
    int count = 0;
    for (int64_t i = 0; i < graph->num_nodes; i++) count += strcmp(graph->node[i]->op->name, name) == 0;
    return count;
}

/* A picture with channels last that a node turns round before the pooling, and back after it, moves nowhere. */
static void turning_round_and_back(void **state) {
    (void)state;
    onnx_message m;
    int64_t first[] = {0, 3, 1, 2}, last[] = {0, 2, 3, 1};
    onnx_begin(&m, 13);
    onnx_add_input(&m, "x", MST_SHAPE(-1, 4, 5, 3));
    onnx_add_node(&m, "Transpose a x");
    onnx_add_attribute(&m, "perm", MST_ONNX_INTS)->ints = first;
    m.attribute[0][0].n_ints = 4;
    onnx_add_node(&m, "Relu r a");
    onnx_add_node(&m, "GlobalAveragePool b r");
    onnx_add_node(&m, "Transpose y b");
    onnx_add_attribute(&m, "perm", MST_ONNX_INTS)->ints = last;
    m.attribute[3][0].n_ints = 4;
    onnx_add_output(&m, "y", MST_SHAPE(-1, 1, 1, 3));
    mst_graph *graph = onnx_decode(&m);
    assert_int_equal(count_ops(graph, "transpose"), 0);
    size_t size;
    void *data = onnx_pack(&m, &size);
    mst_model *model;
    EXPECT_OK(mst_file_write(folder_path("turned.onnx"), data, size));
    EXPECT_OK(mst_model_load(folder_path("turned.onnx"), &model, NULL));
    mst_graph *other;
    EXPECT_OK(mst_graph_create(&other));
    const mst_value x = mst_placeholder(other, MST_F32, MST_SHAPE(2, 4, 5, 3)), y = mst_model_call(model, x, false);
    EXPECT_OK(mst_graph_check(other));
    assert_true(mst_shape_equal(mst_value_spec(y).shape, MST_SHAPE(2, 1, 1, 3)));
    mst_graph_destroy(other);
    mst_model_destroy(model);
    mst_graph_destroy(graph);
    free(data);
}

/* Two convolutions with the same weights, and their sum with a vector of them: one variable, so training keeps them
 * the same. */
static void weights_that_are_shared(void **state) {
    (void)state;
    onnx_message m;
    int64_t dims[] = {2, 2, 1, 1};
    float numbers[] = {1, 2, 3, 4};
    size_t size;
    mst_model *model;
    const mst_weight *weight;
    int64_t count;
    onnx_begin(&m, 17);
    onnx_add_input(&m, "x", MST_SHAPE(-1, 2, 3, 3));
    Muster__OnnxTensor *tensor = onnx_add_list(&m, "w", NULL, 0);
    tensor->data_type = mst_onnx_type(MST_F32);
    tensor->dims = dims;
    tensor->n_dims = 4;
    tensor->float_data = numbers;
    tensor->n_float_data = 4;
    onnx_add_node(&m, "Conv a x w");
    onnx_add_node(&m, "Conv b a w");
    onnx_add_node(&m, "ReduceSum sum w");
    onnx_add_attribute(&m, "keepdims", MST_ONNX_INT);
    onnx_add_node(&m, "Add y b sum");
    onnx_add_output(&m, "y", MST_SHAPE(-1, 2, 3, 3));
    void *data = onnx_pack(&m, &size);
    EXPECT_OK(mst_file_write(folder_path("shared.onnx"), data, size));
    EXPECT_OK(mst_model_load(folder_path("shared.onnx"), &model, NULL));
    EXPECT_OK(mst_model_weights(model, &weight, &count));
    assert_int_equal(count, 1);
    assert_true(mst_shape_equal(weight[0].spec.shape, MST_SHAPE(1, 1, 2, 2)));
    mst_model_destroy(model);
    free(data);
}

/* ---- sizes of pictures ---- */

static void set_pair(Muster__OnnxAttribute *a, int64_t *pair) {
    a->ints = pair;
    a->n_ints = 2;
}

/* Windows of 3 with steps of 2 over 6 elements: a third one sticks out, but with auto_pad VALID, as in onnx's reference
 * implementation. */
static void windows_that_stick_out(void **state) {
    (void)state;
    for (int valid = 0; valid < 2; valid++) {
        onnx_message m;
        int64_t size[] = {3, 3}, strides[] = {2, 2};
        onnx_begin(&m, 17);
        onnx_add_input(&m, "x", MST_SHAPE(1, 1, 6, 6));
        onnx_add_node(&m, "MaxPool y x");
        set_pair(onnx_add_attribute(&m, "kernel_shape", MST_ONNX_INTS), size);
        set_pair(onnx_add_attribute(&m, "strides", MST_ONNX_INTS), strides);
        onnx_add_attribute(&m, "ceil_mode", MST_ONNX_INT)->i = 1;
        Muster__OnnxAttribute *pad = onnx_add_attribute(&m, "auto_pad", MST_ONNX_STRING);
        pad->s.data = (uint8_t *)onnx_text(valid ? "VALID" : "NOTSET");
        pad->s.len = strlen(valid ? "VALID" : "NOTSET");
        onnx_add_output(&m, "y", MST_SHAPE(1, 1, -1, -1));
        mst_graph *graph = onnx_decode(&m);
        const mst_value y = {mst_graph_find(graph, "y"), 0};
        assert_true(mst_shape_equal(mst_value_spec(y).shape, MST_SHAPE(1, 1, 3 - valid, 3 - valid)));
        mst_graph_destroy(graph);
    }
}

/* A picture of 2^40 rows, and pads that no window has. */
static void windows_that_are_too_large(void **state) {
    (void)state;
    onnx_message m;
    int64_t most[] = {INT32_MAX, INT32_MAX};
    onnx_begin(&m, 17);
    onnx_add_input(&m, "x", MST_SHAPE(1, 1, 5, 5));
    onnx_add_node(&m, "MaxPool y x");
    set_pair(onnx_add_attribute(&m, "kernel_shape", MST_ONNX_INTS), most);
    set_pair(onnx_add_attribute(&m, "dilations", MST_ONNX_INTS), most);
    Muster__OnnxAttribute *pad = onnx_add_attribute(&m, "auto_pad", MST_ONNX_STRING);
    pad->s.data = (uint8_t *)onnx_text("SAME_LOWER");
    pad->s.len = strlen("SAME_LOWER");
    onnx_add_output(&m, "y", MST_SHAPE(1, 1, 5, 5));
    onnx_expect_refused(&m, MST_INVALID, "auto_pad SAME_LOWER would need pads of 46116860");
    m.dim[0][2].dim_value = (int64_t)1 << 40;
    onnx_expect_refused(&m, MST_INVALID, "auto_pad SAME_LOWER is not supported for a size of 1099511627776");
}

static mst_value resize_to(void *context, mst_value src, bool training) {
    (void)training;
    return mst_resize2d(src, MST_AXES(31, 5), .interpolation = *(const mst_interpolation *)context);
}

static mst_status save_resized(mst_interpolation interpolation) {
    mst_model *model;
    EXPECT_OK(mst_model_create(&model));
    mst_input(model, MST_SHAPE(7, 3, CHANNELS));
    mst_lambda(model, resize_to, .context = &interpolation);
    const mst_status status = mst_model_save(model, folder_path("resized.onnx"));
    mst_model_destroy(model);
    return status;
}

/* 7 * (31.0F / 7) is less than 31, and ONNX rounds down: the picture would lose a row. */
static void sizes_that_scales_give(void **state) {
    (void)state;
    void *data;
    size_t size;
    mst_onnx_file file;
    EXPECT_OK(save_resized(MST_INTERPOLATION_BILINEAR));
    EXPECT_OK(mst_file_read(folder_path("resized.onnx"), INT32_MAX, &data, &size));
    EXPECT_OK(mst_onnx_file_parse("resized", NULL, data, size, &file));
    const int64_t at = mst_names_get(&file.names, "scales");
    assert_true(at >= 0);
    const float *scale = mst_tensor_data(file.tensor[at]);
    assert_int_equal((int)(7.0F * scale[2]), 31);
    assert_int_equal((int)(7.0 * (double)scale[2]), 31);
    assert_int_equal((int)(3.0 * (double)scale[3]), 5);
    mst_onnx_file_free(&file);
    free(data);
    EXPECT_ERROR(save_resized(MST_INTERPOLATION_AREA), MST_UNIMPLEMENTED, "means over areas of unequal size");
}

/* ---- what is refused ---- */

static void one_node(onnx_message *m, int64_t opset, const char *words) {
    onnx_begin(m, opset);
    onnx_add_input(m, "x", MST_SHAPE(-1, 4));
    onnx_add_node(m, words);
    onnx_add_output(m, "y", MST_SHAPE(-1, 4));
}

static void what_is_not_known(void **state) {
    (void)state;
    onnx_message m;
    one_node(&m, 17, "NonMaxSuppression y x");
    m.node[0].name = onnx_text("boxes\n");
    onnx_expect_refused(&m, MST_UNIMPLEMENTED,
                        "node 'boxes?' (NonMaxSuppression, opset 17): the operator is not supported");
    one_node(&m, 17, "Relu y x");
    m.node[0].domain = onnx_text("com.example");
    onnx_expect_refused(&m, MST_UNIMPLEMENTED, "operator is not supported");
    one_node(&m, 12, "Relu y x");
    onnx_expect_refused(&m, MST_UNIMPLEMENTED, "has the opset 12, and 13 to 25 are supported");
    one_node(&m, 17, "Relu y x");
    m.model.ir_version = 99;
    onnx_expect_refused(&m, MST_UNIMPLEMENTED, "ir_version 99 of ONNX, and at most 13 is supported");
    one_node(&m, 26, "Relu y x");
    onnx_expect_refused(&m, MST_UNIMPLEMENTED, "has the opset 26, which is too new, and 13 to 25 are supported");
    Muster__OnnxOpset other = MUSTER__ONNX_OPSET__INIT;
    m.model.opset_import = (Muster__OnnxOpset *[]){&m.opset, &other};
    m.model.n_opset_import = 2;
    onnx_expect_refused(&m, MST_CORRUPT, "has two opsets for the standard operators, 26 and 0");
    one_node(&m, 21, "Relu y x");
    onnx_add_attribute(&m, "surprise", MST_ONNX_INT);
    onnx_expect_refused(&m, MST_UNIMPLEMENTED, "node 'y' (Relu, opset 21): its attribute 'surprise'");
    one_node(&m, 17, "Relu y x");
    m.tensor_type[0].elem_type = 10;
    onnx_expect_refused(&m, MST_UNIMPLEMENTED, "float16");
}

static void what_contradicts_itself(void **state) {
    (void)state;
    onnx_message m;
    int64_t list[] = {1, -1};
    one_node(&m, 17, "Relu y nothing");
    onnx_expect_refused(&m, MST_CORRUPT, "its input 'nothing' is no input, no tensor and no output of an earlier node");
    one_node(&m, 17, "Relu z x");
    onnx_expect_refused(&m, MST_CORRUPT, "output 'y' is made by no node");
    one_node(&m, 17, "Relu x x");
    onnx_expect_refused(&m, MST_CORRUPT, "the value 'x' has that name already");
    one_node(&m, 17, "Conv y x x");
    m.name[0][1] = onnx_text("");
    onnx_expect_refused(&m, MST_CORRUPT, "its input or its weights are missing");
    one_node(&m, 17, "Gemm y x");
    onnx_expect_refused(&m, MST_CORRUPT, "its input 1 is missing");
    one_node(&m, 17, "Reshape y x shape");
    onnx_add_list(&m, "shape", list, 2)->dims[0] = INT64_MAX / 16;
    onnx_expect_refused(&m, MST_CORRUPT, "has 2 elements");
    one_node(&m, 17, "Reshape y x shape");
    onnx_add_list(&m, "shape", list, 2)->dims[0] = 1 << 20;
    onnx_expect_refused(&m, MST_CORRUPT, "has 2 elements, and its shape needs 1048576");
    one_node(&m, 17, "Reshape y x shape");
    onnx_add_list(&m, "shape", list, 2)->dims[0] = -2;
    onnx_expect_refused(&m, MST_INVALID, "");
}

/* Numbers of a file that would overflow, or contradict the shape. */
static void numbers_that_cannot_be(void **state) {
    (void)state;
    onnx_message m;
    int64_t pads[] = {0, INT64_MIN, 0, 0}, parts[] = {3}, shape[] = {INT64_MIN, 4};
    one_node(&m, 17, "Pad y x pads");
    onnx_add_list(&m, "pads", pads, 4);
    onnx_expect_refused(&m, MST_INVALID, "node 'y' (Pad, opset 17): its pads of -9223372036854775808 and 0");
    one_node(&m, 17, "Split y x parts");
    onnx_add_attribute(&m, "axis", MST_ONNX_INT)->i = 1;
    onnx_add_list(&m, "parts", parts, 1);
    onnx_expect_refused(&m, MST_INVALID, "its parts have 3 elements together, and the dimension that it splits has 4");
    one_node(&m, 17, "Reshape y x shape");
    onnx_add_list(&m, "shape", shape, 2);
    onnx_expect_refused(&m, MST_INVALID, "has the size -9223372036854775808");
}

/* Weights that do not fit the state, and what of a cell is not read. */
static void cells_that_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *words, *attribute;
        int64_t value;
        mst_shape kernel;
        mst_status code;
        const char *why;
    } cases[] = {
        {"LSTM y x w r",
         NULL,
         0,
         {.ndim = 3, .dim = {1, 7, 3}},
         MST_INVALID,
         "its weights have a shape that does not fit"},
        {"LSTM y x w r",
         NULL,
         0,
         {.ndim = 3, .dim = {2, 8, 3}},
         MST_INVALID,
         "its weights have a shape that does not fit"},
        {"LSTM y x w r", NULL, 0, {.ndim = 2, .dim = {8, 3}}, MST_INVALID, "input 1 has 2 dimensions"},
        {"LSTM y x w r",
         "hidden_size",
         3,
         {.ndim = 3, .dim = {1, 8, 3}},
         MST_INVALID,
         "its hidden_size is 3, and its weights have 2 units"},
        {"LSTM y x w r",
         "input_forget",
         1,
         {.ndim = 3, .dim = {1, 8, 3}},
         MST_UNIMPLEMENTED,
         "which couples two gates"},
        {"LSTM y x w", NULL, 0, {.ndim = 3, .dim = {1, 8, 3}}, MST_CORRUPT, "its input 2 is missing"},
        {"GRU y x w s", NULL, 0, {.ndim = 3, .dim = {1, 6, 3}}, MST_UNIMPLEMENTED, "linear_before_reset = 0"},
        {"RNN y x w r",
         NULL,
         0,
         {.ndim = 3, .dim = {1, 2, 3}},
         MST_INVALID,
         "its recurrent weights have a shape that does not fit"},
        {"LSTM y x w r w",
         NULL,
         0,
         {.ndim = 3, .dim = {1, 8, 3}},
         MST_INVALID,
         "its biases have a shape that does not fit"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        onnx_message m;
        onnx_begin(&m, 17);
        onnx_add_input(&m, "x", MST_SHAPE(5, -1, 3));
        onnx_add_input(&m, "w", cases[i].kernel);
        onnx_add_input(&m, "r", MST_SHAPE(1, 8, 2));
        onnx_add_input(&m, "s", MST_SHAPE(1, 6, 2));
        onnx_add_node(&m, cases[i].words);
        if (cases[i].attribute) onnx_add_attribute(&m, cases[i].attribute, MST_ONNX_INT)->i = cases[i].value;
        onnx_add_output(&m, "y", MST_SHAPE(5, 1, -1, 2));
        onnx_expect_refused(&m, cases[i].code, cases[i].why);
    }
}

/* As PyTorch writes it: zeros of the batch's size, which only a run knows, are the first state. */
static void first_states_of_zeros(void **state) {
    (void)state;
    float zeros[3] = {0};
    for (int i = 0; i < 2; i++) {
        int64_t one[] = {1}, units[] = {2}, rank[] = {1, 1, 1};
        onnx_message m;
        zeros[0] = (float)i;
        onnx_begin(&m, 17);
        onnx_add_input(&m, "x", MST_SHAPE(5, -1, 3));
        onnx_add_input(&m, "w", MST_SHAPE(1, 2, 3));
        onnx_add_input(&m, "r", MST_SHAPE(1, 2, 2));
        onnx_add_list(&m, "one", one, 1);
        onnx_add_list(&m, "units", units, 1);
        Muster__OnnxTensor *zero = onnx_add_list(&m, "zero", rank, 1);
        zero->n_int64_data = 0;
        zero->data_type = mst_onnx_type(MST_F32);
        zero->float_data = zeros;
        zero->n_float_data = 1;
        zero->dims = rank;
        zero->n_dims = 3;
        onnx_add_node(&m, "Shape all x");
        onnx_add_node(&m, "Gather n all one");
        onnx_add_node(&m, "Concat sizes one n units");
        onnx_add_attribute(&m, "axis", MST_ONNX_INT)->i = 0;
        onnx_add_node(&m, "Expand state zero sizes");
        onnx_add_node(&m, "Concat states state"); /* as of both directions */
        onnx_add_attribute(&m, "axis", MST_ONNX_INT)->i = 0;
        onnx_add_node(&m, "RNN y x w r");
        m.name[5][4] = m.name[5][5] = onnx_text("");
        m.name[5][6] = onnx_text("states");
        m.node[5].n_input = 6;
        onnx_add_output(&m, "y", MST_SHAPE(5, 1, -1, 2));
        if (i == 0)
            mst_graph_destroy(onnx_decode(&m));
        else
            onnx_expect_refused(&m, MST_UNIMPLEMENTED, "it has a first state");
    }
}

static void attributes_of_another_type(void **state) {
    (void)state;
    onnx_message m;
    one_node(&m, 17, "Softmax y x");
    onnx_add_attribute(&m, "axis", MST_ONNX_FLOAT)->f = 1;
    onnx_expect_refused(&m, MST_CORRUPT, "its attribute 'axis' is of type 1");
    one_node(&m, 17, "Transpose y x");
    onnx_add_attribute(&m, "perm", MST_ONNX_INT)->i = 1;
    onnx_expect_refused(&m, MST_CORRUPT, "its attribute 'perm' is of type 2");
}

/* No tensor that is read may name a file outside the folder of the model. */
static void tensors_in_other_files(void **state) {
    (void)state;
    onnx_message m;
    int64_t list[] = {1};
    Muster__OnnxEntry entry, *entries = &entry;
    one_node(&m, 17, "Reshape y x shape");
    Muster__OnnxTensor *tensor = onnx_add_list(&m, "shape", list, 0);
    muster__onnx_entry__init(&entry);
    entry.key = onnx_text("location");
    entry.value.data = (uint8_t *)onnx_text("../../etc/passwd");
    entry.value.len = strlen("../../etc/passwd");
    tensor->data_location = 1;
    tensor->n_external_data = 1;
    tensor->external_data = &entries;
    onnx_expect_refused(&m, MST_UNIMPLEMENTED, "tensor 'shape': its data is in another file, '../../etc/passwd'");
}

/* Every beginning of a file is an error, or a model of less. */
static void files_that_are_cut_off(void **state) {
    (void)state;
    onnx_message m;
    size_t size;
    mst_graph *graph;
    int64_t list[] = {2, -1};
    one_node(&m, 17, "Reshape y x shape");
    onnx_add_list(&m, "shape", list, 2);
    uint8_t *data = onnx_pack(&m, &size);
    for (size_t i = 0; i < size; i++) {
        void *part = malloc(i + 1);
        assert_non_null(part);
        memcpy(part, data, i);
        if (mst_onnx_decode(part, i, &graph))
            assert_null(graph);
        else
            mst_graph_destroy(graph);
        free(part);
    }
    free(data);
}

/* The sum and the difference of two inputs, and one of them as it is: named as in the file, as far as layers can be. */
static void several_inputs_and_outputs(void **state) {
    static const char *const names[] = {"s", "d", "a_1"};
    (void)state;
    onnx_message m;
    size_t size;
    mst_model *model, *again;
    mst_tensor *x[2], *out[3], *same[3];
    mst_dataset *data;
    onnx_begin(&m, 17);
    onnx_add_input(&m, "a", MST_SHAPE(-1, 2));
    onnx_add_input(&m, "b:0", MST_SHAPE(-1, 2));
    onnx_add_node(&m, "Add s a b:0");
    onnx_add_node(&m, "Sub d a b:0");
    onnx_add_output(&m, "s", MST_SHAPE(-1, 2));
    onnx_add_output(&m, "d", MST_SHAPE(-1, 2));
    onnx_add_output(&m, "a", MST_SHAPE(-1, 2));
    void *bytes = onnx_pack(&m, &size);
    EXPECT_OK(mst_file_write(folder_path("two.onnx"), bytes, size));
    free(bytes);
    EXPECT_OK(mst_model_load(folder_path("two.onnx"), &model, NULL));
    EXPECT_OK(mst_model_save(model, folder_path("again.onnx")));
    EXPECT_OK(mst_model_load(folder_path("again.onnx"), &again, NULL));
    assert_string_equal(mst_model_input_name(again, 1), "b_0");
    for (int i = 0; i < 2; i++)
        EXPECT_OK(mst_tensor_copy(MST_F32, MST_SHAPE(1, 2), (float[]){3, (float)(5 * i)}, &x[i]));
    EXPECT_OK(mst_dataset_from_tensors(x, 2, &data));
    EXPECT_OK(mst_compile(model, .session = {.devices = "cpu:1"}));
    EXPECT_OK(mst_compile(again, .session = {.devices = "cpu:1"}));
    EXPECT_OK(mst_predict_all(model, data, 1, out, 3));
    EXPECT_OK(mst_predict_all(again, data, 1, same, 3));
    for (int i = 0; i < 3; i++) {
        assert_string_equal(mst_model_output_name(model, i), names[i]);
        assert_string_equal(mst_model_output_name(again, i), names[i]);
        for (int k = 0; k < 2; k++) {
            const double a = mst_tensor_get(x[0], k), b = mst_tensor_get(x[1], k);
            assert_true(mst_tensor_get(out[i], k) == (i == 0 ? a + b : i == 1 ? a - b : a));
            assert_true(mst_tensor_get(same[i], k) == mst_tensor_get(out[i], k));
        }
        mst_tensor_release(out[i]);
        mst_tensor_release(same[i]);
    }
    mst_dataset_release(data);
    for (int i = 0; i < 2; i++) mst_tensor_release(x[i]);
    mst_model_destroy(again);
    mst_model_destroy(model);
}

/* Also an error of an op says which node it is. */
static void errors_of_ops_name_the_node(void **state) {
    (void)state;
    onnx_message m;
    size_t size;
    mst_model *model;
    one_node(&m, 17, "MatMul y x z");
    onnx_add_input(&m, "z", MST_SHAPE(-1, 5, 3));
    void *data = onnx_pack(&m, &size);
    EXPECT_OK(mst_file_write(folder_path("bad.onnx"), data, size));
    EXPECT_ERROR(mst_model_load(folder_path("bad.onnx"), &model, NULL), MST_INVALID, "node 'y' (MatMul, opset 17): ");
    free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {TEST_IN_FOLDER(written_and_read_again),
                                       TEST_IN_FOLDER(weights_without_a_value),
                                       TEST_IN_FOLDER(other_layers_written_and_read_again),
                                       TEST_IN_FOLDER(what_is_not_written),
                                       cmocka_unit_test(cells_that_are_refused),
                                       cmocka_unit_test(first_states_of_zeros),
                                       cmocka_unit_test(shapes_that_nodes_compute),
                                       TEST_IN_FOLDER(turning_round_and_back),
                                       TEST_IN_FOLDER(weights_that_are_shared),
                                       TEST_IN_FOLDER(sizes_that_scales_give),
                                       cmocka_unit_test(windows_that_stick_out),
                                       cmocka_unit_test(windows_that_are_too_large),
                                       cmocka_unit_test(numbers_that_cannot_be),
                                       cmocka_unit_test(attributes_of_another_type),
                                       cmocka_unit_test(what_is_not_known),
                                       cmocka_unit_test(what_contradicts_itself),
                                       cmocka_unit_test(tensors_in_other_files),
                                       cmocka_unit_test(files_that_are_cut_off),
                                       TEST_IN_FOLDER(errors_of_ops_name_the_node),
                                       TEST_IN_FOLDER(several_inputs_and_outputs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
