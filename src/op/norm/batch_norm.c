/** batch_norm: dst = gamma * (src - mean) / sqrt(variance + epsilon) + beta. Each channel has a mean and a variance of
 *  the batch, over all other axes
 *
 *  src       f32 or f64, [n, ..., channels]
 *  gamma     src's dtype, [channels]
 *  beta      src's dtype, [channels]
 *  epsilon   default 0.001, as in Keras
 *  dst       output 0, like src
 *  mean      output 1, [channels]; 0 if there are no rows
 *  variance  output 2, [channels]: the mean of (src - mean)^2 over all rows
 *
 *  This is what Keras 3 does in training. The gradient flows through mean and variance.
 */
#ifdef MST_OP_HEADER
typedef struct mst_batch_norm_options {
    int zero_;
    mst_value src;
    mst_value gamma;
    mst_value beta;
    double epsilon;
} mst_batch_norm_options;
/** Returns output 0; outputs 1 and 2 are mst_value_output(value, 1) and mst_value_output(value, 2). */
MST_API mst_value mst_batch_norm_with(mst_batch_norm_options options);
#define mst_batch_norm(...) mst_batch_norm_with(MST_NAMED_3(mst_batch_norm_options, src, gamma, beta, __VA_ARGS__))
#endif
#include "op/norm/batch_norm.h"

#include "op/list.h"
#include "op/op.h"

const mst_field mst_batch_norm_fields[] = {
    MST_FIELD_F64(mst_batch_norm_options, epsilon, 1e-3, 1e-30, 1e30, "added to the variance"),
    MST_FIELD_END,
};

mst_status mst_batch_norm_infer(mst_infer *c, int first, int last) {
    const mst_shape *src = &c->src[0].shape;
    int64_t channels = src->ndim < 2 ? -1 : src->dim[src->ndim - 1];
    MST_TRY(mst_infer_want_float(c, 0));
    if (src->ndim < 2) return mst_infer_fail(c, "the source needs at least two dimensions");
    for (int i = first; i <= last; i++) {
        MST_TRY(mst_infer_same_dtype(c, 0, i));
        MST_TRY(mst_infer_want_ndim(c, i, 1));
        MST_TRY(mst_infer_same_dim(c, channels, c->src[i].shape.dim[0], "channels", &channels));
    }
    return MST_OK;
}

static mst_status batch_norm_infer(mst_infer *c) {
    MST_TRY(mst_batch_norm_infer(c, 1, 2));
    c->dst[0] = c->src[0];
    const mst_spec *channels = &c->src[c->src[1].shape.dim[0] < 0 ? 2 : 1];
    c->dst[1] = c->dst[2] = *channels;
    if (c->dst[1].shape.dim[0] < 0)
        c->dst[1].shape.dim[0] = c->dst[2].shape.dim[0] = c->src[0].shape.dim[c->src[0].shape.ndim - 1];
    return MST_OK;
}

/* The largest divisor of ROWS from MOST / 4 to MOST; 0 if there is none. */
static int64_t divisor_near(int64_t rows, int64_t most) {
    for (int64_t d = most; d > 0 && 4 * d >= most; d--)
        if (rows % d == 0) return d;
    return 0;
}

/* Each part has about so many elements that a thread for it pays. The number of parts is limited, because adding up
 * their sums takes time. If possible, a part lies within one example, or consists of whole examples. Then code that
 * computes one example after the other can also add up the parts. */
mst_batch_rows mst_batch_rows_of(const mst_shape *src) {
    enum { ELEMENTS = 1 << 14, MOST_PARTS = 256 };
    mst_batch_rows b = {.rows = 1, .channels = src->dim[src->ndim - 1]};
    for (int i = 0; i < src->ndim - 1; i++) b.rows *= src->dim[i];
    b.rows_of_part = b.channels && b.channels < ELEMENTS ? ELEMENTS / b.channels : 1;
    if (b.rows > b.rows_of_part * MOST_PARTS) b.rows_of_part = (b.rows + MOST_PARTS - 1) / MOST_PARTS;
    const int64_t of_example = src->ndim > 2 && src->dim[0] > 0 ? b.rows / src->dim[0] : 0;
    if (of_example > b.rows_of_part) {
        const int64_t inside = divisor_near(of_example, b.rows_of_part);
        if (inside) b.rows_of_part = inside;
    } else if (of_example > 0) {
        b.rows_of_part -= b.rows_of_part % of_example;
    }
    b.parts = (b.rows + b.rows_of_part - 1) / b.rows_of_part;
    return b;
}

size_t mst_batch_norm_workspace(const mst_infer *c, int num_threads) {
    const mst_batch_rows b = mst_batch_rows_of(&c->src[0].shape);
    (void)num_threads;
    return (size_t)((2 * b.parts + 4) * b.channels) * mst_dtype_size(c->src[0].dtype);
}

/* ---- StableHLO ---- */

mst_axes mst_batch_axes(const mst_shape *src) {
    mst_axes axes = {.count = src->ndim - 1};
    for (int i = 0; i < axes.count; i++) axes.axis[i] = i;
    return axes;
}

mst_hlo mst_batch_rows_number(mst_lower *l, const mst_spec *src) {
    double rows = 1;
    for (int i = 0; i < src->shape.ndim - 1; i++) rows *= (double)src->shape.dim[i];
    return mst_hlo_number(l, src->dtype, rows > 0 ? rows : 1);
}

/* ---- nodes ---- */

mst_value mst_batch_sum(mst_value value) {
    const mst_shape shape = mst_value_spec(value).shape;
    return mst_reduce_sum(value, mst_batch_axes(&shape));
}

/* The count is computed in f64 and rounded once, as in reductions. */
mst_value mst_batch_count(mst_value src) {
    const mst_spec spec = mst_value_spec(src);
    mst_value count = mst_dim_size(src, 0, MST_F64);
    for (int i = 1; i < spec.shape.ndim - 1; i++) count = mst_mul(count, mst_dim_size(src, i, MST_F64));
    return spec.dtype == MST_F64 ? count : mst_cast(count, spec.dtype);
}

/* SUM (or MST_NONE), plus the gradient of src through the outputs mean and variance: d mean / d src = 1 / n, and
 * d variance / d src = 2 (src - mean) / n. */
static mst_value by_statistics(const mst_grad *c, mst_value sum) {
    const mst_value n = mst_batch_count(c->src[0]);
    if (!mst_value_is_none(c->ddst[1])) {
        const mst_value term = mst_broadcast_like(mst_div(c->ddst[1], n), c->src[0]);
        sum = mst_value_is_none(sum) ? term : mst_add(sum, term);
    }
    if (!mst_value_is_none(c->ddst[2])) {
        const mst_value centered = mst_sub(c->src[0], c->dst[1]);
        const mst_value term = mst_mul(centered, mst_scale(mst_div(c->ddst[2], n), 2));
        sum = mst_value_is_none(sum) ? term : mst_add(sum, term);
    }
    return sum;
}

static mst_value batch_norm_grad(mst_grad *c, int i) {
    mst_value gradient = MST_NONE;
    if (!mst_value_is_none(c->ddst[0]))
        gradient = mst_value_output(
            mst_batch_norm_gradient(c->options, c->src[0], c->src[1], c->dst[1], c->dst[2], c->ddst[0]), i);
    return i == 0 ? by_statistics(c, gradient) : gradient;
}

/* ---- the op ---- */

static mst_status batch_norm_reference(const mst_kernel_args *a) {
    return mst_batch_norm_run(a, ((const mst_batch_norm_options *)a->options)->epsilon,
                              mst_batch_limits_for(MST_BATCH_LINEAR));
}

/* In the order of the reference: first the mean, then the mean of the squares of the differences from it. */
static void batch_norm_lower(mst_lower *l) {
    const mst_batch_norm_options *o = l->options;
    const mst_spec *src = &l->src_spec[0];
    const mst_axes rows = mst_batch_axes(&src->shape);
    const mst_hlo n = mst_batch_rows_number(l, src), epsilon = mst_hlo_number(l, src->dtype, o->epsilon);
    const mst_hlo mean = mst_hlo_binary(l, "divide", mst_hlo_reduce(l, "add", l->src[0], 0, rows), n);
    const mst_hlo u = mst_hlo_binary(l, "subtract", l->src[0], mean);
    const mst_hlo squares = mst_hlo_reduce(l, "add", mst_hlo_binary(l, "multiply", u, u), 0, rows);
    const mst_hlo variance = mst_hlo_binary(l, "divide", squares, n);
    const mst_hlo deviation = mst_hlo_unary(l, "sqrt", mst_hlo_binary(l, "add", variance, epsilon));
    const mst_hlo scale = mst_hlo_binary(l, "divide", l->src[1], deviation);
    l->dst[0] = mst_hlo_binary(l, "add", mst_hlo_binary(l, "multiply", u, scale), l->src[2]);
    l->dst[1] = mean;
    l->dst[2] = variance;
}

#define CHANNELS(...)                                      \
    {                                                      \
        .ndim = 1, .dim = {2}, .value = (const double[]) { \
            __VA_ARGS__                                    \
        }                                                  \
    }

static const mst_example batch_norm_examples[] = {
    {.name = "two channels",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {2, 2}, .value = (const double[]){1, 10, 5, 40}}, CHANNELS(1, 2), CHANNELS(3, 4)},
     .options = &(const mst_batch_norm_options){.epsilon = 5},
     .expect = {(const double[]){3 - 2.0 / 3, 4 - 2 * 15 / 15.165750888103101, 3 + 2.0 / 3,
                                 4 + 2 * 15 / 15.165750888103101},
                (const double[]){3, 25}, (const double[]){4, 225}}},
    {.name = "default epsilon",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {1, 2}, .value = (const double[]){1, 7}}, CHANNELS(1, 2), CHANNELS(3, 4)},
     .expect = {(const double[]){3, 4}, (const double[]){1, 7}, (const double[]){0, 0}}},
    {.name = "pictures",
     .num_src = 3,
     .src = {{.ndim = 4, .dim = {2, 3, 3, 2}}, CHANNELS(0.5, -2), CHANNELS(1, 0)},
     .options = &(const mst_batch_norm_options){.epsilon = 0.1}},
    {.name = "many rows",
     .num_src = 3,
     .src = {{.ndim = 3, .dim = {5, 7, 3}}, {.ndim = 1, .dim = {3}}, {.ndim = 1, .dim = {3}}}},
    {.name = "many channels", /* computed in blocks of 32, 16, 8 and 5 */
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {7, 61}}, {.ndim = 1, .dim = {61}}, {.ndim = 1, .dim = {61}}}},
    {.name = "a row",
     .num_src = 3,
     .src = {{.ndim = 1, .dim = {2}}, CHANNELS(1, 1), CHANNELS(1, 1)},
     .fails = MST_INVALID},
    {.name = "channels differ",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {2, 3}}, CHANNELS(1, 1), CHANNELS(1, 1)},
     .fails = MST_INVALID},
    {.name = "integers",
     .num_src = 3,
     .src = {{.dtype = MST_I32, .ndim = 2, .dim = {2, 2}}, CHANNELS(1, 1), CHANNELS(1, 1)},
     .fails = MST_INVALID},
    {.name = "a negative epsilon",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {2, 2}}, CHANNELS(1, 1), CHANNELS(1, 1)},
     .options = &(const mst_batch_norm_options){.epsilon = -1},
     .fails = MST_INVALID},
};

const mst_op mst_op_batch_norm = {
    .name = "batch_norm",
    .num_src = 3,
    .num_dst = 3,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_INFALLIBLE,
    .fields = mst_batch_norm_fields,
    .options_size = sizeof(mst_batch_norm_options),
    .infer = batch_norm_infer,
    .grad = batch_norm_grad,
    .workspace = mst_batch_norm_workspace,
    .reference = batch_norm_reference,
    .lower = batch_norm_lower,
    MST_EXAMPLES(batch_norm_examples),
};

mst_value mst_batch_norm_with(mst_batch_norm_options options) {
    return mst_call(NULL, &mst_op_batch_norm, 3, (const mst_value[]){options.src, options.gamma, options.beta},
                    &options);
}
