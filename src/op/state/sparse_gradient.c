/** leaf_rows: the sparse gradient of gathers over axis 0, added up over some shards: only the rows that were gathered
 *
 *  values, indices, ...  pairs, one for each gather; the pairs of a shard follow one another. values: f32 or f64
 *                        [.., columns...]; indices: i32 or i64 [..]
 *  dst 0  rows [n, columns]; n is the number of all indices, or num_rows if that is less. If squares is set,
 *         [n, 2 * columns]: each row has the sums of its clipped elements x, then the sums of x^2
 *  dst 1  i64 [1 + n]: the number of rows that are used, then their numbers, ascending. The other rows are undefined
 *  fails  MST_INVALID in the run if an index is not within 0 to num_rows - 1
 *
 *  Rows with the same number are added up: within a shard in the order of the sources, then over the shards in their
 *  fixed tree (base/shard_tree.h). If clip is not 0, each element is clipped to [-clip, clip] first.
 *
 *  Strategies build it, and the plan lowers it (plan/leaf_rows.c).
 */
#include "op/state/sparse_gradient.h"

#include <string.h>

#include "op/index/index_hlo.h"
#include "op/op.h"

static const mst_field leaf_rows_fields[] = {
    MST_FIELD_I64(mst_leaf_rows_options, num_rows, 1, 1, 1e15, "rows of the variable"),
    MST_FIELD_I32(mst_leaf_rows_options, num_shards, 1, 1, 1 << 20, "shards whose rows these are"),
    MST_FIELD_BOOL(mst_leaf_rows_options, squares, "rows have the sums of their squares behind them"),
    MST_FIELD_F64(mst_leaf_rows_options, clip, 0, 0, 1e30, "rows are clipped by this value; 0: they are not"),
    MST_FIELD_END,
};

/* Adds the number of indices of source I to *COUNT, which becomes -1 if the number is unknown. Sets *COLUMNS to the
 * number of elements of a row. */
static mst_status infer_pair(mst_infer *c, int i, int64_t *count, int64_t *columns) {
    const mst_shape *values = &c->src[i].shape, *indices = &c->src[i + 1].shape;
    MST_TRY(mst_infer_want_float(c, i));
    MST_TRY(mst_infer_same_dtype(c, 0, i));
    MST_TRY(mst_infer_want_index(c, i + 1));
    if (values->ndim < indices->ndim) return mst_infer_fail(c, "the values of source %d are not rows", i);
    mst_shape each = {0}, row = {0};
    for (int k = 0; k < indices->ndim; k++)
        MST_TRY(mst_infer_same_dim(c, values->dim[k], indices->dim[k], "indices", &each.dim[each.ndim++]));
    for (int k = indices->ndim; k < values->ndim; k++) row.dim[row.ndim++] = values->dim[k];
    const int64_t here = mst_shape_count(each);
    if (*count < 0 || here < 0)
        *count = -1;
    else if (__builtin_add_overflow(*count, here, count))
        *count = INT64_MAX;
    return mst_infer_same_dim(c, *columns, mst_shape_count(row), "elements of a row", columns);
}

static mst_status leaf_rows_infer(mst_infer *c) {
    const mst_leaf_rows_options *o = c->options;
    int64_t count = 0, columns = -1;
    if (c->num_src == 0 || c->num_src % (2 * o->num_shards))
        return mst_infer_fail(c, "has %d sources, which are no pairs for %d shards", c->num_src, o->num_shards);
    for (int i = 0; i < c->num_src; i += 2) MST_TRY(infer_pair(c, i, &count, &columns));
    if (columns > INT64_MAX / 2) return mst_infer_fail(c, "rows of more elements than there can be");
    if (count > o->num_rows) count = o->num_rows;
    const int64_t numbers = count < 0 ? -1 : 1 + count, width = columns < 0 ? -1 : o->squares ? 2 * columns : columns;
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype, .shape = MST_SHAPE(count, width)};
    c->dst[1] = (mst_spec){.dtype = MST_I64, .shape = MST_SHAPE(numbers)};
    return MST_OK;
}

static mst_status leaf_rows_reference(const mst_kernel_args *a) {
    return mst_kernel_fail(a, MST_INTERNAL, "the plan has not lowered it");
}

/* unused rows at the end are undefined, so examples compare nothing: test/strategy/sparse_test.c compares used rows */
static const mst_example leaf_rows_examples[] = {
    {.name = "no pairs", .num_src = 1, .src = {{.ndim = 1, .dim = {2}}}, .fails = MST_INVALID},
    {.name = "fewer values than indices",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 3}}, {.dtype = MST_I64, .ndim = 1, .dim = {3}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_leaf_rows = {
    .name = "leaf_rows",
    .num_src = MST_VARIADIC,
    .num_dst = 2,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_STATEFUL,
    .fields = leaf_rows_fields,
    .options_size = sizeof(mst_leaf_rows_options),
    .infer = leaf_rows_infer,
    .reference = leaf_rows_reference,
    MST_EXAMPLES(leaf_rows_examples),
};

mst_row_values mst_leaf_rows(const mst_value *src, int num_src, const mst_leaf_rows_options *options) {
    const mst_value rows = mst_call(NULL, &mst_op_leaf_rows, num_src, src, options);
    return (mst_row_values){rows, mst_value_is_none(rows) ? rows : mst_value_output(rows, 1)};
}

/* ---- the op sparse_gradient ---- */

/** sparse_gradient: dst = zeros; dst[number[i], ...] = rows[i, ...] for the rows that are used
 *
 *  rows     f32 or f64 [n, columns]; with squares [n, 2 * columns]: only apply_gradients reads the second half
 *  numbers  i64 [1 + n]: the number of rows that are used, then their numbers, ascending
 *  like     any dtype, at least one dimension: the variable; only its shape is used
 *  dst      dtype of rows, like's shape
 *  fails    MST_INVALID in the run if the numbers are not ascending, or not numbers of rows of like
 *
 *  If it is the only gradient of a variable, apply_gradients takes the rows themselves (plan/update_gradients.c).
 */

static const mst_field sparse_gradient_fields[] = {
    MST_FIELD_BOOL(mst_sparse_gradient_options, squares, "rows have the sums of their squares behind them"),
    MST_FIELD_BOOL(mst_sparse_gradient_options, clipped, "the rows were clipped before they were added up"),
    MST_FIELD_END,
};

/* The number of elements in a row of a variable; -1: unknown. */
static int64_t row_elements(mst_shape shape) {
    for (int k = 1; k < shape.ndim; k++) shape.dim[k - 1] = shape.dim[k];
    shape.ndim--;
    return mst_shape_count(shape);
}

static mst_status sparse_gradient_infer(mst_infer *c) {
    const mst_sparse_gradient_options *o = c->options;
    const mst_shape *like = &c->src[2].shape;
    int64_t numbers = c->src[0].shape.dim[0], width;
    MST_TRY(mst_infer_want_float(c, 0));
    MST_TRY(mst_infer_want_ndim(c, 0, 2));
    MST_TRY(mst_infer_want_dtype(c, 1, MST_I64));
    MST_TRY(mst_infer_want_ndim(c, 1, 1));
    if (like->ndim == 0) return mst_infer_fail(c, "a scalar has no rows");
    if (numbers >= 0) numbers++;
    MST_TRY(mst_infer_same_dim(c, numbers, c->src[1].shape.dim[0], "the numbers of the rows", &numbers));
    width = row_elements(*like);
    if (width > INT64_MAX / 2) return mst_infer_fail(c, "rows of more elements than there can be");
    if (width >= 0 && o->squares) width *= 2;
    MST_TRY(mst_infer_same_dim(c, width, c->src[0].shape.dim[1], "elements of a row", &width));
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype, .shape = *like};
    return MST_OK;
}

mst_hlo mst_row_numbers_lower(mst_lower *l, mst_hlo numbers, int64_t most, int64_t num_rows) {
    const int64_t n = mst_hlo_spec(l, numbers).shape.dim[0] - 1;
    const mst_hlo none = mst_hlo_number(l, MST_I64, -1);
    const mst_hlo count = mst_hlo_slice_axis(l, numbers, 0, 0, 1);
    const mst_hlo number = mst_hlo_slice_axis(l, numbers, 0, 1, 1 + n);
    const mst_hlo order = mst_hlo_iota(l, MST_I64, MST_SHAPE(n), 0);
    const mst_hlo is_used = mst_hlo_compare(l, "LT", order, count);
    mst_hlo_fault(l, mst_hlo_outside(l, count, most + 1), MST_INVALID, "there is room for %lld rows only",
                  (long long)most);
    /* the number of the row before each row: all numbers are moved by one place */
    const mst_hlo previous = mst_hlo_pad(l, number, none, (const int64_t[]){1}, (const int64_t[]){-1}, NULL);
    const mst_hlo is_wrong =
        mst_hlo_binary(l, "or", mst_hlo_compare(l, "LE", number, previous), mst_hlo_outside(l, number, num_rows));
    mst_hlo_fault(l, mst_hlo_binary(l, "and", is_used, is_wrong), MST_INVALID,
                  "numbers of rows are not in [0, %lld), ascending", (long long)num_rows);
    return mst_hlo_select(l, is_used, number, mst_hlo_binary(l, "add", order, mst_hlo_integer(l, MST_I64, num_rows)));
}

/* Rows that are not used get numbers of NUM_ROWS and more, outside the variable, so scatter ignores them. */
static void sparse_gradient_lower(mst_lower *l) {
    const mst_spec dst = l->dst_spec[0];
    const int64_t n = l->src_spec[0].shape.dim[0], columns = row_elements(dst.shape), num_rows = dst.shape.dim[0];
    const mst_hlo place = mst_row_numbers_lower(l, l->src[1], n, num_rows);
    const mst_hlo rows = mst_hlo_slice_axis(l, l->src[0], 1, 0, columns);
    const mst_hlo zeros = mst_hlo_fill(l, dst.dtype, MST_SHAPE(num_rows, columns), 0);
    const mst_hlo_indexing indexing = mst_hlo_by_row(true, true);
    l->dst[0] = mst_hlo_reshape(l, mst_hlo_scatter(l, NULL, zeros, place, rows, &indexing), dst.shape);
}

mst_status mst_row_numbers_check(const mst_kernel_args *a, const mst_array *numbers, int64_t most, int64_t num_rows) {
    const int64_t *number = numbers->data, count = number[0];
    if (count < 0 || count > most)
        return mst_kernel_fail(a, MST_INVALID, "there are to be %lld rows, but there is room for %lld",
                               (long long)count, (long long)most);
    for (int64_t i = 1, previous = -1; i <= count; previous = number[i++])
        if (number[i] <= previous || number[i] >= num_rows)
            return mst_kernel_fail(a, MST_INVALID, "row %lld after row %lld is not in [0, %lld), ascending",
                                   (long long)number[i], (long long)previous, (long long)num_rows);
    return MST_OK;
}

static mst_status sparse_gradient_reference(const mst_kernel_args *a) {
    const mst_array *rows = &a->src[0], *dst = &a->dst[0];
    const int64_t *number = a->src[1].data, num_rows = dst->shape.dim[0], width = rows->shape.dim[1];
    MST_TRY(mst_row_numbers_check(a, &a->src[1], rows->shape.dim[0], num_rows));
    const size_t size = mst_dtype_size(dst->dtype), bytes = num_rows ? (size_t)(dst->count / num_rows) * size : 0;
    if (dst->count == 0) return MST_OK;
    memset(dst->data, 0, (size_t)dst->count * size);
    for (int64_t i = 0; i < number[0]; i++)
        memcpy((char *)dst->data + (size_t)number[1 + i] * bytes, (const char *)rows->data + (size_t)(i * width) * size,
               bytes);
    return MST_OK;
}

static const mst_example sparse_gradient_examples[] = {
    {.name = "two of three rows",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {3, 2}, .value = (const double[]){1, 2, 3, 4, 5, 6}},
             {.dtype = MST_I64, .ndim = 1, .dim = {4}, .value = (const double[]){2, 1, 3, 7}},
             {.dtype = MST_F32, .ndim = 2, .dim = {4, 2}}},
     .expect = {(const double[]){0, 0, 1, 2, 0, 0, 3, 4}}},
    {.name = "squares are left out",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {1, 2}, .value = (const double[]){-3, 9}},
             {.dtype = MST_I64, .ndim = 1, .dim = {2}, .value = (const double[]){1, 0}},
             {.dtype = MST_F32, .ndim = 2, .dim = {2, 1}}},
     .options = &(const mst_sparse_gradient_options){.squares = true},
     .expect = {(const double[]){-3, 0}}},
    {.name = "row too large",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {1, 1}},
             {.dtype = MST_I64, .ndim = 1, .dim = {2}, .value = (const double[]){1, 2}},
             {.dtype = MST_F32, .ndim = 1, .dim = {2}}},
     .fails = MST_INVALID},
    {.name = "descending rows",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {2, 1}},
             {.dtype = MST_I64, .ndim = 1, .dim = {3}, .value = (const double[]){2, 1, 0}},
             {.dtype = MST_F32, .ndim = 1, .dim = {2}}},
     .fails = MST_INVALID},
    {.name = "more rows than there is room for",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {1, 1}},
             {.dtype = MST_I64, .ndim = 1, .dim = {2}, .value = (const double[]){2, 0}},
             {.dtype = MST_F32, .ndim = 1, .dim = {2}}},
     .fails = MST_INVALID},
    {.name = "rows of another length",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {1, 3}},
             {.dtype = MST_I64, .ndim = 1, .dim = {2}, .value = (const double[]){1, 0}},
             {.dtype = MST_F32, .ndim = 2, .dim = {2, 2}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_sparse_gradient = {
    .name = "sparse_gradient",
    .num_src = 3,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .shape_only = 1u << 2,
    .fields = sparse_gradient_fields,
    .options_size = sizeof(mst_sparse_gradient_options),
    .infer = sparse_gradient_infer,
    .reference = sparse_gradient_reference,
    .lower = sparse_gradient_lower,
    MST_EXAMPLES(sparse_gradient_examples),
};

mst_value mst_sparse_gradient(mst_row_values from, mst_value like, const mst_sparse_gradient_options *options) {
    return mst_call(NULL, &mst_op_sparse_gradient, 3, (const mst_value[]){from.rows, from.numbers, like}, options);
}
