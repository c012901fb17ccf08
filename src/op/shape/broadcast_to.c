/** broadcast_to: src broadcast to a given shape: dst[..., i, ...] = src[..., i or 0, ...]
 *
 *  src    any dtype, a shape that broadcasts to `shape` (NumPy's rules)
 *  dst    src's dtype, `shape`; may alias src if nothing is repeated
 *  shape  -1 stands for src's dimension there
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_broadcast_to(mst_value src, mst_shape shape);
#endif
#include "op/broadcast.h"
#include "op/op.h"

typedef struct broadcast_to_options {
    int zero_;
    mst_shape shape;
} broadcast_to_options;

static const mst_field broadcast_to_fields[] = {
    MST_FIELD_SHAPE(broadcast_to_options, shape, "of dst; -1 stands for src's dimension there"),
    MST_FIELD_END,
};

static mst_status broadcast_to_infer(mst_infer *c) {
    mst_shape shape = ((const broadcast_to_options *)c->options)->shape;
    const mst_shape *src = &c->src[0].shape;
    if (shape.ndim < 0 || shape.ndim > MST_MAX_NDIM)
        return mst_infer_fail(c, "%d dimensions, at most %d are possible", shape.ndim, MST_MAX_NDIM);
    for (int k = 0; k < shape.ndim; k++) {
        int from = src->ndim - shape.ndim + k;
        if (shape.dim[k] < -1 || (shape.dim[k] == -1 && from < 0))
            return mst_infer_fail(c, "dimension %d of the shape is %lld, the source has none there", k,
                                  (long long)shape.dim[k]);
        if (shape.dim[k] == -1) shape.dim[k] = src->dim[from];
    }
    return mst_broadcast_infer(c, &shape);
}

static mst_value broadcast_to_grad(mst_grad *c, int i) {
    (void)i;
    return mst_unbroadcast(c->ddst[0], c->src[0]);
}

static void broadcast_to_lower(mst_lower *l) {
    l->dst[0] = mst_hlo_broadcast(l, l->src[0], l->dst_spec[0].shape);
}

static const mst_example broadcast_to_examples[] = {
    {.name = "rows",
     .num_src = 1,
     .src = {{.dtype = MST_F32, .ndim = 1, .dim = {3}, .value = (const double[]){1, 2, 3}}},
     .options = &(const broadcast_to_options){.shape = {.ndim = 2, .dim = {2, 3}}},
     .expect = {(const double[]){1, 2, 3, 1, 2, 3}}},
    {.name = "columns, src's dimension",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 1}, .value = (const double[]){1, 0}}},
     .options = &(const broadcast_to_options){.shape = {.ndim = 2, .dim = {-1, 2}}},
     .expect = {(const double[]){1, 1, 0, 0}}},
    {.name = "scalar to scalar",
     .num_src = 1,
     .src = {{.ndim = 0, .value = (const double[]){1}}},
     .expect = {(const double[]){1}}},
    {.name = "outer and inner",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {3, 1}}},
     .options = &(const broadcast_to_options){.shape = {.ndim = 3, .dim = {2, 3, 4}}}},
    {.name = "to nothing",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {1}}},
     .options = &(const broadcast_to_options){.shape = {.ndim = 2, .dim = {2, 0}}}},
    {.name = "does not broadcast",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {3}}},
     .options = &(const broadcast_to_options){.shape = {.ndim = 2, .dim = {3, 2}}},
     .fails = MST_INVALID},
    {.name = "-1 where the source has no dimension",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {3}}},
     .options = &(const broadcast_to_options){.shape = {.ndim = 2, .dim = {-1, 3}}},
     .fails = MST_INVALID},
};

static bool broadcast_to_is_identity(const mst_infer *c) {
    return mst_shape_equal(c->src[0].shape, c->dst[0].shape);
}

const mst_op mst_op_broadcast_to = {
    .name = "broadcast_to",
    .tf_form =
        "BroadcastTo($0, @shape:i64; Tidx=i64) if known==1\n"
        "<Fill(@shape, $0; index_type=*)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_MOVED_DTYPES,
    .flags = MST_OP_INFALLIBLE,
    .may_alias = true,
    .fields = broadcast_to_fields,
    .options_size = sizeof(broadcast_to_options),
    .infer = broadcast_to_infer,
    .grad = broadcast_to_grad,
    .is_identity = broadcast_to_is_identity,
    .reference = mst_broadcast_copy,
    .lower = broadcast_to_lower,
    MST_EXAMPLES(broadcast_to_examples),
};

mst_value mst_broadcast_to(mst_value src, mst_shape shape) {
    return mst_call(NULL, &mst_op_broadcast_to, 1, &src, &(broadcast_to_options){.shape = shape});
}
