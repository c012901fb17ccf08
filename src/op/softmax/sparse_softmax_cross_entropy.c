/** sparse_softmax_cross_entropy: loss = -log(softmax(logits)[label])
 *
 *  logits      f32 or f64, [..., classes]
 *  labels      i32, i64 or u8, [...]: numbers of classes
 *  loss        output 0, [...], of the logits' dtype
 *  derivative  output 1, like logits: d loss / d logits = softmax(logits) - one_hot(labels)
 *
 *  A label that is not a class makes the run fail, with an error that names the row, the label and the number of
 *  classes.
 */
#ifdef MST_OP_HEADER
/** Returns output 0, the loss. */
MST_API mst_value mst_sparse_softmax_cross_entropy(mst_value logits, mst_value labels);
#endif
#include "op/index/index_hlo.h"
#include "op/op.h"
#include "op/share.h"
#include "op/softmax/softmax.h"

static mst_status sparse_softmax_cross_entropy_infer(mst_infer *c) {
    MST_TRY(mst_infer_want_float(c, 0));
    const mst_spec *logits = &c->src[0], *labels = &c->src[1];
    if (labels->dtype != MST_I32 && labels->dtype != MST_I64 && labels->dtype != MST_U8)
        return mst_infer_fail(c, "labels are %s, must be i32, i64 or u8", mst_dtype_name(labels->dtype));
    if (logits->shape.ndim != labels->shape.ndim + 1)
        return mst_infer_fail(c, "labels have %d dimensions, must have %d, one less than the logits",
                              labels->shape.ndim, logits->shape.ndim - 1);
    c->dst[0] = (mst_spec){.dtype = logits->dtype, .shape = labels->shape};
    c->dst[1] = *logits;
    for (int k = 0; k < labels->shape.ndim; k++) {
        int64_t *dim = &c->dst[0].shape.dim[k];
        MST_TRY(mst_infer_same_dim(c, logits->shape.dim[k], labels->shape.dim[k], "numbers of rows", dim));
        c->dst[1].shape.dim[k] = *dim;
    }
    return MST_OK;
}

/* dst[1] is the derivative of the loss, softmax(logits) - one_hot(label); so its gradient is that of softmax. */
static mst_value sparse_softmax_cross_entropy_grad(mst_grad *c, int i) {
    (void)i;
    mst_value sum = MST_NONE;
    if (!mst_value_is_none(c->ddst[0])) sum = mst_mul(c->dst[1], mst_expand_dims(c->ddst[0], -1));
    if (!mst_value_is_none(c->ddst[1])) {
        mst_value of_derivative = mst_softmax_project(mst_softmax(c->src[0]), c->ddst[1]);
        sum = mst_value_is_none(sum) ? of_derivative : mst_add(sum, of_derivative);
    }
    return sum;
}

static void sparse_softmax_cross_entropy_lower(mst_lower *l) {
    const mst_spec logits = l->src_spec[0];
    const int last = logits.shape.ndim - 1;
    const int64_t classes = logits.shape.dim[last];
    mst_shape column = logits.shape;
    column.dim[last] = 1;
    const mst_hlo number = mst_hlo_classes(l, l->src[1]), zero = mst_hlo_number(l, logits.dtype, 0);
    mst_hlo_fault(l, mst_hlo_outside(l, number, classes), MST_INVALID,
                  "a label is not one of the %lld classes, 0 to %lld", (long long)classes, (long long)classes - 1);
    const mst_hlo label = mst_hlo_reshape(l, number, column);
    const mst_hlo place = mst_hlo_iota(l, mst_hlo_spec(l, label).dtype, logits.shape, last);
    const mst_hlo is_label = mst_hlo_compare(l, "EQ", label, place);
    const mst_softmax_row row = mst_softmax_lower(l, l->src[0]);
    const mst_hlo of_label =
        mst_hlo_reduce_keep(l, "add", mst_hlo_select(l, is_label, row.shifted, zero), 0, MST_AXES(last));
    const mst_hlo loss = mst_hlo_binary(l, "subtract", mst_hlo_unary(l, "log", row.sum), of_label);
    l->dst[0] = mst_hlo_reshape(l, loss, l->dst_spec[0].shape);
    l->dst[1] = mst_hlo_binary(l, "subtract", mst_hlo_binary(l, "divide", row.power, row.sum),
                               mst_hlo_convert(l, is_label, logits.dtype));
}

static int64_t label_at(const mst_array *labels, int64_t row) {
    switch (labels->dtype) {
        case MST_I32: return ((const int32_t *)labels->data)[row];
        case MST_I64: return ((const int64_t *)labels->data)[row];
        default: return ((const uint8_t *)labels->data)[row];
    }
}

/* Checks the labels of rows BEGIN to END - 1. */
static mst_status check_labels(const mst_kernel_args *a, int64_t classes, int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; row++) {
        const int64_t label = label_at(&a->src[1], row);
        if (label < 0 || label >= classes)
            return mst_kernel_fail(a, MST_INVALID, "label %lld of row %lld is not one of the %lld classes, 0 to %lld",
                                   (long long)label, (long long)row, (long long)classes, (long long)classes - 1);
    }
    return MST_OK;
}

#define MST_TEMPLATE "op/softmax/sparse_softmax_cross_entropy_rows.inc"
#include "op/softmax/softmax_floats.inc"

static mst_status sparse_softmax_cross_entropy_run(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const int64_t classes = mst_num_classes(&a->src[0]);
    (void)thread;
    MST_TRY(check_labels(a, classes, begin, end));
    if (a->src[0].dtype == MST_F32)
        rows_f32(a->src[0].data, &a->src[1], a->dst[0].data, a->dst[1].data, classes, begin, end);
    else
        rows_f64(a->src[0].data, &a->src[1], a->dst[0].data, a->dst[1].data, classes, begin, end);
    return MST_OK;
}

static mst_status sparse_softmax_cross_entropy_reference(const mst_kernel_args *a) {
    return mst_parallel(a, a->dst[0].count, mst_softmax_grain(a->dst[0].count, mst_num_classes(&a->src[0])),
                        sparse_softmax_cross_entropy_run, mst_context_of(a));
}

#define LOG_2 0.69314718055994530942
#define LOG_3 1.0986122886681098
#define LOG_6 1.791759469228055
#define LOGITS                           \
    (const double[]) {                   \
        0, LOG_2, LOG_3, 0, LOG_2, LOG_3 \
    }
#define EXPECT                                             \
    {                                                      \
        (const double[]){LOG_6, LOG_2}, (const double[]) { \
            -5.0 / 6, 1.0 / 3, 0.5, 1.0 / 6, 1.0 / 3, -0.5 \
        }                                                  \
    }

static const mst_example sparse_softmax_cross_entropy_examples[] = {
    {.name = "i32 labels",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 3}, .value = LOGITS},
             {.dtype = MST_I32, .ndim = 1, .dim = {2}, .value = (const double[]){0, 2}}},
     .expect = EXPECT},
    {.name = "i64 labels",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 3}, .value = LOGITS},
             {.dtype = MST_I64, .ndim = 1, .dim = {2}, .value = (const double[]){0, 2}}},
     .expect = EXPECT},
    {.name = "u8 labels",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 3}, .value = LOGITS},
             {.dtype = MST_U8, .ndim = 1, .dim = {2}, .value = (const double[]){0, 2}}},
     .expect = EXPECT},
    {.name = "far from zero",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 2}, .value = (const double[]){1000, 1000, 2000, -2000}, .no_grad = true},
             {.dtype = MST_I64, .ndim = 1, .dim = {2}, .value = (const double[]){0, 1}}},
     .expect = {(const double[]){LOG_2, 4000}, (const double[]){-0.5, 0.5, 1, -1}}},
    {.name = "many dimensions, long rows",
     .num_src = 2,
     .src = {{.ndim = 3, .dim = {2, 2, 41}, .low = -6, .high = 6},
             {.dtype = MST_I32, .ndim = 2, .dim = {2, 2}, .value = (const double[]){40, 0, 17, 33}}}},
    {.name = "one row",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {3}, .value = LOGITS}, {.dtype = MST_I32, .value = (const double[]){2}}},
     .expect = {(const double[]){LOG_2}, (const double[]){1.0 / 6, 1.0 / 3, -0.5}}},
    {.name = "label too large",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 3}}, {.dtype = MST_I32, .ndim = 1, .dim = {2}, .value = (const double[]){0, 3}}},
     .fails = MST_INVALID},
    {.name = "label negative",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 3}}, {.dtype = MST_I64, .ndim = 1, .dim = {2}, .value = (const double[]){-1, 0}}},
     .fails = MST_INVALID},
    {.name = "float labels",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 3}}, {.dtype = MST_F32, .ndim = 1, .dim = {2}}},
     .fails = MST_INVALID},
    {.name = "other number of rows",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 3}}, {.dtype = MST_I32, .ndim = 1, .dim = {3}}},
     .fails = MST_INVALID},
    {.name = "labels of the logits' shape",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 3}}, {.dtype = MST_I32, .ndim = 2, .dim = {2, 3}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_sparse_softmax_cross_entropy = {
    .name = "sparse_softmax_cross_entropy",
    .tf_form =
        "SparseSoftmaxCrossEntropyWithLogits($0, $1; T=t0 Tlabels=t1) if rank0==2 t1!=u8\n"
        ">SparseSoftmaxCrossEntropyWithLogits($0, Cast($1; SrcT=u8 DstT=i32); T=t0 "
        "Tlabels=i32) if rank0==2",
    .num_src = 2,
    .num_dst = 2,
    .dtypes = MST_FLOATS,
    .infer = sparse_softmax_cross_entropy_infer,
    .grad = sparse_softmax_cross_entropy_grad,
    .reference = sparse_softmax_cross_entropy_reference,
    .lower = sparse_softmax_cross_entropy_lower,
    MST_EXAMPLES(sparse_softmax_cross_entropy_examples),
};

mst_value mst_sparse_softmax_cross_entropy(mst_value logits, mst_value labels) {
    return mst_call(NULL, &mst_op_sparse_softmax_cross_entropy, 2, (const mst_value[]){logits, labels}, NULL);
}
