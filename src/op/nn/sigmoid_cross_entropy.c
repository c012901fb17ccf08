/** sigmoid_cross_entropy: dst = labels * -log(sigmoid(logits)) + (1 - labels) * -log(1 - sigmoid(logits))
 *
 *  logits  f32 or f64, any shape
 *  labels  like logits, from 0 to 1
 *  dst     like logits; may alias either
 *
 *  Computed as max(x, 0) - x z + log(1 + exp(-|x|)) for the logit x and the label z, so that nothing overflows.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_sigmoid_cross_entropy(mst_value logits, mst_value labels);
#endif
#include "op/elementwise/elementwise.h"

static mst_status sigmoid_cross_entropy_infer(mst_infer *c) {
    MST_TRY(mst_infer_want_float(c, 0));
    MST_TRY(mst_infer_same_dtype(c, 0, 1));
    MST_TRY(mst_infer_same_shape(c, 0, 1, &c->dst[0].shape));
    c->dst[0].dtype = c->src[0].dtype;
    return MST_OK;
}

/* d loss / d logit = sigmoid(logit) - label; d loss / d label = -logit */
static mst_value sigmoid_cross_entropy_grad(mst_grad *c, int i) {
    mst_value slope = i == 0 ? mst_sub(mst_sigmoid(c->src[0]), c->src[1]) : mst_neg(c->src[0]);
    return mst_mul(slope, c->ddst[0]);
}

static void sigmoid_cross_entropy_lower(mst_lower *l) {
    const mst_hlo x = l->src[0], zero = mst_hlo_number(l, l->src_spec[0].dtype, 0);
    const mst_hlo small = mst_hlo_unary(l, "exponential", mst_hlo_unary(l, "negate", mst_hlo_unary(l, "abs", x)));
    const mst_hlo line = mst_hlo_binary(l, "subtract", mst_hlo_binary(l, "maximum", x, zero),
                                        mst_hlo_binary(l, "multiply", x, l->src[1]));
    l->dst[0] = mst_hlo_binary(l, "add", line, mst_hlo_unary(l, "log_plus_one", small));
}

/* x is the logit, y the label */
#define OP sigmoid_cross_entropy
#define FORMULA ((x > 0 ? x : 0) - x * y + log1p(exp(-fabs(x))))
#include "op/binary/binary_math.inc"

#define LOG_2 0.69314718055994530942
#define LOG_3 1.0986122886681098
#define LOG_4 1.3862943611198906

static const mst_example sigmoid_cross_entropy_examples[] = {
    {.name = "small", /* sigmoid(log 3) = 3/4 */
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){0, LOG_3, LOG_3, -LOG_3}, .no_grad = true},
             {.ndim = 1, .dim = {4}, .value = (const double[]){0.3, 1, 0, 0.5}}},
     .expect = {(const double[]){LOG_2, LOG_4 - LOG_3, LOG_4, LOG_4 - 0.5 * LOG_3}}},
    {.name = "far from zero",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 2}, .value = (const double[]){1000, 1000, -1000, -1000}, .no_grad = true},
             {.ndim = 2, .dim = {2, 2}, .value = (const double[]){1, 0, 0, 1}, .no_grad = true}},
     .expect = {(const double[]){0, 1000, 0, 1000}}},
    {.name = "random",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {3, 5}}, {.ndim = 2, .dim = {3, 5}, .low = 0, .high = 1}}},
    {.name = "other shape",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {3}}, {.ndim = 1, .dim = {4}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_sigmoid_cross_entropy = {
    .name = "sigmoid_cross_entropy",
    .tf_form = ">AddV2(Sub(Relu($0), Mul($0, $1)), Log1p(Exp(Neg(Abs($0)))))",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = sigmoid_cross_entropy_infer,
    .grad = sigmoid_cross_entropy_grad,
    .reference = sigmoid_cross_entropy_reference,
    .lower = sigmoid_cross_entropy_lower,
    MST_EXAMPLES(sigmoid_cross_entropy_examples),
};

mst_value mst_sigmoid_cross_entropy(mst_value logits, mst_value labels) {
    return mst_call(NULL, &mst_op_sigmoid_cross_entropy, 2, (const mst_value[]){logits, labels}, NULL);
}
