/** tile: src repeated multiples[k] times along each dimension k: dst[i] = src[i mod src's dimensions]
 *
 *  src        any shape and dtype
 *  dst        src's dtype; dimension k is multiples[k] times src's
 *  multiples  one number for each dimension of src, at least 0
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_tile(mst_value src, mst_shape multiples);
#endif
#include "op/op.h"
#include "op/reduce/reduce.h"
#include "op/shape/strided.h"

typedef struct tile_options {
    int zero_;
    mst_shape multiples;
} tile_options;

static const mst_field tile_fields[] = {
    MST_FIELD_SHAPE(tile_options, multiples, "how often along each dimension"),
    MST_FIELD_END,
};

static mst_status tile_infer(mst_infer *c) {
    const mst_shape *multiples = &((const tile_options *)c->options)->multiples;
    c->dst[0] = c->src[0];
    if (multiples->ndim != c->src[0].shape.ndim)
        return mst_infer_fail(c, "%d multiples for %d dimensions", multiples->ndim, c->src[0].shape.ndim);
    for (int k = 0; k < multiples->ndim; k++) {
        int64_t *dim = &c->dst[0].shape.dim[k];
        if (multiples->dim[k] < 0) return mst_infer_fail(c, "multiple %d is negative", k);
        if (multiples->dim[k] == 0)
            *dim = 0;
        else if (*dim >= 0 && __builtin_mul_overflow(*dim, multiples->dim[k], dim))
            return mst_infer_fail(c, "too many elements");
    }
    return MST_OK;
}

static mst_value tile_grad(mst_grad *c, int i) {
    (void)i;
    return mst_tile_grad(c->ddst[0], c->src[0], ((const tile_options *)c->options)->multiples);
}

/* Each dimension is split into two: the tiles, and the elements of a tile. This is done for one dimension after the
 * other, because the number of dimensions is limited. */
static void tile_lower(mst_lower *l) {
    const mst_shape *multiples = &((const tile_options *)l->options)->multiples;
    mst_shape shape = l->src_spec[0].shape;
    mst_hlo x = l->src[0];
    for (int k = 0; k < shape.ndim; k++) {
        if (multiples->dim[k] == 1) continue;
        mst_shape parts = mst_parts_around(shape, k), tiles = parts;
        tiles.ndim = 4;
        tiles.dim[1] = multiples->dim[k];
        tiles.dim[2] = parts.dim[1];
        tiles.dim[3] = parts.dim[2];
        x = mst_hlo_broadcast_axes(l, mst_hlo_reshape(l, x, parts), tiles, MST_AXES(0, 2, 3));
        shape.dim[k] *= multiples->dim[k];
        x = mst_hlo_reshape(l, x, shape);
    }
    l->dst[0] = x;
}

static mst_status tile_reference(const mst_kernel_args *a) {
    const mst_array *src = &a->src[0], *dst = &a->dst[0];
    const mst_shape *multiples = &((const tile_options *)a->options)->multiples;
    int64_t src_step[MST_MAX_NDIM], dst_step[MST_MAX_NDIM];
    int64_t dim[MST_MAX_STRIDED], src_stride[MST_MAX_STRIDED], dst_stride[MST_MAX_STRIDED];
    mst_strides(&src->shape, src_step);
    mst_strides(&dst->shape, dst_step);
    for (int k = 0; k < src->shape.ndim; k++) { /* for each, a loop over tiles and one over elements */
        dim[2 * k] = multiples->dim[k];
        src_stride[2 * k] = 0;
        dst_stride[2 * k] = src->shape.dim[k] * dst_step[k];
        dim[2 * k + 1] = src->shape.dim[k];
        src_stride[2 * k + 1] = src_step[k];
        dst_stride[2 * k + 1] = dst_step[k];
    }
    return mst_strided_copy(a, mst_dtype_size(src->dtype), 2 * src->shape.ndim, dim, dst->data, dst_stride, src->data,
                            src_stride);
}

static const mst_example tile_examples[] = {
    {.name = "matrix",
     .num_src = 1,
     .src = {{.dtype = MST_F32, .ndim = 2, .dim = {2, 2}, .value = (const double[]){1, 2, 3, 4}}},
     .options = &(const tile_options){.multiples = {.ndim = 2, .dim = {2, 2}}},
     .expect = {(const double[]){1, 2, 1, 2, 3, 4, 3, 4, 1, 2, 1, 2, 3, 4, 3, 4}}},
    {.name = "vector",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {2}, .value = (const double[]){1, 0}}},
     .options = &(const tile_options){.multiples = {.ndim = 1, .dim = {3}}},
     .expect = {(const double[]){1, 0, 1, 0, 1, 0}}},
    {.name = "middle",
     .num_src = 1,
     .src = {{.ndim = 3, .dim = {2, 3, 2}}},
     .options = &(const tile_options){.multiples = {.ndim = 3, .dim = {1, 2, 1}}}},
    {.name = "scalar",
     .num_src = 1,
     .src = {{.ndim = 0, .value = (const double[]){1}}},
     .expect = {(const double[]){1}}},
    {.name = "no times",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {2}}},
     .options = &(const tile_options){.multiples = {.ndim = 1, .dim = {0}}}},
    {.name = "too few multiples",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 2}}},
     .options = &(const tile_options){.multiples = {.ndim = 1, .dim = {2}}},
     .fails = MST_INVALID},
    {.name = "too many elements",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 2}}},
     .options = &(const tile_options){.multiples = {.ndim = 2, .dim = {INT64_MAX / 4, 8}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_tile = {
    .name = "tile",
    .tf_form = "Tile($0, multiples:i64; Tmultiples=i64)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_MOVED_DTYPES,
    .flags = MST_OP_INFALLIBLE,
    .fields = tile_fields,
    .options_size = sizeof(tile_options),
    .infer = tile_infer,
    .grad = tile_grad,
    .reference = tile_reference,
    .lower = tile_lower,
    MST_EXAMPLES(tile_examples),
};

mst_value mst_tile(mst_value src, mst_shape multiples) {
    return mst_call(NULL, &mst_op_tile, 1, &src, &(tile_options){.multiples = multiples});
}

/* ---- the gradient ---- */

/** tile_grad: dst = sum of the tiles of gradient
 *
 *  gradient   f32, f64, i32, i64 or u8: of the output of tile
 *  like       any dtype: the source of tile; only its shape is used
 *  dst        gradient's dtype, like's shape
 *  multiples  as in tile
 */

static mst_status tile_grad_infer(mst_infer *c) {
    const mst_shape *multiples = &((const tile_options *)c->options)->multiples;
    const mst_shape *whole = &c->src[0].shape, *part = &c->src[1].shape;
    MST_TRY(mst_infer_want_listed(c, 0));
    if (whole->ndim != part->ndim || multiples->ndim != part->ndim)
        return mst_infer_fail(c, "%d multiples for %d and %d dimensions", multiples->ndim, whole->ndim, part->ndim);
    for (int k = 0; k < part->ndim; k++) {
        int64_t want = 0;
        if (part->dim[k] < 0 || whole->dim[k] < 0) continue;
        if (__builtin_mul_overflow(part->dim[k], multiples->dim[k], &want) || want != whole->dim[k])
            return mst_infer_fail(c, "dimension %d is %lld, not %lld times %lld", k, (long long)whole->dim[k],
                                  (long long)multiples->dim[k], (long long)part->dim[k]);
    }
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype, .shape = *part};
    return MST_OK;
}

static mst_value tile_grad_grad(mst_grad *c, int i) {
    return i == 0 ? mst_tile(c->ddst[0], ((const tile_options *)c->options)->multiples) : MST_NONE;
}

static void tile_grad_lower(mst_lower *l) {
    const mst_shape *multiples = &((const tile_options *)l->options)->multiples, *part = &l->dst_spec[0].shape;
    mst_shape shape = l->src_spec[0].shape;
    mst_hlo x = l->src[0];
    for (int k = 0; k < shape.ndim; k++) {
        if (multiples->dim[k] == 1) continue;
        const mst_shape parts = mst_parts_around(shape, k);
        const mst_shape tiles = MST_SHAPE(parts.dim[0], multiples->dim[k], part->dim[k], parts.dim[2]);
        x = mst_hlo_reduce(l, "add", mst_hlo_reshape(l, x, tiles), 0, MST_AXES(1));
        shape.dim[k] = part->dim[k];
        x = mst_hlo_reshape(l, x, shape);
    }
    l->dst[0] = x;
}

/* The reduction that adds up the tiles of an array; a tile has shape PART. Each dimension is split into two: the tiles,
 * which are reduced, and the elements of a tile. */
static mst_reduce_loops reduction_of(const mst_shape *multiples, const mst_shape *part) {
    int64_t dim[MST_MAX_REDUCED];
    bool reduced[MST_MAX_REDUCED];
    for (int k = 0; k < part->ndim; k++) {
        dim[2 * k] = multiples->dim[k];
        reduced[2 * k] = true;
        dim[2 * k + 1] = part->dim[k];
        reduced[2 * k + 1] = false;
    }
    return mst_reduce_loops_make(2 * part->ndim, dim, reduced);
}

static size_t tile_grad_workspace(const mst_infer *c, int num_threads) {
    (void)num_threads;
    const mst_reduce_loops r = reduction_of(&((const tile_options *)c->options)->multiples, &c->dst[0].shape);
    return mst_reduce_loops_workspace(&r, c->src[0].dtype);
}

static mst_status tile_grad_reference(const mst_kernel_args *a) {
    const mst_reduce_loops r = reduction_of(&((const tile_options *)a->options)->multiples, &a->dst[0].shape);
    return mst_reduce_sums(a, &r);
}

static const mst_example tile_grad_examples[] = {
    {.name = "matrix",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 4}, .value = (const double[]){1, 2, 3, 4, 5, 6, 7, 8}},
             {.ndim = 2, .dim = {1, 2}, .no_grad = true}},
     .options = &(const tile_options){.multiples = {.ndim = 2, .dim = {2, 2}}},
     .expect = {(const double[]){16, 20}}},
    {.name = "middle",
     .num_src = 2,
     .src = {{.ndim = 3, .dim = {2, 6, 2}}, {.ndim = 3, .dim = {2, 3, 2}, .no_grad = true}},
     .options = &(const tile_options){.multiples = {.ndim = 3, .dim = {1, 2, 1}}}},
    {.name = "scalar", .num_src = 2, .src = {{.ndim = 0}, {.ndim = 0, .no_grad = true}}},
    {.name = "of no tiles",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {0}}, {.ndim = 1, .dim = {2}, .no_grad = true}},
     .options = &(const tile_options){.multiples = {.ndim = 1, .dim = {0}}},
     .expect = {(const double[]){0, 0}}},
    {.name = "not a multiple",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {3}}, {.ndim = 1, .dim = {2}}},
     .options = &(const tile_options){.multiples = {.ndim = 1, .dim = {2}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_tile_grad = {
    .name = "tile_grad",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .shape_only = 1u << 1,
    .fields = tile_fields,
    .options_size = sizeof(tile_options),
    .infer = tile_grad_infer,
    .grad = tile_grad_grad,
    .workspace = tile_grad_workspace,
    .reference = tile_grad_reference,
    .lower = tile_grad_lower,
    MST_EXAMPLES(tile_grad_examples),
};

mst_value mst_tile_grad(mst_value gradient, mst_value like, mst_shape multiples) {
    return mst_call(NULL, &mst_op_tile_grad, 2, (mst_value[]){gradient, like}, &(tile_options){.multiples = multiples});
}
