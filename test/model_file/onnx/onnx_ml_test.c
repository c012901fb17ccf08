/* Operators of ai.onnx.ml: values of onnx's own evaluator for one node, what is refused, a classifier as a model. */

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
#include "muster/model_file.h"
#include "muster/session.h"
#include "muster/train.h"
#include "support/expect.h"
#include "support/folder.h"
#include "support/onnx_message.h"

enum { MOST = 16 };
#define LIST(...) ((const float[]){__VA_ARGS__}), sizeof((const float[]){__VA_ARGS__}) / sizeof(float)

/* A node of ai.onnx.ml: WORDS as onnx_add_nodes takes them, and attributes with lists of floats. */
typedef struct ml_node {
    const char *words;
    struct {
        const char *name;
        const float *list;
        size_t count;
    } floats[2];
} ml_node;

static void add_floats(onnx_message *m, const ml_node *node) {
    for (int i = 0; i < 2 && node->floats[i].name; i++) {
        Muster__OnnxAttribute *a = onnx_add_attribute(m, node->floats[i].name, MST_ONNX_FLOATS);
        a->floats = (float *)(uintptr_t)node->floats[i].list;
        a->n_floats = node->floats[i].count;
    }
}

/* A model of x [3, 4] and this node. */
static void begin_node(onnx_message *m, const ml_node *node) {
    onnx_begin(m, 17);
    onnx_add_input(m, "x", MST_SHAPE(3, 4));
    onnx_add_nodes(m, node->words);
    add_floats(m, node);
    m->node[0].domain = onnx_text("ai.onnx.ml");
    onnx_add_output(m, "y", MST_SHAPE(-1));
}

/* The output 'y' for x = ((i * 7) mod 11 - 5) / 4, or where it is NOT_A_NUMBER at the third element. */
static mst_tensor *run_graph(const onnx_message *m, bool not_a_number) {
    mst_graph *graph = onnx_decode(m);
    mst_session *session;
    mst_tensor *x, *y = NULL;
    const mst_value value = {mst_graph_find(graph, "y"), 0};
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(3, 4), &x));
    for (int64_t i = 0; i < mst_tensor_count(x); i++) mst_tensor_set(x, i, (double)(i * 7 % 11 - 5) / 4);
    if (not_a_number) mst_tensor_set(x, 2, (double)NAN);
    EXPECT_OK(mst_session_create(graph, &(mst_session_options){.devices = "cpu:1"}, &session));
    const mst_feed feed = {.value = {mst_graph_find(graph, "x"), 0}, .tensor = x};
    EXPECT_OK(mst_session_run(session, &feed, 1, &value, 1, &y));
    mst_tensor_release(x);
    mst_session_destroy(session);
    mst_graph_destroy(graph);
    return y;
}

static void expect_values(const onnx_message *m, const char *what, mst_shape shape, const double *want,
                          bool not_a_number) {
    mst_tensor *y = run_graph(m, not_a_number);
    bool good = mst_shape_equal(mst_tensor_shape(y), shape);
    for (int64_t k = 0; good && k < mst_tensor_count(y); k++) good = fabs(mst_tensor_get(y, k) - want[k]) < 1e-5;
    if (!good) fail_msg("%s", what);
    mst_tensor_release(y);
}

#define COEFFICIENTS LIST(0.5F, -0.25F, 1, 0.75F, -0.5F, 1, 0.25F, -1, 1, 0.5F, -0.75F, 0.25F)
#define LINEAR                                    \
    {                                             \
        {"coefficients", COEFFICIENTS}, {         \
            "intercepts", LIST(0.1F, -0.2F, 0.3F) \
        }                                         \
    }

static void values_of_one_node(void **state) {
    (void)state;
    const struct {
        ml_node node;
        mst_shape shape;
        double want[MOST];
    } cases[] = {
        {{"Scaler y x", {{"offset", LIST(0.5F, -1, 2, 0.25F)}, {"scale", LIST(2, 0.5F, -1, 4)}}},
         MST_SHAPE(3, 4),
         {-3.5, 0.75, 2.5, 4, -0.5, 0.125, 1, -1, -3, 0.875, 2.25, -6}},
        {{"Scaler y x", {{"offset", LIST(0.5F)}, {"scale", LIST(2)}}},
         MST_SHAPE(3, 4),
         {-3.5, 0, -2, 1.5, -0.5, -2.5, 1, -1, -3, 0.5, -1.5, -3.5}},
        {{"Normalizer y x", {{0}}}, MST_SHAPE(3, 4), {-1, 0.4, -0.4, 1, 0.25, -0.75, 1, 0, -0.8, 0.6, -0.2, -1}},
        {{"Normalizer y x norm:L1", {{0}}},
         MST_SHAPE(3, 4),
         {-0.3571429, 0.1428571, -0.1428571, 0.3571429, 0.125, -0.375, 0.5, 0, -0.3076923, 0.2307692, -0.07692308,
          -0.3846154}},
        {{"Normalizer y x norm:L2", {{0}}},
         MST_SHAPE(3, 4),
         {-0.6565322, 0.2626128, -0.2626128, 0.6565322, 0.1961161, -0.5883484, 0.7844645, 0, -0.5601121, 0.420084,
          -0.140028, -0.7001401}},
        {{"Binarizer y x threshold=0.25", {{0}}}, MST_SHAPE(3, 4), {0, 1, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0}},
        {{"Imputer y x replaced_value_float=-1.25", {{"imputed_value_floats", LIST(9.5F, 8, 7, 6)}}},
         MST_SHAPE(3, 4),
         {9.5, 0.5, -0.5, 1.25, 0.25, -0.75, 1, 0, -1, 0.75, -0.25, 6}},
        {{"LinearRegressor y x targets=3", LINEAR},
         MST_SHAPE(3, 3),
         {-0.2125, -0.45, -0.0125, 1.4125, -0.825, -0.575, -1.775, 2.2375, -0.45}},
        {{"LinearClassifier y x classlabels_ints=4,7,2", LINEAR}, MST_SHAPE(3), {2, 4, 7}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        onnx_message m;
        begin_node(&m, &cases[i].node);
        expect_values(&m, cases[i].node.words, cases[i].shape, cases[i].want, false);
    }
}

/* Sets the second output of the node to y. */
static void name_second(onnx_message *m) {
    static char *names[] = {NULL, NULL};
    names[0] = onnx_text("label");
    names[1] = onnx_text("y");
    m->node[0].output = names;
    m->node[0].n_output = 2;
}

static void scores_of_classes(void **state) {
    (void)state;
    const struct {
        ml_node node;
        mst_shape shape;
        double want[MOST];
    } cases[] = {
        {{"LinearClassifier _ x classlabels_ints=4,7,2 multi_class=0", LINEAR},
         MST_SHAPE(3, 3),
         {-0.2125, -0.45, -0.0125, 1.4125, -0.825, -0.575, -1.775, 2.2375, -0.45}},
        {{"LinearClassifier _ x classlabels_ints=4,7,2 post_transform:LOGISTIC", LINEAR},
         MST_SHAPE(3, 3),
         {0.447074, 0.3893608, 0.496875, 0.8041599, 0.3047033, 0.3600839, 0.1449216, 0.9035668, 0.3893608}},
        {{"LinearClassifier _ x classlabels_ints=4,7,2 post_transform:SOFTMAX", LINEAR},
         MST_SHAPE(3, 3),
         {0.3322259, 0.2619924, 0.4057817, 0.8040119, 0.08580817, 0.1101799, 0.0166536, 0.9206925, 0.06265391}},
        {{"LinearClassifier _ x classlabels_ints=4,7 post_transform:LOGISTIC",
          {{"coefficients", LIST(0.5F, -0.25F, 1, 0.75F)}, {"intercepts", LIST(0.1F)}}},
         MST_SHAPE(3, 2),
         {0.5529259, 0.447074, 0.19584, 0.8041599, 0.8550784, 0.1449216}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        onnx_message m;
        begin_node(&m, &cases[i].node);
        name_second(&m);
        expect_values(&m, cases[i].node.words, cases[i].shape, cases[i].want, false);
    }
}

static void missing_numbers_are_replaced(void **state) {
    (void)state;
    onnx_message m;
    begin_node(&m, &(ml_node){"Imputer y x",
                              {{"imputed_value_floats", LIST(9.5F, 8, 7, 6)}, {"replaced_value_float", LIST(0)}}});
    Muster__OnnxAttribute *a = &m.attribute[0][1];
    a->type = MST_ONNX_FLOAT;
    a->n_floats = 0;
    a->f = NAN;
    expect_values(&m, "Imputer", MST_SHAPE(3, 4),
                  (const double[]){-1.25, 0.5, 7, 1.25, 0.25, -0.75, 1, 0, -1, 0.75, -0.25, -1.25}, true);
}

/* Whole numbers as categories: x times 4 is -5 to 5. */
static void numbers_as_categories(void **state) {
    (void)state;
    const struct {
        const char *nodes;
        int nodes_of_ml;
        mst_shape shape;
        double want[48];
    } cases[] = {
        {"Mul a x four;Cast b a to=7;OneHotEncoder c b cats_int64s=-5,2,3 zeros=1;ReduceSum y c last keepdims=0",
         1 << 2,
         MST_SHAPE(3, 4),
         {1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1}},
        {"Mul a x four;Cast b a to=7;LabelEncoder y b keys_int64s=-5,2,3 values_int64s=10,-20,30 default_int64=7",
         1 << 2,
         MST_SHAPE(3, 4),
         {10, -20, 7, 7, 7, 7, 7, 7, 7, 30, 7, 10}},
        {"ArrayFeatureExtractor y x columns", 1, MST_SHAPE(3, 2), {1.25, -1.25, 0, 0.25, -1.25, -1}},
        {"FeatureVectorizer y x x inputdimensions=4,4", 1, MST_SHAPE(3, 8), {-1.25, 0.5,   -0.5, 1.25,  -1.25, 0.5,
                                                                             -0.5,  1.25,  0.25, -0.75, 1,     0,
                                                                             0.25,  -0.75, 1,    0,     -1,    0.75,
                                                                             -0.25, -1.25, -1,   0.75,  -0.25, -1.25}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static int64_t columns[] = {3, 0}, last[] = {2};
        static float four[] = {4};
        onnx_message m;
        onnx_begin(&m, 17);
        onnx_add_input(&m, "x", MST_SHAPE(3, 4));
        onnx_add_list(&m, "columns", columns, 2);
        onnx_add_list(&m, "last", last, 1);
        Muster__OnnxTensor *tensor = onnx_add_list(&m, "four", NULL, 0);
        tensor->data_type = mst_onnx_type(MST_F32);
        tensor->n_dims = 0;
        tensor->float_data = four;
        tensor->n_float_data = 1;
        onnx_add_nodes(&m, cases[i].nodes);
        for (int k = 0; k < 4; k++)
            if (cases[i].nodes_of_ml >> k & 1) m.node[k].domain = onnx_text("ai.onnx.ml");
        onnx_add_output(&m, "y", MST_SHAPE(-1));
        expect_values(&m, cases[i].nodes, cases[i].shape, cases[i].want, false);
    }
}

static void what_is_refused(void **state) {
    (void)state;
    const struct {
        ml_node node;
        mst_status code;
        const char *why;
    } cases[] = {
        {{"TreeEnsembleClassifier y x", {{0}}}, MST_UNIMPLEMENTED, "not supported: it is of decision trees"},
        {{"TreeEnsembleRegressor y x", {{0}}}, MST_UNIMPLEMENTED, "not supported: it is of decision trees"},
        {{"SVMClassifier y x", {{0}}}, MST_UNIMPLEMENTED, "not supported: it is a support vector machine"},
        {{"CategoryMapper y x", {{0}}}, MST_UNIMPLEMENTED, "not supported: it maps texts"},
        {{"Relu y x", {{0}}}, MST_UNIMPLEMENTED, "the operator is not supported"},
        {{"Scaler y x", {{"offset", LIST(1, 2, 3)}}},
         MST_INVALID,
         "offset has 3 numbers, and its input has 4 features"},
        {{"Scaler y x offset=1", {{0}}}, MST_CORRUPT, "its attribute 'offset' is of type 2"},
        {{"Normalizer y x norm:L3", {{0}}}, MST_INVALID, "norm must be MAX, L1 or L2"},
        {{"Imputer y x", {{0}}}, MST_INVALID, "imputed_value_floats is missing"},
        {{"OneHotEncoder y x", {{0}}}, MST_INVALID, "cats_int64s is missing"},
        {{"LabelEncoder y x keys_int64s=1,2", {{0}}}, MST_UNIMPLEMENTED, "2 keys and 0 values"},
        {{"LinearRegressor y x", {{0}}}, MST_INVALID, "coefficients and intercepts have 0 and 0 numbers"},
        {{"LinearRegressor y x targets=0", LINEAR}, MST_INVALID, "targets is 0"},
        {{"LinearRegressor y x targets=5", LINEAR}, MST_INVALID, "12 and 3 numbers"},
        {{"LinearRegressor y x targets=3 post_transform:PROBIT", LINEAR}, MST_UNIMPLEMENTED, "post_transform must be"},
        {{"LinearClassifier y x", LINEAR}, MST_UNIMPLEMENTED, "coefficients for 3 rows, and 0 classes"},
        {{"LinearClassifier y x classlabels_ints=1,2", LINEAR}, MST_UNIMPLEMENTED, "for 3 rows, and 2 classes"},
        {{"LinearClassifier y x classlabels_ints=1,2,3 other=1", LINEAR},
         MST_UNIMPLEMENTED,
         "'other' is not supported"},
        {{"FeatureVectorizer y x inputdimensions=3,1", {{0}}}, MST_INVALID, "2 numbers, and there are 1 inputs"},
        {{"ArrayFeatureExtractor y x x", {{0}}}, MST_INVALID, "its input 1 must be of integers"},
        {{"ArrayFeatureExtractor y x", {{0}}}, MST_CORRUPT, "its input 1 is missing"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        onnx_message m;
        begin_node(&m, &cases[i].node);
        onnx_expect_refused(&m, cases[i].code, cases[i].why);
    }
}

static void opsets_of_other_domains(void **state) {
    (void)state;
    onnx_message m;
    begin_node(&m, &(ml_node){"Normalizer y x", {{0}}});
    m.opset.domain = onnx_text("ai.onnx.ml"); /* and none for standard operators, which it has not */
    m.opset.version = 1;
    mst_graph_destroy(onnx_decode(&m));
    onnx_add_nodes(&m, "Relu z y");
    onnx_expect_refused(&m, MST_UNIMPLEMENTED, "has the opset 0");
    m.opset.domain = onnx_text("");
    m.opset.version = 9;
    onnx_expect_refused(&m, MST_UNIMPLEMENTED, "has the opset 9");
}

/* Its numbers are there as long as a message that has them. */
static const ml_node linear_node = {"", LINEAR};

/* As scikit-learn's converter writes a classifier of texts. */
static void begin_classifier(onnx_message *m) {
    static uint8_t names[3][8] = {"setosa", "versi", "virgi"}, softmax[] = "SOFTMAX";
    static ProtobufCBinaryData texts[3];
    static char *outputs[2];
    outputs[0] = onnx_text("label");
    outputs[1] = onnx_text("scores");
    onnx_begin(m, 17);
    onnx_add_input(m, "x", MST_SHAPE(-1, 4));
    onnx_add_node(m, "LinearClassifier label x");
    add_floats(m, &linear_node);
    for (int i = 0; i < 3; i++) texts[i] = (ProtobufCBinaryData){strlen((char *)names[i]), names[i]};
    Muster__OnnxAttribute *a = onnx_add_attribute(m, "classlabels_strings", MST_ONNX_STRINGS);
    a->strings = texts;
    a->n_strings = 3;
    onnx_add_attribute(m, "post_transform", MST_ONNX_STRING)->s = (ProtobufCBinaryData){strlen("SOFTMAX"), softmax};
    m->node[0].output = outputs;
    m->node[0].n_output = 2;
    onnx_add_node(m, "ZipMap maps scores");
    m->node[0].domain = m->node[1].domain = onnx_text("ai.onnx.ml");
    a = onnx_add_attribute(m, "classlabels_strings", MST_ONNX_STRINGS);
    a->strings = texts;
    a->n_strings = 3;
    onnx_add_output(m, "label", MST_SHAPE(-1));
    enum { TEXT = 8 };
    m->tensor_type[m->num_values - 1].elem_type = TEXT;
    onnx_add_output(m, "maps", MST_SHAPE(-1));
    m->type[m->num_values - 1].tensor_type = NULL; /* a sequence of maps */
}

static void a_classifier_has_scores_and_names_of_classes(void **state) {
    (void)state;
    onnx_message m;
    mst_model *model;
    mst_model_compiled compiled;
    size_t size;
    char *note;
    mst_tensor *x, *y;
    mst_dataset *data;
    begin_classifier(&m);
    void *bytes = onnx_pack(&m, &size);
    EXPECT_OK(mst_file_write(folder_path("classifier.onnx"), bytes, size));
    free(bytes);
    EXPECT_OK(mst_model_load(folder_path("classifier.onnx"), &model, &compiled));
    assert_int_equal(mst_model_num_outputs(model), 1);
    assert_string_equal(mst_model_output_name(model, 0), "maps");
    assert_non_null(strstr(compiled.left_out, "'label', the label, is left out"));
    EXPECT_OK(mst_store_get_note(mst_model_store(model), "muster/train", &note));
    assert_string_equal(note,
                        "{\"classes\":[\"setosa\",\"versi\",\"virgi\"],\"loss\":\"sparse_categorical_crossentropy\","
                        "\"from_probabilities\":true}");
    free(note);
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(3, 4), &x));
    for (int64_t i = 0; i < mst_tensor_count(x); i++) mst_tensor_set(x, i, (double)(i * 7 % 11 - 5) / 4);
    EXPECT_OK(mst_compile(model, .session = {.devices = "cpu:1"}));
    EXPECT_OK(mst_dataset_from_tensors(&x, 1, &data));
    EXPECT_OK(mst_predict(model, data, 3, &y));
    const double want[] = {0.3322259, 0.2619924, 0.4057817, 0.8040119, 0.08580817, 0.1101799, 0.0166536, 0.9206925};
    for (int i = 0; i < 8; i++) assert_true(fabs(mst_tensor_get(y, i) - want[i]) < 1e-5);
    mst_tensor_release(x);
    mst_tensor_release(y);
    mst_dataset_release(data);
    mst_model_destroy(model);
}

/* Classes of texts, from which the labels are picked, are numbers. */
static void classes_of_texts_are_numbers(void **state) {
    (void)state;
    static uint8_t names[4][8] = {"a", "b", "c", "d"};
    ProtobufCBinaryData texts[4];
    onnx_message m;
    onnx_begin(&m, 17);
    onnx_add_input(&m, "x", MST_SHAPE(3, 4));
    for (int i = 0; i < 4; i++) texts[i] = (ProtobufCBinaryData){1, names[i]};
    Muster__OnnxTensor *tensor = onnx_add_list(&m, "classes", NULL, 0);
    enum { TEXT = 8 };
    tensor->data_type = TEXT;
    tensor->string_data = texts;
    tensor->n_string_data = 4;
    *tensor->dims = 4;
    onnx_add_nodes(&m, "ArgMax a x axis=1;ArrayFeatureExtractor y classes a");
    m.node[1].domain = onnx_text("ai.onnx.ml");
    onnx_add_output(&m, "y", MST_SHAPE(-1, -1));
    expect_values(&m, "classes", MST_SHAPE(1, 3), (const double[]){3, 2, 1}, false);
    *tensor->dims = 5;
    onnx_expect_refused(&m, MST_CORRUPT, "'classes' has 4 texts, which its shape does not have");
    *tensor->dims = 4;
    m.node[1].op_type = onnx_text("Binarizer");
    onnx_expect_refused(&m, MST_UNIMPLEMENTED, "is of the type string");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(values_of_one_node),
                                       cmocka_unit_test(scores_of_classes),
                                       cmocka_unit_test(missing_numbers_are_replaced),
                                       cmocka_unit_test(numbers_as_categories),
                                       cmocka_unit_test(what_is_refused),
                                       cmocka_unit_test(opsets_of_other_domains),
                                       cmocka_unit_test(classes_of_texts_are_numbers),
                                       TEST_IN_FOLDER(a_classifier_has_scores_and_names_of_classes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
