/* conv2d, conv3d and their gradients by oneDNN, in parts of the batch (kernel/onednn/base/conv_parts.h). If the source
 * is the output of a batch norm, each part computes its share of that output right before reading it. If a batch norm
 * follows, each part is measured right after it is written. */
#include <stdlib.h>

#include "base/no_memory.h"
#include "kernel/kernel.h"
#include "kernel/onednn/base/conv_parts.h"
#include "op/conv/conv2d_statistics.h"
#include "op/conv/fused_conv2d.h"
#include "op/conv/normalized_conv.h"
#include "op/list.h"
#include "op/norm/batch_norm.h"
#include "op/norm/kept.h"
#include "op/op.h"
#include "op/share.h"
#include "tensor/buffer.h"

typedef struct conv_state {
    mst_conv_parts parts;
    /* Number of the source that has, for each channel, mean, scale and beta of the batch norm before this convolution
     * (MST_BATCH_TERMS in op/norm/batch_norm.h); 0: there is none. */
    int terms;
    /* Places in the workspace. It has the workspace of the parts. Then for each thread it has a piece of the output of
     * the batch norm before, and the scratch memory that computing it needs (`blocks` of mst_kept_normalize). */
    size_t normalized, blocks, thread_step;
    /* For conv2d_statistics: the statistics of the batch norm that follows are summed over parts of their own
     * (mst_batch_rows). This is how many of them lie in one part of the convolution; 0: some of them lie in several, so
     * they are measured after all parts. The sums are at the end of the workspace. */
    int64_t measured_of_part;
    size_t sums_bytes;
} conv_state;

static void conv_release(void *context) {
    conv_state *s = context;
    if (!s) return;
    mst_conv_parts_free(&s->parts);
    free(s);
}

static bool is_transposed(const mst_op *op) {
    return op == &mst_op_conv2d_transpose || op == &mst_op_conv3d_transpose;
}

static mst_status make_state(conv_state *s, const mst_infer *c, int num_threads) {
    const bool transposed = is_transposed(c->op);
    const bool forward = c->op == &mst_op_conv2d || c->op == &mst_op_conv3d || c->op == &mst_op_fused_conv2d ||
                         c->op == &mst_op_normalized_conv2d || c->op == &mst_op_conv2d_statistics;
    const mst_convolution_kind kind = forward                                          ? MST_CONVOLUTION
                                      : transposed || c->op == &mst_op_conv2d_src_grad ? MST_CONVOLUTION_SRC_GRAD
                                                                                       : MST_CONVOLUTION_WEIGHTS_GRAD;
    mst_conv conv = transposed ? mst_conv_make(c->options, &c->dst[0].shape, &c->src[1].shape, &c->src[0].shape)
                               : mst_conv_make(c->options, &c->src[0].shape, &c->src[1].shape,
                                               forward ? &c->dst[0].shape : &c->src[2].shape);
    s->terms = mst_conv_src_terms(c->op, c->num_src);
    conv.made_bf16 = kind != MST_CONVOLUTION_WEIGHTS_GRAD && c->dst[0].dtype == MST_BF16;
    MST_TRY(mst_conv_parts_make(&s->parts, kind, &conv, num_threads, 0, forward && !s->terms, c->name));
    if (s->terms) {
        mst_conv_parts_take_rounded(&s->parts, MST_CONVOLUTION_SRC);
        s->blocks = mst_align(mst_kept_array_bytes(s->parts.conv.bf16, s->parts.src_step));
        s->thread_step = s->blocks + mst_kept_blocks_bytes(conv.in_channels);
    }
    s->normalized = s->parts.workspace;
    if (c->op != &mst_op_conv2d_statistics) return MST_OK;
    const mst_batch_rows rows = mst_batch_rows_of(&c->dst[0].shape);
    s->measured_of_part = mst_batch_parts_of_share(&rows, s->parts.parts, s->parts.dst_step / conv.out_channels);
    s->sums_bytes = (size_t)mst_batch_sums_count(&rows) * sizeof(float);
    return MST_OK;
}

static size_t sums_of(const conv_state *s) {
    return s->normalized + (size_t)s->parts.num_threads * s->thread_step;
}

static size_t workspace_of(const conv_state *s) {
    return sums_of(s) + s->sums_bytes;
}

/* THREAD's share of the workspace. */
static char *workspace_for(const mst_kernel_args *a, int thread) {
    const conv_state *s = a->state;
    return (char *)a->workspace + s->normalized + (size_t)thread * s->thread_step;
}

static mst_status conv_prepare(const mst_infer *c, int num_threads, void **out, size_t *workspace) {
    conv_state *s = calloc(1, sizeof *s);
    if (!s) return MST_NO_MEMORY("for a kernel");
    const mst_status status = make_state(s, c, num_threads);
    if (status) {
        conv_release(s);
        return status;
    }
    *workspace = workspace_of(s);
    *out = s;
    return MST_OK;
}

static mst_status conv_pack(void *context, int src, const mst_tensor *constant, mst_tensor **packed,
                            size_t *workspace) {
    conv_state *s = context;
    *packed = NULL;
    if (src != 1 || s->parts.kind == MST_CONVOLUTION_WEIGHTS_GRAD || mst_tensor_dtype(constant) != MST_F32)
        return MST_OK;
    MST_TRY(mst_conv_parts_pack(&s->parts, mst_tensor_data(constant), packed));
    s->normalized = s->parts.workspace;
    *workspace = workspace_of(s);
    return MST_OK;
}

/* The source of part PART. If it is the output of a batch norm, it is in the thread's workspace. */
static void *part_source(const mst_kernel_args *a, int64_t part, int thread) {
    const conv_state *s = a->state;
    const mst_kept_array src =
        mst_kept_array_from(mst_kept_array_of(s->parts.kind == MST_CONVOLUTION_SRC_GRAD ? &a->dst[0] : &a->src[0]),
                            mst_conv_part_src(&s->parts, part));
    if (!s->terms) return src.data;
    const mst_normalized_conv_options *o = a->options;
    char *mine = workspace_for(a, thread);
    const mst_kept_array normalized = {.data = mine, .bf16 = s->parts.conv.bf16};
    mst_kept_normalize(a->src[s->terms].data, mst_batch_limits_for(o->activation), src,
                       mst_conv_part_count(part, s->parts.src_step, a->src[0].count), s->parts.conv.in_channels,
                       normalized, (float *)(void *)(mine + s->blocks));
    return normalized.data;
}

static mst_batch_statistics statistics_of(const mst_kernel_args *a) {
    mst_batch_statistics statistics = mst_conv2d_statistics_of(a);
    statistics.sums = (char *)a->workspace + sums_of(a->state);
    return statistics;
}

static void measure_part(const mst_kernel_args *a, int64_t part) {
    const int64_t count = ((const conv_state *)a->state)->measured_of_part, begin = part * count;
    const mst_batch_statistics statistics = statistics_of(a);
    mst_kept_measure(&statistics, a->dst[0].dtype == MST_BF16, begin,
                     mst_batch_parts_end(&statistics.rows, begin, count));
}

static mst_status measure_parts(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const mst_batch_statistics statistics = statistics_of(a);
    (void)thread;
    mst_kept_measure(&statistics, a->dst[0].dtype == MST_BF16, begin, end);
    return MST_OK;
}

static mst_status run_parts(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const mst_conv_parts *p = &((const conv_state *)a->state)->parts;
    const bool transposed = is_transposed(a->op); /* source 0 takes the place of the gradient */
    const mst_kept_array dst = mst_kept_array_of(p->kind == MST_CONVOLUTION ? &a->dst[0] : &a->src[transposed ? 0 : 2]);
    void *weights = p->kind == MST_CONVOLUTION_WEIGHTS_GRAD ? a->dst[0].data : a->src[1].data;
    for (int64_t part = begin; part < end; part++) {
        MST_TRY(mst_conv_parts_run(p, a, part, thread, part_source(a, part, thread), weights,
                                   mst_kept_array_from(dst, part * p->dst_step).data, a->workspace));
        if (a->op == &mst_op_fused_conv2d)
            mst_fused_conv2d_finish_f32(a, part * p->dst_step, mst_conv_part_count(part, p->dst_step, a->dst[0].count));
        if (a->op == &mst_op_conv2d_statistics) measure_part(a, part);
    }
    return MST_OK;
}

static mst_status conv_run(const mst_kernel_args *a) {
    const mst_conv_parts *p = &((const conv_state *)a->state)->parts;
    MST_TRY(mst_conv_parts_begin(p, a, a->src[1].data, a->workspace));
    MST_TRY(mst_parallel(a, p->parts, 1, run_parts, mst_context_of(a)));
    if (a->op != &mst_op_conv2d_statistics)
        return mst_conv_parts_end(p, a, a->dst[0].data, a->dst[0].count, a->workspace);
    const mst_batch_statistics statistics = statistics_of(a);
    if (!((const conv_state *)a->state)->measured_of_part)
        MST_TRY(mst_parallel(a, statistics.rows.parts, 1, measure_parts, mst_context_of(a)));
    mst_batch_conclude_f32(&statistics);
    return MST_OK;
}

static mst_kernel_function conv_choose(const mst_infer *c, int num_threads) {
    (void)num_threads;
    if (c->src[1].dtype != MST_F32) return NULL;
    for (int i = 0; i < c->num_src; i++)
        if (mst_shape_count(c->src[i].shape) == 0) return NULL;
    if (c->op == &mst_op_conv2d_weights_grad) {
        const mst_conv conv = mst_conv_make(c->options, &c->src[0].shape, &c->src[1].shape, &c->src[2].shape);
        if (mst_conv_grad_is_product(&conv)) return NULL;
    }
    return conv_run;
}

const mst_kernel mst_kernel_onednn_conv = {
    .engine = "onednn",
    .ops = (const char *const[]){"conv2d", "conv2d_src_grad", "conv2d_statistics", "conv2d_transpose",
                                 "conv2d_weights_grad", "conv3d", "conv3d_transpose", "fused_conv2d",
                                 "normalized_conv2d", "normalized_conv2d_weights_grad", NULL},
    .select = conv_choose,
    .prepare = conv_prepare,
    .pack = conv_pack,
    .release = conv_release,
};
