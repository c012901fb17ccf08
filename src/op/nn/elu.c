/** elu: dst = src > 0 ? src : alpha * (e^src - 1)
 *
 *  src    any shape, f32 or f64
 *  dst    like src; may alias it
 *  alpha  no unit, 1e-6 to 1e6, default 1: -alpha is the limit at -Inf
 *
 *  NaN stays NaN.
 */
#ifdef MST_OP_HEADER
typedef struct mst_elu_options {
    int zero_;
    mst_value src;
    float alpha; /**< -alpha is the limit at -Inf */
} mst_elu_options;
MST_API mst_value mst_elu_with(mst_elu_options options);
#define mst_elu(...) mst_elu_with(MST_NAMED_1(mst_elu_options, src, __VA_ARGS__))
#endif
#include "op/elementwise/elementwise.h"

static const mst_field elu_fields[] = {
    MST_FIELD_F32(mst_elu_options, alpha, 1, 1e-6, 1e6, "-alpha is the limit at -Inf"),
    MST_FIELD_END,
};

/* The derivative for src <= 0 is alpha e^src = dst + alpha. alpha > 0, so dst has the sign of src, and src need not be
 * kept. */
static mst_value elu_grad(mst_grad *c, int i) {
    (void)i;
    const double alpha = (double)((const mst_elu_options *)c->options)->alpha;
    mst_value dst = c->dst[0], slope = mst_add(dst, mst_number(dst, alpha));
    return mst_select(mst_greater(dst, mst_number(dst, 0)), c->ddst[0], mst_mul(c->ddst[0], slope));
}

static void elu_lower(mst_lower *l) {
    const mst_elu_options *o = l->options;
    const mst_dtype dtype = l->src_spec[0].dtype;
    const mst_hlo x = l->src[0], alpha = mst_hlo_number(l, dtype, (double)o->alpha);
    const mst_hlo below = mst_hlo_binary(l, "multiply", alpha, mst_hlo_unary(l, "exponential_minus_one", x));
    l->dst[0] = mst_hlo_select(l, mst_hlo_compare(l, "GT", x, mst_hlo_number(l, dtype, 0)), x, below);
}

#define OP elu
#define SETUP const T alpha = (T)((const mst_elu_options *)options)->alpha;
#define FORMULA (x > 0 ? x : alpha * expm1(x))
#include "op/unary/unary_math.inc"

static const mst_example elu_examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){-2, -0.5, 0.5, 3}}},
     .expect = {(const double[]){-0.8646647167633873, -0.3934693402873666, 0.5, 3}}},
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){-2, -0.5, 0.5, 3}}},
     .options = &(const mst_elu_options){.alpha = 0.25f},
     .expect = {(const double[]){-0.21616617919084682, -0.09836733507184165, 0.5, 3}}},
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){-INFINITY, INFINITY, NAN, 0}, .no_grad = true}},
     .expect = {(const double[]){-1, INFINITY, NAN, 0}}},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}, .low = -2, .high = -0.25}}},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}, .low = 0.25, .high = 2}}},
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {2}}},
     .options = &(const mst_elu_options){.alpha = -1},
     .fails = MST_INVALID},
};

const mst_op mst_op_elu = {
    .name = "elu",
    .tf_form =
        "Elu($0) if alpha==1\n"
        ">SelectV2(Greater($0, 0), $0, Mul(Expm1($0), alpha:t0))",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .fields = elu_fields,
    .options_size = sizeof(mst_elu_options),
    .infer = mst_infer_unary,
    .grad = elu_grad,
    .reference = elu_reference,
    .lower = elu_lower,
    MST_EXAMPLES(elu_examples),
};

mst_value mst_elu_with(mst_elu_options options) {
    return mst_call(NULL, &mst_op_elu, 1, &options.src, &options);
}
