/* Tensors of strings. */
#include "muster/dlpack.h"
#include "support/test.h"

#define BYTES(literal) ((mst_string){(literal), sizeof(literal) - 1})

static mst_tensor *three(void) {
    mst_tensor *tensor;
    EXPECT_OK(mst_tensor_copy(MST_STRING, MST_SHAPE(3), (mst_string[]){BYTES("a"), BYTES("b\0c"), {NULL, 0}}, &tensor));
    return tensor;
}

static void expect_element(const mst_tensor *tensor, int64_t i, mst_string wanted) {
    const mst_string got = mst_tensor_get_string(tensor, i);
    assert_non_null(got.data);
    assert_true(mst_string_equal(got, wanted));
}

static void new_tensor_has_empty_strings(void **state) {
    (void)state;
    mst_tensor *tensor;
    EXPECT_OK(mst_tensor_create(MST_STRING, MST_SHAPE(2, 3), &tensor));
    assert_int_equal(mst_tensor_bytes(tensor), 6 * sizeof(mst_string));
    for (int64_t i = 0; i < 6; i++) expect_element(tensor, i, BYTES(""));
    mst_tensor_release(tensor);
    assert_string_equal(mst_dtype_name(MST_STRING), "string");
    assert_int_equal(mst_dtype_from_name("string"), MST_STRING);
}

static void strings_are_copied_and_have_any_bytes(void **state) {
    (void)state;
    char text[] = "changes";
    mst_tensor *tensor = three();
    expect_element(tensor, 1, BYTES("b\0c"));
    expect_element(tensor, 2, BYTES(""));
    EXPECT_OK(mst_tensor_set_string(tensor, 2, mst_string_of(text)));
    text[0] = 'x';
    expect_element(tensor, 2, BYTES("changes"));
    assert_string_equal(mst_tensor_get_string(tensor, 2).data, "changes"); /* a zero byte follows */
    EXPECT_OK(mst_tensor_set_string(tensor, 2, BYTES("\xff\0")));
    expect_element(tensor, 2, BYTES("\xff\0"));
    mst_tensor_release(tensor);
}

static void element_can_be_set_to_a_part_of_itself(void **state) {
    (void)state;
    mst_tensor *tensor = three();
    mst_string own = mst_tensor_get_string(tensor, 1);
    EXPECT_OK(mst_tensor_set_string(tensor, 1, (mst_string){own.data + 1, 2}));
    expect_element(tensor, 1, BYTES("\0c"));
    EXPECT_OK(mst_tensor_set_string(tensor, 1, (mst_string){0}));
    expect_element(tensor, 1, BYTES(""));
    mst_tensor_release(tensor);
}

static void wrapped_strings_stay_the_callers(void **state) {
    (void)state;
    mst_string own[] = {BYTES("one"), BYTES("two")};
    mst_tensor *tensor;
    EXPECT_OK(mst_tensor_wrap(MST_STRING, MST_SHAPE(2), own, NULL, NULL, &tensor));
    expect_element(tensor, 1, BYTES("two"));
    EXPECT_ERROR(mst_tensor_set_string(tensor, 0, BYTES("x")), MST_INVALID, "its strings belong to the caller");
    mst_tensor_release(tensor);
    assert_string_equal(own[0].data, "one");
}

static void strings_are_equal_by_length_and_bytes(void **state) {
    (void)state;
    assert_true(mst_string_equal(BYTES("a\0b"), BYTES("a\0b")));
    assert_false(mst_string_equal(BYTES("a\0b"), BYTES("a\0c")));
    assert_false(mst_string_equal(BYTES("a"), BYTES("a\0")));
    assert_true(mst_string_equal((mst_string){NULL, 0}, BYTES("")));
}

static void wrong_uses_are_errors(void **state) {
    (void)state;
    mst_tensor *tensor = three(), *number = engine_tensor(MST_F32, MST_SHAPE(3), NULL), *copy;
    struct DLManagedTensor *managed;
    EXPECT_ERROR(mst_tensor_set_string(tensor, 3, BYTES("x")), MST_INVALID, "string 3 asked for, there are 3");
    EXPECT_ERROR(mst_tensor_set_string(tensor, -1, BYTES("x")), MST_INVALID, "string -1 asked for");
    EXPECT_ERROR(mst_tensor_set_string(number, 0, BYTES("x")), MST_INVALID, "its elements are f32, not strings");
    EXPECT_ERROR(mst_tensor_set_string(tensor, 0, (mst_string){NULL, 1}), MST_INVALID, "data is NULL");
    EXPECT_ERROR(mst_tensor_copy(MST_STRING, MST_SHAPE(1), &(mst_string){NULL, 1}, &copy), MST_INVALID, "is NULL");
    assert_null(copy);
    EXPECT_ERROR(mst_tensor_to_dlpack(tensor, &managed), MST_UNIMPLEMENTED, "a tensor of string cannot be given");
    mst_error_set(MST_OK, "", 0, "no error");
    assert_int_equal(mst_tensor_get_string(number, 0).length, 0);
    assert_int_equal(mst_error()->code, MST_INVALID);
    assert_int_equal(mst_tensor_get_string(tensor, 3).length, 0);
    /* the functions of numbers leave strings alone */
    mst_tensor_set(tensor, 0, 7);
    assert_true(mst_tensor_get(tensor, 0) == 0);
    expect_element(tensor, 0, BYTES("a"));
    mst_tensor_release(tensor);
    mst_tensor_release(number);
}

static void expect_print(mst_shape shape, const mst_string *value, const char *wanted) {
    mst_tensor *tensor;
    char *text;
    EXPECT_OK(mst_tensor_copy(MST_STRING, shape, value, &tensor));
    EXPECT_OK(mst_tensor_print(tensor, &text));
    assert_string_equal(text, wanted);
    free(text);
    mst_tensor_release(tensor);
}

static void strings_are_printed_in_quotes(void **state) {
    (void)state;
    char longest[80], cut[80];
    expect_print(MST_SCALAR, &BYTES("Hello, 'distributed' TensorFlow!"), "'Hello, \\'distributed\\' TensorFlow!'");
    expect_print(MST_SHAPE(3), (mst_string[]){BYTES("a"), BYTES(""), BYTES("b\0\n\\")}, "['a' '' 'b\\x00\\n\\\\']");
    expect_print(MST_SHAPE(2, 1), (mst_string[]){BYTES("a"), BYTES("bcd")}, "[['a']\n ['bcd']]");
    expect_print(MST_SHAPE(0), NULL, "[]");
    /* characters of UTF-8 as they are, and other bytes as numbers */
    expect_print(MST_SCALAR, &BYTES("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8e"),
                 "'\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x8e'");
    expect_print(MST_SCALAR, &BYTES("\xff\xc3 \xe2\x82 \xc0\x80\xed\xa0\x80\xf4\x90\x80\x80"),
                 "'\\xff\\xc3 \\xe2\\x82 \\xc0\\x80\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80'");
    /* in an array a word has 63 characters at most */
    memset(longest, 'x', sizeof longest);
    snprintf(cut, sizeof cut, "['%.61s']", longest);
    expect_print(MST_SHAPE(1), &(mst_string){longest, 61}, cut);
    snprintf(cut, sizeof cut, "['%.58s...']", longest);
    expect_print(MST_SHAPE(1), &(mst_string){longest, 62}, cut);
    /* not inside a character: e2 82 ac is the euro sign */
    static const char euros[6] = {'\xe2', '\x82', '\xac', '\xe2', '\x82', '\xac'};
    memcpy(longest + 57, euros, sizeof euros);
    snprintf(cut, sizeof cut, "['%.57s...']", longest);
    expect_print(MST_SHAPE(1), &(mst_string){longest, 80}, cut);
    snprintf(cut, sizeof cut, "'%.63s'", longest);
    expect_print(MST_SCALAR, &(mst_string){longest, 63}, cut);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_tensor_has_empty_strings),
        cmocka_unit_test(strings_are_copied_and_have_any_bytes),
        cmocka_unit_test(element_can_be_set_to_a_part_of_itself),
        cmocka_unit_test(wrapped_strings_stay_the_callers),
        cmocka_unit_test(strings_are_equal_by_length_and_bytes),
        cmocka_unit_test(wrong_uses_are_errors),
        cmocka_unit_test(strings_are_printed_in_quotes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
