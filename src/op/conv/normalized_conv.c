#include "op/conv/normalized_conv.h"

#include "base/no_memory.h"
#include "op/conv/conv.h"
#include "op/norm/batch_norm.h"
#include "op/share.h"

const mst_field mst_normalized_conv_fields[] = {
    MST_CONV_FIELDS,
    MST_FIELD_ENUM(mst_normalized_conv_options, activation, MST_BATCH_RELU, mst_batch_activations, "of the batch norm"),
    MST_FIELD_END,
};

mst_status mst_normalized_conv_infer(mst_infer *c, int terms) {
    int64_t unified;
    MST_TRY(mst_infer_same_dtype(c, 0, terms));
    MST_TRY(mst_infer_want_ndim(c, terms, 2));
    const mst_shape *shape = &c->src[terms].shape;
    MST_TRY(mst_infer_same_dim(c, MST_BATCH_TERMS, shape->dim[0], "terms", &unified));
    return mst_infer_same_dim(c, c->src[0].shape.dim[3], shape->dim[1], "channels of the source and of the terms",
                              &unified);
}

size_t mst_normalized_conv_workspace(const mst_infer *c, int num_threads) {
    (void)num_threads;
    return (size_t)mst_shape_count(c->src[0].shape) * mst_dtype_size(c->src[0].dtype);
}

/* What is normalized, and with what. */
typedef struct normalizing {
    const mst_kernel_args *args;
    const void *terms;
    int64_t channels;
} normalizing;

static mst_status normalize_rows(void *context, int64_t begin, int64_t end, int thread) {
    const normalizing *n = context;
    const mst_kernel_args *a = n->args;
    const mst_batch_limits limits = mst_batch_limits_for(((const mst_normalized_conv_options *)a->options)->activation);
    const int64_t first = begin * n->channels;
    (void)thread;
    if (a->src[0].dtype == MST_F32)
        mst_batch_normalize_f32(n->terms, limits, (const float *)a->src[0].data + first, end - begin, n->channels,
                                (float *)a->workspace + first);
    else
        mst_batch_normalize_f64(n->terms, limits, (const double *)a->src[0].data + first, end - begin, n->channels,
                                (double *)a->workspace + first);
    return MST_OK;
}

mst_status mst_normalized_conv_run(const mst_kernel_args *a, int terms, const mst_op *op) {
    enum { MOST_SRC = 4 };
    mst_array src[MOST_SRC];
    const int64_t channels = a->src[0].shape.dim[3], rows = a->src[0].count / channels;
    normalizing n = {.args = a, .terms = a->src[terms].data, .channels = channels};
    MST_TRY(mst_parallel(a, rows, mst_grain(rows, channels), normalize_rows, &n));
    for (int i = 0; i < a->num_src; i++) src[i] = a->src[i];
    src[0].data = a->workspace;
    mst_kernel_args inner = *a;
    inner.op = op;
    inner.num_src = op->num_src;
    inner.src = src;
    return op->reference(&inner);
}
