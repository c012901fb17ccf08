/** softmax_cross_entropy: loss = sum over classes of labels * -log(softmax(logits))
 *
 *  logits      f32 or f64, [..., classes]
 *  labels      like logits: probabilities, or any weights of the classes
 *  loss        output 0, [...]
 *  derivative  output 1, like logits: d loss / d logits = softmax(logits) * sum(labels) - labels. The sum is over the
 *              row; it is 1 for probabilities
 */
#ifdef MST_OP_HEADER
/** Returns output 0, the loss. */
MST_API mst_value mst_softmax_cross_entropy(mst_value logits, mst_value labels);
#endif
#include "op/op.h"
#include "op/share.h"
#include "op/softmax/softmax.h"

static mst_status softmax_cross_entropy_infer(mst_infer *c) {
    mst_shape shape;
    MST_TRY(mst_infer_want_float(c, 0));
    MST_TRY(mst_infer_same_dtype(c, 0, 1));
    MST_TRY(mst_infer_same_shape(c, 0, 1, &shape));
    if (shape.ndim < 1) return mst_infer_fail(c, "logits are a scalar, must have a dimension of classes");
    c->dst[0] = (mst_spec){.dtype = c->src[0].dtype, .shape = mst_shape_make(shape.ndim - 1, shape.dim)};
    c->dst[1] = (mst_spec){.dtype = c->src[0].dtype, .shape = shape};
    return MST_OK;
}

static mst_value row_sum(mst_value src) {
    return mst_reduce_sum(.src = src, .axes = MST_AXES(-1), .keep_dims = true);
}

/* The gradients of the loss with respect to logits and labels are derivative and -log_softmax. Let u be the gradient of
 * derivative, p = softmax, and S the sum of the labels. Then derivative adds S p (u - sum(u p)) and sum(u p) - u. */
static mst_value softmax_cross_entropy_grad(mst_grad *c, int i) {
    mst_value logits = c->src[0], sum = MST_NONE;
    if (!mst_value_is_none(c->ddst[0])) {
        mst_value of_loss = i == 0 ? c->dst[1] : mst_neg(mst_log_softmax(logits));
        sum = mst_mul(of_loss, mst_expand_dims(c->ddst[0], -1));
    }
    if (!mst_value_is_none(c->ddst[1])) {
        mst_value p = mst_softmax(logits), u = c->ddst[1];
        mst_value of_derivative =
            i == 0 ? mst_mul(mst_softmax_project(p, u), row_sum(c->src[1])) : mst_sub(row_sum(mst_mul(u, p)), u);
        sum = mst_value_is_none(sum) ? of_derivative : mst_add(sum, of_derivative);
    }
    return sum;
}

/* As the kernel: see softmax_cross_entropy_rows.inc. */
static void softmax_cross_entropy_lower(mst_lower *l) {
    const mst_dtype dtype = l->src_spec[0].dtype;
    const mst_hlo labels = l->src[1], zero = mst_hlo_number(l, dtype, 0);
    const mst_axes last = MST_AXES(l->src_spec[0].shape.ndim - 1);
    const mst_softmax_row row = mst_softmax_lower(l, l->src[0]);
    const mst_hlo weighted = mst_hlo_binary(l, "multiply", labels, row.shifted);
    const mst_hlo counted = mst_hlo_select(l, mst_hlo_compare(l, "NE", labels, zero), weighted, zero);
    const mst_hlo inner = mst_hlo_reduce_keep(l, "add", counted, 0, last);
    const mst_hlo total = mst_hlo_reduce_keep(l, "add", labels, 0, last);
    const mst_hlo scale = mst_hlo_binary(l, "divide", total, row.sum);
    const mst_hlo log_sum = mst_hlo_binary(l, "multiply", total, mst_hlo_unary(l, "log", row.sum));
    const mst_hlo loss = mst_hlo_binary(l, "subtract", log_sum, inner);
    /* without classes the loss is 0, but 0 * log 0 would be NaN */
    l->dst[0] = l->src_spec[0].shape.dim[last.axis[0]] ? mst_hlo_reshape(l, loss, l->dst_spec[0].shape)
                                                       : mst_hlo_fill(l, dtype, l->dst_spec[0].shape, 0);
    l->dst[1] = mst_hlo_binary(l, "subtract", mst_hlo_binary(l, "multiply", row.power, scale), labels);
}

#define MST_TEMPLATE "op/softmax/softmax_cross_entropy_rows.inc"
#include "op/softmax/softmax_floats.inc"

/* Computes rows BEGIN to END - 1. */
static mst_status softmax_cross_entropy_run(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const int64_t classes = mst_num_classes(&a->src[0]), at = begin * classes, rows = end - begin;
    void *loss = a->dst[0].data, *slope = a->dst[1].data;
    (void)thread;
    if (a->src[0].dtype == MST_F32)
        rows_f32((const float *)a->src[0].data + at, (const float *)a->src[1].data + at, (float *)loss + begin,
                 (float *)slope + at, rows, classes);
    else
        rows_f64((const double *)a->src[0].data + at, (const double *)a->src[1].data + at, (double *)loss + begin,
                 (double *)slope + at, rows, classes);
    return MST_OK;
}

static mst_status softmax_cross_entropy_reference(const mst_kernel_args *a) {
    return mst_parallel(a, a->dst[0].count, mst_softmax_grain(a->dst[0].count, mst_num_classes(&a->src[0])),
                        softmax_cross_entropy_run, mst_context_of(a));
}

#define LOG_2 0.69314718055994530942
#define LOG_3 1.0986122886681098
#define LOG_6 1.791759469228055

static const mst_example softmax_cross_entropy_examples[] = {
    {.name = "probabilities and one hot",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 3}, .value = (const double[]){0, LOG_2, LOG_3, 0, LOG_2, LOG_3}},
             {.ndim = 2, .dim = {2, 3}, .value = (const double[]){0.5, 0.25, 0.25, 0, 0, 1}}},
     .expect = {(const double[]){LOG_6 - 0.25 * LOG_2 - 0.25 * LOG_3, LOG_2},
                (const double[]){1.0 / 6 - 0.5, 1.0 / 3 - 0.25, 0.25, 1.0 / 6, 1.0 / 3, -0.5}}},
    {.name = "weights that do not sum to 1",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 2}, .value = (const double[]){0, LOG_3, 0, LOG_3}},
             {.ndim = 2, .dim = {2, 2}, .value = (const double[]){2, 0, 0, 0}}},
     .expect = {(const double[]){4 * LOG_2, 0}, (const double[]){-1.5, 1.5, 0, 0}}},
    {.name = "far from zero",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 2}, .value = (const double[]){1000, 1000, 2000, -2000}, .no_grad = true},
             {.ndim = 2, .dim = {2, 2}, .value = (const double[]){1, 0, 0, 1}, .no_grad = true}},
     .expect = {(const double[]){LOG_2, 4000}, (const double[]){-0.5, 0.5, 1, -1}}},
    {.name = "vector", .num_src = 2, .src = {{.ndim = 1, .dim = {4}}, {.ndim = 1, .dim = {4}, .low = 0, .high = 1}}},
    {.name = "long rows",
     .num_src = 2,
     .src = {{.ndim = 3, .dim = {2, 1, 41}, .low = -6, .high = 6},
             {.ndim = 3, .dim = {2, 1, 41}, .low = 0, .high = 0.05}}},
    {.name = "other shape",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 3}}, {.ndim = 2, .dim = {2, 4}}},
     .fails = MST_INVALID},
    {.name = "other dtype",
     .num_src = 2,
     .src = {{.dtype = MST_F32, .ndim = 1, .dim = {2}}, {.dtype = MST_F64, .ndim = 1, .dim = {2}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_softmax_cross_entropy = {
    .name = "softmax_cross_entropy",
    .tf_form =
        "<SoftmaxCrossEntropyWithLogits($0, $1)\n"
        ">IdentityN(SoftmaxCrossEntropyWithLogits($0, $1), Sub(Mul(Softmax($0), Sum($1, "
        "-1:i32; keep_dims=true Tidx=i32)), $1)) if rank0==2",
    .num_src = 2,
    .num_dst = 2,
    .dtypes = MST_FLOATS,
    .infer = softmax_cross_entropy_infer,
    .grad = softmax_cross_entropy_grad,
    .reference = softmax_cross_entropy_reference,
    .lower = softmax_cross_entropy_lower,
    MST_EXAMPLES(softmax_cross_entropy_examples),
};

mst_value mst_softmax_cross_entropy(mst_value logits, mst_value labels) {
    return mst_call(NULL, &mst_op_softmax_cross_entropy, 2, (const mst_value[]){logits, labels}, NULL);
}
