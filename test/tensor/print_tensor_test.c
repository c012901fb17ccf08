/* The texts follow the rules of NumPy's array2string with its default options. */
#include <math.h>

#include "support/comma_locale.h"
#include "support/test.h"

static void expect_print(mst_dtype dtype, mst_shape shape, const double *value, const char *expect) {
    mst_tensor *tensor = engine_tensor(dtype, shape, value);
    char *text;
    EXPECT_OK(mst_tensor_print(tensor, &text));
    assert_string_equal(text, expect);
    free(text);
    mst_tensor_release(tensor);
}

#define EXPECT_PRINT(dtype, shape, expect, ...) expect_print(dtype, shape, (const double[]){__VA_ARGS__}, expect)

static void scalars_are_printed_without_brackets(void **state) {
    (void)state;
    EXPECT_PRINT(MST_F32, MST_SCALAR, "0.1", 0.1);
    EXPECT_PRINT(MST_F64, MST_SCALAR, "3.0", 3);
    EXPECT_PRINT(MST_F64, MST_SCALAR, "nan", NAN);
    EXPECT_PRINT(MST_F32, MST_SCALAR, "-inf", -INFINITY);
    EXPECT_PRINT(MST_I32, MST_SCALAR, "-7", -7);
    EXPECT_PRINT(MST_BOOL, MST_SCALAR, "True", 1);
}

static void integers_and_booleans_line_up_on_the_right(void **state) {
    (void)state;
    EXPECT_PRINT(MST_I32, MST_SHAPE(3), "[  1 -20   3]", 1, -20, 3);
    EXPECT_PRINT(MST_U8, MST_SHAPE(2, 2), "[[  0 255]\n [  7   8]]", 0, 255, 7, 8);
    EXPECT_PRINT(MST_BOOL, MST_SHAPE(2), "[ True False]", 1, 0);
    EXPECT_PRINT(MST_BOOL, MST_SHAPE(1), "[ True]", 1);
}

static void whole_numbers_of_64_bits_are_exact(void **state) {
    (void)state;
    const int64_t value[2] = {INT64_MAX, INT64_MIN};
    mst_tensor *tensor;
    char *text;
    EXPECT_OK(mst_tensor_copy(MST_I64, MST_SHAPE(2), value, &tensor));
    EXPECT_OK(mst_tensor_print(tensor, &text));
    assert_string_equal(text, "[ 9223372036854775807 -9223372036854775808]");
    free(text);
    mst_tensor_release(tensor);
}

static void floats_line_up_at_the_point(void **state) {
    (void)state;
    EXPECT_PRINT(MST_F32, MST_SHAPE(3), "[1. 2. 3.]", 1, 2, 3);
    EXPECT_PRINT(MST_F32, MST_SHAPE(3), "[ 1.   -2.25 10.5 ]", 1, -2.25, 10.5);
    EXPECT_PRINT(MST_F32, MST_SHAPE(2), "[0.1        0.33333334]", 0.1, 1.0 / 3);
    EXPECT_PRINT(MST_F64, MST_SHAPE(2), "[0.1        0.33333333]", 0.1, 1.0 / 3);
    EXPECT_PRINT(MST_BF16, MST_SHAPE(2), "[1.  0.5]", 1, 0.5);
    EXPECT_PRINT(MST_F64, MST_SHAPE(2), "[-0.  0.]", -0.0, 0);
    EXPECT_PRINT(MST_F32, MST_SHAPE(2, 1, 2), "[[[1.  2. ]]\n\n [[3.5 4. ]]]", 1, 2, 3.5, 4);
}

static void large_small_and_mixed_floats_have_exponents(void **state) {
    (void)state;
    EXPECT_PRINT(MST_F64, MST_SHAPE(1), "[1.e+10]", 1e10);
    EXPECT_PRINT(MST_F64, MST_SHAPE(2), "[1.0e+10 1.2e+00]", 1e10, 1.2);
    EXPECT_PRINT(MST_F64, MST_SHAPE(2), "[1.e-05 0.e+00]", 1e-5, 0);
    EXPECT_PRINT(MST_F32, MST_SHAPE(2), "[ 1.e-03 -2.e+00]", 1e-3, -2);
    EXPECT_PRINT(MST_F64, MST_SHAPE(2), "[1.e-300 1.e+000]", 1e-300, 1);
    EXPECT_PRINT(MST_F64, MST_SHAPE(2), "[1.e+10    inf]", 1e10, INFINITY);
}

static void nan_and_infinity_line_up_with_the_digits(void **state) {
    (void)state;
    EXPECT_PRINT(MST_F32, MST_SHAPE(3), "[nan  1. inf]", NAN, 1, INFINITY);
    EXPECT_PRINT(MST_F32, MST_SHAPE(3), "[ nan 1.25 -inf]", NAN, 1.25, -INFINITY);
    EXPECT_PRINT(MST_F32, MST_SHAPE(2), "[nan inf]", NAN, INFINITY);
}

static void empty_tensors_are_brackets(void **state) {
    (void)state;
    expect_print(MST_F32, MST_SHAPE(0), NULL, "[]");
    expect_print(MST_F32, MST_SHAPE(2, 0, 3), NULL, "[]");
}

static void count_up(mst_tensor *tensor) {
    for (int64_t i = 0; i < mst_tensor_count(tensor); i++) mst_tensor_set(tensor, i, (double)i);
}

static void expect_counted(mst_dtype dtype, mst_shape shape, const char *expect) {
    mst_tensor *tensor;
    char *text;
    EXPECT_OK(mst_tensor_create(dtype, shape, &tensor));
    count_up(tensor);
    EXPECT_OK(mst_tensor_print(tensor, &text));
    assert_string_equal(text, expect);
    free(text);
    mst_tensor_release(tensor);
}

static void more_than_a_thousand_elements_are_shortened(void **state) {
    (void)state;
    expect_counted(MST_I32, MST_SHAPE(1001), "[   0    1    2 ...  998  999 1000]");
    expect_counted(MST_F32, MST_SHAPE(1001), "[   0.    1.    2. ...  998.  999. 1000.]");
    expect_counted(MST_F32, MST_SHAPE(10000), "[0.000e+00 1.000e+00 2.000e+00 ... 9.997e+03 9.998e+03 9.999e+03]");
    expect_counted(MST_I32, MST_SHAPE(2, 600),
                   "[[   0    1    2 ...  597  598  599]\n [ 600  601  602 ... 1197 1198 1199]]");
    expect_counted(MST_I32, MST_SHAPE(600, 2),
                   "[[   0    1]\n [   2    3]\n [   4    5]\n ...\n [1194 1195]\n [1196 1197]\n [1198 1199]]");
    expect_counted(MST_I32, MST_SHAPE(501, 1, 2),
                   "[[[   0    1]]\n\n [[   2    3]]\n\n [[   4    5]]\n\n ...\n\n [[ 996  997]]\n\n [[ 998  999]]\n\n"
                   " [[1000 1001]]]");
}

static void long_rows_go_on_in_the_next_line(void **state) {
    (void)state;
    expect_counted(MST_I32, MST_SHAPE(30),
                   "[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n"
                   " 24 25 26 27 28 29]");
    expect_counted(MST_I32, MST_SHAPE(1, 30),
                   "[[ 0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\n"
                   "  24 25 26 27 28 29]]");
}

static void decimal_point_does_not_depend_on_the_locale(void **state) {
    (void)state;
    if (!comma_locale_enter()) skip();
    EXPECT_PRINT(MST_F32, MST_SHAPE(2), "[1.5 2.5]", 1.5, 2.5);
    setlocale(LC_ALL, "C");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars_are_printed_without_brackets),
        cmocka_unit_test(integers_and_booleans_line_up_on_the_right),
        cmocka_unit_test(whole_numbers_of_64_bits_are_exact),
        cmocka_unit_test(floats_line_up_at_the_point),
        cmocka_unit_test(large_small_and_mixed_floats_have_exponents),
        cmocka_unit_test(nan_and_infinity_line_up_with_the_digits),
        cmocka_unit_test(empty_tensors_are_brackets),
        cmocka_unit_test(more_than_a_thousand_elements_are_shortened),
        cmocka_unit_test(long_rows_go_on_in_the_next_line),
        cmocka_unit_test(decimal_point_does_not_depend_on_the_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
