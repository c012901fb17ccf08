/* Ops that move elements, on a device of three threads that share the work: each element is where the formula puts
 * it. */
#include "op/shape/strided.h"
#include "support/test.h"

static const char *const device = "cpu:1/3";

/* 0, 1, 2, ..., 250, 0, ... (which u8 holds too) as a variable, so that nothing is computed while planning. */
static mst_value counting(mst_graph *g, mst_dtype dtype, mst_shape shape) {
    mst_tensor *tensor = engine_tensor(dtype, shape, NULL);
    for (int64_t e = 0; e < mst_tensor_count(tensor); e++) mst_tensor_set(tensor, e, (double)(e % 251));
    mst_value value = mst_variable(g, NULL, mst_constant(g, tensor), .not_trainable = true);
    mst_tensor_release(tensor);
    return value;
}

/* Element (I, J, K) of `counting` in an array whose second and third dimensions are M and N. */
static double at(int64_t i, int64_t j, int64_t k, int64_t m, int64_t n) {
    return (double)(((i * m + j) * n + k) % 251);
}

enum { A = 37, B = 53, C = 67 };

typedef double (*element_function)(int64_t i, int64_t j, int64_t k);

/* Output INDEX of VALUE, of three dimensions, is ELEMENT at each place. */
static void expect_elements(mst_graph *g, mst_value value, int index, element_function element) {
    mst_session *session = engine_session(g, device);
    mst_tensor *got = engine_fetch(session, NULL, 0, mst_value_output(value, index));
    const mst_shape shape = mst_tensor_shape(got);
    assert_int_equal(shape.ndim, 3);
    for (int64_t e = 0; e < mst_tensor_count(got); e++) {
        const int64_t k = e % shape.dim[2], j = e / shape.dim[2] % shape.dim[1], i = e / shape.dim[2] / shape.dim[1];
        if (mst_tensor_get(got, e) != element(i, j, k))
            fail_msg("%s: element (%d, %d, %d) is %g, must be %g", mst_value_name(value), (int)i, (int)j, (int)k,
                     mst_tensor_get(got, e), element(i, j, k));
    }
    mst_tensor_release(got);
    mst_session_destroy(session);
}

#define ELEMENT(name, expression)                         \
    static double name(int64_t i, int64_t j, int64_t k) { \
        (void)i, (void)j, (void)k;                        \
        return (expression);                              \
    }
ELEMENT(reversed, at(k, j, i, B, C))
ELEMENT(rotated, at(k, i, j, B, C))
ELEMENT(swapped, at(i, k, j, B, C))
ELEMENT(interleaved, at(i, k, j, 3, 1001))
ELEMENT(tiled, at(i % A, j % B, k % C, B, C))
ELEMENT(padded, i<1 || i> A || k < 2 || k >= C + 2 ? 9 : at(i - 1, j, k - 2, B, C))
ELEMENT(sliced, at(i + 3, j + 5, k + 7, B, C))
ELEMENT(strided, at(A - 1 - i, 3 * j + 1, 2 * k, B, C))
ELEMENT(spread, at(i, 0, k, 1, C))
ELEMENT(joined_last, k < C ? at(i, j, k, B, C) : k < C + 3 ? at(i, j, k - C, B, 3) : at(i, j, k - C - 3, B, C))
ELEMENT(joined_first, i < A ? at(i, j, k, B, C) : at(i - A, j, k, B, C))
ELEMENT(second_third, at(i, j + 17, k, 51, C))
ELEMENT(in_between,
        i < 3 || i >= 3 + A || j < 1 || j >= 1 + B || k < 2 || k >= 2 + C ? 0 : at(i - 3, j - 1, k - 2, B, C))

static void each_element_is_where_the_formula_puts_it(void **state) {
    (void)state;
    for (mst_dtype dtype = MST_F32; dtype <= MST_U8; dtype++) {
        mst_graph *g = engine_graph();
        mst_value x = counting(g, dtype, MST_SHAPE(A, B, C)), narrow = counting(g, dtype, MST_SHAPE(A, B, 3));
        expect_elements(g, mst_transpose(x), 0, reversed);
        expect_elements(g, mst_transpose(x, .perm = MST_AXES(1, 2, 0)), 0, rotated);
        expect_elements(g, mst_transpose(x, .perm = MST_AXES(0, 2, 1)), 0, swapped);
        expect_elements(g, mst_transpose(counting(g, dtype, MST_SHAPE(2, 3, 1001)), .perm = MST_AXES(0, 2, 1)), 0,
                        interleaved);
        expect_elements(g, mst_tile(x, MST_SHAPE(2, 1, 3)), 0, tiled);
        expect_elements(g, mst_pad(x, .before = MST_SHAPE(1, 0, 2), .after = MST_SHAPE(2, 0, 1), .value = 9), 0,
                        padded);
        expect_elements(g, mst_slice(x, MST_SHAPE(3, 5, 7), MST_SHAPE(-1, 40, 50)), 0, sliced);
        expect_elements(g,
                        mst_strided_slice(x, .begin = MST_AXES(0, 1), .strides = MST_AXES(-1, 3, 2), .begin_mask = 1,
                                          .end = MST_AXES(0, B), .end_mask = 1),
                        0, strided);
        expect_elements(g, mst_broadcast_to(counting(g, dtype, MST_SHAPE(A, 1, C)), MST_SHAPE(A, B, C)), 0, spread);
        expect_elements(g, mst_concat((mst_value[]){x, narrow, x}, 3, 2), 0, joined_last);
        expect_elements(g, mst_concat((mst_value[]){x, x}, 2, 0), 0, joined_first);
        expect_elements(g, mst_split(counting(g, dtype, MST_SHAPE(A, 51, C)), 3, 1), 1, second_third);
        expect_elements(g,
                        mst_slice_grad(x, mst_fill(g, MST_F32, MST_SHAPE(A + 4, B + 3, C + 2), 0), MST_SHAPE(3, 1, 2)),
                        0, in_between);
        mst_graph_destroy(g);
    }
}

ELEMENT(stacked_middle, at(0, i, k, A, 3000))
ELEMENT(stacked_last, at(0, i, j, A, 3000))

static void slices_of_a_new_dimension(void **state) {
    (void)state;
    for (mst_dtype dtype = MST_F32; dtype <= MST_U8; dtype++) {
        mst_graph *g = engine_graph();
        mst_value x = counting(g, dtype, MST_SHAPE(A, 3000));
        expect_elements(g, mst_stack((mst_value[]){x, x, x}, 3, 1), 0, stacked_middle);
        expect_elements(g, mst_stack((mst_value[]){x, x, x}, 3, -1), 0, stacked_last);
        mst_value parts = mst_unstack(counting(g, dtype, MST_SHAPE(A, 4, B, C)), 1);
        mst_session *session = engine_session(g, device);
        for (int part = 0; part < 4; part++) {
            mst_tensor *got = engine_fetch(session, NULL, 0, mst_value_output(parts, part));
            for (int64_t e = 0; e < mst_tensor_count(got); e++)
                assert_true(mst_tensor_get(got, e) == at(e / (B * C), part, e % (B * C), 4, B * C));
            mst_tensor_release(got);
        }
        engine_end(g, session);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_element_is_where_the_formula_puts_it),
        cmocka_unit_test(slices_of_a_new_dimension),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
