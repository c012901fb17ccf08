/** scale: dst = factor * src
 *
 *  src     any shape, f32 or f64
 *  dst     like src; may alias it
 *  factor  any number, rounded to the dtype of src
 */
#ifdef MST_OP_HEADER
typedef struct mst_scale_options {
    double factor; /**< src is multiplied by it */
} mst_scale_options;
MST_API mst_value mst_scale(mst_value src, double factor);
#endif
#include "op/elementwise/elementwise.h"

static const mst_field scale_fields[] = {
    MST_FIELD_F64(mst_scale_options, factor, 0, 0, 0, "what src is multiplied with"),
    MST_FIELD_END,
};

static mst_value scale_grad(mst_grad *c, int i) {
    (void)i;
    return mst_scale(c->ddst[0], ((const mst_scale_options *)c->options)->factor);
}

static void scale_lower(mst_lower *l) {
    const mst_scale_options *o = l->options;
    l->dst[0] = mst_hlo_binary(l, "multiply", mst_hlo_number(l, l->src_spec[0].dtype, o->factor), l->src[0]);
}

#define OP scale
#define SETUP const T factor = (T)((const mst_scale_options *)options)->factor;
#define FORMULA (factor * x)
#include "op/unary/unary_floats.inc"

static const mst_example scale_examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){-2, 0, 3}}},
     .options = &(const mst_scale_options){.factor = -2.5},
     .expect = {(const double[]){5, 0, -7.5}}},
    {.name = "factor 0",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {2}, .value = (const double[]){-2, 3}}},
     .expect = {(const double[]){0, 0}}},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}}}, .options = &(const mst_scale_options){.factor = 0.1}},
    {.num_src = 1, .src = {{.dtype = MST_I32, .ndim = 1, .dim = {2}}}, .fails = MST_INVALID},
};

const mst_op mst_op_scale = {
    .name = "scale",
    .tf_form = ">Mul($0, factor:t0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .fields = scale_fields,
    .options_size = sizeof(mst_scale_options),
    .infer = mst_infer_unary,
    .grad = scale_grad,
    .reference = scale_reference,
    .lower = scale_lower,
    MST_EXAMPLES(scale_examples),
};

mst_value mst_scale(mst_value src, double factor) {
    return mst_call(NULL, &mst_op_scale, 1, &src, &(mst_scale_options){.factor = factor});
}
