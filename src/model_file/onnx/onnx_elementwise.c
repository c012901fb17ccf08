/* Reads the operators of ONNX that compute each element by itself. */
#include <math.h>

#include "layer/activation/activation.h"
#include "model_file/onnx/onnx_read.h"
#include "muster/ops.h"

static mst_status read_unary(mst_onnx_call *c) {
    mst_value x;
    bool last;
    MST_TRY(mst_onnx_operands(c, 1, &x, &last));
    return mst_onnx_put_as(c, c->op->unary(x), last);
}

static mst_status read_binary(mst_onnx_call *c) {
    mst_value x[2];
    bool last;
    MST_TRY(mst_onnx_operands(c, 2, x, &last));
    return mst_onnx_put_as(c, c->op->binary(x[0], x[1]), last);
}

/* The exponent may have another dtype than the base. The result has the dtype of the base. */
static mst_status read_pow(mst_onnx_call *c) {
    mst_value x[2];
    bool last;
    MST_TRY(mst_onnx_operands(c, 2, x, &last));
    const mst_dtype dtype = mst_value_spec(x[0]).dtype, other = mst_value_spec(x[1]).dtype;
    if (dtype == other) return mst_onnx_put_as(c, mst_pow(x[0], x[1]), last);
    const mst_dtype both = mst_dtype_is_float(other) ? other : dtype;
    const mst_value y = mst_pow(mst_cast(x[0], both), mst_cast(x[1], both));
    return mst_onnx_put_as(c, mst_cast(y, dtype), last);
}

static mst_status read_mod(mst_onnx_call *c) {
    mst_value x[2];
    bool last;
    MST_TRY(mst_onnx_operands(c, 2, x, &last));
    if (!mst_onnx_int(c, "fmod", 0)) return mst_onnx_put_as(c, mst_mod(x[0], x[1]), last);
    /* the result has the sign of the dividend */
    const mst_value rest = mst_mod(mst_abs(x[0]), mst_abs(x[1]));
    return mst_onnx_put_as(c, mst_mul(rest, mst_sign(x[0])), last);
}

/* Max, Min, Sum and Mean of all inputs. */
static mst_status read_variadic(mst_onnx_call *c) {
    enum { MOST = 16 };
    mst_value x[MOST];
    bool last;
    if (c->node->n_input < 1 || c->node->n_input > MOST)
        return MST_FAIL(MST_UNIMPLEMENTED, "it has %zu inputs, and 1 to %d are supported", c->node->n_input, MOST);
    MST_TRY(mst_onnx_operands(c, c->node->n_input, x, &last));
    mst_value y = x[0];
    for (size_t i = 1; i < c->node->n_input; i++) y = c->op->binary(y, x[i]);
    return mst_onnx_put_as(c, y, last);
}

static mst_status read_mean(mst_onnx_call *c) {
    mst_value x[16];
    bool last;
    const size_t count = c->node->n_input;
    if (count < 1 || count > 16)
        return MST_FAIL(MST_UNIMPLEMENTED, "it has %zu inputs, and 1 to 16 are supported", count);
    MST_TRY(mst_onnx_operands(c, count, x, &last));
    mst_value y = x[0];
    for (size_t i = 1; i < count; i++) y = mst_add(y, x[i]);
    return mst_onnx_put_as(c, mst_scale(y, 1.0 / (double)count), last);
}

static mst_status read_where(mst_onnx_call *c) {
    mst_value x[3];
    bool last;
    MST_TRY(mst_onnx_operands(c, 3, x, &last));
    return mst_onnx_put_as(c, mst_select(x[0], x[1], x[2]), last);
}

/* ---- activations ---- */

static mst_status read_leaky_relu(mst_onnx_call *c) {
    mst_value x;
    bool last;
    const float slope = mst_onnx_float(c, "alpha", 0.01F);
    MST_TRY(mst_onnx_operands(c, 1, &x, &last));
    if (slope > 1e-6F && slope <= 1) return mst_onnx_put_as(c, mst_leaky_relu(x, .slope = slope), last);
    const mst_value zero = mst_zeros_like(x);
    return mst_onnx_put_as(c, mst_add(mst_relu(x), mst_scale(mst_minimum(x, zero), (double)slope)), last);
}

static mst_status read_elu(mst_onnx_call *c) {
    mst_value x;
    bool last;
    const float alpha = mst_onnx_float(c, "alpha", 1);
    MST_TRY(mst_onnx_operands(c, 1, &x, &last));
    const mst_value y = mst_scale(mst_expm1(mst_minimum(x, mst_zeros_like(x))), (double)alpha);
    return mst_onnx_put_as(c, alpha == 1 ? mst_elu(x) : mst_add(mst_relu(x), y), last);
}

static mst_status read_selu(mst_onnx_call *c) {
    mst_value x;
    bool last;
    const double alpha = (double)mst_onnx_float(c, "alpha", 1.67326319217681884765625F);
    const double gamma = (double)mst_onnx_float(c, "gamma", 1.05070102214813232421875F);
    MST_TRY(mst_onnx_operands(c, 1, &x, &last));
    const mst_value below = mst_scale(mst_expm1(mst_minimum(x, mst_zeros_like(x))), alpha);
    return mst_onnx_put_as(c, mst_scale(mst_add(mst_relu(x), below), gamma), last);
}

static mst_status read_celu(mst_onnx_call *c) {
    mst_value x;
    bool last;
    const double alpha = (double)mst_onnx_float(c, "alpha", 1);
    if (alpha == 0) return MST_FAIL(MST_INVALID, "its attribute alpha is 0, which divides its input");
    MST_TRY(mst_onnx_operands(c, 1, &x, &last));
    const mst_value below = mst_expm1(mst_scale(mst_minimum(x, mst_zeros_like(x)), 1 / alpha));
    return mst_onnx_put_as(c, mst_add(mst_relu(x), mst_scale(below, alpha)), last);
}

static mst_status read_thresholded_relu(mst_onnx_call *c) {
    mst_value x;
    bool last;
    const double alpha = (double)mst_onnx_float(c, "alpha", 1);
    MST_TRY(mst_onnx_operands(c, 1, &x, &last));
    const mst_value limit = mst_scalar(c->reader->graph, mst_value_spec(x).dtype, alpha);
    return mst_onnx_put_as(c, mst_select(mst_greater(x, limit), x, mst_zeros_like(x)), last);
}

/* x - bias above lambd, x + bias below -lambd, else 0 */
static mst_status read_shrink(mst_onnx_call *c) {
    mst_value x;
    bool last;
    const double bias = (double)mst_onnx_float(c, "bias", 0), lambda = (double)mst_onnx_float(c, "lambd", 0.5F);
    MST_TRY(mst_onnx_operands(c, 1, &x, &last));
    mst_graph *graph = c->reader->graph;
    const mst_dtype dtype = mst_value_spec(x).dtype;
    const mst_value shift = mst_scalar(graph, dtype, bias), limit = mst_scalar(graph, dtype, lambda);
    const mst_value below = mst_select(mst_less(x, mst_neg(limit)), mst_add(x, shift), mst_zeros_like(x));
    return mst_onnx_put_as(c, mst_select(mst_greater(x, limit), mst_sub(x, shift), below), last);
}

static mst_status read_is_inf(mst_onnx_call *c) {
    mst_value x;
    bool last;
    const bool above = mst_onnx_int(c, "detect_positive", 1) != 0, below = mst_onnx_int(c, "detect_negative", 1) != 0;
    MST_TRY(mst_onnx_operands(c, 1, &x, &last));
    const mst_value zero = mst_zeros_like(x), yes = mst_is_inf(x);
    const mst_value none = mst_scalar(c->reader->graph, MST_BOOL, 0);
    if (above && below) return mst_onnx_put_as(c, yes, last);
    if (!above && !below) return mst_onnx_put_as(c, mst_logical_and(yes, none), last);
    return mst_onnx_put_as(c, mst_logical_and(yes, above ? mst_greater(x, zero) : mst_less(x, zero)), last);
}

static mst_status read_hard_sigmoid(mst_onnx_call *c) {
    mst_value x;
    bool last;
    const double alpha = (double)mst_onnx_float(c, "alpha", 0.2F), beta = (double)mst_onnx_float(c, "beta", 0.5F);
    MST_TRY(mst_onnx_operands(c, 1, &x, &last));
    const mst_value shift = mst_scalar(c->reader->graph, mst_value_spec(x).dtype, beta);
    return mst_onnx_put_as(c, mst_clip(mst_add(mst_scale(x, alpha), shift), 0, 1), last);
}

static mst_status read_activation(mst_onnx_call *c) {
    mst_value x;
    bool last;
    MST_TRY(mst_onnx_operands(c, 1, &x, &last));
    return mst_onnx_put_as(c, mst_activation_build(x, c->op->activation), last);
}

static mst_status read_prelu(mst_onnx_call *c) {
    mst_value x[2];
    bool last;
    MST_TRY(mst_onnx_operands(c, 2, x, &last));
    const mst_value below = mst_minimum(x[0], mst_zeros_like(x[0]));
    return mst_onnx_put_as(c, mst_add(mst_relu(x[0]), mst_mul(below, x[1])), last);
}

static mst_status read_gelu(mst_onnx_call *c) {
    mst_value x;
    bool last;
    const bool tanh = mst_onnx_is(c, "approximate", "tanh", "none");
    if (!tanh && !mst_onnx_is(c, "approximate", "none", "none"))
        return MST_FAIL(MST_UNIMPLEMENTED, "its attribute approximate must be none or tanh");
    MST_TRY(mst_onnx_operands(c, 1, &x, &last));
    return mst_onnx_put_as(c, mst_gelu(x, .approximate = tanh), last);
}

/* x sigmoid(alpha x) */
static mst_status read_swish(mst_onnx_call *c) {
    mst_value x;
    bool last;
    const double alpha = (double)mst_onnx_float(c, "alpha", 1);
    MST_TRY(mst_onnx_operands(c, 1, &x, &last));
    return mst_onnx_put_as(c, alpha == 1 ? mst_swish(x) : mst_mul(x, mst_sigmoid(mst_scale(x, alpha))), last);
}

/* ---- inverses of hyperbolic functions ---- */

/* log(x + sqrt(x^2 - 1)) */
static mst_value inverse_cosh(mst_value x) {
    const mst_value one = mst_scalar(mst_value_graph(x), mst_value_spec(x).dtype, 1);
    return mst_log(mst_add(x, mst_sqrt(mst_sub(mst_square(x), one))));
}

/* sign(x) log(1 + a + a^2 / (1 + sqrt(a^2 + 1))), where a = |x|: exact near 0 */
static mst_value inverse_sinh(mst_value x) {
    const mst_value one = mst_scalar(mst_value_graph(x), mst_value_spec(x).dtype, 1), a = mst_abs(x);
    const mst_value square = mst_square(x), root = mst_sqrt(mst_add(square, one));
    return mst_mul(mst_sign(x), mst_log1p(mst_add(a, mst_div(square, mst_add(one, root)))));
}

/* (log(1 + x) - log(1 - x)) / 2 */
static mst_value inverse_tanh(mst_value x) {
    return mst_scale(mst_sub(mst_log1p(x), mst_log1p(mst_neg(x))), 0.5);
}

/* 1 - erf(x), for Erfc. ONNX has no such operator, but tf2onnx leaves TensorFlow's Erfc in files with Keras' gelu. */
static mst_value complement_of_erf(mst_value x) {
    return mst_sub(mst_scalar(mst_value_graph(x), mst_value_spec(x).dtype, 1), mst_erf(x));
}

/* ---- others ---- */

/* The number in input I; OTHERWISE if there is no such input. */
static mst_status bound(const mst_onnx_call *c, size_t i, double otherwise, double *out) {
    *out = otherwise;
    return mst_onnx_has(c, i) ? mst_onnx_number(c, i, out) : MST_OK;
}

/* Whether input I is missing, or is a constant without open sizes. */
static bool is_number(const mst_onnx_call *c, size_t i) {
    return !mst_onnx_has(c, i) || (mst_onnx_value_of(c, i)->tensor && !mst_onnx_value_of(c, i)->open);
}

static mst_status read_clip(mst_onnx_call *c) {
    mst_value x, limit;
    bool last;
    double low, high;
    MST_TRY(mst_onnx_operands(c, 1, &x, &last));
    if (is_number(c, 1) && is_number(c, 2)) {
        MST_TRY(bound(c, 1, -INFINITY, &low));
        MST_TRY(bound(c, 2, INFINITY, &high));
        if (low == 0 && high == 6 && mst_dtype_is_float(mst_value_spec(x).dtype))
            return mst_onnx_put_as(c, mst_relu6(x), last);
        if (low <= high && mst_dtype_is_float(mst_value_spec(x).dtype))
            return mst_onnx_put_as(c, mst_clip(x, low, high), last);
    }
    if (mst_onnx_has(c, 1)) {
        MST_TRY(mst_onnx_plain(c, 1, &limit));
        x = mst_maximum(x, limit);
    }
    if (mst_onnx_has(c, 2)) {
        MST_TRY(mst_onnx_plain(c, 2, &limit));
        x = mst_minimum(x, limit);
    }
    return mst_onnx_put_as(c, x, last);
}

static mst_status read_cast(mst_onnx_call *c) {
    mst_value x;
    bool last;
    const int64_t to = mst_onnx_int(c, "to", 0);
    const mst_dtype dtype = to > 0 && to < 100 ? mst_onnx_dtype((int32_t)to) : MST_NO_DTYPE;
    (void)mst_onnx_int(c, "saturate", 1); /* only matters for floats of 8 bits */
    if (!dtype)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "it casts to the type %lld of ONNX, which is not supported: float32, double, int32, int64, "
                        "uint8, bool and bfloat16 are",
                        (long long)to);
    const mst_onnx_value *v = mst_onnx_has(c, 0) ? mst_onnx_value_of(c, 0) : NULL;
    if (v && v->tensor && mst_onnx_dtype_of(c, 0) == dtype && !v->weight) return mst_onnx_put_constant(c, v);
    MST_TRY(mst_onnx_operands(c, 1, &x, &last));
    return mst_onnx_put_as(c, mst_cast(x, dtype), last);
}

static mst_status read_cast_like(mst_onnx_call *c) {
    mst_value x;
    bool last;
    (void)mst_onnx_int(c, "saturate", 1);
    if (!mst_onnx_has(c, 1)) return MST_FAIL(MST_CORRUPT, "its input 1 is missing: export the model again");
    MST_TRY(mst_onnx_operands(c, 1, &x, &last));
    return mst_onnx_put_as(c, mst_cast(x, mst_onnx_dtype_of(c, 1)), last);
}

static mst_status read_identity(mst_onnx_call *c) {
    mst_value x;
    bool last;
    const mst_onnx_value *v = mst_onnx_has(c, 0) ? mst_onnx_value_of(c, 0) : NULL;
    if (v && v->tensor && !v->weight) return mst_onnx_put_constant(c, v);
    MST_TRY(mst_onnx_operands(c, 1, &x, &last));
    return mst_onnx_put_as(c, x, last);
}

/* The model is not trained, so the output of Dropout is its input. */
static mst_status read_dropout(mst_onnx_call *c) {
    mst_value x;
    bool last;
    double training = 0;
    (void)mst_onnx_int(c, "seed", 0);
    if (mst_onnx_has(c, 2)) MST_TRY(mst_onnx_number(c, 2, &training));
    if (training != 0)
        return MST_FAIL(MST_UNIMPLEMENTED,
                        "it drops values as in training: export the model for inference (model.eval() in PyTorch)");
    MST_TRY(mst_onnx_operands(c, 1, &x, &last));
    if (mst_onnx_wants(c, 1)) {
        const mst_value mask = mst_cast(mst_ones_like(x), MST_BOOL);
        MST_TRY(last ? mst_onnx_put_last(c, 1, mask) : mst_onnx_put(c, 1, mask));
    }
    return mst_onnx_put_as(c, x, last);
}

const mst_onnx_op mst_onnx_elementwise_ops[] = {
    {"Abs", read_unary, .unary = mst_abs},
    {"Acos", read_unary, .unary = mst_acos},
    {"Acosh", read_unary, .unary = inverse_cosh},
    {"Add", read_binary, .binary = mst_add},
    {"And", read_binary, .binary = mst_logical_and},
    {"Asin", read_unary, .unary = mst_asin},
    {"Asinh", read_unary, .unary = inverse_sinh},
    {"Atan", read_unary, .unary = mst_atan},
    {"Atanh", read_unary, .unary = inverse_tanh},
    {"Cast", .read = read_cast},
    {"CastLike", .read = read_cast_like},
    {"Ceil", read_unary, .unary = mst_ceil},
    {"Celu", .read = read_celu},
    {"Clip", .read = read_clip},
    {"Cos", read_unary, .unary = mst_cos},
    {"Cosh", read_unary, .unary = mst_cosh},
    {"Div", read_binary, .binary = mst_div},
    {"Dropout", .read = read_dropout},
    {"Elu", .read = read_elu},
    {"Equal", read_binary, .binary = mst_equal},
    {"Erf", read_unary, .unary = mst_erf},
    {"Erfc", read_unary, .unary = complement_of_erf},
    {"Exp", read_unary, .unary = mst_exp},
    {"Floor", read_unary, .unary = mst_floor},
    {"Gelu", .read = read_gelu},
    {"Greater", read_binary, .binary = mst_greater},
    {"GreaterOrEqual", read_binary, .binary = mst_greater_equal},
    {"HardSigmoid", .read = read_hard_sigmoid},
    {"HardSwish", read_activation, .activation = MST_HARD_SILU},
    {"Identity", .read = read_identity},
    {"IsInf", .read = read_is_inf},
    {"IsNaN", read_unary, .unary = mst_is_nan},
    {"LeakyRelu", .read = read_leaky_relu},
    {"Less", read_binary, .binary = mst_less},
    {"LessOrEqual", read_binary, .binary = mst_less_equal},
    {"Log", read_unary, .unary = mst_log},
    {"Max", read_variadic, .binary = mst_maximum},
    {"Mean", .read = read_mean},
    {"Min", read_variadic, .binary = mst_minimum},
    {"Mish", read_activation, .activation = MST_MISH},
    {"Mod", .read = read_mod},
    {"Mul", read_binary, .binary = mst_mul},
    {"Neg", read_unary, .unary = mst_neg},
    {"Not", read_unary, .unary = mst_logical_not},
    {"Or", read_binary, .binary = mst_logical_or},
    {"PRelu", .read = read_prelu},
    {"Pow", .read = read_pow},
    {"Reciprocal", read_unary, .unary = mst_reciprocal},
    {"Relu", read_unary, .unary = mst_relu},
    {"Round", read_unary, .unary = mst_round},
    {"Selu", .read = read_selu},
    {"Shrink", .read = read_shrink},
    {"Sigmoid", read_unary, .unary = mst_sigmoid},
    {"Sign", read_unary, .unary = mst_sign},
    {"Sin", read_unary, .unary = mst_sin},
    {"Sinh", read_unary, .unary = mst_sinh},
    {"Softplus", read_unary, .unary = mst_softplus},
    {"Softsign", read_activation, .activation = MST_SOFTSIGN},
    {"Sqrt", read_unary, .unary = mst_sqrt},
    {"Sub", read_binary, .binary = mst_sub},
    {"Sum", read_variadic, .binary = mst_add},
    {"Swish", .read = read_swish},
    {"Tan", read_unary, .unary = mst_tan},
    {"Tanh", read_unary, .unary = mst_tanh},
    {"ThresholdedRelu", .read = read_thresholded_relu},
    {"Where", .read = read_where},
    {"Xor", read_binary, .binary = mst_logical_xor},
    {0},
};
