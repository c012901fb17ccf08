/** The C side of onnx_test.py and onnx_models_test.py:
 *
 *      parity_onnx models FOLDER
 *                      writes models with weights by a formula to NAME.onnx, and to NAME.npz rows x, what the model
 *                      gives, y, and what the model gives that is read from NAME.onnx, again; of the model `pair`,
 *                      which has two of each, the inputs and outputs by their names
 *
 *      parity_onnx     reads lines "MODEL.onnx INPUT.pb ...", whose inputs are tensors of ONNX in the order of the
 *                      model's, computes the model, and prints for each one line of JSON: {"outputs": [{"dtype",
 *                      "shape", "bytes": hexadecimal}, ...]} or {"error": MESSAGE} */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/file.h"
#include "format/npz.h"
#include "graph/graph.h"
#include "model_file/onnx/onnx_file.h"
#include "muster/applications.h"
#include "muster/model_file.h"
#include "muster/ops.h"
#include "muster/train.h"

enum { MOST = 64, LINE_SIZE = 1 << 16 };

static mst_status read_tensor(const char *path, mst_tensor **out) {
    void *data;
    size_t size;
    MST_TRY(mst_file_read(path, INT32_MAX, &data, &size));
    Muster__OnnxTensor *message = muster__onnx_tensor__unpack(NULL, size, data);
    const mst_status status = message ? mst_onnx_tensor(message, out) : MST_FAIL(MST_CORRUPT, "'%s': no tensor", path);
    if (message) muster__onnx_tensor__free_unpacked(message, NULL);
    free(data);
    return status;
}

/* Placeholders and outputs stand in the order of the file: the last nodes are the identities of the outputs. */
static mst_status run_graph(mst_graph *graph, mst_feed *feed, int num_inputs, int num_outputs, mst_tensor **output) {
    mst_value fetch[MOST];
    mst_session *session;
    const int64_t nodes = mst_graph_num_nodes(graph);
    for (int i = 0; i < num_inputs; i++) feed[i].value = (mst_value){mst_graph_node(graph, i), 0};
    for (int i = 0; i < num_outputs; i++) fetch[i] = (mst_value){mst_graph_node(graph, nodes - num_outputs + i), 0};
    MST_TRY(mst_session_create(graph, &(mst_session_options){.devices = "cpu:1"}, &session));
    const mst_status status = mst_session_run(session, feed, num_inputs, fetch, num_outputs, output);
    mst_session_destroy(session);
    return status;
}

static json_t *output_of(const mst_tensor *tensor) {
    static const char digits[] = "0123456789abcdef";
    const uint8_t *data = mst_tensor_data(tensor);
    const size_t bytes = mst_tensor_bytes(tensor);
    const mst_shape shape = mst_tensor_shape(tensor);
    json_t *list = json_array();
    for (int i = 0; i < shape.ndim; i++) json_array_append_new(list, json_integer(shape.dim[i]));
    char *text = malloc(2 * bytes + 1);
    if (!text) abort();
    for (size_t i = 0; i < bytes; i++) {
        text[2 * i] = digits[data[i] >> 4];
        text[2 * i + 1] = digits[data[i] & 15];
    }
    text[2 * bytes] = '\0';
    json_t *object =
        json_pack("{ss so ss}", "dtype", mst_dtype_name(mst_tensor_dtype(tensor)), "shape", list, "bytes", text);
    free(text);
    return object;
}

static mst_status count_outputs(const char *path, int *out) {
    mst_onnx_file file;
    const mst_status status = mst_onnx_file_read(path, &file);
    if (!status) *out = (int)file.graph->n_output;
    mst_onnx_file_free(&file);
    return status;
}

static mst_status run_case(char *line, json_t *outputs) {
    mst_feed feed[MOST];
    mst_tensor *output[MOST] = {NULL};
    mst_graph *graph = NULL;
    int num_inputs = 0, num_outputs = 0;
    char *rest, *path = strtok_r(line, " \n", &rest), *input;
    memset(feed, 0, sizeof feed);
    mst_status status = path ? count_outputs(path, &num_outputs) : MST_FAIL(MST_INVALID, "an empty line");
    while (!status && num_inputs < MOST && (input = strtok_r(NULL, " \n", &rest)))
        status = read_tensor(input, &feed[num_inputs++].tensor);
    if (!status) status = mst_onnx_read(path, &graph);
    if (!status) status = run_graph(graph, feed, num_inputs, num_outputs, output);
    for (int i = 0; i < num_outputs && !status; i++) json_array_append_new(outputs, output_of(output[i]));
    for (int i = 0; i < MOST; i++) mst_tensor_release(output[i]);
    for (int i = 0; i < num_inputs; i++) mst_tensor_release(feed[i].tensor);
    mst_graph_destroy(graph);
    return status;
}

/* ---- models ---- */

static void build_mlp(mst_model *model) {
    mst_input(model, MST_SHAPE(28, 28));
    mst_flatten(model);
    mst_dense(model, 50, .activation = MST_RELU);
    mst_dense(model, 10, .activation = MST_SOFTMAX);
}

static void build_lenet(mst_model *model) {
    mst_lenet(model, .classifier_activation = MST_SOFTMAX);
}

static void build_text_cnn(mst_model *model) {
    mst_text_cnn(model, .vocabulary_size = 100);
}

static void build_mobilenet(mst_model *model) {
    mst_mobilenet_v2(model, .input_shape = MST_SHAPE(64, 64, 3), .alpha = 0.35, .classes = 10);
}

static void build_resnet(mst_model *model) {
    mst_resnet50(model, .input_shape = MST_SHAPE(32, 64, 3), .classes = 10);
}

/* Other layers: in one dimension, of sequences, several paths, paddings, and activations. */
static void build_others(mst_model *model) {
    const mst_output in = mst_input(model, MST_SHAPE(9, 12, 2));
    mst_output a = mst_conv2d(in, 6, 3, .strides = 2, .padding = MST_PADDING_SAME, .activation = MST_SWISH);
    mst_output b = mst_conv2d(mst_zero_padding2d(in, .sides = MST_AXES(0, 1, 1, 0)), 6, 2, .strides = 2, .groups = 2);
    a = mst_concatenate(MST_OUTPUTS(a, mst_activate(b, MST_GELU)));
    a = mst_max_pooling2d(mst_up_sampling2d(a), .pool_size = 3, .strides = 2, .padding = MST_PADDING_SAME);
    b = mst_reshape_to(a, MST_SHAPE(30, 12));
    b = mst_conv1d(b, 8, 3, .padding = MST_PADDING_SAME, .activation = MST_ELU);
    b = mst_layer_normalization(mst_max_pooling1d(b, .pool_size = 2));
    b = mst_dense(mst_global_average_pooling1d(b), 5, .activation = MST_LEAKY_RELU);
    a = mst_dense(mst_global_max_pooling2d(mst_batch_normalization(a)), 5, .activation = MST_TANH);
    mst_dense(mst_merge(MST_OUTPUTS(a, b), MST_MERGE_MULTIPLY), 3, .activation = MST_SIGMOID);
}

/* In three dimensions, and transposed in all. */
static void build_volumes(mst_model *model) {
    const mst_output in = mst_input(model, MST_SHAPE(6, 7, 8, 2));
    mst_output a = mst_conv3d(in, 4, MST_AXES(3, 2, 1), .padding = MST_PADDING_SAME, .activation = MST_RELU);
    a = mst_max_pooling3d(mst_batch_normalization(a), .pool_size = MST_AXES(2));
    mst_output b = mst_conv3d(in, 4, MST_AXES(2), .strides = MST_AXES(2), .no_bias = true);
    b = mst_average_pooling3d(b, .pool_size = MST_AXES(2), .strides = MST_AXES(1), .padding = MST_PADDING_SAME);
    a = mst_conv3d_transpose(mst_concatenate(MST_OUTPUTS(a, b)), 3, MST_AXES(3, 2, 4), .strides = MST_AXES(2),
                             .padding = MST_PADDING_SAME);
    b = mst_conv3d_transpose(mst_group_normalization(a, .groups = 3), 2, MST_AXES(2), .strides = MST_AXES(1, 3, 2));
    b = mst_dense(mst_global_max_pooling3d(b), 4);
    mst_merge(MST_OUTPUTS(mst_dense(mst_global_average_pooling3d(a), 4), b), MST_MERGE_ADD);
}

static void build_transposed(mst_model *model) {
    mst_output a = mst_input(model, MST_SHAPE(5, 6, 3));
    a = mst_conv2d_transpose(a, 4, 3, .strides = 2, .padding = MST_PADDING_SAME, .activation = MST_RELU);
    a = mst_group_normalization(a, .groups = 2);
    a = mst_conv2d_transpose(a, 5, 2, .strides = 3, .strides_width = 1);
    a = mst_conv2d_transpose(a, 4, 3, .dilation_rate = 2, .no_bias = true);
    a = mst_conv2d(mst_depthwise_conv2d(a, 3, .strides = 2), 3, 3, .strides = 4);
    a = mst_reshape_to(a, MST_SHAPE(-1, 3));
    a = mst_conv1d_transpose(a, 6, 4, .strides = 3, .padding = MST_PADDING_SAME);
    a = mst_group_normalization(mst_conv1d(a, 4, 3, .causal = true, .dilation_rate = 2), .groups = -1);
    mst_unit_normalization(mst_dense(mst_flatten(a), 8));
}

/* Separable convolutions, and layers that cut, repeat and reorder. */
static void build_shaped(mst_model *model) {
    const mst_output in = mst_input(model, MST_SHAPE(8, 9, 2));
    mst_output a = mst_separable_conv2d(in, 5, 3, .kernel_width = 2, .depth_multiplier = 2, .activation = MST_RELU);
    a = mst_cropping2d(mst_zero_padding2d(a), .sides = MST_AXES(0, 2, 1, 0));
    a = mst_reshape_to(mst_permute(a, MST_AXES(3, 1, 2)), MST_SHAPE(15, -1));
    a = mst_cropping1d(mst_zero_padding1d(mst_up_sampling1d(a, .size = 3)), .cropping = 2);
    a = mst_depthwise_conv1d(mst_separable_conv1d(a, 4, 3, .strides = 2), 2, .depth_multiplier = 2);
    mst_output b = mst_up_sampling3d(mst_reshape_to(in, MST_SHAPE(2, 4, 9, 2)), .size = MST_AXES(3, 1, 2));
    b = mst_global_average_pooling3d(mst_cropping3d(mst_zero_padding3d(b, .padding = 2)));
    b = mst_global_max_pooling1d(mst_dense(mst_repeat_vector(mst_dense(b, 3), 4), 8));
    mst_merge(MST_OUTPUTS(mst_global_average_pooling1d(a), b), MST_MERGE_ADD);
}

static void build_recurrent(mst_model *model) {
    const mst_output in = mst_input(model, MST_SHAPE(7, 3));
    mst_output a = mst_lstm(in, 5, .return_sequences = true);
    a = mst_gru(a, 4, .return_sequences = true, .go_backwards = true, .recurrent_activation = MST_CELL_RELU);
    a = mst_simple_rnn(a, 3, .activation = MST_CELL_LINEAR);
    a = mst_merge(MST_OUTPUTS(a, mst_reshape_to(mst_time_distributed(mst_reshape_to(a, MST_SHAPE(3, 1, 1)),
                                                                     MST_INNER(lstm, .units = 1)),
                                                MST_SHAPE(3))),
                  MST_MERGE_ADD);
    mst_output b = mst_bidirectional(in, 3, .cell = MST_RECURRENT_GRU, .return_sequences = true);
    b = mst_bidirectional(b, 4, .merge_mode = MST_MERGE_MODE_AVE, .no_bias = true);
    mst_dense(mst_concatenate(MST_OUTPUTS(a, b)), 4);
}

static void build_attention(mst_model *model) {
    const mst_output in = mst_input(model, MST_SHAPE(6, 8));
    const mst_output a = mst_multi_head_attention(MST_OUTPUTS(in, in), 2, 4, .causal = true);
    const mst_output b = mst_layer_normalization(mst_merge(MST_OUTPUTS(in, a), MST_MERGE_ADD));
    mst_dense(mst_flatten(b), 5);
}

/* Ops that layers do not make. */
static mst_value mixed(void *context, mst_value x, bool training) {
    mst_value part[3], list[24];
    int count = 0;
    (void)context, (void)training;
    const mst_value cut = mst_split(x, 3, -1); /* [n, 4, 6] to [n, 4, 2] */
    for (int i = 0; i < 3; i++) part[i] = mst_value_output(cut, i);
    const mst_value whole = mst_round(mst_scale(part[1], 5)), by = mst_scalar(mst_value_graph(x), MST_F32, 3);
    list[count++] = mst_cumsum(part[0], .axis = 1, .reverse = true);
    list[count++] = mst_cumsum(part[0], .axis = -1, .exclusive = true);
    list[count++] = mst_add(mst_mod(whole, by), mst_floor_div(whole, by));
    list[count++] = mst_cast(mst_floor_div(mst_cast(whole, MST_I32), mst_cast(by, MST_I32)), MST_F32);
    list[count++] = mst_cast(mst_mod(mst_cast(whole, MST_I32), mst_cast(by, MST_I32)), MST_F32);
    list[count++] = mst_strided_slice(x, .begin = MST_AXES(0, -1, 5), .end = MST_AXES(0, -5, 0),
                                      .strides = MST_AXES(1, -1, -3), .begin_mask = 1, .end_mask = 1);
    list[count++] = mst_slice(x, MST_SHAPE(0, 0, 1), MST_SHAPE(-1, -1, 2));
    list[count++] = mst_top_k(x, .k = 2);
    list[count++] = mst_cast(mst_value_output(mst_top_k(x, .k = 2), 1), MST_F32);
    list[count++] = mst_sort(part[2], .axis = MST_AXES(1), .descending = true);
    list[count++] = mst_squared_difference(part[0], mst_expm1(part[1]));
    list[count++] = mst_log1p(mst_abs(mst_gelu(part[2], .approximate = true)));
    list[count++] = mst_einsum("nij,nkj->nik", (mst_value[]){part[0], part[2]}, 2);
    list[count++] = mst_one_hot(mst_argmax(x, .axis = -1, .dtype = MST_I32), .depth = 4, .off_value = -1);
    list[count++] = mst_mul(mst_ones_like(part[0]), mst_broadcast_like(mst_dim_size(x, 1, MST_F32), part[0]));
    list[count++] =
        mst_tile(mst_broadcast_to(mst_reduce_min(x, .axes = MST_AXES(-1), .keep_dims = true), MST_SHAPE(-1, -1, 2)),
                 MST_SHAPE(1, 1, 2));
    list[count++] = mst_cast(mst_logical_xor(mst_is_finite(part[0]), mst_greater(part[0], part[1])), MST_F32);
    list[count++] =
        mst_stack((mst_value[]){mst_reduce_max(x, .axes = MST_AXES(2)), mst_atan(mst_unstack(x, 2))}, 2, -1);
    const mst_value over = mst_greater(x, mst_scale(mst_ones_like(x), 0.9));
    list[count++] = mst_cast(mst_reduce_any(over, .axes = MST_AXES(2), .keep_dims = true), MST_F32);
    list[count++] = mst_cast(mst_reduce_all(mst_logical_not(over), .axes = MST_AXES(2), .keep_dims = true), MST_F32);
    return mst_concat(list, count, -1);
}

static void build_mixed(mst_model *model) {
    mst_lambda(mst_input(model, MST_SHAPE(4, 6)), mixed);
}

static mst_value blocks(void *context, mst_value x, bool training) {
    (void)context, (void)training;
    const mst_value a = mst_resize2d(mst_space_to_depth(x, 2), MST_AXES(1, 2), .interpolation = MST_INTERPOLATION_AREA);
    const mst_value b = mst_space_to_depth(mst_depth_to_space(mst_mul(x, x), 2), 8);
    return mst_add(a, mst_reduce_mean(b, .axes = MST_AXES(3), .keep_dims = true));
}

static void build_blocks(mst_model *model) {
    mst_lambda(mst_input(model, MST_SHAPE(4, 8, 4)), blocks);
}

static void build_numbers(mst_model *model) {
    const mst_output a = mst_category_encoding(mst_input(model, MST_SHAPE(3), .dtype = MST_I32), 100,
                                               .output_mode = MST_OUTPUT_MODE_COUNT);
    mst_dense(a, 4);
}

static const struct {
    const char *name;
    mst_shape rows;
    void (*build)(mst_model *model);
    mst_dtype dtype;
} models[] = {
    {"mlp", {.ndim = 3, .dim = {4, 28, 28}}, build_mlp, MST_F32},
    {"lenet", {.ndim = 4, .dim = {4, 28, 28, 1}}, build_lenet, MST_F32},
    {"text_cnn", {.ndim = 2, .dim = {4, 300}}, build_text_cnn, MST_I32},
    {"mobilenet_v2", {.ndim = 4, .dim = {2, 64, 64, 3}}, build_mobilenet, MST_F32},
    {"resnet50", {.ndim = 4, .dim = {2, 32, 64, 3}}, build_resnet, MST_F32},
    {"others", {.ndim = 4, .dim = {3, 9, 12, 2}}, build_others, MST_F32},
    {"volumes", {.ndim = 5, .dim = {3, 6, 7, 8, 2}}, build_volumes, MST_F32},
    {"transposed", {.ndim = 4, .dim = {3, 5, 6, 3}}, build_transposed, MST_F32},
    {"shaped", {.ndim = 4, .dim = {3, 8, 9, 2}}, build_shaped, MST_F32},
    {"recurrent", {.ndim = 3, .dim = {3, 7, 3}}, build_recurrent, MST_F32},
    {"attention", {.ndim = 3, .dim = {3, 6, 8}}, build_attention, MST_F32},
    {"mixed", {.ndim = 3, .dim = {3, 4, 6}}, build_mixed, MST_F32},
    {"blocks", {.ndim = 4, .dim = {3, 4, 8, 4}}, build_blocks, MST_F32},
    {"numbers", {.ndim = 2, .dim = {3, 3}}, build_numbers, MST_I32},
};

/* Numbers in [-1, 1) that look random. */
static double any_number(uint64_t i) {
    i = (i + 1) * 0x9e3779b97f4a7c15U;
    i = (i ^ i >> 29) * 0xbf58476d1ce4e5b9U;
    return (double)(i >> 11) / (double)(UINT64_C(1) << 52) - 1;
}

static mst_status set_weights(mst_model *model) {
    const mst_weight *weight;
    int64_t count;
    MST_TRY(mst_model_weights(model, &weight, &count));
    for (int64_t k = 0; k < count; k++) {
        const mst_shape shape = weight[k].spec.shape;
        const bool around_1 = strstr(weight[k].name, "gamma") || strstr(weight[k].name, "variance");
        double fan = 1;
        for (int i = 0; i < shape.ndim - 1; i++) fan *= (double)shape.dim[i];
        if (strstr(weight[k].name, "depthwise")) fan /= (double)shape.dim[2]; /* a filter reads one channel */
        mst_tensor *value;
        MST_TRY(mst_tensor_create(weight[k].spec.dtype, shape, &value));
        for (int64_t i = 0; i < mst_tensor_count(value); i++) {
            const double number = any_number((uint64_t)(i + 1000003 * k));
            mst_tensor_set(value, i, around_1 ? 1 + number / 5 : shape.ndim > 1 ? number * sqrt(6 / fan) : number / 10);
        }
        const mst_status status = mst_store_set(mst_model_store(model), NULL, weight[k].name, MST_STATE_WEIGHT, value);
        mst_tensor_release(value);
        MST_TRY(status);
    }
    return MST_OK;
}

static mst_status predict(mst_model *model, mst_tensor *x, mst_tensor **out) {
    mst_dataset *data;
    MST_TRY(mst_compile(model, .session = {.devices = "cpu:1"}));
    MST_TRY(mst_dataset_from_tensors(&x, 1, &data));
    const mst_status status = mst_predict(model, data, 4, out);
    mst_dataset_release(data);
    return status;
}

static mst_status write_model(const char *folder, size_t i, mst_model *model, mst_tensor *x) {
    char path[1000];
    mst_model *copy = NULL;
    mst_tensor *y = NULL, *again = NULL;
    models[i].build(model);
    MST_TRY(set_weights(model));
    MST_TRY(predict(model, x, &y));
    snprintf(path, sizeof path, "%s/%s.onnx", folder, models[i].name);
    mst_status status = mst_model_save(model, path);
    if (!status) status = mst_model_load(path, &copy, NULL);
    if (!status) status = predict(copy, x, &again);
    snprintf(path, sizeof path, "%s/%s.npz", folder, models[i].name);
    if (!status) status = mst_npz_write(path, (const mst_named_tensor[]){{"x", x}, {"y", y}, {"again", again}}, 3);
    mst_tensor_release(y);
    mst_tensor_release(again);
    mst_model_destroy(copy);
    return status;
}

/* ---- a model with several inputs and outputs ---- */

enum { PAIR = 2, PAIR_ROWS = 5 };

static void build_pair(mst_model *model) {
    const mst_output photo = mst_input(model, MST_SHAPE(6, 5, 3), .name = "photo");
    const mst_output numbers = mst_input(model, MST_SHAPE(4), .name = "numbers");
    const mst_output a = mst_conv2d(photo, 4, 3, .padding = MST_PADDING_SAME, .activation = MST_RELU);
    const mst_output b = mst_concatenate(MST_OUTPUTS(mst_global_average_pooling2d(a), numbers));
    const mst_output kind = mst_dense(b, 3, .activation = MST_SOFTMAX, .name = "kind");
    mst_model_outputs(model, MST_OUTPUTS(kind, mst_conv2d(a, 2, 1, .activation = MST_SIGMOID, .name = "map")));
}

static mst_status predict_pair(mst_model *model, mst_tensor **x, mst_tensor **out) {
    mst_dataset *data;
    MST_TRY(mst_compile(model, .session = {.devices = "cpu:1"}));
    MST_TRY(mst_dataset_from_tensors(x, PAIR, &data));
    const mst_status status = mst_predict_all(model, data, 4, out, PAIR);
    mst_dataset_release(data);
    return status;
}

static mst_status save_pair(const char *folder, mst_model *model, mst_tensor **x, mst_tensor **y) {
    char path[1000];
    MST_TRY(set_weights(model));
    MST_TRY(predict_pair(model, x, y));
    snprintf(path, sizeof path, "%s/pair.onnx", folder);
    MST_TRY(mst_model_save(model, path));
    snprintf(path, sizeof path, "%s/pair.npz", folder);
    return mst_npz_write(
        path, (const mst_named_tensor[]){{"photo", x[0]}, {"numbers", x[1]}, {"kind", y[0]}, {"map", y[1]}}, 4);
}

static mst_status write_pair(const char *folder) {
    const mst_shape shapes[PAIR] = {MST_SHAPE(PAIR_ROWS, 6, 5, 3), MST_SHAPE(PAIR_ROWS, 4)};
    mst_model *model;
    mst_tensor *x[PAIR] = {NULL}, *y[PAIR] = {NULL};
    MST_TRY(mst_model_create(&model));
    build_pair(model);
    mst_status status = MST_OK;
    for (int i = 0; i < PAIR && !status; i++) {
        status = mst_tensor_create(MST_F32, shapes[i], &x[i]);
        for (int64_t k = 0; !status && k < mst_tensor_count(x[i]); k++)
            mst_tensor_set(x[i], k, any_number((uint64_t)(k + 1000 * i)));
    }
    if (!status) status = save_pair(folder, model, x, y);
    for (int i = 0; i < PAIR; i++) mst_tensor_release(x[i]);
    for (int i = 0; i < PAIR; i++) mst_tensor_release(y[i]);
    mst_model_destroy(model);
    return status;
}

static mst_status write_models(const char *folder) {
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        mst_model *model;
        mst_tensor *x;
        MST_TRY(mst_model_create(&model));
        MST_TRY(mst_tensor_create(models[i].dtype, models[i].rows, &x));
        for (int64_t k = 0; k < mst_tensor_count(x); k++)
            mst_tensor_set(
                x, k, models[i].dtype == MST_I32 ? floor(50 * (1 + any_number((uint64_t)k))) : any_number((uint64_t)k));
        const mst_status status = write_model(folder, i, model, x);
        mst_tensor_release(x);
        mst_model_destroy(model);
        if (status) return mst_error_prefix("%s", models[i].name);
    }
    return write_pair(folder);
}

int main(int argc, char **argv) {
    static char line[LINE_SIZE];
    if (argc == 3 && strcmp(argv[1], "models") == 0) {
        const mst_status status = write_models(argv[2]);
        if (status) fprintf(stderr, "error: %s\n", mst_error()->message);
        return status ? 1 : 0;
    }
    while (fgets(line, sizeof line, stdin)) {
        json_t *outputs = json_array();
        const mst_status status = run_case(line, outputs);
        json_t *answer =
            status ? json_pack("{ss}", "error", mst_error()->message) : json_pack("{sO}", "outputs", outputs);
        char *text = json_dumps(answer, JSON_COMPACT);
        puts(text ? text : "{\"error\": \"the message is no text\"}");
        free(text);
        json_decref(answer);
        json_decref(outputs);
    }
    return 0;
}
