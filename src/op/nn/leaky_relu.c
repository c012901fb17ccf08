/** leaky_relu: dst = src > 0 ? src : slope * src
 *
 *  src    any shape, f32 or f64
 *  dst    like src; may alias it
 *  slope  no unit, 0 < slope <= 1, default 0.01
 */
#ifdef MST_OP_HEADER
typedef struct mst_leaky_relu_options {
    int zero_;
    mst_value src;
    float slope; /**< gain if src <= 0 */
} mst_leaky_relu_options;
MST_API mst_value mst_leaky_relu_with(mst_leaky_relu_options options);
#define mst_leaky_relu(...) mst_leaky_relu_with(MST_NAMED_1(mst_leaky_relu_options, src, __VA_ARGS__))
#endif
#include "op/op.h"

static const mst_field leaky_relu_fields[] = {
    MST_FIELD_F32(mst_leaky_relu_options, slope, 0.01, 1e-6, 1.0, "gain where src <= 0"),
    MST_FIELD_END,
};

static mst_status leaky_relu_infer(mst_infer *c) {
    MST_TRY(mst_infer_want_float(c, 0));
    c->dst[0] = c->src[0];
    return MST_OK;
}

/* slope > 0, so dst has the sign of src, and src need not be kept */
static mst_value leaky_relu_grad(mst_grad *c, int i) {
    (void)i;
    const mst_leaky_relu_options *o = c->options;
    mst_value positive = mst_greater(c->dst[0], mst_zeros_like(c->dst[0]));
    return mst_select(positive, c->ddst[0], mst_scale(c->ddst[0], o->slope));
}

static mst_status leaky_relu_reference(const mst_kernel_args *a) {
    const double slope = (double)((const mst_leaky_relu_options *)a->options)->slope;
    if (a->dst[0].dtype == MST_F32) {
        const float *src = a->src[0].data;
        float *dst = a->dst[0].data;
        for (int64_t i = 0; i < a->dst[0].count; i++) dst[i] = src[i] > 0 ? src[i] : (float)slope * src[i];
    } else {
        const double *src = a->src[0].data;
        double *dst = a->dst[0].data;
        for (int64_t i = 0; i < a->dst[0].count; i++) dst[i] = src[i] > 0 ? src[i] : slope * src[i];
    }
    return MST_OK;
}

static void leaky_relu_lower(mst_lower *l) {
    const mst_leaky_relu_options *o = l->options;
    const mst_hlo x = l->src[0], zero = mst_hlo_number(l, l->src_spec[0].dtype, 0);
    const mst_hlo slope = mst_hlo_number(l, l->src_spec[0].dtype, o->slope);
    l->dst[0] = mst_hlo_select(l, mst_hlo_compare(l, "GT", x, zero), x, mst_hlo_binary(l, "multiply", x, slope));
}

static const mst_example leaky_relu_examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){-2, -0.5, 0.5, 3}}},
     .options = &(const mst_leaky_relu_options){.slope = 0.25f},
     .expect = {(const double[]){-0.5, -0.125, 0.5, 3}}},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}}}},
};

const mst_op mst_op_leaky_relu = {
    .name = "leaky_relu",
    .tf_form = "LeakyRelu($0; alpha=slope|0.2)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .fields = leaky_relu_fields,
    .options_size = sizeof(mst_leaky_relu_options),
    .infer = leaky_relu_infer,
    .grad = leaky_relu_grad,
    .reference = leaky_relu_reference,
    .lower = leaky_relu_lower,
    MST_EXAMPLES(leaky_relu_examples),
};

mst_value mst_leaky_relu_with(mst_leaky_relu_options options) {
    return mst_call(NULL, &mst_op_leaky_relu, 1, &options.src, &options);
}
