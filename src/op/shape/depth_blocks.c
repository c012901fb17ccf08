#include "op/shape/depth_blocks.h"

#include "muster/hlo.h"
#include "op/shape/strided.h"

const mst_field mst_depth_blocks_fields[] = {
    MST_FIELD_I32(mst_depth_blocks_options, block_size, 0, 2, 1 << 15, "rows and columns of a block"),
    MST_FIELD_END,
};

/* Multiplies *DIM by TIMES; -1 (not known) stays -1. WHAT is for the error of an overflow. */
static mst_status multiply(mst_infer *c, const char *what, int64_t times, int64_t *dim) {
    if (*dim >= 0 && __builtin_mul_overflow(*dim, times, dim)) return mst_infer_fail(c, "too many %s", what);
    return MST_OK;
}

static mst_status divide(mst_infer *c, const char *what, int64_t by, int64_t *dim) {
    if (*dim < 0) return MST_OK;
    if (*dim % by) return mst_infer_fail(c, "%lld %s are no multiple of %lld", (long long)*dim, what, (long long)by);
    *dim /= by;
    return MST_OK;
}

mst_status mst_depth_blocks_infer(mst_infer *c, bool to_depth) {
    mst_status (*const of_space)(mst_infer *, const char *, int64_t, int64_t *) = to_depth ? divide : multiply;
    mst_status (*const of_depth)(mst_infer *, const char *, int64_t, int64_t *) = to_depth ? multiply : divide;
    const int64_t block = ((const mst_depth_blocks_options *)c->options)->block_size;
    MST_TRY(mst_infer_want_ndim(c, 0, 4));
    c->dst[0] = c->src[0];
    MST_TRY(of_space(c, "rows", block, &c->dst[0].shape.dim[1]));
    MST_TRY(of_space(c, "columns", block, &c->dst[0].shape.dim[2]));
    return of_depth(c, "channels", block * block, &c->dst[0].shape.dim[3]);
}

/* The kernels swap the two middle dimensions of
 * space [n * rows of blocks, block, columns of blocks, block * channels] and
 * depth [n * rows of blocks, columns of blocks, block, block * channels]. */
mst_status mst_depth_blocks_copy(const mst_kernel_args *a, bool to_depth) {
    const int64_t block = ((const mst_depth_blocks_options *)a->options)->block_size;
    const mst_array *depth = to_depth ? &a->dst[0] : &a->src[0];
    const int64_t rows = depth->shape.dim[0] * depth->shape.dim[1], columns = depth->shape.dim[2],
                  run = depth->shape.dim[3] / block;
    const int64_t dim[] = {rows, columns, block, run};
    const int64_t in_depth[] = {columns * block * run, block * run, run, 1};
    const int64_t in_space[] = {columns * block * run, run, columns * run, 1};
    return mst_strided_copy(a, mst_dtype_size(depth->dtype), 4, dim, a->dst[0].data, to_depth ? in_depth : in_space,
                            a->src[0].data, to_depth ? in_space : in_depth);
}

void mst_depth_blocks_lower(mst_lower *l, bool to_depth) {
    const int64_t block = ((const mst_depth_blocks_options *)l->options)->block_size;
    const mst_shape *depth = to_depth ? &l->dst_spec[0].shape : &l->src_spec[0].shape;
    const int64_t rows = depth->dim[0] * depth->dim[1], columns = depth->dim[2], run = depth->dim[3] / block;
    const mst_shape blocks = to_depth ? MST_SHAPE(rows, block, columns, run) : MST_SHAPE(rows, columns, block, run);
    const mst_hlo swapped = mst_hlo_transpose(l, mst_hlo_reshape(l, l->src[0], blocks), MST_AXES(0, 2, 1, 3));
    l->dst[0] = mst_hlo_reshape(l, swapped, l->dst_spec[0].shape);
}
