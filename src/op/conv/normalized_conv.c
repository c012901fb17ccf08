#include "op/conv/normalized_conv.h"

#include "op/conv/conv.h"
#include "op/conv/conv2d_grads.h"
#include "op/conv/conv2d_statistics.h"
#include "op/list.h"
#include "op/norm/batch_norm.h"
#include "op/share.h"

const mst_field mst_normalized_conv_fields[] = {
    MST_CONV_FIELDS,
    MST_FIELD_ENUM(mst_normalized_conv_options, activation, MST_BATCH_RELU, mst_batch_activations, "of the batch norm"),
    MST_FIELD_END,
};

mst_status mst_infer_batch_terms(mst_infer *c, int terms, int64_t count, int of) {
    int64_t unified;
    MST_TRY(mst_infer_same_dtype(c, 0, terms));
    MST_TRY(mst_infer_want_ndim(c, terms, 2));
    const mst_shape *shape = &c->src[terms].shape;
    MST_TRY(mst_infer_same_dim(c, count, shape->dim[0], "terms", &unified));
    return mst_infer_same_dim(c, c->src[of].shape.dim[3], shape->dim[1], "channels of the terms", &unified);
}

int mst_conv_src_terms(const mst_op *op, int num_src) {
    const int terms = op == &mst_op_normalized_conv2d                ? 2
                      : op == &mst_op_normalized_conv2d_weights_grad ? 3
                      : op == &mst_op_conv2d_statistics              ? MST_CONV2D_STATISTICS_SRC_TERMS
                      : op == &mst_op_conv2d_grads                   ? MST_CONV2D_GRADS_SRC_TERMS
                                                                     : 0;
    return num_src > terms ? terms : 0;
}

size_t mst_normalized_conv_workspace(const mst_infer *c, int num_threads) {
    (void)num_threads;
    return (size_t)mst_shape_count(c->src[0].shape) * mst_dtype_size(c->src[0].dtype);
}

typedef struct normalizing {
    mst_array src;
    const void *terms;
    mst_batch_limits limits;
    int64_t channels;
    void *dst;
} normalizing;

static mst_status normalize_some(void *context, int64_t begin, int64_t end, int thread) {
    const normalizing *n = context;
    const int64_t first = begin * n->channels;
    (void)thread;
    if (n->src.dtype == MST_F32)
        mst_batch_normalize_f32(n->terms, n->limits, (const float *)n->src.data + first, end - begin, n->channels,
                                (float *)n->dst + first);
    else
        mst_batch_normalize_f64(n->terms, n->limits, (const double *)n->src.data + first, end - begin, n->channels,
                                (double *)n->dst + first);
    return MST_OK;
}

mst_status mst_normalize_source(const mst_kernel_args *a, int terms, int activation, void *dst) {
    const int64_t channels = a->src[0].shape.dim[3], rows = a->src[0].count / channels;
    normalizing n = {.src = a->src[0],
                     .terms = a->src[terms].data,
                     .limits = mst_batch_limits_for(activation),
                     .channels = channels,
                     .dst = dst};
    return mst_parallel(a, rows, mst_grain(rows, channels), normalize_some, &n);
}

mst_status mst_normalized_conv_run(const mst_kernel_args *a, int terms, const mst_op *op) {
    enum { MOST_SRC = 4 };
    mst_array src[MOST_SRC];
    const mst_normalized_conv_options *o = a->options;
    MST_TRY(mst_normalize_source(a, terms, o->activation, a->workspace));
    for (int i = 0; i < a->num_src; i++) src[i] = a->src[i];
    src[0].data = a->workspace;
    mst_kernel_args inner = *a;
    inner.op = op;
    inner.num_src = op->num_src;
    inner.src = src;
    return op->reference(&inner);
}
