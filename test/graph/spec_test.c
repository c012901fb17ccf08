/* Specs (dtype and shape): comparison and text. */
#include "graph/spec.h"

#include "support/test.h"

static const mst_spec known = {MST_F32, {2, {100, 784}}}, open_rows = {MST_F32, {2, {-1, 784}}},
                      other_rows = {MST_F32, {2, {200, 784}}}, other_dtype = {MST_F64, {2, {100, 784}}},
                      vector = {MST_F32, {1, {100}}};

static void specs_are_equal_in_dtype_and_every_dimension(void **state) {
    (void)state;
    assert_true(mst_spec_equal(&known, &known));
    assert_false(mst_spec_equal(&known, &open_rows));
    assert_false(mst_spec_equal(&known, &other_dtype));
    assert_false(mst_spec_equal(&known, &vector));
}

static void unknown_dimensions_agree_with_any(void **state) {
    (void)state;
    assert_true(mst_spec_agrees(&known, &open_rows));
    assert_true(mst_spec_agrees(&open_rows, &other_rows));
    assert_false(mst_spec_agrees(&known, &other_rows));
    assert_false(mst_spec_agrees(&known, &other_dtype));
    assert_false(mst_spec_agrees(&known, &vector));
    assert_true(mst_dims_agree(&known.shape, &vector.shape, 1));
}

static void spec_is_printed_as_dtype_and_shape(void **state) {
    (void)state;
    char text[MST_SPEC_TEXT], few[6];
    assert_string_equal(mst_spec_print(&open_rows, text, sizeof text), "f32[?, 784]");
    assert_string_equal(mst_spec_print(&known, few, sizeof few), "f32[1");
}

static void spec_of_a_tensor_is_its_dtype_and_shape(void **state) {
    (void)state;
    mst_tensor *tensor;
    EXPECT_OK(mst_tensor_create(MST_F64, MST_SHAPE(100, 784), &tensor));
    const mst_spec spec = mst_spec_of(tensor);
    assert_true(mst_spec_equal(&spec, &other_dtype));
    mst_tensor_release(tensor);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(specs_are_equal_in_dtype_and_every_dimension),
        cmocka_unit_test(unknown_dimensions_agree_with_any),
        cmocka_unit_test(spec_is_printed_as_dtype_and_shape),
        cmocka_unit_test(spec_of_a_tensor_is_its_dtype_and_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
