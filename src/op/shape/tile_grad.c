/** tile_grad: dst = sum of the tiles of gradient
 *
 *  gradient   f32, f64, i32, i64 or u8: of the output of tile
 *  like       any dtype: what was tiled; only its shape is used
 *  dst        gradient's dtype, like's shape
 *  multiples  as there: how often along each dimension
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_tile_grad(mst_value gradient, mst_value like, mst_shape multiples);
#endif
#include "op/op.h"
#include "op/reduce/reduce.h"

typedef struct tile_grad_options {
    int zero_;
    mst_shape multiples;
} tile_grad_options;

static const mst_field fields[] = {
    MST_FIELD_SHAPE(tile_grad_options, multiples, "how often along each dimension"),
    MST_FIELD_END,
};

static mst_status infer(mst_infer *c) {
    const mst_shape *multiples = &((const tile_grad_options *)c->options)->multiples;
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

static mst_value grad(mst_grad *c, int i) {
    return i == 0 ? mst_tile(c->ddst[0], ((const tile_grad_options *)c->options)->multiples) : MST_NONE;
}

/* Over the tiles of an array of shape PART: each dimension is two, the tiles, which go, and the elements of one. */
static mst_reduction reduction_of(const mst_shape *multiples, const mst_shape *part) {
    int64_t dim[MST_MAX_REDUCED];
    bool reduced[MST_MAX_REDUCED];
    for (int k = 0; k < part->ndim; k++) {
        dim[2 * k] = multiples->dim[k];
        reduced[2 * k] = true;
        dim[2 * k + 1] = part->dim[k];
        reduced[2 * k + 1] = false;
    }
    return mst_reduction_make(2 * part->ndim, dim, reduced);
}

static size_t workspace(const mst_infer *c, int num_threads) {
    (void)num_threads;
    const mst_reduction r = reduction_of(&((const tile_grad_options *)c->options)->multiples, &c->dst[0].shape);
    return mst_reduce_workspace(&r, c->src[0].dtype);
}

static mst_status reference(const mst_kernel_args *a) {
    const mst_reduction r = reduction_of(&((const tile_grad_options *)a->options)->multiples, &a->dst[0].shape);
    return mst_reduce_sums(a, &r);
}

static const mst_example examples[] = {
    {.name = "matrix",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 4}, .value = (const double[]){1, 2, 3, 4, 5, 6, 7, 8}},
             {.ndim = 2, .dim = {1, 2}, .no_grad = true}},
     .options = &(const tile_grad_options){.multiples = {.ndim = 2, .dim = {2, 2}}},
     .expect = {(const double[]){16, 20}}},
    {.name = "middle",
     .num_src = 2,
     .src = {{.ndim = 3, .dim = {2, 6, 2}}, {.ndim = 3, .dim = {2, 3, 2}, .no_grad = true}},
     .options = &(const tile_grad_options){.multiples = {.ndim = 3, .dim = {1, 2, 1}}}},
    {.name = "scalar", .num_src = 2, .src = {{.ndim = 0}, {.ndim = 0, .no_grad = true}}},
    {.name = "of no tiles",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {0}}, {.ndim = 1, .dim = {2}, .no_grad = true}},
     .options = &(const tile_grad_options){.multiples = {.ndim = 1, .dim = {0}}},
     .expect = {(const double[]){0, 0}}},
    {.name = "not a multiple",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {3}}, {.ndim = 1, .dim = {2}}},
     .options = &(const tile_grad_options){.multiples = {.ndim = 1, .dim = {2}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_tile_grad = {
    .name = "tile_grad",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .shape_only = 1u << 1,
    .fields = fields,
    .options_size = sizeof(tile_grad_options),
    .infer = infer,
    .grad = grad,
    .workspace = workspace,
    .reference = reference,
    MST_EXAMPLES(examples),
};

mst_value mst_tile_grad(mst_value gradient, mst_value like, mst_shape multiples) {
    return mst_call(NULL, &mst_op_tile_grad, 2, (mst_value[]){gradient, like},
                    &(tile_grad_options){.multiples = multiples});
}
