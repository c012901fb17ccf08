/* Reads the losses of ONNX. Scores are [n, classes, ...] and labels [n, ...]. */
#include "model_file/onnx/onnx_read.h"
#include "muster/ops.h"
#include "op/index/row_index.h"

/* The element of X, [..., classes], that LABELS, [...], name. */
static mst_value chosen(mst_value x, mst_value labels) {
    return mst_squeeze(mst_gather_last(x, mst_expand_dims(labels, -1)), MST_AXES(-1));
}

/* Sets output 0 to the loss of the log probabilities LOG, [n, ..., classes], for the labels in input 1. Ignored labels
 * add nothing to the loss, and may be out of range. Any other label out of range makes the run fail. */
static mst_status put_loss(mst_onnx_call *c, mst_value log) {
    mst_value labels, weight = MST_NONE;
    mst_graph *graph = c->reader->graph;
    const bool mean = mst_onnx_is(c, "reduction", "mean", "mean"), sum = mst_onnx_is(c, "reduction", "sum", "mean");
    const bool ignores = mst_onnx_attribute(c, "ignore_index", MST_ONNX_INT) != NULL;
    const int64_t ignored = mst_onnx_int(c, "ignore_index", 0);
    if (!mean && !sum && !mst_onnx_is(c, "reduction", "none", "mean"))
        return MST_FAIL(MST_INVALID, "its reduction is not supported: none, sum and mean are");
    MST_TRY(mst_onnx_plain(c, 1, &labels));
    const int ndim = mst_value_spec(labels).shape.ndim;
    if (ndim + 1 != mst_value_spec(log).shape.ndim)
        return MST_FAIL(MST_INVALID, "its labels have %d dimensions, and its scores %d: they must have one more", ndim,
                        mst_value_spec(log).shape.ndim);
    labels = mst_cast(labels, MST_I64);
    if (ignores) {
        const mst_value counts = mst_not_equal(labels, mst_scalar(graph, MST_I64, (double)ignored));
        labels = mst_select(counts, labels, mst_zeros_like(labels));
        weight = mst_cast(counts, mst_value_spec(log).dtype);
    }
    if (mst_onnx_has(c, 2)) {
        mst_value each;
        MST_TRY(mst_onnx_plain(c, 2, &each));
        each = mst_gather(each, labels, 0);
        weight = ignores ? mst_mul(weight, each) : each;
    }
    mst_value loss = mst_neg(chosen(log, labels));
    MST_TRY(mst_graph_check(graph));
    const bool weighted = !mst_value_is_none(weight);
    if (weighted) {
        const mst_value zero = mst_zeros_like(weight); /* 0 times a loss that is not finite is 0 */
        loss = mst_select(mst_equal(weight, zero), mst_zeros_like(loss), mst_mul(loss, weight));
    }
    if (sum || (mean && weighted)) loss = mst_reduce_sum(loss);
    if (mean) loss = weighted ? mst_div(loss, mst_reduce_sum(weight)) : mst_reduce_mean(loss);
    return mst_onnx_put(c, 0, loss);
}

static mst_status read_scores(mst_onnx_call *c, mst_value *out) {
    MST_TRY(mst_onnx_last(c, 0, out));
    const int ndim = mst_value_spec(*out).shape.ndim;
    return ndim >= 2 ? MST_OK : MST_FAIL(MST_INVALID, "its scores have %d dimensions, and must have two or more", ndim);
}

static mst_status read_nll_loss(mst_onnx_call *c) {
    mst_value x;
    MST_TRY(read_scores(c, &x));
    return put_loss(c, x);
}

static mst_status read_cross_entropy(mst_onnx_call *c) {
    mst_value x;
    MST_TRY(read_scores(c, &x));
    const mst_value log = mst_log_softmax(x);
    MST_TRY(put_loss(c, log));
    return mst_onnx_wants(c, 1) ? mst_onnx_put(c, 1, mst_onnx_to_plain(log)) : MST_OK;
}

const mst_onnx_op mst_onnx_loss_ops[] = {
    {"NegativeLogLikelihoodLoss", .read = read_nll_loss},
    {"SoftmaxCrossEntropyLoss", .read = read_cross_entropy},
    {0},
};
