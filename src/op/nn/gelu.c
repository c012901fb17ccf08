/** gelu: dst = src * P(src), where P(x) = (1 + erf(x / sqrt(2))) / 2 is the distribution function of the normal
 *  distribution; approximate: dst = src * (1 + tanh(sqrt(2 / pi) * (src + 0.044715 * src^3))) / 2
 *
 *  src          any shape, f32 or f64
 *  dst          like src; may alias it
 *  approximate  the formula with tanh, which differs by less than 0.001; default: the exact one
 */
#ifdef MST_OP_HEADER
typedef struct mst_gelu_options {
    int zero_;
    mst_value src;
    bool approximate; /**< the formula with tanh in place of erf */
} mst_gelu_options;
MST_API mst_value mst_gelu_with(mst_gelu_options options);
#define mst_gelu(...) mst_gelu_with(MST_NAMED_1(mst_gelu_options, src, __VA_ARGS__))
#endif
#include "op/elementwise/elementwise.h"
#include "op/unary/erf_hlo.h"

#define SQRT_HALF 0.7071067811865476     /* sqrt(1 / 2) */
#define SQRT_2_BY_PI 0.7978845608028654  /* sqrt(2 / pi) */
#define INV_SQRT_2_PI 0.3989422804014327 /* 1 / sqrt(2 pi) */
#define CUBIC 0.044715

static const mst_field gelu_fields[] = {
    MST_FIELD_BOOL(mst_gelu_options, approximate, "by tanh in place of erf"),
    MST_FIELD_END,
};

/* P(x) + x p(x), where p(x) = e^(-x^2 / 2) / sqrt(2 pi) is the derivative of P */
static mst_value exact_slope(mst_value x) {
    mst_value density = mst_scale(mst_exp(mst_scale(mst_square(x), -0.5)), INV_SQRT_2_PI);
    mst_value probability = mst_scale(mst_add(mst_erf(mst_scale(x, SQRT_HALF)), mst_number(x, 1)), 0.5);
    return mst_add(probability, mst_mul(x, density));
}

/* (1 + t + x (1 - t^2) u') / 2, where t = tanh(u), u = sqrt(2 / pi) (x + 0.044715 x^3) */
static mst_value approximate_slope(mst_value x) {
    mst_value square = mst_square(x), one = mst_number(x, 1);
    mst_value u = mst_scale(mst_mul(x, mst_add(one, mst_scale(square, CUBIC))), SQRT_2_BY_PI);
    mst_value du = mst_scale(mst_add(one, mst_scale(square, 3 * CUBIC)), SQRT_2_BY_PI);
    mst_value t = mst_tanh(u);
    return mst_scale(mst_add(mst_add(one, t), mst_mul(mst_tanh_grad(x, t), du)), 0.5);
}

static mst_value gelu_grad(mst_grad *c, int i) {
    (void)i;
    const bool approximate = ((const mst_gelu_options *)c->options)->approximate;
    return mst_mul(c->ddst[0], approximate ? approximate_slope(c->src[0]) : exact_slope(c->src[0]));
}

/* 1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)) */
static mst_hlo approximate_lower(mst_lower *l, mst_hlo x) {
    const mst_dtype dtype = l->src_spec[0].dtype;
    const mst_hlo cubic = mst_hlo_number(l, dtype, CUBIC), factor = mst_hlo_number(l, dtype, SQRT_2_BY_PI);
    const mst_hlo square = mst_hlo_binary(l, "multiply", x, x);
    const mst_hlo cube = mst_hlo_binary(l, "multiply", mst_hlo_binary(l, "multiply", cubic, x), square);
    const mst_hlo u = mst_hlo_binary(l, "multiply", factor, mst_hlo_binary(l, "add", x, cube));
    return mst_hlo_binary(l, "add", mst_hlo_number(l, dtype, 1), mst_hlo_unary(l, "tanh", u));
}

static void gelu_lower(mst_lower *l) {
    const mst_gelu_options *o = l->options;
    const mst_dtype dtype = l->src_spec[0].dtype;
    const mst_hlo x = l->src[0], half = mst_hlo_binary(l, "multiply", mst_hlo_number(l, dtype, 0.5), x);
    const mst_hlo scaled = mst_hlo_binary(l, "multiply", x, mst_hlo_number(l, dtype, -SQRT_HALF));
    const mst_hlo twice_probability = o->approximate ? approximate_lower(l, x) : mst_hlo_erfc(l, scaled);
    l->dst[0] = mst_hlo_binary(l, "multiply", half, twice_probability);
}

/* 1 + erf(x) = erfc(-x), without cancellation if x is far below 0 */
#define OP gelu_exact
#define FORMULA ((T)0.5 * x * erfc(x * (T)-SQRT_HALF))
#include "op/unary/unary_math.inc"

#define OP gelu_approximate
#define FORMULA ((T)0.5 * x * (1 + tanh((T)SQRT_2_BY_PI * (x + (T)CUBIC * x * x * x))))
#include "op/unary/unary_math.inc"

static mst_status gelu_reference(const mst_kernel_args *a) {
    const bool approximate = ((const mst_gelu_options *)a->options)->approximate;
    return approximate ? gelu_approximate_reference(a) : gelu_exact_reference(a);
}

static const mst_example gelu_examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {5}, .value = (const double[]){-2, -0.5, 0, 0.5, 3}}},
     .expect = {(const double[]){-0.04550026389635844, -0.15426876936299344, 0, 0.34573123063700656,
                                 2.99595030590511}}},
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {5}, .value = (const double[]){-2, -0.5, 0, 0.5, 3}}},
     .options = &(const mst_gelu_options){.approximate = true},
     .expect = {(const double[]){-0.04540230591222494, -0.15428599017485606, 0, 0.34571400982514394,
                                 2.996362607918227}}},
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){-1000, 1000, NAN}, .no_grad = true}},
     .expect = {(const double[]){0, 1000, NAN}}},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}}}},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}}}, .options = &(const mst_gelu_options){.approximate = true}},
};

const mst_op mst_op_gelu = {
    .name = "gelu",
    .tf_form =
        ">Mul($0, Mul(AddV2(Erf(Mul($0, 0.70710678118654752)), 1), 0.5)) if approximate==0\n"
        ">Mul($0, Mul(AddV2(Tanh(Mul(AddV2($0, Mul(Mul($0, Square($0)), 0.044715)), "
        "0.79788456080286536)), 1), 0.5))",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .fields = gelu_fields,
    .options_size = sizeof(mst_gelu_options),
    .infer = mst_infer_unary,
    .grad = gelu_grad,
    .reference = gelu_reference,
    .lower = gelu_lower,
    MST_EXAMPLES(gelu_examples),
};

mst_value mst_gelu_with(mst_gelu_options options) {
    return mst_call(NULL, &mst_op_gelu, 1, &options.src, &options);
}
