/* Models inside models in Keras' JSON: the names of their layers, their calls in the forms of Keras 2 and 3, and
 * mistakes in them. test/parity/keras_test.py compares the values. */
#include <stdlib.h>

#include "model/model.h"
#include "model_file/keras/nested_network.h"
#include "muster/model_file.h"
#include "support/folder.h"
#include "support/test.h"

#define INPUT(name)                                                                               \
    "{\"class_name\": \"InputLayer\", \"config\": {\"batch_shape\": [null, 3], \"name\": \"" name \
    "\"}, \"inbound_nodes\": []}"
#define DENSE(name, calls) \
    "{\"class_name\": \"Dense\", \"config\": {\"name\": \"" name "\", \"units\": 3}, \"inbound_nodes\": [" calls "]}"
#define MODEL(name, layers, inputs, outputs, calls)                                              \
    "{\"class_name\": \"Functional\", \"config\": {\"name\": \"" name "\", \"layers\": [" layers \
    "], \"input_layers\": [" inputs "], \"output_layers\": [" outputs "]}, \"inbound_nodes\": [" calls "]}"
#define STACK(name, layers, calls)                                                               \
    "{\"class_name\": \"Sequential\", \"config\": {\"name\": \"" name "\", \"layers\": [" layers \
    "]}, "                                                                                       \
    "\"inbound_nodes\": [" calls "]}"
#define AT(name, call) "[\"" name "\", " #call ", 0]"
#define CALL(name, call) "[[\"" name "\", " #call ", 0, {}]]"
#define CALL_3(name, call)                                                                                     \
    "{\"args\": [{\"class_name\": \"__keras_tensor__\", \"config\": {\"keras_history\": [\"" name "\", " #call \
    ", 0]}}], "                                                                                                \
    "\"kwargs\": {\"training\": null}}"
#define INNER(calls) MODEL("inner", INPUT("in") ", " DENSE("d", CALL("in", 0)), AT("in", 0), AT("d", 0), calls)

/* The names of the weights, with spaces between them. */
static void expect_weights(const char *text, const char *expected) {
    char names[500] = "";
    mst_model *model;
    const mst_weight *weights;
    int64_t count;
    EXPECT_OK(mst_model_load(folder_write_text("net.json", text), &model, NULL));
    EXPECT_OK(mst_model_weights(model, &weights, &count));
    for (int64_t i = 0; i < count; i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? " " : "", weights[i].name);
    assert_string_equal(names, expected);
    mst_model_destroy(model);
}

static void expect_refused(const char *text, mst_status code, const char *message) {
    mst_model *model;
    EXPECT_ERROR(mst_model_load(folder_write_text("net.json", text), &model, NULL), code, message);
}

static void layers_have_the_name_of_their_model_before_their_own(void **state) {
    (void)state;
    static const char names[] = "inner.d/kernel inner.d/bias d/kernel d/bias";
    /* calls counted from 0, and from 1; one output of each form */
    expect_weights(
        MODEL("m", INPUT("in") ", " INNER(CALL_3("in", 0) ", " CALL_3("inner", 0)) ", " DENSE("d", CALL_3("inner", 1)),
              AT("in", 0), AT("d", 0), ""),
        names);
    expect_weights(
        MODEL("m", INPUT("in") ", " INNER(CALL("in", 0) ", " CALL("inner", 1)) ", " DENSE("d", CALL("inner", 2)),
              AT("in", 0), AT("d", 0), ""),
        names);
    expect_weights(STACK("s", INNER("") ", " DENSE("d", ""), ""), names);
    expect_weights(STACK("s", STACK("a", INPUT("in") ", " STACK("b", DENSE("d", ""), ""), "") ", " DENSE("d", ""), ""),
                   "a.b.d/kernel a.b.d/bias d/kernel d/bias");
}

/* Keras 3 counts calls from 0, and in the outputs of the outer model from 1; Keras 2 counts from 1 in both. */
static void models_may_be_applied_to_their_own_output(void **state) {
    (void)state;
    static const char names[] = "inner.d/kernel inner.d/bias";
    expect_weights(
        MODEL("m", INPUT("in") ", " INNER(CALL_3("in", 0) ", " CALL_3("inner", 0)), AT("in", 0), AT("inner", 2), ""),
        names);
    expect_weights(
        MODEL("m", INPUT("in") ", " INNER(CALL("in", 0) ", " CALL("inner", 1)), AT("in", 0), AT("inner", 2), ""),
        names);
    expect_weights(MODEL("m", INPUT("in") ", " STACK("inner", DENSE("d", ""), CALL_3("in", 0) ", " CALL_3("inner", 0)),
                         AT("in", 0), AT("inner", 1), ""),
                   names);
}

/* The first call is the first output, of another size than the second call. */
static void an_output_may_be_of_a_call_that_is_not_the_last(void **state) {
    (void)state;
    mst_model *model;
    const char *text =
        MODEL("m", INPUT("in") ", " INNER(CALL_3("in", 0) ", " CALL_3("in", 0)) ", " DENSE("d", CALL_3("inner", 1)),
              AT("in", 0), AT("inner", 1) ", " AT("d", 0), "");
    EXPECT_OK(mst_model_load(folder_write_text("net.json", text), &model, NULL));
    const mst_outputs outputs = mst_model_get_outputs(model);
    assert_int_equal(outputs.output[0].node, outputs.output[1].node - 2); /* the second call is between them */
    mst_model_destroy(model);
}

/* The name of the outer model is in its table and in what is written; control characters are not. */
static void a_model_keeps_its_name(void **state) {
    (void)state;
    mst_model *model, *copy;
    char *table = NULL;
    size_t size;
    FILE *file = open_memstream(&table, &size);
    const char *text =
        MODEL("flow\\u001bers", INPUT("in") ", " INNER(CALL_3("in", 0)), AT("in", 0), AT("inner", 1), "");
    EXPECT_OK(mst_model_load(folder_write_text("net.json", text), &model, NULL));
    EXPECT_OK(mst_model_save(model, folder_path("copy.json")));
    EXPECT_OK(mst_model_load(folder_path("copy.json"), &copy, NULL));
    EXPECT_OK(mst_model_summary(copy, NULL, file));
    fclose(file);
    assert_memory_equal(table, "Model: \"flow?ers\"\n", strlen("Model: \"flow?ers\"\n"));
    free(table);
    mst_model_destroy(model);
    mst_model_destroy(copy);
}

#define INPUT_OF(name, size)                                                                              \
    "{\"class_name\": \"InputLayer\", \"config\": {\"batch_shape\": [null, " #size "], \"name\": \"" name \
    "\"}, \"inbound_nodes\": []}"
#define DEFINED(name, size, calls)                                                       \
    "{\"class_name\": \"Dense\", \"config\": {\"name\": \"" name "\", \"units\": " #size \
    "}, \"inbound_nodes\": [" calls "]}"
#define PAIR(a, b)                                                                                   \
    "{\"class_name\": \"Concatenate\", \"config\": {\"name\": \"pair\"}, \"inbound_nodes\": [[[\"" a \
    "\", 0, 0, {}], "                                                                                \
    "[\"" b "\", 0, 0, {}]]]}"
#define TENSOR(name) "{\"class_name\": \"__keras_tensor__\", \"config\": {\"keras_history\": [\"" name "\", 0, 0]}}"
/* An inner model of inputs left [2] and right [5], called with CALL: the outer one has inputs p [2] and q [5]. */
#define DICT_MODEL(ends, call)                                                                                  \
    MODEL("m",                                                                                                  \
          INPUT_OF("p", 2) ", " INPUT_OF("q", 5) ", " MODEL(                                                    \
              "inner",                                                                                          \
              INPUT_OF("left", 2) ", " INPUT_OF("right", 5) ", " DEFINED("l", 1, CALL("left", 0)) ", " DEFINED( \
                  "r", 1, CALL("right", 0)) ", " PAIR("l", "r"),                                                \
              ends, AT("pair", 0), call),                                                                       \
          AT("p", 0) ", " AT("q", 0), AT("inner", 1), "")
#define DICT_CALL(member) "{\"args\": [{" member "}], \"kwargs\": {\"mask\": {\"right\": null, \"left\": null}}}"
#define P_IS(key) "\"" key "\": " TENSOR("p")
#define Q_IS(key) "\"" key "\": " TENSOR("q")

/* As text, because the inputs of MODEL are a dict there, not a list in brackets. */
static char *with_dict_of_inputs(const char *text, const char *list, const char *dict) {
    const char *at = strstr(text, list);
    char *out;
    assert_non_null(at);
    assert_true(asprintf(&out, "%.*s%s%s", (int)(at - text), text, dict, at + strlen(list)) > 0);
    return out;
}

/* The sizes of the inputs of the layers l and r, which have two weights each. */
static void expect_sources(const char *text, int l, int r) {
    mst_model *model;
    const mst_weight *weights;
    int64_t count;
    EXPECT_OK(mst_model_load(folder_write_text("net.json", text), &model, NULL));
    EXPECT_OK(mst_model_weights(model, &weights, &count));
    assert_int_equal(count, 4);
    assert_string_equal(weights[0].name, "inner.l/kernel");
    assert_int_equal(weights[0].spec.shape.dim[0], l);
    assert_int_equal(weights[2].spec.shape.dim[0], r);
    mst_model_destroy(model);
}

/* By the keys of the inner model's inputs, or by their names where these are no dict, in both generations' form. */
static void dicts_are_taken_by_name(void **state) {
    (void)state;
    static const char ends[] = "[[\"left\", 0, 0], [\"right\", 0, 0]]";
    static const char dict[] = "{\"right\": [\"right\", 0, 0], \"left\": [\"left\", 0, 0]}";
    static const char swapped[] = "{\"left\": [\"right\", 0, 0], \"right\": [\"left\", 0, 0]}";
    static const char *const calls[] = {
        DICT_MODEL(AT("left", 0) ", " AT("right", 0), DICT_CALL(P_IS("left") ", " Q_IS("right"))),
        DICT_MODEL(AT("left", 0) ", " AT("right", 0), DICT_CALL(Q_IS("right") ", " P_IS("left"))),
        DICT_MODEL(AT("left", 0) ", " AT("right", 0), "{\"right\": [\"q\", 0, 0, {}], \"left\": [\"p\", 0, 0, {}]}")};
    for (int i = 0; i < 3; i++) {
        char *text = with_dict_of_inputs(calls[i], ends, dict);
        expect_sources(calls[i], 2, 5);
        expect_sources(text, 2, 5);
        free(text);
    }
    const char *other = DICT_MODEL(AT("left", 0) ", " AT("right", 0), DICT_CALL(P_IS("right") ", " Q_IS("left")));
    char *by_keys = with_dict_of_inputs(other, ends, swapped);
    expect_sources(by_keys, 2, 5);
    expect_sources(other, 5, 2);
    free(by_keys);
}

static void other_members_of_dicts_are_told(void **state) {
    (void)state;
    static const char ends[] = "[[\"left\", 0, 0], [\"right\", 0, 0]]";
    static const char dict[] = "{\"right\": [\"right\", 0, 0], \"left\": [\"left\", 0, 0]}";
    const char *more =
        DICT_MODEL(AT("left", 0) ", " AT("right", 0), DICT_CALL(Q_IS("right") ", " Q_IS("other") ", " P_IS("left")));
    expect_sources(more, 2, 5); /* by name, as in Keras */
    char *by_keys = with_dict_of_inputs(more, ends, dict);
    expect_refused(by_keys, MST_UNIMPLEMENTED, "the model 'inner' in it is called with a dict");
    free(by_keys);
    expect_refused(DICT_MODEL(AT("left", 0) ", " AT("right", 0), DICT_CALL(P_IS("left") ", " Q_IS("r"))),
                   MST_UNIMPLEMENTED, "look at 'right'");
}

/* The inputs of the whole model, too: by their keys, whatever their layers are called. */
static void inputs_of_a_dict_have_the_names_of_its_keys(void **state) {
    (void)state;
    mst_model *model;
    const char *text = MODEL("m",
                             INPUT_OF("left", 2) ", " INPUT_OF("right", 5) ", " DEFINED(
                                 "l", 1, CALL("left", 0)) ", " DEFINED("r", 1, CALL("right", 0)) ", " PAIR("l", "r"),
                             AT("left", 0) ", " AT("right", 0), AT("pair", 0), "");
    char *swapped = with_dict_of_inputs(text, "[[\"left\", 0, 0], [\"right\", 0, 0]]",
                                        "{\"right\": [\"left\", 0, 0], \"left\": [\"right\", 0, 0]}");
    EXPECT_OK(mst_model_load(folder_write_text("net.json", swapped), &model, NULL));
    for (int i = 0; i < 2; i++) {
        const bool left = strcmp(mst_model_input_name(model, i), "left") == 0;
        assert_int_equal(model->input[i].row.shape.dim[0], left ? 5 : 2);
    }
    mst_model_destroy(model);
    free(swapped);
    text = MODEL("m", INPUT("in") ", " DENSE("a", CALL("in", 0)) ", " DENSE("b", CALL("in", 0)), AT("in", 0),
                 AT("a", 0) ", " AT("b", 0), "");
    swapped =
        with_dict_of_inputs(text, "[[\"a\", 0, 0], [\"b\", 0, 0]]", "{\"a\": [\"b\", 0, 0], \"b\": [\"a\", 0, 0]}");
    expect_refused(swapped, MST_UNIMPLEMENTED, "its output 'a' is of the layer 'b'");
    free(swapped);
}

/* The inputs of TEXT, whose list LIST becomes DICT, are called FIRST and SECOND. */
static void expect_inputs(const char *text, const char *list, const char *dict, const char *first, const char *second) {
    mst_model *model;
    char *changed = with_dict_of_inputs(text, list, dict);
    EXPECT_OK(mst_model_load(folder_write_text("net.json", changed), &model, NULL));
    assert_string_equal(mst_model_input_name(model, 0), first);
    assert_string_equal(mst_model_input_name(model, 1), second);
    mst_model_destroy(model);
    free(changed);
}

/* Then the input has the name of its layer; and so has one that wanted this name. */
static void keys_that_other_layers_have_are_not_taken(void **state) {
    (void)state;
    static const char list[] = "[[\"a\", 0, 0], [\"b\", 0, 0]]";
    const char *text = MODEL("m",
                             INPUT_OF("a", 2) ", " INPUT_OF("b", 5) ", " DEFINED("left", 1, CALL("a", 0)) ", " DEFINED(
                                 "right", 1, CALL("b", 0)) ", " PAIR("left", "right"),
                             AT("a", 0) ", " AT("b", 0), AT("pair", 0), "");
    expect_inputs(text, list, "{\"left\": [\"a\", 0, 0], \"right\": [\"b\", 0, 0]}", "a", "b");
    expect_inputs(text, list, "{\"left\": [\"a\", 0, 0], \"z\": [\"b\", 0, 0]}", "a", "z");
    expect_inputs(text, list, "{\"b\": [\"a\", 0, 0], \"left\": [\"b\", 0, 0]}", "a", "b");
    expect_inputs(text, list, "{\"b\": [\"a\", 0, 0], \"no name\": [\"b\", 0, 0]}", "a", "b");
    expect_inputs(text, list, "{\"no name\": [\"a\", 0, 0], \"z\": [\"b\", 0, 0]}", "a", "z");
    expect_inputs(text, list, "{\"b\": [\"a\", 0, 0], \"z\": [\"b\", 0, 0]}", "b", "z");
}

/* Beside a model, and inside of it. */
static void layers_without_config_are_told(void **state) {
    (void)state;
    static const char why[] = "the network in it is damaged: a layer without config";
#define BARE(config) "{\"class_name\": \"Dense\", \"name\": \"bare\"" config ", \"inbound_nodes\": [" CALL("in", 0) "]}"
    expect_refused(MODEL("m", INPUT("in") ", " INNER(CALL("in", 0)) ", " BARE(""), AT("in", 0), AT("inner", 1), ""),
                   MST_CORRUPT, why);
    expect_refused(MODEL("m", INPUT("in") ", " INNER(CALL("in", 0)) ", " BARE(", \"config\": [1]"), AT("in", 0),
                         AT("inner", 1), ""),
                   MST_CORRUPT, why);
    expect_refused(STACK("s", MODEL("inner", INPUT("in") ", " BARE(""), AT("in", 0), AT("bare", 0), ""), ""),
                   MST_CORRUPT, why);
    expect_refused(STACK("s", STACK("t", DENSE("d", "") ", " BARE(""), "") ", " BARE(""), ""), MST_CORRUPT, why);
#undef BARE
}

/* As Keras 3 writes x + y; as a layer the same is computed. */
static void ops_of_outputs_with_other_dimensions_are_refused(void **state) {
    (void)state;
#define WIDE                                                                                             \
    "{\"class_name\": \"InputLayer\", \"config\": {\"batch_shape\": [null, 3, 3], \"name\": \"wide\"}, " \
    "\"inbound_nodes\": "                                                                                \
    "[]}"
#define SUM(module, args)                                                              \
    MODEL("m",                                                                         \
          INPUT("in") ", " WIDE ", {\"module\": \"" module                             \
                      "\", \"class_name\": \"Add\", \"config\": {\"name\": \"add\"}, " \
                      "\"inbound_nodes\": [{\"args\": " args ", \"kwargs\": {}}]}",    \
          AT("in", 0) ", " AT("wide", 0), AT("add", 0), "")
    mst_model *model;
    const char *const op = SUM("keras.src.ops.numpy", "[" TENSOR("wide") ", " TENSOR("in") "]");
    expect_refused(op, MST_UNIMPLEMENTED, "layer 'add' (Add): is an op of outputs with 3 and 2 dimensions");
    const char *const layer = SUM("keras.layers", "[[" TENSOR("wide") ", " TENSOR("in") "]]");
    EXPECT_OK(mst_model_load(folder_write_text("net.json", layer), &model, NULL));
    mst_model_destroy(model);
}

/* A model whose second output is its input. */
static void an_output_may_be_an_input(void **state) {
    (void)state;
    expect_weights(MODEL("m",
                         INPUT("in") ", " MODEL("inner", INPUT("in") ", " DENSE("d", CALL("in", 0)), AT("in", 0),
                                                AT("d", 0) ", " AT("in", 0),
                                                CALL("in", 0)) ", " DENSE("e", "[[\"inner\", 0, 1, {}]]"),
                         AT("in", 0), AT("e", 0), ""),
                   "e/kernel e/bias");
}

static void layers_are_where_the_file_keeps_them(void **state) {
    (void)state;
    json_t *flat, *object = json_loads(
                      MODEL("m",
                            INPUT("in") ", " INNER(CALL("in", 0)) ", " STACK(
                                "s", STACK("t", DENSE("d", ""), ""),
                                CALL("inner", 0)) ", " STACK("u", DENSE("d", "") ", " DENSE("e", ""), CALL("s", 0)),
                            AT("in", 0), AT("u", 0), ""),
                      0, NULL);
    static const char *const expected[][3] = {{"in", "/layers/input_layer", NULL},
                                              {"inner.d", "/layers/functional/layers/dense", "inner"},
                                              {"s.t.d", "/layers/sequential/layers/sequential/layers/dense", "s"},
                                              {"u.d", "/layers/sequential_1/layers/dense", "u"},
                                              {"u.e", "/layers/sequential_1/layers/dense_1", "u"}};
    EXPECT_OK(mst_keras_flatten("f", object, &flat));
    const json_t *layers = json_object_get(json_object_get(flat, "config"), "layers");
    assert_int_equal(json_array_size(layers), 5);
    for (size_t i = 0; i < 5; i++) {
        const json_t *layer = json_array_get(layers, i);
        const char *group = json_string_value(json_object_get(layer, "group"));
        assert_string_equal(json_string_value(json_object_get(layer, "name")), expected[i][0]);
        assert_string_equal(json_string_value(json_object_get(layer, "path")), expected[i][1]);
        assert_string_equal(group ? group : "", expected[i][2] ? expected[i][2] : "");
    }
    json_decref(flat);
    json_decref(object);
}

static void what_is_not_there_is_told(void **state) {
    (void)state;
    expect_refused(MODEL("m", INPUT("in") ", " INNER(CALL("in", 0)), AT("in", 0), AT("inner", 7), ""), MST_CORRUPT,
                   "an output of an inner model that is not there");
    expect_refused(MODEL("m", INPUT("in") ", " INNER(CALL("in", 0)), AT("in", 0), "[\"inner\", 0, 3]", ""), MST_CORRUPT,
                   "an output of an inner model that is not there");
    expect_refused(MODEL("m", INPUT("in") ", " INNER("[]"), AT("in", 0), AT("inner", 0), ""), MST_CORRUPT,
                   "called with too little");
    expect_refused(MODEL("m", INPUT("in") ", " INNER(CALL("inner", 0)), AT("in", 0), AT("inner", 0), ""), MST_CORRUPT,
                   "applied to one another");
    expect_refused(STACK("s", INPUT("in") ", {\"class_name\": \"Model\", \"config\": {\"name\": \"x\"}}", ""),
                   MST_CORRUPT, "a model without layers");
    expect_refused(
        STACK("s", INPUT("in") ", " STACK("t", "{\"class_name\": \"Lambda\", \"config\": {\"name\": \"f\"}}", ""), ""),
        MST_UNIMPLEMENTED, "layer 't.f' (Lambda): it is code of Python");
    expect_refused(STACK("s",
                         INPUT("in") ", " STACK("t",
                                                "{\"module\": null, \"class_name\": \"ReLU\", \"config\": {\"name\": "
                                                "\"f\"}}",
                                                ""),
                         ""),
                   MST_UNIMPLEMENTED, "layer 't.f' (ReLU): its class is not Keras' own");
}

/* Loads TEXT and saves it: whether what is written has WORDS in it. */
static bool is_written(const char *text, const char *words) {
    enum { SIZE = 1 << 14 };
    char written[SIZE];
    mst_model *model;
    EXPECT_OK(mst_model_load(folder_write_text("net.json", text), &model, NULL));
    EXPECT_OK(mst_model_save(model, folder_path("written.json")));
    FILE *file = fopen(folder_path("written.json"), "r");
    assert_non_null(file);
    written[fread(written, 1, SIZE - 1, file)] = '\0';
    fclose(file);
    mst_model_destroy(model);
    return strstr(written, words) != NULL;
}

/* training=False in the call of a model: in Keras 2 the call decides, in Keras 3 it says nothing, as fit decides. */
static void calls_without_training_are_those_of_the_version(void **state) {
    (void)state;
#define OF_KERAS_3                                                                                           \
    "{\"args\": [{\"class_name\": \"__keras_tensor__\", \"config\": {\"keras_history\": [\"in\", 0, 0]}}], " \
    "\"kwargs\": {\"training\": false}}"
#define OF_KERAS_2 "[[\"in\", 0, 0, {\"training\": false}]]"
#define CALLED_SO(class, trainable, call)                                                         \
    MODEL("m",                                                                                    \
          INPUT("in") ", " STACK("s",                                                             \
                                 "{\"class_name\": \"" class "\", \"config\": {\"name\": \"n\", " \
                                                             "\"trainable\": " trainable "}}",    \
                                 call),                                                           \
          AT("in", 0), AT("s", 0), "")
    assert_false(is_written(CALLED_SO("BatchNormalization", "true", OF_KERAS_3), "moving_statistics"));
    assert_true(is_written(CALLED_SO("BatchNormalization", "true", OF_KERAS_2), "moving_statistics"));
    assert_true(is_written(CALLED_SO("Dropout", "true, \"rate\": 0.5", OF_KERAS_3), "\"rate\": 0.5"));
    assert_true(is_written(CALLED_SO("Dropout", "true, \"rate\": 0.5", OF_KERAS_2), "\"rate\": 0.0"));
    expect_refused(CALLED_SO("GaussianNoise", "true, \"stddev\": 0.5", OF_KERAS_2), MST_UNIMPLEMENTED,
                   "'n' (GaussianNoise) is of a model that is called with training=False");
    expect_weights(CALLED_SO("BatchNormalization", "false", OF_KERAS_2),
                   "s.n/gamma s.n/beta s.n/moving_mean s.n/moving_variance");
    /* in Keras 2 the call decides: the statistics are the moving ones */
    expect_weights(CALLED_SO("BatchNormalization", "true", OF_KERAS_2),
                   "s.n/gamma s.n/beta s.n/moving_mean s.n/moving_variance");
}

/* 4^15 calls of one layer, in a text of a few lines. */
static void models_in_models_are_held_to_a_size(void **state) {
    (void)state;
    enum { SIZE = 1 << 16 };
    char *text = malloc(SIZE), *next = malloc(SIZE);
    snprintf(text, SIZE, "%s", DENSE("d", "[[\"in\", 0, 0, {}]]"));
    for (int i = 0; i < 15; i++) {
        snprintf(next, SIZE,
                 "{\"class_name\": \"Functional\", \"config\": {\"name\": \"d\", \"layers\": [" INPUT("in") ", %s], "
                 "\"input_layers\": [[\"in\", 0, 0]], \"output_layers\": [[\"d\", 0, 0]]}, \"inbound_nodes\": "
                 "[[[\"in\", 0, 0, {}]], [[\"d\", 0, 0, {}]], [[\"d\", 1, 0, {}]], [[\"d\", 2, 0, {}]]]}", text);
        char *swapped = text;
        text = next;
        next = swapped;
    }
    expect_refused(text, MST_UNIMPLEMENTED, "too large");
    for (int i = 0; i < 5; i++) {
        snprintf(next, SIZE, "{\"class_name\": \"Sequential\", \"config\": {\"name\": \"s\", \"layers\": [%s]}}", text);
        char *swapped = text;
        text = next;
        next = swapped;
    }
    expect_refused(text, MST_UNIMPLEMENTED, "more than 16 deep");
    free(text);
    free(next);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(layers_have_the_name_of_their_model_before_their_own),
        TEST_IN_FOLDER(models_may_be_applied_to_their_own_output),
        TEST_IN_FOLDER(an_output_may_be_of_a_call_that_is_not_the_last),
        TEST_IN_FOLDER(a_model_keeps_its_name),
        TEST_IN_FOLDER(dicts_are_taken_by_name),
        TEST_IN_FOLDER(other_members_of_dicts_are_told),
        TEST_IN_FOLDER(inputs_of_a_dict_have_the_names_of_its_keys),
        TEST_IN_FOLDER(keys_that_other_layers_have_are_not_taken),
        TEST_IN_FOLDER(layers_without_config_are_told),
        TEST_IN_FOLDER(ops_of_outputs_with_other_dimensions_are_refused),
        TEST_IN_FOLDER(an_output_may_be_an_input),
        cmocka_unit_test(layers_are_where_the_file_keeps_them),
        TEST_IN_FOLDER(what_is_not_there_is_told),
        TEST_IN_FOLDER(calls_without_training_are_those_of_the_version),
        TEST_IN_FOLDER(models_in_models_are_held_to_a_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
