/** reshape: the elements of src, in row-major order, with another shape
 *
 *  src    any shape and dtype
 *  dst    shape; the same memory as src
 *  shape  as many elements as src has; one dimension may be -1: it is computed from the others
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_reshape(mst_value src, mst_shape shape);
#endif
#include "op/op.h"
#include "op/shape/strided.h"

typedef struct reshape_options {
    int zero_;
    mst_shape shape;
} reshape_options;

static const mst_field reshape_fields[] = {
    MST_FIELD_SHAPE(reshape_options, shape, "of dst; one dimension may be -1: what is left over"),
    MST_FIELD_END,
};

static mst_status reshape_infer(mst_infer *c) {
    const mst_shape *shape = &((const reshape_options *)c->options)->shape;
    if (shape->ndim < 0 || shape->ndim > MST_MAX_NDIM)
        return mst_infer_fail(c, "%d dimensions, at most %d are possible", shape->ndim, MST_MAX_NDIM);
    int64_t have = mst_shape_count(c->src[0].shape), want = 1;
    int open = -1;
    for (int k = 0; k < shape->ndim; k++) {
        if (shape->dim[k] < -1 || (shape->dim[k] == -1 && open >= 0))
            return mst_infer_fail(c, "one dimension may be -1, all others must be at least 0");
        if (shape->dim[k] == -1)
            open = k;
        else if (__builtin_mul_overflow(want, shape->dim[k], &want))
            return mst_infer_fail(c, "too many elements");
    }
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype, .shape = *shape};
    if (open >= 0 && want == 0) return mst_infer_fail(c, "dimension %d could be any, as another is 0", open);
    if (have < 0) return MST_OK;
    if (open >= 0 ? have % want != 0 : have != want)
        return mst_infer_fail(c, "%lld elements do not fit a shape of %lld%s", (long long)have, (long long)want,
                              open >= 0 ? " and an open dimension" : "");
    if (open >= 0) c->dst[0].shape.dim[open] = have / want;
    return MST_OK;
}

static mst_value reshape_grad(mst_grad *c, int i) {
    (void)i;
    return mst_reshape_like(c->ddst[0], c->src[0]);
}

static const mst_example reshape_examples[] = {
    {.name = "open dimension",
     .num_src = 1,
     .src = {{.dtype = MST_F32, .ndim = 2, .dim = {2, 3}, .value = (const double[]){1, 2, 3, 4, 5, 6}}},
     .options = &(const reshape_options){.shape = {.ndim = 2, .dim = {3, -1}}},
     .expect = {(const double[]){1, 2, 3, 4, 5, 6}}},
    {.name = "to scalar",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {1, 1}, .value = (const double[]){1}}},
     .expect = {(const double[]){1}}},
    {.name = "from scalar",
     .num_src = 1,
     .src = {{.ndim = 0}},
     .options = &(const reshape_options){.shape = {.ndim = 2, .dim = {1, 1}}}},
    {.name = "empty",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {0, 3}}},
     .options = &(const reshape_options){.shape = {.ndim = 2, .dim = {-1, 4}}}},
    {.name = "does not fit",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 3}}},
     .options = &(const reshape_options){.shape = {.ndim = 2, .dim = {4, -1}}},
     .fails = MST_INVALID},
    {.name = "two open dimensions",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 3}}},
     .options = &(const reshape_options){.shape = {.ndim = 2, .dim = {-1, -1}}},
     .fails = MST_INVALID},
    {.name = "open beside 0",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {0}}},
     .options = &(const reshape_options){.shape = {.ndim = 2, .dim = {0, -1}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_reshape = {
    .name = "reshape",
    .tf_form = "Reshape($0, shape:i64; Tshape=i64)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_MOVED_DTYPES,
    .flags = MST_OP_VIEW,
    .fields = reshape_fields,
    .options_size = sizeof(reshape_options),
    .infer = reshape_infer,
    .grad = reshape_grad,
    .reference = mst_view_copy,
    .lower = mst_view_lower,
    MST_EXAMPLES(reshape_examples),
};

mst_value mst_reshape(mst_value src, mst_shape shape) {
    return mst_call(NULL, &mst_op_reshape, 1, &src, &(reshape_options){.shape = shape});
}
