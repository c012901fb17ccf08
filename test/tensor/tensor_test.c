/* Tensors: conversions of numbers, and dtypes and shapes that are refused. */
#include <math.h>

#include "support/test.h"

static void numbers_that_an_integer_cannot_hold_become_the_nearest_that_it_can(void **state) {
    (void)state;
    static const struct {
        mst_dtype dtype;
        double value, expect;
    } cases[] = {
        {MST_I32, NAN, 0},
        {MST_I32, 1e30, INT32_MAX},
        {MST_I32, -1e30, INT32_MIN},
        {MST_I32, -2.75, -2},
        {MST_I64, NAN, 0},
        {MST_I64, 1e30, 0x1p63},
        {MST_I64, -1e30, -0x1p63},
        {MST_I64, INFINITY, 0x1p63},
        {MST_U8, NAN, 0},
        {MST_U8, 256, 255},
        {MST_U8, -1, 0},
        {MST_U8, -INFINITY, 0},
        {MST_BOOL, NAN, 1},
        {MST_BOOL, 1e30, 1},
        {MST_BOOL, -0.0, 0},
        {MST_BOOL, 0.25, 1},
        {MST_F32, 1e300, INFINITY},
        {MST_BF16, -1e300, -INFINITY},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mst_tensor *tensor;
        EXPECT_OK(mst_tensor_create(cases[i].dtype, MST_SCALAR, &tensor));
        mst_tensor_set(tensor, 0, cases[i].value);
        if (mst_tensor_get(tensor, 0) != cases[i].expect)
            fail_msg("%s: %g gives %g, must be %g", mst_dtype_name(cases[i].dtype), cases[i].value,
                     mst_tensor_get(tensor, 0), cases[i].expect);
        mst_tensor_release(tensor);
    }
}

static void count_that_does_not_fit_is_the_largest_there_is(void **state) {
    (void)state;
    assert_true(mst_shape_count(MST_SHAPE(INT64_MAX, 2)) == INT64_MAX);
    assert_true(mst_shape_count(MST_SHAPE(INT64_MAX, INT64_MAX, INT64_MAX)) == INT64_MAX);
    assert_true(mst_shape_count(MST_SHAPE(INT64_MAX, 2, 0)) == 0);
    assert_true(mst_shape_count(MST_SHAPE(0, INT64_MAX, 2)) == 0);
    assert_true(mst_shape_count(MST_SHAPE(INT64_MAX, 2, -1)) == -1);
}

static void shape_of_too_many_dimensions_is_refused(void **state) {
    (void)state;
    const int64_t dim[12] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    const mst_shape shape = mst_shape_make(12, dim);
    char text[MST_SHAPE_TEXT];
    mst_tensor *tensor;
    EXPECT_ERROR(mst_tensor_create(MST_F32, shape, &tensor), MST_INVALID, "12 dimensions, at most 8 are possible");
    assert_true(mst_shape_equal(shape, shape));
    assert_true(mst_shape_count(shape) == 1);
    assert_non_null(mst_shape_print(shape, text, sizeof text));
}

static void dimensions_whose_product_does_not_fit_are_refused_also_in_an_empty_tensor(void **state) {
    (void)state;
    mst_tensor *tensor;
    EXPECT_ERROR(mst_tensor_create(MST_F32, MST_SHAPE(INT64_MAX, 2), &tensor), MST_OUT_OF_MEMORY, "is too large");
    EXPECT_ERROR(mst_tensor_create(MST_F32, MST_SHAPE(0, INT64_MAX, 2), &tensor), MST_OUT_OF_MEMORY, "is too large");
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(0, 1000, 1000), &tensor));
    assert_true(mst_tensor_count(tensor) == 0);
    mst_tensor_release(tensor);
}

static void invalid_dtype_has_a_name_and_no_size(void **state) {
    (void)state;
    assert_string_equal(mst_dtype_name((mst_dtype)99), "unknown");
    assert_string_equal(mst_dtype_name((mst_dtype)-1), "unknown");
    assert_true(mst_dtype_size((mst_dtype)99) == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_that_an_integer_cannot_hold_become_the_nearest_that_it_can),
        cmocka_unit_test(count_that_does_not_fit_is_the_largest_there_is),
        cmocka_unit_test(shape_of_too_many_dimensions_is_refused),
        cmocka_unit_test(dimensions_whose_product_does_not_fit_are_refused_also_in_an_empty_tensor),
        cmocka_unit_test(invalid_dtype_has_a_name_and_no_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
