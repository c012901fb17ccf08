/* GraphDefs that Muster did not write: with TensorFlow's names only, in any order, and with every kind of mistake. */
#include <stdio.h>

#include "graph/graph.h"
#include "graph/graphdef.h"
#include "support/comma_locale.h"
#include "support/test.h"

/* ---- making a GraphDef ---- */

enum { MOST_NODES = 8, MOST_INPUTS = 4, MOST_ATTRS = 4 };

typedef struct maker {
    Muster__GraphDef def;
    int num_nodes;
    Muster__NodeDef node[MOST_NODES], *nodes[MOST_NODES];
    char *input[MOST_NODES][MOST_INPUTS], text[MOST_NODES][MOST_INPUTS][40];
    Muster__NodeDef__AttrEntry entry[MOST_NODES][MOST_ATTRS], *entries[MOST_NODES][MOST_ATTRS];
    Muster__AttrValue value[MOST_NODES][MOST_ATTRS];
    Muster__TensorShapeProto shape[MOST_NODES];
    Muster__TensorShapeProto__Dim dim[MOST_NODES][10], *dims[MOST_NODES][10];
    Muster__TensorProto tensor[MOST_NODES];
} maker;

static void begin(maker *m) {
    *m = (maker){.num_nodes = 0};
    muster__graph_def__init(&m->def);
    m->def.node = m->nodes;
}

/* INPUTS are separated by blanks. The strings are not copied. */
static void node(maker *m, const char *name, const char *op, const char *inputs) {
    const int i = m->num_nodes++;
    Muster__NodeDef *n = m->nodes[i] = &m->node[i];
    muster__node_def__init(n);
    n->name = (char *)(uintptr_t)name;
    n->op = (char *)(uintptr_t)op;
    n->input = m->input[i];
    n->attr = m->entries[i];
    while (*inputs) {
        const size_t length = strcspn(inputs, " ");
        char *text = m->text[i][n->n_input];
        snprintf(text, sizeof m->text[i][0], "%.*s", (int)length, inputs);
        n->input[n->n_input++] = text;
        inputs += length + (inputs[length] == ' ');
    }
    m->def.n_node = (size_t)m->num_nodes;
}

/* A new attribute of the last node. */
static Muster__AttrValue *attr(maker *m, const char *key, Muster__AttrValue__ValueCase kind) {
    const int i = m->num_nodes - 1;
    const size_t k = m->node[i].n_attr++;
    muster__node_def__attr_entry__init(&m->entry[i][k]);
    muster__attr_value__init(&m->value[i][k]);
    m->entries[i][k] = &m->entry[i][k];
    m->entry[i][k].key = (char *)(uintptr_t)key;
    m->entry[i][k].value = &m->value[i][k];
    m->value[i][k].value_case = kind;
    return &m->value[i][k];
}

static void attr_type(maker *m, const char *key, int type) {
    attr(m, key, MUSTER__ATTR_VALUE__VALUE_TYPE)->type = (Muster__DataType)type;
}

static void attr_i(maker *m, const char *key, int64_t i) {
    attr(m, key, MUSTER__ATTR_VALUE__VALUE_I)->i = i;
}

static void attr_f(maker *m, const char *key, float f) {
    attr(m, key, MUSTER__ATTR_VALUE__VALUE_F)->f = f;
}

static void attr_b(maker *m, const char *key, bool b) {
    attr(m, key, MUSTER__ATTR_VALUE__VALUE_B)->b = b;
}

static void attr_s(maker *m, const char *key, const char *s) {
    attr(m, key, MUSTER__ATTR_VALUE__VALUE_S)->s = (ProtobufCBinaryData){strlen(s), (uint8_t *)(uintptr_t)s};
}

static Muster__TensorShapeProto *shape(maker *m, int ndim, const int64_t *dim) {
    const int i = m->num_nodes - 1;
    muster__tensor_shape_proto__init(&m->shape[i]);
    for (int k = 0; k < ndim; k++) {
        muster__tensor_shape_proto__dim__init(&m->dim[i][k]);
        m->dim[i][k].size = dim[k];
        m->dims[i][k] = &m->dim[i][k];
    }
    m->shape[i].n_dim = (size_t)ndim;
    m->shape[i].dim = m->dims[i];
    return &m->shape[i];
}

static void attr_shape(maker *m, const char *key, int ndim, const int64_t *dim) {
    attr(m, key, MUSTER__ATTR_VALUE__VALUE_SHAPE)->shape = shape(m, ndim, dim);
}

/* Its elements are to be filled in. */
static Muster__TensorProto *attr_tensor(maker *m, const char *key, int type, int ndim, const int64_t *dim) {
    Muster__TensorProto *tensor = &m->tensor[m->num_nodes - 1];
    muster__tensor_proto__init(tensor);
    tensor->dtype = (Muster__DataType)type;
    tensor->tensor_shape = shape(m, ndim, dim);
    attr(m, key, MUSTER__ATTR_VALUE__VALUE_TENSOR)->tensor = tensor;
    return tensor;
}

static void placeholder(maker *m, const char *name) {
    node(m, name, "Placeholder", "");
    attr_type(m, "dtype", MUSTER__DATA_TYPE__DT_FLOAT);
    attr_shape(m, "shape", 2, (int64_t[]){-1, 2});
}

static mst_status read(const maker *m, mst_graph **out) {
    uint8_t data[4096];
    assert_true(muster__graph_def__get_packed_size(&m->def) <= sizeof data);
    return mst_graph_decode(data, muster__graph_def__pack(&m->def, data), out);
}

static void expect_text(const maker *m, const char *wanted) {
    mst_graph *g;
    char *text;
    EXPECT_OK(read(m, &g));
    EXPECT_OK(mst_graph_print(g, &text));
    assert_string_equal(text, wanted);
    free(text);
    mst_graph_destroy(g);
}

static void expect_error(const maker *m, mst_status code, const char *message) {
    mst_graph *g = (mst_graph *)(uintptr_t)m;
    EXPECT_ERROR(read(m, &g), code, message);
    assert_null(g);
}

/* ---- what other programs write ---- */

static void ops_are_found_by_the_names_of_tensorflow(void **state) {
    (void)state;
    maker m;
    begin(&m);
    placeholder(&m, "x");
    m.node[0].device = "/job:localhost/device:CPU:1";
    node(&m, "w", "Const", "");
    attr_type(&m, "dtype", MUSTER__DATA_TYPE__DT_FLOAT);
    Muster__TensorProto *w = attr_tensor(&m, "value", MUSTER__DATA_TYPE__DT_FLOAT, 2, (int64_t[]){2, 2});
    w->n_float_val = 2;
    w->float_val = (float[]){1, 0.5f};
    node(&m, "product", "MatMul", "x w");
    attr_b(&m, "transpose_a", false);
    attr_b(&m, "transpose_b", true);
    attr_b(&m, "grad_a", false);
    attr_type(&m, "T", MUSTER__DATA_TYPE__DT_FLOAT);
    node(&m, "y", "Relu", "product:0 ^x");
    attr_type(&m, "T", MUSTER__DATA_TYPE__DT_FLOAT);
    node(&m, "sum", "AddN", "y x product");
    attr_i(&m, "N", 3);
    attr_type(&m, "Tany", MUSTER__DATA_TYPE__DT_FLOAT);
    attr_s(&m, "_class", "loc:@x");
    expect_text(&m,
                "x = placeholder() {dtype=f32, shape=[?, 2]} : f32[?, 2] @/job:localhost/device:CPU:1\n"
                "w = constant() {value=f32[2, 2](1, 0.5, 0.5, 0.5)} : f32[2, 2]\n"
                "product = matmul(x, w) {transpose_b} : f32[?, 2]\n"
                "y = relu(product, ^x) : f32[?, 2]\n"
                "sum = add_n(y, x, product) : f32[?, 2]\n");
}

static void nodes_may_be_in_any_order(void **state) {
    (void)state;
    maker m;
    begin(&m);
    node(&m, "c", "Add", "b a");
    node(&m, "b", "Neg", "a ^d");
    placeholder(&m, "a");
    node(&m, "d", "NoOp", "");
    expect_text(&m,
                "a = placeholder() {dtype=f32, shape=[?, 2]} : f32[?, 2]\n"
                "d = no_op() : bool[]\n"
                "b = neg(a, ^d) : f32[?, 2]\n"
                "c = add(b, a) : f32[?, 2]\n");
}

static void lists_of_values_fill_tensors(void **state) {
    (void)state;
    maker m;
    begin(&m);
    node(&m, "f64", "Const", "");
    Muster__TensorProto *t = attr_tensor(&m, "value", MUSTER__DATA_TYPE__DT_DOUBLE, 1, (int64_t[]){2});
    t->n_double_val = 2;
    t->double_val = (double[]){0.1, -2};
    node(&m, "i32", "Const", "");
    t = attr_tensor(&m, "value", MUSTER__DATA_TYPE__DT_INT32, 1, (int64_t[]){3});
    t->n_int_val = 1;
    t->int_val = (int32_t[]){-7};
    node(&m, "i64", "Const", "");
    t = attr_tensor(&m, "value", MUSTER__DATA_TYPE__DT_INT64, 0, NULL);
    t->n_int64_val = 1;
    t->int64_val = (int64_t[]){INT64_MIN};
    node(&m, "u8", "Const", "");
    t = attr_tensor(&m, "value", MUSTER__DATA_TYPE__DT_UINT8, 1, (int64_t[]){2});
    t->n_int_val = 2;
    t->int_val = (int32_t[]){255, 0};
    node(&m, "bool", "Const", "");
    t = attr_tensor(&m, "value", MUSTER__DATA_TYPE__DT_BOOL, 1, (int64_t[]){2});
    t->n_bool_val = 2;
    t->bool_val = (protobuf_c_boolean[]){1, 0};
    node(&m, "zeros", "Const", "");
    attr_tensor(&m, "value", MUSTER__DATA_TYPE__DT_FLOAT, 1, (int64_t[]){2});
    node(&m, "nothing", "Const", "");
    attr_tensor(&m, "value", MUSTER__DATA_TYPE__DT_FLOAT, 1, (int64_t[]){0});
    expect_text(&m,
                "f64 = constant() {value=f64[2](0.1, -2)} : f64[2]\n"
                "i32 = constant() {value=i32[3](-7, -7, -7)} : i32[3]\n"
                "i64 = constant() {value=i64(-9223372036854775808)} : i64[]\n"
                "u8 = constant() {value=u8[2](255, 0)} : u8[2]\n"
                "bool = constant() {value=bool[2](1, 0)} : bool[2]\n"
                "zeros = constant() {value=f32[2](0, 0)} : f32[2]\n"
                "nothing = constant() {value=f32[0]()} : f32[0]\n");
}

/* ---- mistakes ---- */

static void missing_inputs_are_errors(void **state) {
    (void)state;
    static const struct {
        const char *inputs, *message;
    } rows[] = {
        {"z", "node 'n': it needs 'z', which is not there"},
        {"^z", "node 'n': it needs '^z', which is not there"},
        {"x:", "node 'n': it needs 'x:', which is not there"},
        {"x:a", "node 'n': it needs 'x:a', which is not there"},
        {"x:-1", "node 'n': it needs 'x:-1', which is not there"},
        {"x:99999999999", "node 'n': it needs 'x:99999999999', which is not there"},
        {"x:out:0", "node 'n': it needs 'x:out:0', which is not there"},
        {"x:1", "node 'n': it needs output 1 of 'x', which has 1"},
        {"n", "node 'n': it needs 'n', which needs it in turn"},
        {"x ^n", "node 'n': it needs 'n', which needs it in turn"},
        {"", "node 'n': a Neg takes 1 sources, got 0"},
        {"x x", "node 'n': a Neg takes 1 sources, got 2"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        maker m;
        begin(&m);
        placeholder(&m, "x");
        node(&m, "n", "Neg", rows[i].inputs);
        expect_error(&m, strstr(rows[i].message, "takes") ? MST_INVALID : MST_CORRUPT, rows[i].message);
        assert_string_equal(mst_error()->node, "n");
    }
}

static void cycles_are_errors(void **state) {
    (void)state;
    maker m;
    begin(&m);
    placeholder(&m, "x");
    node(&m, "a", "Add", "x c");
    node(&m, "b", "Neg", "a");
    node(&m, "c", "Neg", "b");
    expect_error(&m, MST_CORRUPT, "node 'b': it needs 'a', which needs it in turn");
}

static void names_must_be_names_and_differ(void **state) {
    (void)state;
    static const char *const names[] = {"", "a b", "/a", "a/", "a:0", "^a", "a\nb"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        maker m;
        begin(&m);
        node(&m, names[i], "NoOp", "");
        expect_error(&m, MST_CORRUPT, "node 0 has the name '");
    }
    maker m;
    begin(&m);
    placeholder(&m, "x");
    node(&m, "x", "NoOp", "");
    expect_error(&m, MST_CORRUPT, "node 'x': there are two nodes of this name");
}

static void unknown_and_malformed_op_names_are_errors(void **state) {
    (void)state;
    maker m;
    begin(&m);
    node(&m, "n", "Conv3DBackpropFilterV2", "");
    expect_error(&m, MST_INVALID, "node 'n': there is no op for TensorFlow's 'Conv3DBackpropFilterV2'");
    begin(&m);
    node(&m, "n", "Neg", "");
    attr_s(&m, MST_ATTR_OP, "negg");
    expect_error(&m, MST_INVALID, "graph is read: did you mean 'neg'?");
    begin(&m);
    node(&m, "n", "Neg", "");
    attr_i(&m, MST_ATTR_OP, 1);
    expect_error(&m, MST_CORRUPT, "node 'n': attribute '_muster_op' is an integer, must be a string");
}

/* A constant of one integer. */
static void constant_i(maker *m, const char *name, int32_t *i) {
    node(m, name, "Const", "");
    Muster__TensorProto *t = attr_tensor(m, "value", MUSTER__DATA_TYPE__DT_INT32, 0, NULL);
    t->n_int_val = 1;
    t->int_val = i;
}

static void attributes_have_the_names_and_defaults_of_tensorflow(void **state) {
    (void)state;
    maker m;
    begin(&m);
    placeholder(&m, "x");
    node(&m, "a", "LeakyRelu", "x");
    node(&m, "b", "LeakyRelu", "a");
    attr_f(&m, "alpha", 0.5f);
    node(&m, "c", "Elu", "b");
    expect_text(&m,
                "x = placeholder() {dtype=f32, shape=[?, 2]} : f32[?, 2]\n"
                "a = leaky_relu(x) {slope=0.2} : f32[?, 2]\n"
                "b = leaky_relu(a) {slope=0.5} : f32[?, 2]\n"
                "c = elu(b) {alpha=1} : f32[?, 2]\n");
}

static void they_do_not_depend_on_the_locale(void **state) {
    if (!comma_locale_enter()) skip();
    attributes_have_the_names_and_defaults_of_tensorflow(state);
    setlocale(LC_ALL, "C");
}

static void constants_of_the_file_become_options(void **state) {
    (void)state;
    maker m;
    begin(&m);
    placeholder(&m, "x");
    constant_i(&m, "axes", (int32_t[]){-1});
    node(&m, "behind", "Identity", "axes");
    node(&m, "sum", "Sum", "x behind");
    attr_b(&m, "keep_dims", true);
    node(&m, "biased", "AddV2", "sum x");
    expect_text(&m,
                "x = placeholder() {dtype=f32, shape=[?, 2]} : f32[?, 2]\n"
                "axes = constant() {value=i32(-1)} : i32[]\n"
                "behind = identity(axes) : i32[]\n"
                "sum = reduce_sum(x) {axes=[-1], keep_dims} : f32[?, 1]\n"
                "biased = add(sum, x) : f32[?, 2]\n");
    begin(&m);
    placeholder(&m, "x");
    node(&m, "axes", "Placeholder", "");
    attr_type(&m, "dtype", MUSTER__DATA_TYPE__DT_INT32);
    node(&m, "sum", "Sum", "x axes");
    expect_error(&m, MST_INVALID, "node 'sum': its input 'axes' (axes) must be a constant in the file");
}

static void parts_of_a_composition_are_no_nodes(void **state) {
    (void)state;
    maker m;
    begin(&m);
    placeholder(&m, "x");
    node(&m, "part", "Neg", "x");
    attr_s(&m, MST_ATTR_PART, "y");
    node(&m, "y", "Neg", "part");
    expect_error(&m, MST_CORRUPT, "node 'y': it needs 'part', which is a part of another node");
    begin(&m);
    placeholder(&m, "x");
    node(&m, "part", "Neg", "x");
    attr_s(&m, MST_ATTR_PART, "y");
    node(&m, "y", "Neg", "x ^part");
    expect_error(&m, MST_CORRUPT, "node 'y': it needs '^part', which is a part of another node");
    begin(&m);
    node(&m, "part", "NoOp", "");
    attr_s(&m, MST_ATTR_PART, "y");
    expect_error(&m, MST_CORRUPT, "there are only parts of other nodes in it");
}

static void attributes_must_be_of_their_kind(void **state) {
    (void)state;
    maker m;
    int32_t axis = 0;
    begin(&m);
    placeholder(&m, "x");
    node(&m, "n", "LeakyRelu", "x");
    attr_f(&m, "slope", 0.2f); /* our name of TensorFlow's alpha */
    expect_error(&m, MST_INVALID, "node 'n': attribute 'slope' is no option of leaky_relu");
    begin(&m);
    placeholder(&m, "x");
    node(&m, "n", "LeakyRelu", "x");
    attr_f(&m, "slop", 0.2f);
    expect_error(&m, MST_INVALID, "'slop' is no option of leaky_relu: did you mean 'slope'?");
    begin(&m);
    placeholder(&m, "x");
    node(&m, "n", "LeakyRelu", "x");
    attr_f(&m, "alpha", 2);
    expect_error(&m, MST_INVALID, "leaky_relu 'n': slope is 2, must be between");
    begin(&m);
    placeholder(&m, "x");
    node(&m, "n", "LeakyRelu", "x");
    attr_i(&m, "alpha", 1);
    expect_error(&m, MST_CORRUPT, "attribute 'slope' is an integer, must be a float");
    begin(&m);
    placeholder(&m, "x");
    constant_i(&m, "axis", &axis);
    m.tensor[1].dtype = MUSTER__DATA_TYPE__DT_INT64;
    m.tensor[1].n_int64_val = 1;
    m.tensor[1].int64_val = (int64_t[]){1ll << 40};
    node(&m, "n", "ArgMax", "x axis");
    expect_error(&m, MST_INVALID, "node 'n': axis has the number 1099511627776, which is out of range");
    begin(&m);
    placeholder(&m, "x");
    node(&m, "n", "BiasAdd", "x x");
    attr_s(&m, "data_format", "NCHW");
    expect_error(&m, MST_INVALID, "node 'n': attribute 'data_format' of BiasAdd must be 'NHWC'");
    begin(&m);
    placeholder(&m, "x");
    node(&m, "n", "AddN", "x");
    attr_i(&m, "N", 2);
    expect_error(&m, MST_CORRUPT, "node 'n': it has 1 sources, and says that there are 2");
    begin(&m);
    node(&m, "n", "Placeholder", "");
    attr_type(&m, "dtype", 19);
    expect_error(&m, MST_INVALID, "option dtype is TensorFlow's dtype number 19, which Muster does not have");
    begin(&m);
    placeholder(&m, "n");
    m.node[0].device = "GPU one";
    expect_error(&m, MST_INVALID, "node 'n': device 'GPU one' is no device name");
}

static void shapes_and_tensors_are_not_trusted(void **state) {
    (void)state;
    maker m;
    begin(&m);
    node(&m, "n", "Placeholder", "");
    attr_shape(&m, "shape", 9, (int64_t[]){1, 1, 1, 1, 1, 1, 1, 1, 1});
    expect_error(&m, MST_INVALID, "node 'n': 9 dimensions, at most 8 are possible");
    begin(&m);
    node(&m, "n", "Placeholder", "");
    attr_shape(&m, "shape", 0, NULL);
    m.shape[0].unknown_rank = true;
    expect_error(&m, MST_INVALID, "node 'n': the number of dimensions is not given");
    begin(&m);
    node(&m, "n", "Placeholder", "");
    attr_shape(&m, "shape", 2, (int64_t[]){1ll << 40, 1ll << 40});
    expect_error(&m, MST_INVALID, "too many elements in");
    begin(&m);
    node(&m, "n", "Placeholder", "");
    attr_shape(&m, "shape", 1, (int64_t[]){-2});
    expect_error(&m, MST_INVALID, "dimension 0 is -2");
    begin(&m);
    node(&m, "n", "Const", "");
    Muster__TensorProto *t = attr_tensor(&m, "value", MUSTER__DATA_TYPE__DT_FLOAT, 1, (int64_t[]){1ll << 40});
    t->n_float_val = 1;
    t->float_val = (float[]){1};
    expect_error(&m, MST_INVALID, "a tensor of 1099511627776 elements is given by 1");
    t->n_float_val = 0;
    t->tensor_content = (ProtobufCBinaryData){4, (uint8_t[]){0, 0, 0, 0}};
    expect_error(&m, MST_CORRUPT, "a tensor has 4 bytes, too few for its shape");
    m.dim[0][0].size = 0;
    expect_error(&m, MST_CORRUPT, "a tensor has 4 bytes, its shape needs 0");
    m.dim[0][0].size = -1;
    expect_error(&m, MST_INVALID, "has a negative dimension");
    m.dim[0][0].size = 4;
    t->dtype = MUSTER__DATA_TYPE__DT_BOOL;
    t->tensor_content = (ProtobufCBinaryData){4, (uint8_t[]){0, 1, 2, 0}};
    expect_error(&m, MST_CORRUPT, "element 2 of a bool tensor is 2");
    t->dtype = (Muster__DataType)8;
    expect_error(&m, MST_INVALID, "a tensor is of TensorFlow's dtype number 8");
    begin(&m);
    node(&m, "n", "Const", "");
    t = attr_tensor(&m, "value", MUSTER__DATA_TYPE__DT_FLOAT, 0, NULL);
    t->n_float_val = 2;
    t->float_val = (float[]){1, 2};
    expect_error(&m, MST_CORRUPT, "a tensor has 2 values, its shape needs 1");
}

static void small_file_cannot_make_many_outputs(void **state) {
    (void)state;
    maker m;
    begin(&m);
    node(&m, "x", "Placeholder", "");
    attr_shape(&m, "shape", 1, (int64_t[]){-1});
    constant_i(&m, "axis", (int32_t[]){0});
    node(&m, "n", "Split", "axis x");
    attr_i(&m, "num_split", 1 << 20);
    expect_error(&m, MST_CORRUPT, "node 'n': it has 1048576 outputs, more than the file has a use for");
}

static void collections_and_other_data_of_the_graph_are_checked(void **state) {
    (void)state;
    maker m;
    Muster__AttrValue__ListValue list = MUSTER__ATTR_VALUE__LIST_VALUE__INIT;
    begin(&m);
    placeholder(&m, "x");
    attr(&m, MST_ATTR_COLLECTION "_0", MUSTER__ATTR_VALUE__VALUE_LIST)->list = &list;
    expect_error(&m, MST_CORRUPT, "attribute '_muster_collection_0' has no name");
    list.n_s = 2;
    list.s = (ProtobufCBinaryData[]){{6, (uint8_t *)"losses"}, {1, (uint8_t *)"y"}};
    expect_error(&m, MST_CORRUPT, "collection 'losses' has 'y', which is not there");
    list.s[1] = (ProtobufCBinaryData){3, (uint8_t *)"x:1"};
    expect_error(&m, MST_CORRUPT, "collection 'losses' has 'x:1', which is not there");
    list.s[1] = (ProtobufCBinaryData){2, (uint8_t *)"x"};
    expect_error(&m, MST_CORRUPT, "attribute '_muster_collection_0' has a zero byte");
    list.s[1] = (ProtobufCBinaryData){1, (uint8_t *)"x"};
    mst_graph *g;
    EXPECT_OK(read(&m, &g));
    assert_int_equal(mst_collection(g, "losses", NULL, NULL, 0), 1);
    mst_graph_destroy(g);
    attr_s(&m, MST_ATTR_SEED, "7");
    expect_error(&m, MST_CORRUPT, "attribute '_muster_seed' is a string, must be an integer");
}

static mst_status infer_like(mst_infer *c) {
    c->dst[0] = c->src[0];
    return MST_OK;
}

static mst_status refuse(const mst_kernel_args *a) {
    return mst_kernel_fail(a, MST_UNIMPLEMENTED, "is there for its name");
}

/* The last test: the registry does not forget. */
static void type_name_of_two_ops_is_an_error_that_names_both(void **state) {
    (void)state;
    static const mst_op twin = {.name = "twin",
                                .tf_form = "Neg($0)",
                                .num_src = 1,
                                .num_dst = 1,
                                .dtypes = MST_ALL_DTYPES,
                                .infer = infer_like,
                                .reference = refuse};
    EXPECT_OK(mst_register_op(&twin));
    maker m;
    begin(&m);
    placeholder(&m, "x");
    node(&m, "n", "Neg", "x");
    expect_error(&m, MST_INVALID, "node 'n': its op 'Neg' is neg or twin: the attribute _muster_op would say which");
    attr_s(&m, MST_ATTR_OP, "twin");
    expect_text(&m,
                "x = placeholder() {dtype=f32, shape=[?, 2]} : f32[?, 2]\n"
                "n = twin(x) : f32[?, 2]\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops_are_found_by_the_names_of_tensorflow),
        cmocka_unit_test(nodes_may_be_in_any_order),
        cmocka_unit_test(lists_of_values_fill_tensors),
        cmocka_unit_test(missing_inputs_are_errors),
        cmocka_unit_test(cycles_are_errors),
        cmocka_unit_test(names_must_be_names_and_differ),
        cmocka_unit_test(unknown_and_malformed_op_names_are_errors),
        cmocka_unit_test(attributes_have_the_names_and_defaults_of_tensorflow),
        cmocka_unit_test(they_do_not_depend_on_the_locale),
        cmocka_unit_test(constants_of_the_file_become_options),
        cmocka_unit_test(parts_of_a_composition_are_no_nodes),
        cmocka_unit_test(attributes_must_be_of_their_kind),
        cmocka_unit_test(shapes_and_tensors_are_not_trusted),
        cmocka_unit_test(small_file_cannot_make_many_outputs),
        cmocka_unit_test(collections_and_other_data_of_the_graph_are_checked),
        cmocka_unit_test(type_name_of_two_ops_is_an_error_that_names_both),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
