/** one_hot: dst[.., c] = c == indices[..] ? on_value : off_value
 *
 *  indices              i32, i64 or u8, any shape; a row whose index is negative or at least depth is all off_value
 *  dst                  dtype; the shape of indices and a last dimension of depth
 *  depth                at least 1
 *  on_value, off_value  default 1 and 0; a 0 for on_value also means 1
 *  dtype                default f32
 */
#ifdef MST_OP_HEADER
typedef struct mst_one_hot_options {
    int zero_;
    mst_value indices;
    int64_t depth;
    double on_value; /**< 0 means 1 */
    double off_value;
    mst_dtype dtype; /**< of the result, default f32 */
} mst_one_hot_options;
MST_API mst_value mst_one_hot_with(mst_one_hot_options options);
#define mst_one_hot(...) mst_one_hot_with(MST_NAMED_1(mst_one_hot_options, indices, __VA_ARGS__))
#endif
#include <string.h>

#include "op/index/index_hlo.h"
#include "op/op.h"
#include "op/shape/strided.h"
#include "op/share.h"

static const mst_field one_hot_fields[] = {
    MST_FIELD_I64(mst_one_hot_options, depth, 0, 1, 0x1p53, "number of classes"),
    MST_FIELD_F64(mst_one_hot_options, on_value, 1, 0, 0, "where the index is"),
    MST_FIELD_F64(mst_one_hot_options, off_value, 0, 0, 0, "elsewhere"),
    MST_FIELD_DTYPE(mst_one_hot_options, dtype, MST_F32, "of the result"),
    MST_FIELD_END,
};

static mst_status one_hot_infer(mst_infer *c) {
    const mst_one_hot_options *o = c->options;
    mst_spec *dst = &c->dst[0];
    MST_TRY(mst_infer_want_listed(c, 0));
    if (c->src[0].shape.ndim == MST_MAX_NDIM)
        return mst_infer_fail(c, "the indices have %d dimensions, the most possible", MST_MAX_NDIM);
    *dst = (mst_spec){.dtype = o->dtype, .shape = c->src[0].shape};
    dst->shape.dim[dst->shape.ndim++] = o->depth;
    MST_TRY(mst_infer_storable(c, o->on_value, o->dtype, "on_value"));
    return mst_infer_storable(c, o->off_value, o->dtype, "off_value");
}

static void one_hot_lower(mst_lower *l) {
    const mst_one_hot_options *o = l->options;
    const mst_shape shape = l->dst_spec[0].shape;
    mst_shape column = shape;
    column.dim[shape.ndim - 1] = 1;
    mst_hlo index = mst_hlo_reshape(l, mst_hlo_classes(l, l->src[0]), column);
    if (o->depth > INT32_MAX) index = mst_hlo_convert(l, index, MST_I64);
    const mst_hlo place = mst_hlo_iota(l, mst_hlo_spec(l, index).dtype, shape, shape.ndim - 1);
    l->dst[0] = mst_hlo_select(l, mst_hlo_compare(l, "EQ", index, place), mst_hlo_option(l, o->dtype, o->on_value),
                               mst_hlo_option(l, o->dtype, o->off_value));
}

static int64_t index_at(const mst_array *indices, int64_t i) {
    switch (indices->dtype) {
        case MST_I32: return ((const int32_t *)indices->data)[i];
        case MST_I64: return ((const int64_t *)indices->data)[i];
        default: return ((const uint8_t *)indices->data)[i];
    }
}

typedef struct one_hot_work {
    const mst_kernel_args *args;
    uint64_t on, off; /* room for one element of any dtype each */
} one_hot_work;

#define MST_TEMPLATE "op/index/one_hot_rows.inc"
#include "op/sizes.inc"

/* Fills rows BEGIN to END - 1. */
static mst_status one_hot_run(void *context, int64_t begin, int64_t end, int thread) {
    const one_hot_work *w = context;
    const int64_t depth = ((const mst_one_hot_options *)w->args->options)->depth;
    (void)thread;
    switch (mst_dtype_size(w->args->dst[0].dtype)) {
        case 1: rows_1(w, depth, begin, end); break;
        case 2: rows_2(w, depth, begin, end); break;
        case 4: rows_4(w, depth, begin, end); break;
        default: rows_8(w, depth, begin, end); break;
    }
    return MST_OK;
}

static mst_status one_hot_reference(const mst_kernel_args *a) {
    const mst_one_hot_options *o = a->options;
    one_hot_work w = {.args = a};
    const mst_array on = {.data = &w.on, .count = 1, .dtype = o->dtype};
    const mst_array off = {.data = &w.off, .count = 1, .dtype = o->dtype};
    MST_TRY(mst_array_fill(a, &on, o->on_value));
    MST_TRY(mst_array_fill(a, &off, o->off_value));
    return mst_parallel(a, a->src[0].count, mst_grain(a->src[0].count, o->depth), one_hot_run, &w);
}

static const mst_example one_hot_examples[] = {
    {.name = "labels",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){1, 0, 2}}},
     .options = &(const mst_one_hot_options){.depth = 3},
     .expect = {(const double[]){0, 1, 0, 1, 0, 0, 0, 0, 1}}},
    {.name = "out of range is off",
     .num_src = 1,
     .src = {{.dtype = MST_I32, .ndim = 1, .dim = {3}, .value = (const double[]){-1, 2, 1}}},
     .options = &(const mst_one_hot_options){.depth = 2, .on_value = 5, .off_value = -1, .dtype = MST_I64},
     .expect = {(const double[]){-1, -1, -1, -1, -1, 5}}},
    {.name = "scalar",
     .num_src = 1,
     .src = {{.ndim = 0, .value = (const double[]){1}}},
     .options = &(const mst_one_hot_options){.depth = 2, .dtype = MST_BOOL},
     .expect = {(const double[]){0, 1}}},
    {.name = "matrix, bytes",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {1, 2}, .value = (const double[]){0, 1}}},
     .options = &(const mst_one_hot_options){.depth = 2, .on_value = 255, .dtype = MST_U8},
     .expect = {(const double[]){255, 0, 0, 255}}},
    {.name = "minus 0 as an integer",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {2}, .value = (const double[]){0, 1}}},
     .options = &(const mst_one_hot_options){.depth = 2, .off_value = -0.0, .dtype = MST_I64}},
    {.name = "empty",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {0}}},
     .options = &(const mst_one_hot_options){.depth = 2}},
    {.name = "no depth", .num_src = 1, .src = {{.ndim = 1, .dim = {2}}}, .fails = MST_INVALID},
    {.name = "indices are no integers",
     .num_src = 1,
     .src = {{.dtype = MST_F32, .ndim = 1, .dim = {2}}},
     .options = &(const mst_one_hot_options){.depth = 2},
     .fails = MST_INVALID},
    {.name = "value out of range",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {2}}},
     .options = &(const mst_one_hot_options){.depth = 2, .on_value = -1, .dtype = MST_U8},
     .fails = MST_INVALID},
};

const mst_op mst_op_one_hot = {
    .name = "one_hot",
    .tf_form = "OneHot($0, depth, on_value:dtype, off_value:dtype; T=dtype TI=t0 axis=-1)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_INDICES | MST_DTYPE_BIT(MST_U8),
    .fields = one_hot_fields,
    .options_size = sizeof(mst_one_hot_options),
    .infer = one_hot_infer,
    .reference = one_hot_reference,
    .lower = one_hot_lower,
    MST_EXAMPLES(one_hot_examples),
};

mst_value mst_one_hot_with(mst_one_hot_options options) {
    return mst_call(NULL, &mst_op_one_hot, 1, &options.indices, &options);
}
