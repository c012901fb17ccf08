/* Finding the axis of the channels: by means over pixels, and in little time if many nodes use one long constant. */
#include "model_file/onnx/onnx_channels.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/test.h"

enum { NODES = 20000, LONG = 500000 };

static char *text(const char *constant) {
    return (char *)(uintptr_t)constant;
}

/* A serialized model with NODES nodes ReduceSum of a picture. All take their COUNT axes from one constant. */
static uint8_t *pack_sums(const int64_t *list, int64_t count, size_t *size) {
    Muster__OnnxModel model = MUSTER__ONNX_MODEL__INIT;
    Muster__OnnxGraph graph = MUSTER__ONNX_GRAPH__INIT;
    Muster__OnnxNode node = MUSTER__ONNX_NODE__INIT;
    Muster__OnnxOpset opset = MUSTER__ONNX_OPSET__INIT, *opsets = &opset;
    Muster__OnnxTensor axes = MUSTER__ONNX_TENSOR__INIT, *tensors = &axes;
    Muster__OnnxValue value = MUSTER__ONNX_VALUE__INIT, *inputs = &value;
    Muster__OnnxType type = MUSTER__ONNX_TYPE__INIT;
    Muster__OnnxTensorType tensor_type = MUSTER__ONNX_TENSOR_TYPE__INIT;
    Muster__OnnxShape shape = MUSTER__ONNX_SHAPE__INIT;
    Muster__OnnxDimension dim = MUSTER__ONNX_DIMENSION__INIT, *dims[] = {&dim, &dim, &dim, &dim};
    char *in[] = {text("x"), text("axes")}, *out = text("y");
    Muster__OnnxNode **nodes = calloc(NODES, sizeof *nodes);
    assert_non_null(nodes);
    node.op_type = text("ReduceSum");
    node.n_input = 2, node.input = in, node.n_output = 1, node.output = &out;
    for (int i = 0; i < NODES; i++) nodes[i] = &node;
    axes.name = in[1];
    axes.data_type = mst_onnx_type(MST_I64);
    axes.dims = &count, axes.n_dims = 1;
    axes.raw_data = (ProtobufCBinaryData){(size_t)count * sizeof *list, (uint8_t *)(uintptr_t)list};
    dim.value_case = MUSTER__ONNX_DIMENSION__VALUE_DIM_VALUE;
    dim.dim_value = 8;
    shape.n_dim = 4, shape.dim = dims;
    tensor_type.elem_type = mst_onnx_type(MST_F32);
    tensor_type.shape = &shape;
    type.tensor_type = &tensor_type;
    value.name = in[0], value.type = &type;
    graph.n_node = NODES, graph.node = nodes;
    graph.n_initializer = graph.n_input = 1, graph.initializer = &tensors, graph.input = &inputs;
    opset.version = 18;
    model.ir_version = 8, model.graph = &graph, model.n_opset_import = 1, model.opset_import = &opsets;
    uint8_t *data = malloc(muster__onnx_model__get_packed_size(&model));
    assert_non_null(data);
    *size = muster__onnx_model__pack(&model, data);
    free(nodes);
    return data;
}

/* Many nodes use one long constant. Unpacking it again for each node would take minutes. */
static void a_constant_of_many_nodes_is_not_unpacked_for_each(void **state) {
    (void)state;
    static const double MOST = 3; /* seconds of processor time, a thousand times what it should take */
    mst_onnx_file file;
    bool first = false;
    size_t size;
    int64_t *zeros = calloc(LONG, sizeof *zeros);
    assert_non_null(zeros);
    uint8_t *data = pack_sums(zeros, LONG, &size);
    free(zeros);
    EXPECT_OK(mst_onnx_file_parse("sums", NULL, data, size, &file));
    const clock_t before = clock();
    EXPECT_OK(mst_onnx_channels_find(&file, &first, NULL));
    assert_true((double)(clock() - before) / CLOCKS_PER_SEC < MOST);
    assert_true(first);
    mst_onnx_file_free(&file);
    free(data);
}

/* Since opset 18 the axes of a mean or sum are a tensor. */
static void axes_in_a_tensor_tell_the_order(void **state) {
    (void)state;
    static const int64_t second_and_third[] = {1, 2}, last_two[] = {2, -1};
    for (int i = 0; i < 2; i++) {
        mst_onnx_file file;
        bool first = i == 0;
        size_t size;
        uint8_t *data = pack_sums(i == 0 ? second_and_third : last_two, 2, &size);
        EXPECT_OK(mst_onnx_file_parse("sums", NULL, data, size, &file));
        EXPECT_OK(mst_onnx_channels_find(&file, &first, NULL));
        assert_int_equal(first, i == 1);
        mst_onnx_file_free(&file);
        free(data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_constant_of_many_nodes_is_not_unpacked_for_each),
        cmocka_unit_test(axes_in_a_tensor_tell_the_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
