/* What operators of ONNX compute: values of onnx's own evaluator for one node, or a few. */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "muster/session.h"
#include "support/expect.h"
#include "support/onnx_message.h"

enum { MOST = 24 };

/* Constants for the nodes of all cases. */
static struct {
    const char *name;
    int32_t ndim;
    int64_t dims[3], list[6]; /* of i64 */
} integers[] = {{"axes1", 1, {1}, {1}},
                {"below", 0, {0}, {-1}},
                {"first", 1, {1}, {0}},
                {"all", 1, {1}, {-1}},
                {"pairs", 1, {2}, {0, 1}},
                {"row", 1, {2}, {3, 8}},
                {"picture", 1, {4}, {3, 1, 2, 4}},
                {"three", 1, {4}, {1, 3, 2, 4}},
                {"lengths", 1, {3}, {2, 1, 2}},
                {"smaller", 1, {3}, {3, 2, 3}},
                {"larger", 1, {3}, {3, 2, 7}},
                {"one_row", 1, {4}, {3, 1, 1, 4}},
                {"huge", 1, {3}, {3, 2, 1 << 30}},
                {"far", 1, {3}, {1, 9, 0}},
                {"places", 2, {2, 2}, {0, 1, 1, -2}}};
static struct {
    const char *name;
    int32_t ndim;
    int64_t dims[3];
    float list[8]; /* of f32, the last number again and again */
} floats[] = {{"scale2", 1, {2}, {1, 0.5F}},
              {"scale3", 1, {3}, {1, 1, 1}},
              {"scale4", 1, {4}, {1, 0.5F, 2, 1}},
              {"halves", 3, {3, 2, 4}, {0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F, 0.5F}},
              {"constant4", 2, {2, 2}, {1, 2, 3, 4}},
              {"pair", 1, {2}, {7, 8}},
              {"eight", 1, {8}, {2, 2, 2, 2, 2, 2, 2, 2}},
              {"fraction", 1, {1}, {0.6F}},
              {"angles", 3, {3, 2, 2}, {0.6F, 0.8F, 0.8F, 0.6F, 0.6F, 0.8F, 0.8F, 0.6F}}};
enum { INTEGERS = sizeof integers / sizeof *integers, FLOATS = sizeof floats / sizeof *floats };

/* A case: nodes as text (onnx_add_nodes). x is [3, 2, 4]. WANT has what y must be. */
typedef struct value_case {
    const char *nodes;
    mst_shape shape;
    const double *want;
} value_case;

/* [3, 2, 4] for GatherElements and ScatterElements: other elements of the last axis. */
static int64_t backwards[MOST];
static float repeated[FLOATS][MOST];

static Muster__OnnxTensor *add_constant(onnx_message *m, const char *name, int32_t ndim, int64_t *dims) {
    Muster__OnnxTensor *tensor = onnx_add_list(m, name, backwards, 0);
    tensor->n_dims = (size_t)ndim;
    tensor->dims = dims;
    return tensor;
}

static size_t count_of(int32_t ndim, const int64_t *dims) {
    size_t count = 1;
    for (int32_t i = 0; i < ndim; i++) count *= (size_t)dims[i];
    return count;
}

static void begin_case(onnx_message *m, const char *nodes) {
    static int64_t all[] = {3, 2, 4};
    onnx_begin(m, 24);
    onnx_add_input(m, "x", MST_SHAPE(3, 2, 4));
    for (size_t i = 0; i < INTEGERS; i++) {
        if (!onnx_nodes_name(nodes, integers[i].name)) continue;
        Muster__OnnxTensor *tensor = add_constant(m, integers[i].name, integers[i].ndim, integers[i].dims);
        tensor->int64_data = integers[i].list;
        tensor->n_int64_data = count_of(integers[i].ndim, integers[i].dims);
    }
    for (size_t i = 0; i < FLOATS; i++) {
        if (!onnx_nodes_name(nodes, floats[i].name)) continue;
        Muster__OnnxTensor *tensor = add_constant(m, floats[i].name, floats[i].ndim, floats[i].dims);
        for (int k = 0; k < MOST; k++) repeated[i][k] = floats[i].list[k % 8];
        tensor->data_type = mst_onnx_type(MST_F32);
        tensor->n_int64_data = 0;
        tensor->float_data = repeated[i];
        tensor->n_float_data = count_of(floats[i].ndim, floats[i].dims);
    }
    if (onnx_nodes_name(nodes, "backwards")) {
        static const int64_t row[] = {2, 0, 1, -1};
        Muster__OnnxTensor *tensor = add_constant(m, "backwards", 3, all);
        for (int i = 0; i < MOST; i++) backwards[i] = row[i % 4];
        tensor->int64_data = backwards;
        tensor->n_int64_data = MOST;
    }
    onnx_add_nodes(m, nodes);
    onnx_add_output(m, "y", MST_SHAPE(-1));
}

static mst_tensor *run_case(const onnx_message *m) {
    mst_graph *graph = onnx_decode(m);
    mst_session *session;
    mst_tensor *x, *y = NULL;
    const mst_value value = {mst_graph_find(graph, "y"), 0};
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(3, 2, 4), &x));
    for (int64_t i = 0; i < mst_tensor_count(x); i++) mst_tensor_set(x, i, (double)(i * 7 % 11 - 5) / 4);
    EXPECT_OK(mst_session_create(graph, &(mst_session_options){.devices = "cpu:1"}, &session));
    const mst_feed feed = {.value = {mst_graph_find(graph, "x"), 0}, .tensor = x};
    EXPECT_OK(mst_session_run(session, &feed, 1, &value, 1, &y));
    mst_tensor_release(x);
    mst_session_destroy(session);
    mst_graph_destroy(graph);
    return y;
}

#define WANT(...) ((const double[]){__VA_ARGS__})

static void check_cases(const value_case *cases, size_t count) {
    for (size_t i = 0; i < count; i++) {
        onnx_message m;
        begin_case(&m, cases[i].nodes);
        mst_tensor *y = run_case(&m);
        bool good = mst_shape_equal(mst_tensor_shape(y), cases[i].shape);
        for (int64_t k = 0; good && k < mst_tensor_count(y); k++)
            good = fabs(mst_tensor_get(y, k) - cases[i].want[k]) < 2e-5;
        if (!good) fail_msg("%s", cases[i].nodes);
        mst_tensor_release(y);
    }
}

static void single_elements(void **state) {
    (void)state;
    const value_case cases[] = {
        {"Erf a x;Erfc b x;Add c a b;ReduceMax y c keepdims=0", MST_SCALAR, WANT(1)},
        {"Asinh a x;ReduceSum y a keepdims=0", MST_SCALAR, WANT(-0.5663812)},
        {"Abs a x;Mul b a a;Add c b a;Exp d c;Acosh e d;ReduceSum y e keepdims=0", MST_SCALAR, WANT(46.46531)},
        {"Tanh a x;Atanh b a;ReduceMax y b keepdims=0", MST_SCALAR, WANT(1.25)},
        {"Swish a x alpha=1.5;ReduceSum y a all keepdims=0", MST_SHAPE(3, 2),
         WANT(1.096768, 0.7819273, 0.1157221, 1.41114, 0.4513352, 0.6377369)},
        {"Size n x;CastLike a n x;Sub y a a", MST_SCALAR, WANT(0)},
        {"Hardmax a x axis=-1;ReduceSum y a first", MST_SHAPE(1, 2, 4), WANT(0, 2, 0, 1, 1, 0, 2, 0)},
        {"ReduceLogSumExp y x axes1 keepdims=0", MST_SHAPE(3, 4),
         WANT(0.4514132, 0.751929, 1.201413, 1.501929, 0.7014132, 1.001929, 1.451413, 0.4514132, 0.9514132, 1.251929,
              0.251929, 0.7014132)},
    };
    check_cases(cases, sizeof cases / sizeof *cases);
}

static void normalizations(void **state) {
    (void)state;
    const value_case cases[] = {
        {"GroupNormalization a x scale2 scale2 num_groups=2;ReduceMax y a pairs keepdims=0", MST_SHAPE(4),
         WANT(1.022088, 2.526104, 1.240964, 2.313057)},
        {"RMSNormalization a x scale4;ReduceMax y a pairs keepdims=0", MST_SHAPE(4),
         WANT(0.960761, 0.6246902, 3.429939, 1.313057)},
        {"LpNormalization a x axis=1;ReduceMax y a pairs keepdims=0", MST_SHAPE(4),
         WANT(0.7071068, 0.9701425, 0.9805807, 1)},
        {"MeanVarianceNormalization a x axes=0,2;ReduceMax y a pairs keepdims=0", MST_SHAPE(4),
         WANT(0.8592829, 1.406707, 1.570413, 1.697749)},
    };
    check_cases(cases, sizeof cases / sizeof *cases);
}

static void indices_and_triangles(void **state) {
    (void)state;
    const value_case cases[] = {
        {"Trilu y x", MST_SHAPE(3, 2, 4),
         WANT(-1.25, 0.5, -0.5, 1.25, 0, -0.75, 1, 0, -1, 0.75, -0.25, -1.25, 0, -0.5, 1.25, 0.25, -0.75, 1, 0, -1, 0,
              -0.25, -1.25, 0.5)},
        {"Trilu y x below upper=0", MST_SHAPE(3, 2, 4),
         WANT(0, 0, 0, 0, 0.25, 0, 0, 0, 0, 0, 0, 0, 0.5, 0, 0, 0, 0, 0, 0, 0, 0.75, 0, 0, 0)},
        {"Reshape a x row;EyeLike y a k=1", MST_SHAPE(3, 8),
         WANT(0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0)},
        {"GatherElements y x backwards axis=2", MST_SHAPE(3, 2, 4),
         WANT(-0.5, -1.25, 0.5, 1.25, 1, 0.25, -0.75, 0, -0.25, -1, 0.75, -1.25, 1.25, 0.5, -0.5, 0.25, 0, -0.75, 1, -1,
              -1.25, 0.75, -0.25, 0.5)},
        {"ScatterElements a x backwards halves axis=2;ReduceSum y a pairs keepdims=0", MST_SHAPE(4), WANT(3, 3, 3, 3)},
        {"ScatterElements a x backwards halves axis=2 reduction:add;ReduceSum y a pairs keepdims=0", MST_SHAPE(4),
         WANT(1.5, 3.75, 3.25, 2.75)},
        {"ReverseSequence y x lengths batch_axis=0 time_axis=1", MST_SHAPE(3, 2, 4),
         WANT(0.25, -0.75, 1, 0, -1.25, 0.5, -0.5, 1.25, -1, 0.75, -0.25, -1.25, 0.5, -0.5, 1.25, 0.25, 0.75, -0.25,
              -1.25, 0.5, -0.75, 1, 0, -1)},
        {"ScatterND y constant4 places pair", MST_SHAPE(2, 2), WANT(1, 7, 8, 4)},
        {"ScatterND y constant4 places pair reduction:add", MST_SHAPE(2, 2), WANT(1, 9, 11, 4)},
    };
    check_cases(cases, sizeof cases / sizeof *cases);
}

/* Label 9 is ignored. */
static void windows_with_gaps(void **state) {
    (void)state;
    const value_case cases[] = {
        {"MaxPool y x kernel_shape=2, dilations=2,", MST_SHAPE(3, 2, 2),
         WANT(-0.5, 1.25, 1, 0, -0.25, 0.75, 1.25, 0.25, 0, 1, 0.75, 0.5)},
        {"MaxPool y x kernel_shape=2, dilations=3, pads=1,1 strides=2,", MST_SHAPE(3, 2, 2),
         WANT(-0.5, 0.5, 1, -0.75, -0.25, 0.75, 1.25, -0.5, 0, 1, -1.25, -0.25)},
        {"AveragePool y x kernel_shape=2, dilations=2, pads=1,1", MST_SHAPE(3, 2, 4),
         WANT(0.5, -0.875, 0.875, -0.5, -0.75, 0.625, -0.375, 1, 0.75, -0.625, -0.25, -0.25, -0.5, 0.875, -0.125, 1.25,
              1, -0.375, 0, 0, -0.25, -0.25, 0.125, -1.25)},
        {"AveragePool y x kernel_shape=2, dilations=2, pads=1,1 count_include_pad=1", MST_SHAPE(3, 2, 4),
         WANT(0.25, -0.875, 0.875, -0.25, -0.375, 0.625, -0.375, 0.5, 0.375, -0.625, -0.25, -0.125, -0.25, 0.875,
              -0.125, 0.625, 0.5, -0.375, 0, 0, -0.125, -0.25, 0.125, -0.625)},
        {"AveragePool y x kernel_shape=3, auto_pad:SAME_UPPER count_include_pad=1", MST_SHAPE(3, 2, 4),
         WANT(-0.25, -0.4166667, 0.4166667, 0.25, -0.1666667, 0.1666667, 0.08333334, 0.3333333, -0.08333334, -0.1666667,
              -0.25, -0.5, 0, 0.4166667, 0.3333333, 0.5, 0.08333334, 0.08333334, 0, -0.3333333, 0.1666667, -0.25,
              -0.3333333, -0.25)},
        {"LpPool y x kernel_shape=2, strides=2,", MST_SHAPE(3, 2, 2),
         WANT(1.346291, 1.346291, 0.7905694, 1, 1.25, 1.274755, 0.7071068, 1.274755, 1.25, 1, 0.7905694, 1.346291)},
        {"LpPool y x kernel_shape=2, p=1 dilations=2,", MST_SHAPE(3, 2, 2),
         WANT(1.75, 1.75, 1.25, 0.75, 1.25, 2, 1.75, 0.75, 0.75, 2, 2, 0.75)},
        {"Reshape a x three;SpaceToDepth b a blocksize=2;Reshape y b row", MST_SHAPE(3, 8),
         WANT(-1.25, -0.5, -1, -0.25, -0.75, 0, 0.5, 1.25, 0.75, -1.25, 1, -1, 0.25, 1, 0.5, 1.25, 0.75, -1.25, -0.75,
              0, -0.5, 0.25, -0.25, 0.5)},
        {"Reshape a x three;SpaceToDepth b a blocksize=2 mode:CRD;Reshape y b row", MST_SHAPE(3, 8),
         WANT(-1.25, -0.5, 0.5, 1.25, 0.25, 1, -0.75, 0, -1, -0.25, 0.75, -1.25, 0.5, 1.25, -0.5, 0.25, -0.75, 0, 1, -1,
              0.75, -1.25, -0.25, 0.5)},
        {"Reshape a x three;SpaceToDepth b a blocksize=2 mode:CRD;DepthToSpace c b blocksize=2 mode:CRD;Sub d a "
         "c;ReduceMax y d "
         "keepdims=0",
         MST_SCALAR, WANT(0)},
    };
    check_cases(cases, sizeof cases / sizeof *cases);
}

static void losses(void **state) {
    (void)state;
    const value_case cases[] = {
        {"Reshape a x row;NegativeLogLikelihoodLoss y a far ignore_index=9 reduction:none", MST_SHAPE(3),
         WANT(-0.5, 0, 0.75)},
        {"Reshape a x row;SoftmaxCrossEntropyLoss y a far eight ignore_index=9", MST_SCALAR, WANT(2.466267)},
    };
    check_cases(cases, sizeof cases / sizeof *cases);
}

static void other_sizes(void **state) {
    (void)state;
    const value_case cases[] = {
        {"Resize y x _ _ larger mode:linear", MST_SHAPE(3, 2, 7),
         WANT(-1.25, -0.625, 0.375, 0, -0.375, 0.625, 1.25, 0.25, -0.1071429, -0.6785714, 0.125, 0.9285714, 0.3571429,
              0, -1, -0.375, 0.625, 0.25, -0.3214286, -0.8928571, -1.25, 0.5, 0.1428571, -0.4285714, 0.375, 1.178571,
              0.6071429, 0.25, -0.75, -0.125, 0.875, 0.5, -0.07142857, -0.6428571, -1, 0.75, 0.3928571, -0.1785714,
              -0.75, -1.125, -0.125, 0.5)},
        {"Resize y x _ _ smaller", MST_SHAPE(3, 2, 3),
         WANT(-1.25, 0.5, 1.25, 0.25, -0.75, 0, -1, 0.75, -1.25, 0.5, -0.5, 0.25, -0.75, 1, -1, 0.75, -0.25, 0.5)},
        {"Resize y x _ _ larger mode:cubic coordinate_transformation_mode:align_corners", MST_SHAPE(3, 2, 7),
         WANT(-1.25, -0.28125, 0.5, 0, -0.5, 0.28125, 1.25, 0.25, -0.4140625, -0.75, 0.125, 1, 0.6640625, 0, -1,
              -0.03125, 0.75, 0.5078125, -0.25, -0.84375, -1.25, 0.5, -0.1640625, -0.5, 0.375, 1.25, 0.9140625, 0.25,
              -0.75, 0.21875, 1, 0.7578125, 0, -0.59375, -1, 0.75, 0.34375, -0.25, -1.007812, -1.25, -0.46875, 0.5)},
        {"Reshape p x picture;Resize y p _ _ one_row mode:linear coordinate_transformation_mode:pytorch_half_pixel",
         MST_SHAPE(3, 1, 1, 4), WANT(-1.25, 0.5, -0.5, 1.25, -1, 0.75, -0.25, -1.25, -0.75, 1, 0, -1)},
        {"Resize y x _ fraction mode:linear antialias=1 axes=2,", MST_SHAPE(3, 2, 2),
         WANT(-0.59375, 0.1111111, -0.125, 0.3888889, -0.34375, -0.2499999, 0.125, 0.6388888, -0.09375002, 0, 0.375,
              -0.6388889)},
    };
    check_cases(cases, sizeof cases / sizeof *cases);
}

static void attention(void **state) {
    (void)state;
    const value_case cases[] = {
        {"Attention y x x x q_num_heads=2 kv_num_heads=2 is_causal=1", MST_SHAPE(3, 2, 4),
         WANT(-1.25, 0.5, -0.5, 1.25, -0.1749723, -0.3958564, 0.614225, 0.3214791, -1, 0.75, -0.25, -1.25, 0.08835819,
              -0.1569652, 0.996133, -0.003866896, -0.75, 1, 0, -1, 0.3514255, 0.08214542, -1.046098, 0.2553179)},
        {"RotaryEmbedding y x angles angles num_heads=1", MST_SHAPE(3, 2, 4),
         WANT(-0.45, -0.6, -1.05, 1.4, -0.6, -0.45, 1, -0.45, -0.45, 1.6, -0.75, -0.4, -0.6, -0.45, 1.4, -0.15, -0.45,
              1.6, -0.45, 0, 1.6, -0.45, -0.4, 0.15)},
    };
    check_cases(cases, sizeof cases / sizeof *cases);
}

/* Numbers of a file that no operator may take: what is wrong is said before memory is taken. */
static void numbers_that_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *nodes;
        mst_status code;
        const char *why;
    } cases[] = {
        {"Resize y x _ _ huge mode:linear", MST_INVALID, "with those before it, take 32.0 GB"},
        {"Resize y x _ _ huge", MST_INVALID, "with those before it, take 8.0 GB"},
        {"Resize y x", MST_INVALID, "neither scales (input 2) nor sizes (input 3)"},
        {"Resize y x _ scale4", MST_UNIMPLEMENTED, "and 3 numbers: one for each axis"},
        {"Resize y x _ _ larger mode:surprise", MST_UNIMPLEMENTED, "attribute mode has a value that is not known"},
        {"ScatterElements y x backwards halves axis=2 reduction:max", MST_UNIMPLEMENTED, "none and add are"},
        {"ScatterND y x places pair", MST_INVALID, ""},
        {"GroupNormalization y x scale2 scale2 num_groups=0", MST_INVALID, "0 groups of 2 channels"},
        {"MaxPool y x kernel_shape=300, dilations=2,", MST_UNIMPLEMENTED, "at most 256 elements along an axis"},
        {"MaxPool y x kernel_shape=2, dilations=9,", MST_INVALID, "its window is larger than its input"},
        {"MaxPool y x kernel_shape=2, dilations=2147483647,", MST_INVALID, "its window is larger than its input"},
        {"AveragePool y x kernel_shape=2, dilations=0,", MST_INVALID, "dilations has 0"},
        {"LpPool y x kernel_shape=2, p=0", MST_INVALID, "p is 0"},
        {"LpPool y x kernel_shape=2,2", MST_INVALID, "kernel_shape has 2 numbers, and must have 1"},
        {"Reshape a x three;SpaceToDepth y a blocksize=2 mode:ABC", MST_INVALID, "mode must be DCR or CRD"},
        {"Reshape a x three;DepthToSpace y a blocksize=2 mode:CRD", MST_INVALID, "3 channels"},
        {"LRN y x size=65", MST_UNIMPLEMENTED, "size is 65: 1 to 64 are supported"},
        {"LpNormalization y x p=3", MST_INVALID, "p is 3: it must be 1 or 2"},
        {"NegativeLogLikelihoodLoss y x far reduction:all", MST_INVALID, "none, sum and mean are"},
        {"SoftmaxCrossEntropyLoss y x far", MST_INVALID, "labels have 1 dimensions, and its scores 3"},
        {"Attention y x x x q_num_heads=3 kv_num_heads=2", MST_INVALID, "3 heads"},
        {"Attention y x x x q_num_heads=2 kv_num_heads=2 qk_matmul_output_mode=7", MST_INVALID, "0 to 3"},
        {"RotaryEmbedding y x angles angles num_heads=1 rotary_embedding_dim=3", MST_INVALID, "it must be even"},
        {"RotaryEmbedding y x angles angles num_heads=1 rotary_embedding_dim=-2", MST_INVALID, "it must be even"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        onnx_message m;
        begin_case(&m, cases[i].nodes);
        onnx_expect_refused(&m, cases[i].code, cases[i].why);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(single_elements),
                                       cmocka_unit_test(normalizations),
                                       cmocka_unit_test(indices_and_triangles),
                                       cmocka_unit_test(windows_with_gaps),
                                       cmocka_unit_test(losses),
                                       cmocka_unit_test(other_sizes),
                                       cmocka_unit_test(attention),
                                       cmocka_unit_test(numbers_that_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
