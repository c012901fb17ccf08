/** clip: dst = low if src < low, high if src > high, else src
 *
 *  src        any shape, f32, f64, i32, i64 or u8
 *  dst        like src; may alias it
 *  low, high  low <= high; infinite: no bound. For integer dtypes they must be whole numbers, and are limited to the
 *             range of the dtype
 *
 *  NaN stays NaN. No gradient flows where src < low or src > high.
 */
#ifdef MST_OP_HEADER
typedef struct mst_clip_options {
    double low, high; /**< least and greatest value of dst */
} mst_clip_options;
MST_API mst_value mst_clip(mst_value src, double low, double high);
#endif
#include "base/saturate.h"
#include "op/elementwise/elementwise.h"

static const mst_field clip_fields[] = {
    MST_FIELD_F64(mst_clip_options, low, 0, 0, 0, "least value of dst"),
    MST_FIELD_F64(mst_clip_options, high, 0, 0, 0, "greatest value of dst"),
    MST_FIELD_END,
};

static mst_status clip_infer(mst_infer *c) {
    const mst_clip_options *o = c->options;
    MST_TRY(mst_infer_unary(c));
    if (!(o->low <= o->high)) return mst_infer_fail(c, "low %g must be at most high %g", o->low, o->high);
    if (!mst_dtype_is_float(c->src[0].dtype) && (o->low != floor(o->low) || o->high != floor(o->high)))
        return mst_infer_fail(c, "low %g and high %g must be whole numbers for %s", o->low, o->high,
                              mst_dtype_name(c->src[0].dtype));
    return MST_OK;
}

static mst_value clip_grad(mst_grad *c, int i) {
    (void)i;
    const mst_clip_options *o = c->options;
    mst_value src = c->src[0], low = mst_number(src, o->low), high = mst_number(src, o->high);
    mst_value inside = mst_logical_and(mst_greater_equal(src, low), mst_less_equal(src, high));
    return mst_select(inside, c->ddst[0], mst_number(src, 0));
}

/* BOUND as a scalar of DTYPE, limited to its range. */
static mst_hlo bound_of(mst_lower *l, mst_dtype dtype, double bound) {
    if (mst_dtype_is_float(dtype)) return mst_hlo_number(l, dtype, bound);
    return mst_hlo_integer(l, dtype,
                           dtype == MST_I32   ? mst_saturate_i32(bound)
                           : dtype == MST_I64 ? mst_saturate_i64(bound)
                                              : mst_saturate_u8(bound));
}

static void clip_lower(mst_lower *l) {
    const mst_clip_options *o = l->options;
    const mst_dtype dtype = l->src_spec[0].dtype;
    l->dst[0] = mst_hlo_clamp(l, bound_of(l, dtype, o->low), l->src[0], bound_of(l, dtype, o->high));
}

#define OP clip
#define SETUP                            \
    const mst_clip_options *o = options; \
    const T low = OF_DOUBLE(o->low), high = OF_DOUBLE(o->high);
#define FORMULA (x < low ? low : x > high ? high : x)
#include "op/unary/unary_numbers.inc"

static const mst_example clip_examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){0, 2, 5, 9}}},
     .options = &(const mst_clip_options){.low = 1, .high = 6},
     .expect = {(const double[]){1, 2, 5, 6}}},
    {.name = "at the ends",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {2}, .value = (const double[]){1, 6}, .no_grad = true}},
     .options = &(const mst_clip_options){.low = 1, .high = 6},
     .expect = {(const double[]){1, 6}}},
    {.num_src = 1,
     .src = {{.dtype = MST_F64, .ndim = 1, .dim = {4}, .value = (const double[]){-3, -0.25, 0.25, 2}}},
     .options = &(const mst_clip_options){.low = -0.5, .high = 0.5},
     .expect = {(const double[]){-0.5, -0.25, 0.25, 0.5}}},
    {.num_src = 1,
     .src = {{.dtype = MST_F32, .ndim = 1, .dim = {3}, .value = (const double[]){-INFINITY, NAN, 3}, .no_grad = true}},
     .options = &(const mst_clip_options){.low = -1, .high = INFINITY},
     .expect = {(const double[]){-1, NAN, 3}}},
    {.num_src = 1,
     .src = {{.dtype = MST_I32, .ndim = 1, .dim = {3}, .value = (const double[]){-9, 2, 0x7fffffff}}},
     .options = &(const mst_clip_options){.low = -5, .high = 1e20},
     .expect = {(const double[]){-5, 2, 0x7fffffff}}},
    {.num_src = 1,
     .src = {{.dtype = MST_I64, .ndim = 1, .dim = {3}, .value = (const double[]){-0x1p63, 2, 9}}},
     .options = &(const mst_clip_options){.low = -INFINITY, .high = 5},
     .expect = {(const double[]){-0x1p63, 2, 5}}},
    {.num_src = 1,
     .src = {{.dtype = MST_U8, .ndim = 1, .dim = {3}, .value = (const double[]){0, 9, 255}}},
     .options = &(const mst_clip_options){.low = -5, .high = 200},
     .expect = {(const double[]){0, 9, 200}}},
    {.num_src = 1,
     .src = {{.ndim = 2, .dim = {3, 5}, .low = 1.5, .high = 4.5}},
     .options = &(const mst_clip_options){.low = 1, .high = 5}},
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {2}}},
     .options = &(const mst_clip_options){.low = 2, .high = 1},
     .fails = MST_INVALID},
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {2}}},
     .options = &(const mst_clip_options){.low = NAN, .high = 1},
     .fails = MST_INVALID},
    {.name = "no whole number",
     .num_src = 1,
     .src = {{.dtype = MST_I32, .ndim = 1, .dim = {2}}},
     .options = &(const mst_clip_options){.low = 0.5, .high = 1},
     .fails = MST_INVALID},
};

const mst_op mst_op_clip = {
    .name = "clip",
    .tf_form = "ClipByValue($0, low:t0, high:t0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .fields = clip_fields,
    .options_size = sizeof(mst_clip_options),
    .infer = clip_infer,
    .grad = clip_grad,
    .reference = clip_reference,
    .lower = clip_lower,
    MST_EXAMPLES(clip_examples),
};

mst_value mst_clip(mst_value src, double low, double high) {
    return mst_call(NULL, &mst_op_clip, 1, &src, &(mst_clip_options){.low = low, .high = high});
}
