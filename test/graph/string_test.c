/* Constants of strings as text and in files. */
#include "graph/graphdef.h"
#include "muster/muster.h"
#include "support/graph_pair.h"
#include "support/test.h"

#define BYTES(literal) ((mst_string){(literal), sizeof(literal) - 1})

static void graph_of_strings_is_read_as_it_was_written(void **state) {
    (void)state;
    mst_graph *g = engine_graph();
    char all[256];
    for (int i = 0; i < 256; i++) all[i] = (char)i;
    const mst_string some[] = {BYTES("Hello, distributed TensorFlow!"), {NULL, 0}, {all, sizeof all}, BYTES("\0")};
    mst_value fixed = mst_string_values(g, MST_SHAPE(2, 2), some), none = mst_string_values(g, MST_SHAPE(0), NULL);
    mst_value x = mst_placeholder(g, MST_STRING, MST_SHAPE(-1, 2), "x");
    mst_value y = mst_concat((mst_value[]){x, fixed, x}, 3, 0), z = mst_not_equal(y, mst_string_scalar(g, "same"));
    mst_graph *copy = graph_pair_copy(g);
    mst_feed feed = {.value = x};
    EXPECT_OK(
        mst_tensor_copy(MST_STRING, MST_SHAPE(1, 2), (mst_string[]){BYTES("same"), BYTES("other")}, &feed.tensor));
    graph_pair_run(g, copy, "cpu:2/1", 2, &feed, 1, (mst_value[]){y, z, none, fixed}, 4);
    mst_tensor_release(feed.tensor);
    mst_graph_destroy(copy);
    mst_graph_destroy(g);
}

static void strings_of_constants_can_be_given_as_text(void **state) {
    (void)state;
    static const char *const texts[] = {"value=string('it\\'s')", "value=string[2]('a\\x00b', '')", "value=string[0]()",
                                        "value=bf16[2](0.5, -3)", "value=string('\\xff\xc3\xa9')"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mst_graph *g = engine_graph();
        char *printed;
        mst_call_text(g, "constant", "c", 0, NULL, texts[i]);
        EXPECT_OK(mst_graph_check(g));
        EXPECT_OK(mst_graph_print(g, &printed));
        if (!strstr(printed, texts[i])) fail_msg("'%s' is not in '%s'", texts[i], printed);
        free(printed);
        mst_graph_destroy(g);
    }
    mst_graph *g = engine_graph();
    mst_call_text(g, "constant", "c", 0, NULL, "value=string[2](bare, \"quoted\")");
    EXPECT_OK(mst_graph_check(g));
    mst_call_text(g, "constant", "d", 0, NULL, "value=string[2]('a')");
    EXPECT_ERROR(mst_graph_check(g), MST_INVALID, "wants 2 numbers");
    mst_graph_destroy(g);
}

/* ---- tensors of other programs ---- */

static mst_status read(size_t num, ProtobufCBinaryData *value, int64_t size, const char *content, mst_tensor **out) {
    Muster__TensorShapeProto shape = MUSTER__TENSOR_SHAPE_PROTO__INIT;
    Muster__TensorShapeProto__Dim dim = MUSTER__TENSOR_SHAPE_PROTO__DIM__INIT, *list = &dim;
    Muster__TensorProto proto = MUSTER__TENSOR_PROTO__INIT;
    size_t spare = 1 << 20;
    dim.size = size;
    shape.n_dim = 1;
    shape.dim = &list;
    proto.dtype = MUSTER__DATA_TYPE__DT_STRING;
    proto.tensor_shape = &shape;
    proto.n_string_val = num;
    proto.string_val = value;
    proto.tensor_content = (ProtobufCBinaryData){strlen(content), (uint8_t *)(uintptr_t)content};
    *out = NULL;
    return mst_tensor_from_proto(&proto, &spare, out);
}

static void short_list_is_filled_up_with_its_last_string(void **state) {
    (void)state;
    ProtobufCBinaryData value[] = {{1, (uint8_t[]){'a'}}, {2, (uint8_t[]){'b', 0}}};
    mst_tensor *tensor;
    EXPECT_OK(read(2, value, 4, "", &tensor));
    assert_true(mst_string_equal(mst_tensor_get_string(tensor, 0), BYTES("a")));
    for (int i = 1; i < 4; i++) assert_true(mst_string_equal(mst_tensor_get_string(tensor, i), BYTES("b\0")));
    mst_tensor_release(tensor);
    EXPECT_OK(read(0, NULL, 2, "", &tensor));
    assert_int_equal(mst_tensor_get_string(tensor, 1).length, 0);
    mst_tensor_release(tensor);
}

static void impossible_lists_are_refused(void **state) {
    (void)state;
    static uint8_t bytes[1 << 12];
    ProtobufCBinaryData value[] = {{sizeof bytes, bytes}, {sizeof bytes, bytes}};
    mst_tensor *tensor;
    EXPECT_ERROR(read(2, value, 1, "", &tensor), MST_CORRUPT, "2 values, its shape needs 1");
    EXPECT_ERROR(read(1, value, 1 << 10, "", &tensor), MST_INVALID, "too large together");
    EXPECT_ERROR(read(0, NULL, 1 << 20, "", &tensor), MST_INVALID, "too large together");
    EXPECT_ERROR(read(0, NULL, 1, "abc", &tensor), MST_UNIMPLEMENTED, "tensor_content");
    assert_null(tensor);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(graph_of_strings_is_read_as_it_was_written),
        cmocka_unit_test(strings_of_constants_can_be_given_as_text),
        cmocka_unit_test(short_list_is_filled_up_with_its_last_string),
        cmocka_unit_test(impossible_lists_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
