/* Nodes of ONNX that compute with sizes: which sizes are known while the graph is built, and which only in a run. */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "muster/session.h"
#include "support/expect.h"
#include "support/onnx_message.h"

enum { ROWS = 3 };

/* Lists and numbers for the nodes of all cases. */
static struct {
    const char *name;
    bool is_number;
    size_t count;
    int64_t list[6];
} lists[] = {{"zero", true, 1, {0}},
             {"one", true, 1, {1}},
             {"two", true, 1, {2}},
             {"l0", false, 1, {0}},
             {"l1", false, 1, {1}},
             {"l2", false, 1, {2}},
             {"l4", false, 1, {4}},
             {"minus", false, 1, {-1}},
             {"ends", false, 2, {1, -1}},
             {"six", false, 6, {1, 2, 3, 4, 5, 6}},
             {"pair", false, 2, {-1, 2}},
             {"least", false, 1, {INT64_MIN + 1}},
             {"pads", false, 4, {0, 2, 0, 1}},
             {"row", false, 2, {2, 4}},
             {"up", false, 2, {4, 8}},
             {"picture", false, 4, {-1, 1, 2, 4}},
             {"flat", false, 2, {0, -1}},
             {"twice", false, 3, {2, 1, 1}},
             {"wide", false, 3, {1, 2, 1}},
             {"behind", false, 6, {0, 0, 0, 1, 0, 0}},
             {"beside", false, 6, {0, 0, 0, 0, 1, 0}},
             {"all", false, 1, {INT64_MAX}},
             {"halves", false, 3, {2, -1, 8}}};
enum { LISTS = sizeof lists / sizeof *lists };

/* A case: nodes as text (onnx_add_nodes). x is [n, 2, 4], of ROWS rows and the numbers 0, 1, ...; s are its sizes. WANT
 * has what y must be; NULL: any numbers. */
typedef struct fold_case {
    const char *nodes;
    mst_shape shape;
    const double *want;
} fold_case;

static void begin_case(onnx_message *m, const char *nodes) {
    onnx_begin(m, 19);
    onnx_add_input(m, "x", MST_SHAPE(-1, 2, 4));
    for (int i = 0; i < LISTS; i++)
        if (onnx_nodes_name(nodes, lists[i].name))
            if (onnx_add_list(m, lists[i].name, lists[i].list, lists[i].count) && lists[i].is_number)
                m->tensor[m->graph.n_initializer - 1].n_dims = 0;
    onnx_add_node(m, "Shape s x");
    onnx_add_nodes(m, nodes);
    onnx_add_output(m, "y", MST_SHAPE(-1));
}

static mst_tensor *run_case(const onnx_message *m) {
    mst_graph *graph = onnx_decode(m);
    mst_session *session;
    mst_tensor *x, *y = NULL;
    const mst_value value = {mst_graph_find(graph, "y"), 0};
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(ROWS, 2, 4), &x));
    for (int64_t i = 0; i < mst_tensor_count(x); i++) mst_tensor_set(x, i, (double)i);
    EXPECT_OK(mst_session_create(graph, &(mst_session_options){.devices = "cpu:1"}, &session));
    const mst_feed feed = {.value = {mst_graph_find(graph, "x"), 0}, .tensor = x};
    EXPECT_OK(mst_session_run(session, &feed, 1, &value, 1, &y));
    mst_tensor_release(x);
    mst_session_destroy(session);
    mst_graph_destroy(graph);
    return y;
}

#define WANT(...) ((const double[]){__VA_ARGS__})

static void check_cases(const fold_case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        onnx_message m;
        begin_case(&m, cases[i].nodes);
        mst_tensor *y = run_case(&m);
        bool good = mst_shape_equal(mst_tensor_shape(y), cases[i].shape);
        for (int64_t k = 0; good && cases[i].want && k < mst_tensor_count(y); k++)
            good = mst_tensor_get(y, k) == cases[i].want[k];
        if (!good) fail_msg("%s", cases[i].nodes);
        mst_tensor_release(y);
    }
}

/* The results of each operator for sizes, as values. The number of examples is known only in a run. */
static void sizes_are_values(void **state) {
    (void)state;
    const fold_case cases[] = {
        {"Identity y s", MST_SHAPE(3), WANT(3, 2, 4)},
        {"Add y s s", MST_SHAPE(3), WANT(6, 4, 8)},
        {"Sub y s l1", MST_SHAPE(3), WANT(2, 1, 3)},
        {"Mul y s l2", MST_SHAPE(3), WANT(6, 4, 8)},
        {"Mul t l4 s;Div y t l2", MST_SHAPE(3), WANT(6, 4, 8)},
        {"Div y s l2", MST_SHAPE(3), WANT(1, 1, 2)},
        {"Mod y s l2", MST_SHAPE(3), WANT(1, 0, 0)},
        {"Max y s l2", MST_SHAPE(3), WANT(3, 2, 4)},
        {"Min y s l2", MST_SHAPE(3), WANT(2, 2, 2)},
        {"Equal y s minus", MST_SHAPE(3), WANT(0, 0, 0)},
        {"Equal y s l2", MST_SHAPE(3), WANT(0, 1, 0)},
        {"Equal y s s", MST_SHAPE(3), WANT(1, 1, 1)},
        {"Greater y s minus", MST_SHAPE(3), WANT(1, 1, 1)},
        {"Less y minus s", MST_SHAPE(3), WANT(1, 1, 1)},
        {"LessOrEqual y s minus", MST_SHAPE(3), WANT(0, 0, 0)},
        {"GreaterOrEqual y s l2", MST_SHAPE(3), WANT(1, 1, 1)},
        {"Equal a s l2;Less b s l4;And y a b", MST_SHAPE(3), WANT(0, 1, 0)},
        {"Equal a s l2;Equal b s l4;Or y a b", MST_SHAPE(3), WANT(0, 1, 1)},
        {"Equal a s l2;Not y a", MST_SHAPE(3), WANT(1, 0, 1)},
        {"Cast a one to=1;Cast b two to=1;Less c a b;Where y c l1 l2", MST_SHAPE(1), WANT(1)},
        {"Cast a one to=1;Cast b two to=1;GreaterOrEqual c a b;Where y c l1 l2", MST_SHAPE(1), WANT(2)},
        {"Equal a s minus;Where y a l1 s", MST_SHAPE(3), WANT(3, 2, 4)},
        {"Cast y s to=6", MST_SHAPE(3), WANT(3, 2, 4)},
        {"Cast a s to=6;Gather y a ends", MST_SHAPE(2), WANT(2, 4)},
        {"Gather y s zero", MST_SCALAR, WANT(3)},
        {"Concat y s l1 s axis=0", MST_SHAPE(7), WANT(3, 2, 4, 1, 3, 2, 4)},
        {"Unsqueeze y s l0", MST_SHAPE(1, 3), WANT(3, 2, 4)},
        {"Slice a s l0 l1;Squeeze y a l0", MST_SCALAR, WANT(3)},
        {"Slice y s minus least l0 minus", MST_SHAPE(3), WANT(4, 2, 3)},
        {"Concat a s s axis=0;Reshape b a pair;Transpose y b perm=1,0", MST_SHAPE(2, 3), WANT(3, 4, 2, 2, 3, 4)},
        {"ReduceProd y s keepdims=0", MST_SCALAR, WANT(24)},
        {"ReduceSum y s keepdims=1", MST_SHAPE(1), WANT(9)},
        {"Size y x", MST_SCALAR, WANT(24)},
        {"Gather n s zero;Range y zero two one", MST_SHAPE(2), WANT(0, 1)},
        {"Gather n s zero;Range y zero n one", MST_SHAPE(3), WANT(0, 1, 2)},
        {"ConstantOfShape a l4 value=7;Identity y a", MST_SHAPE(4), WANT(7, 7, 7, 7)},
        {"Shape a x start=1;ConstantOfShape b a value=5;Mul y b l2", MST_SHAPE(2, 4),
         WANT(10, 10, 10, 10, 10, 10, 10, 10)},
    };
    check_cases(cases, sizeof cases / sizeof *cases);
}

/* As PyTorch's exporters write views, expand, chunk and tokens in front, of any number of examples. */
static void sizes_make_shapes(void **state) {
    (void)state;
    const fold_case cases[] = {
        {"Gather n s l0;Concat t n minus axis=0;Reshape y x t", MST_SHAPE(3, 8), NULL},
        {"Slice n s l0 l1;Mul k n l2;Concat t k l4 axis=0;Reshape y x t", MST_SHAPE(6, 4), NULL},
        {"Slice n s l0 l1;Mul k n l2;Concat t k minus axis=0;Reshape y x t", MST_SHAPE(6, 4), NULL},
        {"Slice n s l0 l1;Mul k n l4;Concat t k minus axis=0;Reshape a x t;Concat u n minus axis=0;Reshape y a u",
         MST_SHAPE(3, 8), NULL},
        {"Slice n s l0 l1;Concat t n l1 n axis=0;Expand y one t", MST_SHAPE(3, 1, 3), WANT(1, 1, 1, 1, 1, 1, 1, 1, 1)},
        {"Slice n s l0 l1;Mul k n l2;Concat t k l1 axis=0;Expand y six t", MST_SHAPE(6, 6), NULL},
        {"Expand y one s", MST_SHAPE(3, 2, 4), NULL},
        {"Slice n s l0 l1;Concat t l2 n axis=0;ConstantOfShape y t value=7", MST_SHAPE(2, 3), WANT(7, 7, 7, 7, 7, 7)},
        {"Slice n s l0 l1;Concat t n minus minus axis=0;Shape a t;ConstantOfShape b a value=1;Mul c b minus;"
         "Equal d t c;Where e d b t;Expand f one e;Identity y f",
         MST_SHAPE(3, 1, 1), WANT(1, 1, 1)},
        {"Reshape p x picture;Slice n s l0 l1;Concat t n l1 up axis=0;Resize y p _ _ t mode:linear",
         MST_SHAPE(3, 1, 4, 8), NULL},
        {"Gather n s zero;Clip y two n n", MST_SCALAR, WANT(3)},
        {"Gather c s ends;Slice k c l1 l2;Div h k l2;Slice y x l0 h l2", MST_SHAPE(3, 2, 2),
         WANT(0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21)},
    };
    check_cases(cases, sizeof cases / sizeof *cases);
}

static void elements_around(void **state) {
    (void)state;
    const fold_case pads[] = {
        {"Slice a x l0 l1;Reshape b a row;Pad y b pads mode:reflect", MST_SHAPE(2, 7),
         WANT(2, 1, 0, 1, 2, 3, 2, 6, 5, 4, 5, 6, 7, 6)},
        {"Slice a x l0 l1;Reshape b a row;Pad y b pads mode:edge", MST_SHAPE(2, 7),
         WANT(0, 0, 0, 1, 2, 3, 3, 4, 4, 4, 5, 6, 7, 7)},
        {"Slice a x l0 l1;Reshape b a row;Pad y b pads mode:wrap", MST_SHAPE(2, 7),
         WANT(2, 3, 0, 1, 2, 3, 0, 6, 7, 4, 5, 6, 7, 4)},
    };
    check_cases(pads, sizeof pads / sizeof *pads);
}

static void refused(const char *nodes, mst_status code, const char *why) {
    onnx_message m;
    begin_case(&m, nodes);
    onnx_expect_refused(&m, code, why);
}

static void what_only_a_run_knows(void **state) {
    (void)state;
    refused("Slice n s l0 l1;Div k n l2;Expand y one k", MST_UNIMPLEMENTED,
            "node 'y' (Expand, opset 19): its shape is computed from a dynamic dimension");
    refused("Slice n s l0 l1;Tile y x s", MST_UNIMPLEMENTED,
            "depends on a dynamic dimension, whose size is unknown until the model runs");
    refused("Slice n s l0 l1;Concat t n n minus axis=0;Reshape y x t", MST_UNIMPLEMENTED,
            "its shape has several dynamic dimensions");
    refused("Gather y s six", MST_INVALID,
            "node 'y' (Gather, opset 19): it has the axis 3, and its input has 3 dimensions");
}

/* y becomes the value a with as many rows as there are examples. */
#define FLAT ";Slice n s l0 l1;Concat t n minus axis=0;Reshape y a t"

/* After an operator that makes other rows of the examples, the number of rows per example is not known, and no earlier
 * number is used. */
static void other_rows(void **state) {
    (void)state;
    static const char *const makers[] = {
        "Concat a x x axis=0" FLAT,
        "Tile a x twice" FLAT,
        "Slice a x l0 all l0 l2" FLAT,
        "Slice a x l1 all" FLAT,
        "Pad a x behind" FLAT,
        "Gather k s zero;Range i zero k one;Concat j i i axis=0;Gather a x j" FLAT,
        "Gather k s zero;Range i zero k one;Concat j i i axis=0;Unsqueeze g j l1;GatherND a six g" FLAT,
        "Concat c x x axis=0;Relu r c;Reshape b r halves;Gather a b zero" FLAT,
        "Concat c x x axis=0;Relu r c;Transpose a r perm=2,0,1" FLAT,
    };
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        refused(makers[i], MST_UNIMPLEMENTED, "its shape has several dynamic dimensions");
}

/* The same operators on other axes, and what is known about other rows all the same. */
static void known_rows(void **state) {
    (void)state;
    const fold_case cases[] = {
        {"Concat a x x axis=1" FLAT, MST_SHAPE(3, 16), NULL},
        {"Tile a x wide" FLAT, MST_SHAPE(3, 16), NULL},
        {"Slice a x l0 l1 l1" FLAT, MST_SHAPE(3, 4), NULL},
        {"Slice a x l0 all" FLAT, MST_SHAPE(3, 8),
         WANT(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23)},
        {"Pad a x beside" FLAT, MST_SHAPE(3, 12), NULL},
        {"Gather a x zero axis=1" FLAT, MST_SHAPE(3, 4), WANT(0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19)},
        {"Slice m s l0 l1;Concat u m l1 l4 axis=0;Cast o one to=1;Expand e o u;Concat a e x axis=1" FLAT,
         MST_SHAPE(3, 12), NULL},
        {"Slice m s l0 l1;Mul k m l2;Concat u k l4 axis=0;Expand a one u" FLAT, MST_SHAPE(3, 8), NULL},
        {"Slice m s l0 l1;Mul k m l2;Concat u k l4 axis=0;ConstantOfShape a u value=1" FLAT, MST_SHAPE(3, 8), NULL},
        {"Gather k s zero;Range i zero k one;Gather a x i" FLAT, MST_SHAPE(3, 8), NULL},
        {"Slice m s l0 l1;Concat u m l4 l4 axis=0;Concat c x x axis=0;Reshape a c u" FLAT, MST_SHAPE(3, 16), NULL},
        {"Gather k s zero;Range i zero k one;Unsqueeze g i l1;GatherND a six g" FLAT, MST_SHAPE(3, 1), WANT(1, 2, 3)},
        {"Concat a x x axis=0;Reshape y a flat", MST_SHAPE(6, 8), NULL},
        {"Concat a x x axis=0;Shape b a;Slice n b l0 l1;Relu r a;Concat t n minus axis=0;Reshape y r t",
         MST_SHAPE(6, 8), NULL},
    };
    check_cases(cases, sizeof cases / sizeof *cases);
}

/* x has as many rows as z if their dimensions have the same name. */
static void rows_of_other_inputs(void **state) {
    (void)state;
    for (int same = 0; same < 2; same++) {
        onnx_message m;
        begin_case(&m, "minus");
        m.graph.n_node = 0;
        onnx_add_list(&m, "l0", (int64_t[]){0}, 1);
        onnx_add_list(&m, "l1", (int64_t[]){1}, 1);
        onnx_add_list(&m, "minus", (int64_t[]){-1}, 1);
        onnx_add_input(&m, "z", MST_SHAPE(-1, 4));
        for (int i = 0; i < m.num_values; i++) {
            if (strcmp(m.value[i].name, "x") != 0 && strcmp(m.value[i].name, "z") != 0) continue;
            m.dim[i][0].value_case = MUSTER__ONNX_DIMENSION__VALUE_DIM_PARAM;
            m.dim[i][0].dim_param = onnx_text(same || *m.value[i].name == 'x' ? "n" : "m");
        }
        onnx_add_nodes(&m, "Shape s z;Slice n s l0 l1;Concat t n minus axis=0;Reshape y x t");
        if (same)
            mst_graph_destroy(onnx_decode(&m));
        else
            onnx_expect_refused(&m, MST_UNIMPLEMENTED, "its shape has several dynamic dimensions");
    }
}

/* The name that PyTorch's exporters give to half_pixel. It differs for one row or column (onnx_values_test.c). */
static void pixels_of_other_names(void **state) {
    (void)state;
    static const char *const names[] = {"half_pixel", "pytorch_half_pixel", "half_pixel_symmetric"};
    static const char *const modes[] = {"linear", "nearest nearest_mode:round_prefer_ceil"};
    char nodes[300];
    for (size_t k = 0; k < 2; k++) {
        mst_tensor *first = NULL;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            onnx_message m;
            snprintf(nodes, sizeof nodes,
                     "Reshape p x picture;Slice n s l0 l1;Concat t n l1 up axis=0;Resize y p _ _ t "
                     "coordinate_transformation_mode:%s mode:%s",
                     names[i], modes[k]);
            begin_case(&m, nodes);
            mst_tensor *y = run_case(&m);
            if (first) assert_memory_equal(mst_tensor_data(y), mst_tensor_data(first), mst_tensor_bytes(y));
            if (first)
                mst_tensor_release(y);
            else
                first = y;
        }
        mst_tensor_release(first);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sizes_are_values),     cmocka_unit_test(sizes_make_shapes),
                                       cmocka_unit_test(elements_around),      cmocka_unit_test(what_only_a_run_knows),
                                       cmocka_unit_test(other_rows),           cmocka_unit_test(known_rows),
                                       cmocka_unit_test(rows_of_other_inputs), cmocka_unit_test(pixels_of_other_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
