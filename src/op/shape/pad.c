/** pad: src with `value` around it: dst[before + i] = src[i], all other elements value
 *
 *  src            any shape and dtype
 *  dst            src's dtype; before + src's dimension + after along each dimension
 *  before, after  elements to add at each end of each dimension of src, at least 0; none: 0 everywhere
 *  value          default 0; converted to src's dtype
 */
#ifdef MST_OP_HEADER
typedef struct mst_pad_options {
    int zero_;
    mst_value src;
    mst_shape before; /**< MST_SHAPE(...), one number for each dimension; none: 0 everywhere */
    mst_shape after;
    double value;
} mst_pad_options;
MST_API mst_value mst_pad_with(mst_pad_options options);
#define mst_pad(...) mst_pad_with(MST_NAMED_1(mst_pad_options, src, __VA_ARGS__))
#endif
#include "op/op.h"
#include "op/shape/strided.h"

static const mst_field pad_fields[] = {
    MST_FIELD_SHAPE(mst_pad_options, before, "elements to add before; none: 0 everywhere"),
    MST_FIELD_SHAPE(mst_pad_options, after, "elements to add after; none: 0 everywhere"),
    MST_FIELD_F64(mst_pad_options, value, 0, 0, 0, "of the elements added"),
    MST_FIELD_END,
};

static mst_status pad_infer(mst_infer *c) {
    const mst_pad_options *o = c->options;
    mst_spec *dst = &c->dst[0];
    *dst = c->src[0];
    MST_TRY(mst_infer_storable(c, o->value, dst->dtype, "value"));
    const mst_shape *both[] = {&o->before, &o->after};
    for (int side = 0; side < 2; side++) {
        if (both[side]->ndim && both[side]->ndim != dst->shape.ndim)
            return mst_infer_fail(c, "%s has %d numbers, the source %d dimensions", side ? "after" : "before",
                                  both[side]->ndim, dst->shape.ndim);
        for (int k = 0; k < both[side]->ndim; k++) {
            int64_t more = both[side]->dim[k];
            if (more < 0) return mst_infer_fail(c, "%s[%d] is negative", side ? "after" : "before", k);
            if (dst->shape.dim[k] >= 0 && __builtin_add_overflow(dst->shape.dim[k], more, &dst->shape.dim[k]))
                return mst_infer_fail(c, "too many elements");
        }
    }
    return MST_OK;
}

/* The place of src in dst, for each dimension. */
static mst_shape place(const mst_pad_options *o, int ndim) {
    return o->before.ndim ? o->before : (mst_shape){.ndim = ndim};
}

static mst_value pad_grad(mst_grad *c, int i) {
    (void)i;
    return mst_slice_like(c->ddst[0], c->src[0], place(c->options, mst_value_spec(c->src[0]).shape.ndim));
}

static void pad_lower(mst_lower *l) {
    const mst_pad_options *o = l->options;
    const mst_shape begin = place(o, l->src_spec[0].shape.ndim);
    l->dst[0] = mst_place_lower(l, &begin, o->value);
}

static mst_status pad_reference(const mst_kernel_args *a) {
    const mst_pad_options *o = a->options;
    const mst_shape begin = place(o, a->src[0].shape.ndim);
    MST_TRY(mst_array_fill(a, &a->dst[0], o->value));
    return mst_slice_copy(a, &a->dst[0], &begin, &a->src[0], false);
}

static const mst_example pad_examples[] = {
    {.name = "matrix",
     .num_src = 1,
     .src = {{.dtype = MST_F32, .ndim = 2, .dim = {1, 2}, .value = (const double[]){1, 2}}},
     .options = &(
         const mst_pad_options){.before = {.ndim = 2, .dim = {1, 0}}, .after = {.ndim = 2, .dim = {0, 1}}, .value = 9},
     .expect = {(const double[]){9, 9, 9, 1, 2, 9}}},
    {.name = "after only",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {2}, .value = (const double[]){1, 1}}},
     .options = &(const mst_pad_options){.after = {.ndim = 1, .dim = {2}}},
     .expect = {(const double[]){1, 1, 0, 0}}},
    {.name = "around",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 3}}},
     .options = &(
         const mst_pad_options){.before = {.ndim = 2, .dim = {1, 2}}, .after = {.ndim = 2, .dim = {2, 1}}, .value = 1}},
    {.name = "scalar",
     .num_src = 1,
     .src = {{.ndim = 0, .value = (const double[]){1}}},
     .expect = {(const double[]){1}}},
    {.name = "a fraction below 0 with integers",
     .num_src = 1,
     .src = {{.dtype = MST_I32, .ndim = 1, .dim = {2}}},
     .options = &(const mst_pad_options){.after = {.ndim = 1, .dim = {1}}, .value = -0.5}},
    {.name = "of nothing",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {0}}},
     .options = &(const mst_pad_options){.before = {.ndim = 1, .dim = {2}}, .value = 1},
     .expect = {(const double[]){1, 1}}},
    {.name = "too few numbers",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 2}}},
     .options = &(const mst_pad_options){.before = {.ndim = 1, .dim = {1}}},
     .fails = MST_INVALID},
    {.name = "negative",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {2}}},
     .options = &(const mst_pad_options){.after = {.ndim = 1, .dim = {-1}}},
     .fails = MST_INVALID},
    {.name = "value out of range",
     .num_src = 1,
     .src = {{.dtype = MST_U8, .ndim = 1, .dim = {2}}},
     .options = &(const mst_pad_options){.after = {.ndim = 1, .dim = {1}}, .value = 256},
     .fails = MST_INVALID},
};

const mst_op mst_op_pad = {
    .name = "pad",
    .tf_form =
        "PadV2($0, @paddings:i64, value:t0; Tpaddings=i64)\n"
        "<Pad($0, @paddings)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_STORED_DTYPES,
    .flags = MST_OP_INFALLIBLE,
    .fields = pad_fields,
    .options_size = sizeof(mst_pad_options),
    .infer = pad_infer,
    .grad = pad_grad,
    .reference = pad_reference,
    .lower = pad_lower,
    MST_EXAMPLES(pad_examples),
};

mst_value mst_pad_with(mst_pad_options options) {
    return mst_call(NULL, &mst_op_pad, 1, &options.src, &options);
}
