/* Ops in Keras' lists of layers, in the forms of Keras 2 and 3, and the layers that are made of them.
 * test/parity/keras_test.py compares the values. */
#include <jansson.h>

#include "model_file/keras/arithmetic_ops.h"
#include "support/test.h"

#define LAYER(class_name, config, calls) \
    "{\"class_name\": \"" class_name "\", \"config\": {\"name\": \"n\"" config "}, \"inbound_nodes\": [" calls "]}"
/* Keras 3 */
#define OP_3(class_name, calls)                                           \
    "{\"module\": \"keras.src.ops.numpy\", \"class_name\": \"" class_name \
    "\", \"config\": "                                                    \
    "{\"name\": \"n\"}, \"inbound_nodes\": [" calls "]}"
#define TENSOR(name) "{\"class_name\": \"__keras_tensor__\", \"config\": {\"keras_history\": [\"" name "\", 0, 0]}}"
#define CALL_3(a, b) "{\"args\": [" a ", " b "], \"kwargs\": {}}"
#define ARGS(tensors) "{\"args\": [[" tensors "]]}"
/* Keras 2 */
#define OP_2(function, calls) LAYER("TFOpLambda", ", \"function\": \"" function "\"", calls)
#define CALL_2(a, b) "[" a ", {\"y\": " b ", \"name\": null}]"
#define NUMPY(values) "{\"class_name\": \"__numpy__\", \"config\": {\"value\": " values ", \"dtype\": \"float32\"}}"
#define SLICE(start, stop, step) \
    "{\"class_name\": \"__slice__\", \"config\": {\"start\": " start ", \"stop\": " stop ", \"step\": " step "}}"
#define ELLIPSIS "{\"class_name\": \"__ellipsis__\", \"config\": {}}"
#define SHAPED                                                                                                    \
    "{\"class_name\": \"__keras_tensor__\", \"config\": {\"shape\": [null, 4, 3], \"keras_history\": [\"x\", 0, " \
    "0]}}"
#define TAKE(axis, indices, calls) LAYER("Take", ", \"axis\": " axis ", \"indices\": " indices, calls)
#define POWER(exponent, factor, calls) LAYER("Power", ", \"exponent\": " exponent ", \"factor\": " factor, calls)
#define RESCALING(scale, offset, calls) LAYER("Rescaling", ", \"scale\": " scale ", \"offset\": " offset, calls)

/* What becomes of the layer OP: EXPECTED; NULL: it stays. */
static void expect(const char *op, const char *expected) {
    json_t *layer = json_loads(op, JSON_DECODE_ANY, NULL), *list = json_pack("[O]", layer);
    json_t *wanted = expected ? json_loads(expected, 0, NULL) : json_incref(layer);
    assert_non_null(layer);
    assert_non_null(wanted);
    json_t *out = mst_keras_layers_for_ops(list);
    assert_int_equal(json_array_size(out), 1);
    assert_int_equal(mst_keras_was_op(json_array_get(out, 0)), expected != NULL);
    if (expected) json_object_set_new(wanted, "muster_was_op", json_true());
    if (!json_equal(json_array_get(out, 0), wanted))
        fail_msg("%s\nis %s", op, json_dumps(json_array_get(out, 0), JSON_COMPACT));
    json_decref(out);
    json_decref(list);
    json_decref(wanted);
    json_decref(layer);
}

static void tensor_and_number_are_a_rescaling(void **state) {
    (void)state;
    expect(OP_3("Add", CALL_3(TENSOR("x"), "3")), RESCALING("1.0", "3.0", ARGS(TENSOR("x"))));
    expect(OP_3("Add", CALL_3("3.5", TENSOR("x"))), RESCALING("1.0", "3.5", ARGS(TENSOR("x"))));
    expect(OP_3("Subtract", CALL_3(TENSOR("x"), "3")), RESCALING("1.0", "-3.0", ARGS(TENSOR("x"))));
    expect(OP_3("Subtract", CALL_3("3", TENSOR("x"))), RESCALING("-1.0", "3.0", ARGS(TENSOR("x"))));
    expect(OP_3("Multiply", CALL_3("3", TENSOR("x"))), RESCALING("3.0", "0.0", ARGS(TENSOR("x"))));
    expect(OP_3("TrueDivide", CALL_3(TENSOR("x"), "4")), RESCALING("0.25", "0.0", ARGS(TENSOR("x"))));
    expect(OP_3("Divide", CALL_3(TENSOR("x"), "4")), RESCALING("0.25", "0.0", ARGS(TENSOR("x"))));
    expect(OP_2("math.truediv", CALL_2("\"x\", 0, 0", "4")), RESCALING("0.25", "0.0", "[[\"x\", 0, 0]]"));
    expect(OP_2("math.subtract", CALL_2("\"x\", 0, 0", "1")), RESCALING("1.0", "-1.0", "[[\"x\", 0, 0]]"));
    expect(OP_2("math.subtract", CALL_2("\"_CONSTANT_VALUE\", -1, 2.0", "[\"x\", 0, 1]")),
           RESCALING("-1.0", "2.0", "[[\"x\", 0, 1]]"));
    expect(LAYER("Add", "", CALL_3(TENSOR("x"), "0")), RESCALING("1.0", "0.0", ARGS(TENSOR("x")))); /* of an .h5 file */
    /* as an inner model that is called twice has it */
    expect(OP_3("Multiply", CALL_3("3", TENSOR("x")) ", " CALL_3("3", TENSOR("y"))),
           RESCALING("3.0", "0.0", ARGS(TENSOR("x")) ", " ARGS(TENSOR("y"))));
}

static void two_tensors_are_a_layer(void **state) {
    (void)state;
    expect(OP_3("Subtract", CALL_3(TENSOR("x"), TENSOR("y"))),
           LAYER("Subtract", "", ARGS(TENSOR("x") ", " TENSOR("y"))));
    expect(OP_2("__operators__.add", CALL_2("\"x\", 0, 0", "[\"y\", 1, 0]")),
           LAYER("Add", "", "[[\"x\", 0, 0], [\"y\", 1, 0]]"));
}

static void several_numbers_are_a_rescaling(void **state) {
    (void)state;
    expect(OP_3("Add", CALL_3(TENSOR("x"), NUMPY("[1, 2.5]"))), RESCALING("1.0", "[1.0, 2.5]", ARGS(TENSOR("x"))));
    expect(OP_3("Subtract", CALL_3(NUMPY("[[1], [2]]"), TENSOR("x"))),
           RESCALING("-1.0", "[[1.0], [2.0]]", ARGS(TENSOR("x"))));
    expect(OP_3("Multiply", CALL_3("[1, -2]", TENSOR("x"))), RESCALING("[1.0, -2.0]", "0.0", ARGS(TENSOR("x"))));
    expect(OP_3("TrueDivide", CALL_3(TENSOR("x"), NUMPY("[2, 4]"))),
           RESCALING("[0.5, 0.25]", "0.0", ARGS(TENSOR("x"))));
    expect(OP_2("math.subtract", CALL_2("\"x\", 0, 0", "[1, 2]")), RESCALING("1.0", "[-1.0, -2.0]", "[[\"x\", 0, 0]]"));
}

static void powers_and_quotients_are_layers(void **state) {
    (void)state;
    expect(OP_3("Power", CALL_3(TENSOR("x"), "3")), POWER("3.0", "1.0", ARGS(TENSOR("x"))));
    expect(OP_3("TrueDivide", CALL_3("4", TENSOR("x"))), POWER("-1.0", "4.0", ARGS(TENSOR("x"))));
    expect(OP_3("Sqrt", "{\"args\": [" TENSOR("x") "]}"), POWER("0.5", "1.0", ARGS(TENSOR("x"))));
    expect(OP_3("Square", "{\"args\": [" TENSOR("x") "]}"), POWER("2.0", "1.0", ARGS(TENSOR("x"))));
    expect(OP_3("Reciprocal", "{\"args\": [" TENSOR("x") "]}"), POWER("-1.0", "1.0", ARGS(TENSOR("x"))));
    expect(OP_3("Negative", "{\"args\": [" TENSOR("x") "]}"), RESCALING("-1.0", "0.0", ARGS(TENSOR("x"))));
    expect(OP_2("math.pow", CALL_2("\"x\", 0, 0", "2")), POWER("2.0", "1.0", "[[\"x\", 0, 0]]"));
    expect(OP_2("math.negative", "[\"x\", 0, 0, {\"name\": null}]"), RESCALING("-1.0", "0.0", "[[\"x\", 0, 0]]"));
    expect(OP_3("TrueDivide", CALL_3(TENSOR("x"), TENSOR("y"))),
           LAYER("Divide", "", ARGS(TENSOR("x") ", " TENSOR("y"))));
}

static void elements_of_an_axis_are_taken(void **state) {
    (void)state;
#define ITEM(key, axis, indices) expect(OP_3("GetItem", CALL_3(SHAPED, key)), TAKE(axis, indices, ARGS(SHAPED)))
    ITEM("[" SLICE("null", "null", "null") ", " SLICE("1", "3", "null") "]", "1", "[1, 2]");
    ITEM("[" SLICE("null", "null", "null") ", 2]", "1", "2");
    ITEM("[" SLICE("null", "null", "null") ", -1]", "1", "3");
    ITEM("[" ELLIPSIS ", " SLICE("null", "null", "-1") "]", "2", "[2, 1, 0]");
    ITEM("[" ELLIPSIS ", 0]", "2", "0");
    ITEM("[" SLICE("null", "null", "null") ", " SLICE("-3", "9", "2") ", " ELLIPSIS "]", "1", "[1, 3]");
    ITEM("[" SLICE("null", "null", "null") ", " SLICE("2", "null", "-2") "]", "1", "[2, 0]");
    expect(
        "{\"module\": \"keras.src.ops.numpy\", \"class_name\": \"Take\", \"config\": {\"name\": \"n\", \"axis\": -1}, "
        "\"inbound_nodes\": [" CALL_3(TENSOR("x"), "[3, 0]") "]}",
        TAKE("-1", "[3, 0]", ARGS(TENSOR("x"))));
#define STAYS(key) expect(OP_3("GetItem", CALL_3(SHAPED, key)), NULL)
    STAYS("[1]");
    STAYS("[" SLICE("null", "null", "null") "]");
    STAYS("[" SLICE("null", "null", "null") ", 4]");
    STAYS("[" SLICE("null", "null", "null") ", 1, 1]");
    STAYS("[" SLICE("null", "null", "null") ", " SLICE("3", "1", "null") "]");
    STAYS("[" SLICE("null", "null", "null") ", " SLICE("null", "null", "0") "]");
    STAYS("[null, " SLICE("0", "1", "null") "]");
    STAYS("[" ELLIPSIS ", " ELLIPSIS ", " ELLIPSIS ", " ELLIPSIS ", 1]");
    STAYS("{}");
    expect(OP_3("Take", CALL_3(TENSOR("x"), "[3, 0]")), NULL); /* without an axis it is of all elements */
}

static void what_no_layer_does_stays(void **state) {
    (void)state;
    expect(OP_3("TrueDivide", CALL_3(TENSOR("x"), "0")), NULL);
    expect(OP_3("TrueDivide", CALL_3("[1, 2]", TENSOR("x"))), NULL);
    expect(OP_3("Multiply", CALL_3("3", TENSOR("x")) ", " CALL_3("4", TENSOR("x"))), NULL);
    expect(OP_3("Multiply", CALL_3(TENSOR("x"), "{\"class_name\": \"__tensor__\"}")), NULL);
    expect(OP_3("Multiply", CALL_3(TENSOR("x"), "[[1, 2], [3]]")), NULL);
    expect(OP_3("Power", CALL_3("2", TENSOR("x"))), NULL);
    expect(OP_3("Power", CALL_3(TENSOR("x"), TENSOR("y"))), NULL);
    expect(OP_3("FloorDivide", CALL_3(TENSOR("x"), "2")), NULL);
    expect(LAYER("Add", "", ARGS(TENSOR("x") ", " TENSOR("y"))), NULL);
    expect(
        "{\"module\": \"mine\", \"class_name\": \"Add\", \"config\": {\"name\": \"n\"}, \"inbound_nodes\": "
        "[" CALL_3(TENSOR("x"), "2") "]}",
        NULL);
}

static void what_is_damaged_stays(void **state) {
    (void)state;
    expect("7", NULL);
    expect(OP_3("Add", ""), NULL);
    expect(OP_3("Add", "null"), NULL);
    expect(OP_3("Add", CALL_3("1", "2")), NULL);
    expect(OP_3("Add", "{\"args\": []}"), NULL);
    expect(OP_2("math.add", "[]"), NULL);
    expect(OP_2("math.add", "[\"x\"]"), NULL);
    expect(OP_2("math.add", "[\"x\", 0, 0, {\"y\": \"z\"}]"), NULL);
    expect(OP_2("math.add", "[\"x\", 0, 0, {\"y\": [\"z\"]}]"), NULL);
    expect(OP_2("math.subtract", "[[], 0, 0, {\"y\": 1}]"), NULL);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensor_and_number_are_a_rescaling),
        cmocka_unit_test(two_tensors_are_a_layer),
        cmocka_unit_test(several_numbers_are_a_rescaling),
        cmocka_unit_test(powers_and_quotients_are_layers),
        cmocka_unit_test(elements_of_an_axis_are_taken),
        cmocka_unit_test(what_no_layer_does_stays),
        cmocka_unit_test(what_is_damaged_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
