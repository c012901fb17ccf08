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
#include "op/shape/strided.h"

typedef struct tile_options {
    int zero_;
    mst_shape multiples;
} tile_options;

static const mst_field fields[] = {
    MST_FIELD_SHAPE(tile_options, multiples, "how often along each dimension"),
    MST_FIELD_END,
};

static mst_status infer(mst_infer *c) {
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

static mst_value grad(mst_grad *c, int i) {
    (void)i;
    return mst_tile_grad(c->ddst[0], c->src[0], ((const tile_options *)c->options)->multiples);
}

static mst_status reference(const mst_kernel_args *a) {
    const mst_array *src = &a->src[0], *dst = &a->dst[0];
    const mst_shape *multiples = &((const tile_options *)a->options)->multiples;
    int64_t src_step[MST_MAX_NDIM], dst_step[MST_MAX_NDIM];
    int64_t dim[MST_MAX_STRIDED], src_stride[MST_MAX_STRIDED], dst_stride[MST_MAX_STRIDED];
    mst_strides(&src->shape, src_step);
    mst_strides(&dst->shape, dst_step);
    for (int k = 0; k < src->shape.ndim; k++) { /* two loops a dimension: over the tiles, over the elements of one */
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

static const mst_example examples[] = {
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
    .tf_name = "Tile",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_ALL_DTYPES,
    .flags = MST_OP_INFALLIBLE,
    .fields = fields,
    .options_size = sizeof(tile_options),
    .infer = infer,
    .grad = grad,
    .reference = reference,
    MST_EXAMPLES(examples),
};

mst_value mst_tile(mst_value src, mst_shape multiples) {
    return mst_call(NULL, &mst_op_tile, 1, &src, &(tile_options){.multiples = multiples});
}
