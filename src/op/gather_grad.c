/** gather_grad: dst = zeros; dst[.., indices[i], ..] += gradient[.., i, ..] for i in ascending order
 *
 *  gradient  f32, f64, i32, i64 or u8: of the output of gather
 *  indices   i32 or i64: those of the gather
 *  like      any dtype: what was gathered from; only its shape is used
 *  dst       gradient's dtype, like's shape
 *  axis      as there
 *  fails     MST_INVALID in the run where an index is negative or too large
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_gather_grad(mst_value gradient, mst_value indices, mst_value like, int axis);
#endif
#include <string.h>

#include "op/gather.h"
#include "op/op.h"

static mst_status infer(mst_infer *c) {
    mst_shape part;
    MST_TRY(mst_infer_want_listed(c, 0));
    MST_TRY(mst_gather_infer(c, &c->src[2].shape, 1, &part));
    const mst_shape *have = &c->src[0].shape;
    bool fits = have->ndim == part.ndim;
    for (int k = 0; k < part.ndim && fits; k++)
        fits = have->dim[k] < 0 || part.dim[k] < 0 || have->dim[k] == part.dim[k];
    char text[MST_SHAPE_TEXT];
    if (!fits) return mst_infer_fail(c, "gather gives shape %s", mst_shape_print(part, text, sizeof text));
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype, .shape = c->src[2].shape};
    return MST_OK;
}

static mst_value grad(mst_grad *c, int i) {
    if (i > 0) return MST_NONE;
    return mst_gather(c->ddst[0], c->src[1], ((const mst_gather_options *)c->options)->axis);
}

#define SCATTER(name, T)                                                                          \
    static void name(const mst_gather_sizes *s, const mst_array *indices, const T *src, T *dst) { \
        for (int64_t o = 0; o < s->outer; o++, dst += s->size * s->inner)                         \
            for (int64_t i = 0; i < indices->count; i++, src += s->inner) {                       \
                T *row = dst + mst_gather_index(indices, i) * s->inner;                           \
                for (int64_t j = 0; j < s->inner; j++) row[j] = (T)(row[j] + src[j]);             \
            }                                                                                     \
    }
SCATTER(scatter_f32, float)
SCATTER(scatter_f64, double)
SCATTER(scatter_32, uint32_t)
SCATTER(scatter_64, uint64_t)
SCATTER(scatter_8, uint8_t)

static mst_status reference(const mst_kernel_args *a) {
    const mst_array *src = &a->src[0], *indices = &a->src[1], *dst = &a->dst[0];
    mst_gather_sizes s;
    MST_TRY(mst_gather_loops(a, dst, indices, &s));
    if (dst->count) memset(dst->data, 0, (size_t)dst->count * mst_dtype_size(dst->dtype));
    switch (dst->dtype) {
        case MST_F32: scatter_f32(&s, indices, src->data, dst->data); break;
        case MST_F64: scatter_f64(&s, indices, src->data, dst->data); break;
        case MST_I32: scatter_32(&s, indices, src->data, dst->data); break;
        case MST_I64: scatter_64(&s, indices, src->data, dst->data); break;
        default: scatter_8(&s, indices, src->data, dst->data); break;
    }
    return MST_OK;
}

static const mst_example examples[] = {
    {.name = "rows, one twice",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {3, 2}, .value = (const double[]){1, 2, 3, 4, 5, 6}},
             {.dtype = MST_I64, .ndim = 1, .dim = {3}, .value = (const double[]){2, 0, 2}},
             {.ndim = 2, .dim = {3, 2}, .no_grad = true}},
     .expect = {(const double[]){3, 4, 0, 0, 6, 8}}},
    {.name = "columns by a matrix",
     .num_src = 3,
     .src = {{.ndim = 3, .dim = {1, 2, 2}, .value = (const double[]){1, 2, 3, 4}},
             {.dtype = MST_I32, .ndim = 2, .dim = {2, 2}, .value = (const double[]){0, 1, 1, 1}},
             {.dtype = MST_F32, .ndim = 2, .dim = {1, 3}, .no_grad = true}},
     .options = &(const mst_gather_options){.axis = 1},
     .expect = {(const double[]){1, 9, 0}}},
    {.name = "no indices",
     .num_src = 3,
     .src = {{.ndim = 1, .dim = {0}},
             {.dtype = MST_I64, .ndim = 1, .dim = {0}},
             {.ndim = 1, .dim = {2}, .no_grad = true}},
     .expect = {(const double[]){0, 0}}},
    {.name = "one index",
     .num_src = 3,
     .src = {{.ndim = 1, .dim = {2}},
             {.dtype = MST_I32, .ndim = 0, .value = (const double[]){1}},
             {.ndim = 2, .dim = {2, 2}, .no_grad = true}}},
    {.name = "index too large",
     .num_src = 3,
     .src = {{.ndim = 1, .dim = {1}},
             {.dtype = MST_I64, .ndim = 1, .dim = {1}, .value = (const double[]){2}},
             {.ndim = 1, .dim = {2}}},
     .fails = MST_INVALID},
    {.name = "not the shape of the gather",
     .num_src = 3,
     .src = {{.ndim = 1, .dim = {2}},
             {.dtype = MST_I64, .ndim = 1, .dim = {1}, .value = (const double[]){0}},
             {.ndim = 1, .dim = {2}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_gather_grad = {
    .name = "gather_grad",
    .num_src = 3,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .shape_only = 1u << 2,
    .fields = mst_gather_fields,
    .options_size = sizeof(mst_gather_options),
    .infer = infer,
    .grad = grad,
    .reference = reference,
    MST_EXAMPLES(examples),
};

mst_value mst_gather_grad(mst_value gradient, mst_value indices, mst_value like, int axis) {
    return mst_call(NULL, &mst_op_gather_grad, 3, (mst_value[]){gradient, indices, like},
                    &(mst_gather_options){.axis = axis});
}
