/* Graphs inside nodes of ONNX: If, Loop and Scan. */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "model_file/onnx/onnx_channels.h"
#include "muster/model_file.h"
#include "muster/ops.h"
#include "muster/session.h"
#include "muster/train.h"
#include "support/expect.h"
#include "support/folder.h"
#include "support/onnx_message.h"

enum { STEPS = 3, ROWS = 2, COLUMNS = 2, SIZE = STEPS * ROWS * COLUMNS, MOST_GRAPHS = 12 };

/* ---- models ---- */

static struct {
    const char *name;
    int32_t type, small;
    int64_t number;
} numbers[] = {
    {"zero", 7, 0, 0},   {"one", 7, 0, 1}, {"two", 7, 0, 2}, {"three", 7, 0, 3}, {"many", 7, 0, (int64_t)1 << 40},
    {"below", 7, 0, -1}, {"yes", 9, 1, 0}, {"no", 9, 0, 0}};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

static void add_numbers(onnx_message *m) {
    static int64_t none[1];
    for (int i = 0; i < NUMBERS; i++) {
        Muster__OnnxTensor *tensor = onnx_add_list(m, numbers[i].name, &numbers[i].number, 1);
        tensor->n_dims = 0;
        if (numbers[i].type == mst_onnx_type(MST_I64)) continue;
        tensor->data_type = numbers[i].type;
        tensor->n_int64_data = 0;
        tensor->int32_data = &numbers[i].small;
        tensor->n_int32_data = 1;
    }
    onnx_add_list(m, "zeros", none, 1);
}

/* The number of the node of NODES that has graphs. */
static int find_loop(const onnx_message *m) {
    int i = 0;
    while (!strstr("If Loop Scan", m->node[i].op_type)) i++;
    return i;
}

/* The node with graphs has OUTPUTS outputs, which come first in its words. */
static int begin(onnx_message *m, const char *nodes, int outputs) {
    onnx_begin(m, 19);
    onnx_add_input(m, "x", MST_SHAPE(STEPS, -1, COLUMNS));
    add_numbers(m);
    onnx_add_nodes(m, nodes);
    onnx_add_output(m, "y", MST_SHAPE(-1));
    const int i = find_loop(m);
    m->node[i].n_output = (size_t)outputs;
    m->node[i].input += outputs - 1;
    m->node[i].n_input -= (size_t)outputs - 1;
    return i;
}

/* The packed graphs of a model, until it is packed itself. */
static struct {
    void *data[MOST_GRAPHS];
    int count;
} packed;

static void free_graphs(void) {
    while (packed.count) free(packed.data[--packed.count]);
}

/* Sets the attribute NAME of node I of M to the SIZE bytes of DATA, which are freed by free_graphs. */
static void set_graph(onnx_message *m, int i, const char *name, void *data, size_t size) {
    assert_true(packed.count < MOST_GRAPHS);
    packed.data[packed.count++] = data;
    Muster__OnnxAttribute *a = &m->attribute[i][m->node[i].n_attribute];
    muster__onnx_attribute__init(a);
    a->name = onnx_text(name);
    a->type = MST_ONNX_GRAPH;
    a->g = (ProtobufCBinaryData){size, data};
    m->attributes[i][m->node[i].n_attribute++] = a;
}

/* A graph inside a node as text: names of its inputs, its nodes, names of its outputs. */
typedef struct text_graph {
    const char *inputs, *nodes, *outputs;
} text_graph;

static void add_names(onnx_message *m, char *names, bool inputs) {
    char *rest;
    for (char *name = strtok_r(names, " ", &rest); name; name = strtok_r(NULL, " ", &rest))
        (inputs ? onnx_add_input : onnx_add_output)(m, name, MST_SCALAR);
}

/* INNER: a graph inside node 0 of TEXT, in its attribute body; NULL: none. */
static void add_graph(onnx_message *m, int i, const char *name, text_graph text, const text_graph *inner) {
    onnx_message g;
    char inputs[200], outputs[200];
    onnx_begin(&g, 19);
    snprintf(inputs, sizeof inputs, "%s", text.inputs);
    snprintf(outputs, sizeof outputs, "%s", text.outputs);
    add_names(&g, inputs, true);
    onnx_add_nodes(&g, text.nodes);
    add_names(&g, outputs, false);
    if (inner) add_graph(&g, 0, "body", *inner, NULL);
    const size_t size = muster__onnx_graph__get_packed_size(&g.graph);
    uint8_t *data = malloc(size + 1);
    assert_non_null(data);
    muster__onnx_graph__pack(&g.graph, data);
    set_graph(m, i, name, data, size);
}

/* The value y of GRAPH, or with GRADIENT the gradient of its sum for x. x has the numbers 0, 1, ... */
static mst_tensor *run(mst_graph *graph, bool gradient) {
    mst_session *session;
    mst_tensor *in, *out = NULL;
    const mst_value x = {mst_graph_find(graph, "x"), 0};
    mst_value y = {mst_graph_find(graph, "y"), 0};
    if (gradient) mst_gradients(y, &x, 1, &y);
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(STEPS, ROWS, COLUMNS), &in));
    for (int64_t i = 0; i < SIZE; i++) mst_tensor_set(in, i, (double)i);
    EXPECT_OK(mst_session_create(graph, &(mst_session_options){.devices = "cpu:1"}, &session));
    const mst_feed feed = {.value = x, .tensor = in};
    EXPECT_OK(mst_session_run(session, &feed, 1, &y, 1, &out));
    mst_tensor_release(in);
    mst_session_destroy(session);
    mst_graph_destroy(graph);
    return out;
}

#define WANT(...) ((const double[]){__VA_ARGS__})

static void expect(const char *what, mst_tensor *y, mst_shape shape, const double *want) {
    bool good = mst_shape_equal(mst_tensor_shape(y), shape);
    for (int64_t i = 0; good && i < mst_tensor_count(y); i++) good = fabs(mst_tensor_get(y, i) - want[i]) < 1e-6;
    if (!good) fail_msg("%s", what);
    mst_tensor_release(y);
}

/* ---- what is computed ---- */

/* The loop of NODES, with OUTPUTS outputs, has BODY. WANT has what y must be, or with GRADIENT its gradient. */
typedef struct loop_case {
    const char *nodes;
    int outputs;
    text_graph body;
    mst_shape shape;
    const double *want;
    bool gradient;
} loop_case;

static void check_cases(const loop_case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        onnx_message m;
        const int at = begin(&m, cases[i].nodes, cases[i].outputs);
        add_graph(&m, at, "body", cases[i].body, NULL);
        mst_graph *graph = onnx_decode(&m);
        free_graphs();
        expect(cases[i].body.nodes, run(graph, cases[i].gradient), cases[i].shape, cases[i].want);
    }
}

static void loops(void **state) {
    (void)state;
    /* h = 2 h + x[t], from x[2] */
    const text_graph sums = {"i c h", "Gather p x i;Add d h h;Add n d p", "c n n"};
    const loop_case cases[] = {
        {"Loop y three _ x",
         1,
         {"i c h", "Gather p x i;Add n h p", "c n"},
         MST_SHAPE(3, 2, 2),
         WANT(12, 16, 20, 24, 16, 20, 24, 28, 20, 24, 28, 32),
         false},
        {"Gather s x two;Loop h y three _ s", 2, sums, MST_SHAPE(3, 2, 2),
         WANT(16, 19, 22, 25, 36, 43, 50, 57, 80, 95, 110, 125), false},
        {"Gather s x two;Loop y a three _ s", 2, sums, MST_SHAPE(2, 2), WANT(80, 95, 110, 125), false},
        {"Gather s x two;Loop y a three _ s", 2, sums, MST_SHAPE(3, 2, 2), WANT(4, 4, 4, 4, 2, 2, 2, 2, 9, 9, 9, 9),
         true},
        /* a number that is carried is known, as is the end of a Slice; shapes may change */
        {"Loop y three _ zero", 1, {"i c k", "Add n k two", "c n"}, MST_SCALAR, WANT(6), false},
        {"Loop y two _ x",
         1,
         {"i c h", "Add e i one;Unsqueeze f e zeros;Slice p x zeros f;Concat n h p axis=0", "c n"},
         MST_SHAPE(6, 2, 2),
         WANT(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7),
         false},
        /* no steps */
        {"Loop y zero _ two", 1, {"i c h", "Add n h h", "c n"}, MST_SCALAR, WANT(2), false},
        {"Loop y below _ two", 1, {"i c h", "Add n h h", "c n"}, MST_SCALAR, WANT(2), false},
        {"Loop y three no two", 1, {"i c h", "Add n h h", "c n"}, MST_SCALAR, WANT(2), false},
        /* a condition ends it; of floats, as tf2onnx writes it */
        {"Loop y many yes one",
         1,
         {"i c h", "Add n h h;Cast f i to=1;Cast t two to=1;Less d f t;And e d c", "e n"},
         MST_SCALAR,
         WANT(8),
         false},
        {"Loop y _ yes one",
         1,
         {"i c h", "Add n h h;GreaterOrEqual d i two;Not e d", "e n"},
         MST_SCALAR,
         WANT(8),
         false},
        /* without input 1, what the body says does not matter */
        {"Loop y three _ one", 1, {"i c h", "Add n h h;Identity d no", "d n"}, MST_SCALAR, WANT(8), false},
    };
    check_cases(cases, sizeof cases / sizeof *cases);
}

static void scans(void **state) {
    (void)state;
    const loop_case cases[] = {
        {"Scan h y one x num_scan_inputs=1",
         2,
         {"h p", "Cast f h to=1;Add n f p", "h n"},
         MST_SHAPE(3, 2, 2),
         WANT(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12),
         false},
        {"Scan y z x num_scan_inputs=1 scan_input_axes=-1,",
         2,
         {"p", "Add n p p;Add k n p", "n k"},
         MST_SHAPE(2, 3, 2),
         WANT(0, 4, 8, 12, 16, 20, 2, 6, 10, 14, 18, 22),
         false},
        {"Scan h y zero x num_scan_inputs=1 scan_input_directions=1, scan_output_directions=1, scan_output_axes=2,",
         2,
         {"h p", "Add k h one;Cast f h to=1;Mul n p f", "k n"},
         MST_SHAPE(2, 2, 3),
         WANT(0, 4, 0, 2, 5, 0, 4, 6, 0, 6, 7, 0),
         false},
    };
    check_cases(cases, sizeof cases / sizeof *cases);
}

static void loops_in_loops(void **state) {
    (void)state;
    onnx_message m;
    const text_graph inner = {"j d u", "Add v u u", "d v"};
    double want[SIZE];
    for (int i = 0; i < SIZE; i++) want[i] = 64 * i; /* doubled twice in each of three steps */
    add_graph(&m, begin(&m, "Loop y three _ x", 1), "body", (text_graph){"i c p", "Loop q two _ p;Identity r q", "c r"},
              &inner);
    mst_graph *graph = onnx_decode(&m);
    free_graphs();
    expect("nested", run(graph, false), MST_SHAPE(3, 2, 2), want);
}

static void conditions(void **state) {
    (void)state;
    double want[SIZE];
    for (int yes = 0; yes < 2; yes++) {
        onnx_message m;
        const int at = begin(&m,
                             yes ? "Shape s x;Gather k s zero;Equal e k three;If y e"
                                 : "Shape s x;Gather k s two;Equal e k three;If y e",
                             1);
        add_graph(&m, at, "then_branch", (text_graph){"", "Add a x x", "a"}, NULL);
        add_graph(&m, at, "else_branch", (text_graph){"", "Mul a x x", "a"}, NULL);
        mst_graph *graph = onnx_decode(&m);
        free_graphs();
        for (int i = 0; i < SIZE; i++) want[i] = yes ? 2 * i : i * i;
        expect("If", run(graph, false), MST_SHAPE(3, 2, 2), want);
    }
}

/* ---- weights ---- */

static void add_weight(onnx_message *m, const char *name) {
    static int64_t dims[] = {COLUMNS, COLUMNS};
    static float values[] = {0.5F, -0.25F, 1, 0.75F};
    Muster__OnnxTensor *tensor = onnx_add_list(m, name, NULL, 0);
    tensor->data_type = mst_onnx_type(MST_F32);
    tensor->dims = dims;
    tensor->n_dims = 2;
    tensor->float_data = values;
    tensor->n_float_data = COLUMNS * COLUMNS;
}

static double squares(mst_model *model, const mst_dataset *data) {
    mst_tensor *y;
    double sum = 0;
    EXPECT_OK(mst_predict(model, data, ROWS, &y));
    for (int64_t i = 0; i < mst_tensor_count(y); i++) sum += mst_tensor_get(y, i) * mst_tensor_get(y, i);
    mst_tensor_release(y);
    return sum;
}

/* Trains MODEL to give zeros, which its squares show. */
static void expect_trained(mst_model *model) {
    mst_tensor *x, *zeros;
    mst_dataset *data;
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(ROWS, STEPS, COLUMNS), &x));
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(ROWS, COLUMNS), &zeros));
    for (int64_t i = 0; i < SIZE; i++) mst_tensor_set(x, i, (double)(i % 5) / 5);
    for (int64_t i = 0; i < ROWS * COLUMNS; i++) mst_tensor_set(zeros, i, 0);
    EXPECT_OK(mst_dataset_from_tensors((mst_tensor *[]){x, zeros}, 2, &data));
    EXPECT_OK(mst_compile(model, .loss = MST_LOSS_MEAN_SQUARED_ERROR, .optimizer = mst_adam(.learning_rate = 0.05),
                          .session = {.devices = "cpu:1"}));
    const double before = squares(model, data);
    EXPECT_OK(mst_fit(model, .data = data, .batch_size = ROWS, .epochs = 40));
    assert_true(before > 0.1 && squares(model, data) < before / 20);
    mst_tensor_release(x);
    mst_tensor_release(zeros);
    mst_dataset_release(data);
}

/* A weight in the body and one that is carried are one variable each for all steps. */
static void weights_are_shared_by_all_steps(void **state) {
    (void)state;
    onnx_message m, g;
    size_t size;
    mst_model *model;
    const mst_weight *weight;
    int64_t count;
    onnx_begin(&m, 19);
    onnx_add_input(&m, "x", MST_SHAPE(-1, STEPS, COLUMNS));
    add_numbers(&m);
    add_weight(&m, "v");
    onnx_add_nodes(&m, "Gather s x zero axis=1;Loop y a three _ s v");
    m.node[1].n_output = 2;
    m.node[1].input++;
    m.node[1].n_input--;
    onnx_add_output(&m, "y", MST_SHAPE(-1, COLUMNS));
    onnx_begin(&g, 19);
    char inputs[] = "i c h u", outputs[] = "c n u";
    add_names(&g, inputs, true);
    add_weight(&g, "w");
    onnx_add_nodes(&g, "Gather p x i axis=1;MatMul a p w;Transpose t u perm=1,0;MatMul b h t;Add n a b");
    add_names(&g, outputs, false);
    size = muster__onnx_graph__get_packed_size(&g.graph);
    uint8_t *body = malloc(size + 1);
    assert_non_null(body);
    muster__onnx_graph__pack(&g.graph, body);
    set_graph(&m, 1, "body", body, size);
    void *data = onnx_pack(&m, &size);
    free_graphs();
    EXPECT_OK(mst_file_write(folder_path("loop.onnx"), data, size));
    EXPECT_OK(mst_model_load(folder_path("loop.onnx"), &model, NULL));
    EXPECT_OK(mst_model_weights(model, &weight, &count));
    assert_int_equal(count, 2);
    expect_trained(model);
    mst_model_destroy(model);
    free(data);
}

/* ---- the order of channels ---- */

/* As ConvLSTM2D is written: the body takes a picture of each step, and transposes it to ONNX's order. By the sizes
 * alone, the four steps would be the channels. */
static void the_body_tells_the_order_of_channels(void **state) {
    (void)state;
    onnx_message m;
    mst_onnx_file file;
    size_t size;
    bool first, output_first;
    onnx_begin(&m, 19);
    onnx_add_input(&m, "x", MST_SHAPE(-1, 4, 6, 6, 8));
    add_numbers(&m);
    onnx_add_nodes(&m, "Transpose t x perm=1,0,2,3,4;Loop y three _");
    onnx_add_output(&m, "y", MST_SHAPE(3, -1, 8, 6, 6));
    add_graph(&m, 1, "body", (text_graph){"i c", "Gather p t i;Transpose q p perm=0,3,1,2", "c q"}, NULL);
    void *data = onnx_pack(&m, &size);
    free_graphs();
    EXPECT_OK(mst_onnx_file_parse("m", NULL, data, size, &file));
    EXPECT_OK(mst_onnx_channels_find(&file, &first, &output_first));
    assert_false(first);
    mst_onnx_file_free(&file);
    free(data);
}

/* ---- errors ---- */

typedef struct error_case {
    const char *nodes;
    text_graph body;
    mst_status code;
    const char *why;
} error_case;

static void check_errors(const error_case *cases, size_t count, int64_t rows) {
    for (size_t i = 0; i < count; i++) {
        onnx_message m;
        const int at = begin(&m, cases[i].nodes, 1);
        if (rows >= 0) {
            m.dim[0][1].value_case = MUSTER__ONNX_DIMENSION__VALUE_DIM_VALUE;
            m.dim[0][1].dim_value = rows;
        }
        if (cases[i].body.nodes) add_graph(&m, at, "body", cases[i].body, NULL);
        onnx_expect_refused(&m, cases[i].code, cases[i].why);
        free_graphs();
    }
}

static void steps_that_are_not_known(void **state) {
    (void)state;
    const text_graph doubles = {"i c h", "Add n h h", "c n"};
    const text_graph asks = {"i c h", "Add n h h;ReduceMax r n keepdims=0;Cast z zero to=1;Greater d r z", "d n"};
    const error_case open[] = {
        {"Shape s x;Gather k s one;Loop y k _ x", doubles, MST_UNIMPLEMENTED,
         "node 'y' (Loop, opset 19): how many steps it has is not known while the model is read, since their number "
         "depends on an open size or on values: export the model with a number for dimension 1 of its input 'x', such "
         "as the 20 of keras.Input((20, 3))"},
        {"Scan y x num_scan_inputs=1 scan_input_axes=1,",
         {"p", "Identity q p", "q"},
         MST_UNIMPLEMENTED,
         "a number for dimension 1 of its input 'x'"},
        {"Shape s x;Gather k s one;Equal e k three;If y e",
         {NULL, NULL, NULL},
         MST_CORRUPT,
         "it has no graph in its attribute then_branch"},
    };
    const error_case values[] = {
        {"ReduceMax r x keepdims=0;Cast k r to=7;Loop y k _ x", doubles, MST_UNIMPLEMENTED,
         "since their number depends on values: only a number of steps that follows from sizes is supported"},
        {"ReduceMax r x keepdims=0;Cast k r to=9;Loop y three k x", doubles, MST_UNIMPLEMENTED,
         "since its condition depends on values"},
        {"Loop y three yes x", asks, MST_UNIMPLEMENTED, "since its condition after a step depends on values"},
    };
    check_errors(open, sizeof open / sizeof *open, -1);
    check_errors(values, sizeof values / sizeof *values, 4);
}

static void too_many_steps(void **state) {
    (void)state;
    const text_graph doubles = {"i c h", "Add n h h", "c n"}, nothing = {"i c", "", "c"};
    const error_case cases[] = {
        {"Loop y many _ x", doubles, MST_UNIMPLEMENTED,
         "it has 1099511627776 steps of 7 nodes and values, and at most 65536 are supported in all loops"},
        {"Loop y many yes x", doubles, MST_UNIMPLEMENTED,
         "its steps have too many nodes and values: 65536 are supported in all loops of a model"},
        {"Loop y _ yes x", doubles, MST_UNIMPLEMENTED, "its steps have too many nodes and values"},
        {"Loop y _ _", nothing, MST_CORRUPT, "it has 1 outputs, and its body has only 0 for them"},
    };
    check_errors(cases, sizeof cases / sizeof *cases, -1);
}

static void graphs_that_do_not_fit(void **state) {
    (void)state;
    const error_case cases[] = {
        {"Loop y three _ x", {NULL, NULL, NULL}, MST_CORRUPT, "it has no graph in its attribute body"},
        {"Loop y three", {"i c h", "Add n h h", "c n"}, MST_CORRUPT, "it has 1 inputs, and must have at least 2"},
        {"Loop y three _ _", {"i c h", "Add n h h", "c n"}, MST_CORRUPT, "its input 2 is missing"},
        {"Loop y three _ x",
         {"i c", "Add n x x", "c n"},
         MST_CORRUPT,
         "step 0: the graph inside it has 2 inputs, and must have 3"},
        {"Loop y three _ x",
         {"i c h", "Add n h h", "n"},
         MST_CORRUPT,
         "its body has 1 outputs, and must have at least 2"},
        {"Loop y three _ x",
         {"i c h", "Add n h h", "c o"},
         MST_CORRUPT,
         "the output 'o' of the graph inside it is made by no node"},
        {"Loop y three _ x",
         {"i c h", "Add n h g", "c n"},
         MST_CORRUPT,
         "node 'y' (Loop, opset 19): step 0: node 'n' (Add, opset 19): its input 'g' is no input"},
        {"Loop y three _ x", {"i c x", "Add n x x", "c n"}, MST_CORRUPT, "the value 'x' has that name already"},
        {"Scan y x num_scan_inputs=0", {"p", "Identity q p", "q"}, MST_INVALID, "its attribute num_scan_inputs is 0"},
        {"Scan y x num_scan_inputs=2", {"p", "Identity q p", "q"}, MST_INVALID, "its attribute num_scan_inputs is 2"},
        {"Scan y x num_scan_inputs=1 scan_input_axes=3,",
         {"p", "Identity q p", "q"},
         MST_INVALID,
         "it has the axis 3, and its input has 3 dimensions"},
        {"Scan y x num_scan_inputs=1 scan_input_axes=0,2",
         {"p", "Identity q p", "q"},
         MST_CORRUPT,
         "its attribute scan_input_axes has 2 numbers, and must have 1"},
        {"Transpose t x perm=2,1,0;Scan y x t num_scan_inputs=2",
         {"p q", "Identity r p", "r"},
         MST_INVALID,
         "its inputs 0 and 1 have 3 and 2 steps, and must have the same number"},
        {"Loop y zero _",
         {"i c", "Identity n x", "c n"},
         MST_UNIMPLEMENTED,
         "it has no steps, so the shape of its output 0, the values of all steps, is not known"},
    };
    check_errors(cases, sizeof cases / sizeof *cases, -1);
}

static void conditions_that_are_not_known(void **state) {
    (void)state;
    onnx_message m;
    const int at = begin(&m, "ReduceMax r x keepdims=0;Cast e r to=9;If y e", 1);
    add_graph(&m, at, "then_branch", (text_graph){"", "Add a x x", "a"}, NULL);
    add_graph(&m, at, "else_branch", (text_graph){"", "Mul a x x", "a"}, NULL);
    onnx_expect_refused(&m, MST_UNIMPLEMENTED,
                        "node 'y' (If, opset 19): its condition 'e' is not known while the model is read");
    m.node[at].input[0] = onnx_text("yes");
    m.attribute[at][0].g.len = 5; /* cut off */
    onnx_expect_refused(&m, MST_CORRUPT, "has a graph inside a node, in its attribute 'then_branch', that is damaged");
    free_graphs();
}

/* A graph inside nodes of graphs, more deeply than is read. */
static void graphs_too_deep(void **state) {
    (void)state;
    for (int depth = MST_ONNX_MOST_DEPTH; depth <= MST_ONNX_MOST_DEPTH + 1; depth++) {
        onnx_message m;
        uint8_t *data = NULL;
        size_t size = 0;
        for (int i = 0; i < depth; i++) {
            onnx_message g;
            char inputs[] = "i0 c0 h0", outputs[] = "c0 n0", node[] = "Loop n0 one _ h0";
            for (char *c = inputs; *c; c++) *c = (char)(*c == '0' ? 'a' + i : *c); /* names are given once */
            for (char *c = outputs; *c; c++) *c = (char)(*c == '0' ? 'a' + i : *c);
            for (char *c = node; *c; c++) *c = (char)(*c == '0' ? 'a' + i : *c);
            onnx_begin(&g, 19);
            add_names(&g, inputs, true);
            onnx_add_nodes(&g, i ? node : "Add na ha ha");
            add_names(&g, outputs, false);
            if (i) set_graph(&g, 0, "body", data, size);
            size = muster__onnx_graph__get_packed_size(&g.graph);
            assert_non_null(data = malloc(size + 1));
            muster__onnx_graph__pack(&g.graph, data);
        }
        begin(&m, "Loop y one _ x", 1);
        set_graph(&m, 0, "body", data, size);
        if (depth > MST_ONNX_MOST_DEPTH)
            onnx_expect_refused(&m, MST_UNIMPLEMENTED, "has graphs inside more than 8 nodes, one in the other");
        else
            mst_graph_destroy(onnx_decode(&m));
        free_graphs();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops),
        cmocka_unit_test(scans),
        cmocka_unit_test(loops_in_loops),
        cmocka_unit_test(conditions),
        TEST_IN_FOLDER(weights_are_shared_by_all_steps),
        cmocka_unit_test(the_body_tells_the_order_of_channels),
        cmocka_unit_test(steps_that_are_not_known),
        cmocka_unit_test(too_many_steps),
        cmocka_unit_test(graphs_that_do_not_fit),
        cmocka_unit_test(conditions_that_are_not_known),
        cmocka_unit_test(graphs_too_deep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
