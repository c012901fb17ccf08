/* Reads the matrix products of ONNX. */
#include <string.h>

#include "model_file/onnx/onnx_read.h"
#include "muster/ops.h"

static mst_status read_gemm(mst_onnx_call *c) {
    mst_value a, b, shift;
    const double alpha = (double)mst_onnx_float(c, "alpha", 1), beta = (double)mst_onnx_float(c, "beta", 1);
    const bool turn_a = mst_onnx_int(c, "transA", 0) != 0, turn_b = mst_onnx_int(c, "transB", 0) != 0;
    MST_TRY(mst_onnx_plain(c, 0, &a));
    MST_TRY(mst_onnx_plain(c, 1, &b));
    mst_value y = mst_matmul(a, b, .transpose_a = turn_a, .transpose_b = turn_b);
    if (alpha != 1) y = mst_scale(y, alpha);
    if (!mst_onnx_has(c, 2)) return mst_onnx_put(c, 0, y);
    MST_TRY(mst_onnx_plain(c, 2, &shift));
    return mst_onnx_put(c, 0, mst_add(y, beta == 1 ? shift : mst_scale(shift, beta)));
}

/* Computes the same as NumPy's matmul: a vector is a row on the left, and a column on the right. The added dimension is
 * removed from the result. */
static mst_status read_matmul(mst_onnx_call *c) {
    mst_value a, b;
    MST_TRY(mst_onnx_plain(c, 0, &a));
    MST_TRY(mst_onnx_plain(c, 1, &b));
    const bool row = mst_value_spec(a).shape.ndim == 1, column = mst_value_spec(b).shape.ndim == 1;
    if (row) a = mst_expand_dims(a, 0);
    if (column) b = mst_expand_dims(b, -1);
    mst_value y = mst_matmul(a, b);
    if (column) y = mst_squeeze(y, MST_AXES(-1));
    if (row) y = mst_squeeze(y, MST_AXES(column ? -1 : -2));
    return mst_onnx_put(c, 0, y);
}

static mst_status read_einsum(mst_onnx_call *c) {
    enum { MOST = 8, LONGEST = 256 };
    mst_value x[MOST];
    char equation[LONGEST];
    const Muster__OnnxAttribute *a = mst_onnx_attribute(c, "equation", MST_ONNX_STRING);
    const size_t count = c->node->n_input;
    if (!a || a->s.len >= LONGEST) return MST_FAIL(MST_INVALID, "its attribute equation is missing, or too long");
    if (count < 1 || count > MOST)
        return MST_FAIL(MST_UNIMPLEMENTED, "it has %zu inputs, and 1 to %d are supported", count, MOST);
    memcpy(equation, a->s.data, a->s.len);
    equation[a->s.len] = '\0';
    for (size_t i = 0; i < count; i++) MST_TRY(mst_onnx_plain(c, i, &x[i]));
    return mst_onnx_put(c, 0, mst_einsum(equation, x, (int)count));
}

const mst_onnx_op mst_onnx_matrix_ops[] = {
    {"Einsum", .read = read_einsum},
    {"Gemm", .read = read_gemm},
    {"MatMul", .read = read_matmul},
    {0},
};
