/** orthogonal: a matrix with orthogonal rows, or columns if it has more rows than columns, each of the length
 *  `scale` (default 1; Keras' gain); all dimensions but the last count as rows. https://arxiv.org/abs/1312.6120 */
#ifdef MST_INITIALIZER_HEADER
enum { MST_INITIALIZER_ORTHOGONAL = 14 };
#define mst_orthogonal_initializer(...) MST_INITIALIZER_(ORTHOGONAL, __VA_ARGS__)
#endif
#include "layer/initializer/initializer.h"

static mst_status orthogonal_check(const mst_initializer *r, mst_dtype dtype, mst_shape shape) {
    (void)r, (void)dtype;
    return shape.ndim >= 2
               ? MST_OK
               : MST_FAIL(MST_INVALID, "orthogonal initializer: needs two dimensions or more, got %d", shape.ndim);
}

static mst_value orthogonal_value(mst_graph *graph, const mst_initializer *r, mst_dtype dtype, mst_shape shape) {
    const int64_t columns = shape.dim[shape.ndim - 1], count = mst_shape_count(shape);
    const int64_t rows = columns > 0 ? count / columns : 0, wide = rows < columns ? columns : rows;
    const mst_value numbers =
        mst_random_normal(.graph = graph, .shape = MST_SHAPE(rows < columns ? rows : columns, wide), .dtype = dtype,
                          .seed = r->seed);
    mst_value matrix = mst_orthonormalize(numbers);
    if (rows > columns) matrix = mst_transpose(matrix);
    if (mst_number_given(r->scale)) matrix = mst_scale(matrix, r->scale);
    return mst_reshape(matrix, shape);
}

const mst_initializer_form mst_initializer_form_orthogonal = {
    .only_floats = true, .check = orthogonal_check, .value = orthogonal_value};
