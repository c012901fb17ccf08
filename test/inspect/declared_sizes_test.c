/* Files of a few hundred bytes that declare shapes of 200 million elements: inspecting them allocates no memory for
 * these elements. The files have every operator of ONNX, and the layers of Keras with constants of their own. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "model_file/onnx/onnx_read.h"
#include "muster/inspect.h"
#include "support/folder.h"
#include "support/test.h"

enum { MOST_KB = 100000, MOST_INPUTS = 5, NUM_ATTRIBUTES = 6 };

static int64_t peak_kb(void) {
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

/* A file that is refused is as well as one that is not. */
static void expect_little_memory(const char *what, const char *path) {
    FILE *out = fopen("/dev/null", "w");
    assert_non_null(out);
    const int64_t before = peak_kb();
    (void)!mst_inspect(path, out);
    fclose(out);
    if (peak_kb() - before > MOST_KB) fail_msg("%s takes %lld kB", what, (long long)(peak_kb() - before));
}

/* ---- ONNX ---- */

static const int64_t shapes[][4] = {{1, 200000000, 2, 2}, {2, 4, 200000000, 2}, {200000000, 1, 1, 1}};

typedef struct input {
    Muster__OnnxValue value;
    Muster__OnnxType type;
    Muster__OnnxTensorType tensor;
    Muster__OnnxShape shape;
    Muster__OnnxDimension dim[4], *dims[4];
    char name[8];
} input;

static void declare(input *in, int number, int ndim, const int64_t *dim) {
    snprintf(in->name, sizeof in->name, "x%d", number);
    muster__onnx_value__init(&in->value);
    muster__onnx_type__init(&in->type);
    muster__onnx_tensor_type__init(&in->tensor);
    muster__onnx_shape__init(&in->shape);
    in->value.name = in->name;
    in->value.type = &in->type;
    in->type.tensor_type = &in->tensor;
    in->tensor.elem_type = mst_onnx_type(MST_F32);
    in->tensor.shape = &in->shape;
    in->shape.n_dim = (size_t)ndim;
    in->shape.dim = in->dims;
    for (int i = 0; i < ndim; i++) {
        muster__onnx_dimension__init(in->dims[i] = &in->dim[i]);
        in->dim[i].value_case = MUSTER__ONNX_DIMENSION__VALUE_DIM_VALUE;
        in->dim[i].dim_value = dim[i];
    }
}

/* Attributes that some operators ask for; the others refuse them after they have been read. */
static void give_attributes(Muster__OnnxAttribute *a, Muster__OnnxAttribute **list) {
    static const char *const names[NUM_ATTRIBUTES] = {"blocksize", "mode", "axis", "hidden_size", "perm", "equation"};
    static int64_t order[] = {3, 2, 1, 0};
    for (int i = 0; i < NUM_ATTRIBUTES; i++) {
        muster__onnx_attribute__init(list[i] = &a[i]);
        a[i].name = (char *)(uintptr_t)names[i];
        a[i].type = MST_ONNX_INT;
    }
    a[0].i = 2;
    a[1].type = a[5].type = MST_ONNX_STRING;
    a[1].s = (ProtobufCBinaryData){3, (uint8_t *)(uintptr_t) "CRD"};
    a[2].i = 1;
    a[3].i = 50000000;
    a[4].type = MST_ONNX_INTS;
    a[4].ints = order;
    a[4].n_ints = 4;
    a[5].s = (ProtobufCBinaryData){10, (uint8_t *)(uintptr_t) "abcd->dcba"};
}

/* A model of one node OP of COUNT inputs. */
static const char *write_model(const char *op, int count, int ndim, const int64_t *dim) {
    input in[MOST_INPUTS], result;
    Muster__OnnxValue *inputs[MOST_INPUTS], *output = &result.value;
    char *names[MOST_INPUTS], *given = result.name;
    Muster__OnnxAttribute attribute[NUM_ATTRIBUTES], *attributes[NUM_ATTRIBUTES];
    Muster__OnnxModel model = MUSTER__ONNX_MODEL__INIT;
    Muster__OnnxGraph graph = MUSTER__ONNX_GRAPH__INIT;
    Muster__OnnxNode node = MUSTER__ONNX_NODE__INIT, *nodes = &node;
    Muster__OnnxOpset opset = MUSTER__ONNX_OPSET__INIT, *opsets = &opset;
    for (int i = 0; i < count; i++) {
        declare(&in[i], i, ndim, dim);
        inputs[i] = &in[i].value;
        names[i] = in[i].name;
    }
    declare(&result, MOST_INPUTS, ndim, dim);
    give_attributes(attribute, attributes);
    node.op_type = (char *)(uintptr_t)op;
    node.n_input = (size_t)count, node.input = names;
    node.n_output = 1, node.output = &given;
    node.n_attribute = NUM_ATTRIBUTES, node.attribute = attributes;
    graph.n_node = 1, graph.node = &nodes;
    graph.n_input = (size_t)count, graph.input = inputs;
    graph.n_output = 1, graph.output = &output;
    opset.version = 17;
    model.ir_version = 8;
    model.graph = &graph;
    model.n_opset_import = 1, model.opset_import = &opsets;
    uint8_t *data = malloc(muster__onnx_model__get_packed_size(&model));
    assert_non_null(data);
    const char *path = folder_write("m.onnx", data, muster__onnx_model__pack(&model, data));
    free(data);
    return path;
}

static void operators_of_onnx(void **state) {
    const mst_onnx_op *const tables[] = {mst_onnx_elementwise_ops, mst_onnx_window_ops, mst_onnx_shape_ops,
                                         mst_onnx_matrix_ops,      mst_onnx_index_ops,  mst_onnx_cell_ops};
    (void)state;
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (const mst_onnx_op *op = tables[t]; op->name; op++)
            for (int count = 0; count <= MOST_INPUTS; count++)
                for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
                    for (int ndim = 1; ndim <= 4; ndim += 3)
                        expect_little_memory(op->name, write_model(op->name, count, ndim, shapes[s]));
}

/* ---- Keras ---- */

static void layers_of_keras(void **state) {
    static const struct {
        const char *input, *class_name, *config;
    } layers[] = {
        {"200000000", "BatchNormalization", "\"axis\":-1,\"scale\":false,\"center\":false"},
        {"200000000", "LayerNormalization", "\"axis\":-1,\"scale\":false,\"center\":false"},
        {"4,4,200000000", "GroupNormalization", "\"axis\":-1,\"groups\":2,\"scale\":false,\"center\":false"},
        {"200000000", "LayerNormalization", "\"axis\":-1"},
        {"200000000", "Normalization", "\"axis\":-1"},
        {"8", "Dense", "\"units\":200000000"},
        {"4,8", "LSTM", "\"units\":50000000,\"unit_forget_bias\":true"},
        {"4,8", "LSTM", "\"units\":50000000,\"unit_forget_bias\":false"},
        {"4,8", "GRU", "\"units\":50000000,\"reset_after\":true,\"use_bias\":false"},
        {"4,8", "SimpleRNN", "\"units\":50000000"},
        {"4", "Embedding", "\"input_dim\":200000000,\"output_dim\":4"},
        {"4", "CategoryEncoding", "\"num_tokens\":200000000,\"output_mode\":\"multi_hot\""},
        {"4", "IntegerLookup", "\"vocabulary\":[1,2],\"num_oov_indices\":200000000,\"output_mode\":\"multi_hot\""},
        {"4", "IntegerLookup", "\"max_tokens\":200000000,\"vocabulary\":[1,2],\"output_mode\":\"multi_hot\""},
        {"4,4,200000000", "DepthwiseConv2D", "\"kernel_size\":[1,1],\"depth_multiplier\":1"},
        {"4,4,1000000", "SeparableConv2D", "\"filters\":8,\"kernel_size\":[3,3],\"padding\":\"same\""},
        {"8", "RepeatVector", "\"n\":200000000"},
        {"200000000,4", "TimeDistributed", "\"layer\":{\"class_name\":\"Dense\",\"config\":{\"units\":200000000}}"},
        {"20000", "Dense", "\"units\":20000,\"kernel_initializer\":{\"class_name\":\"Orthogonal\",\"config\":{}}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        char text[1000];
        snprintf(text, sizeof text,
                 "{\"class_name\":\"Sequential\",\"config\":{\"name\":\"m\",\"layers\":["
                 "{\"class_name\":\"InputLayer\",\"config\":{\"batch_shape\":[null,%s],\"name\":\"x\"}},"
                 "{\"class_name\":\"%s\",\"config\":{\"name\":\"l\",%s}}]}}",
                 layers[i].input, layers[i].class_name, layers[i].config);
        expect_little_memory(layers[i].class_name, folder_write_text("m.json", text));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(operators_of_onnx),
        TEST_IN_FOLDER(layers_of_keras),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
