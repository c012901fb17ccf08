/* conv2d_grads by oneDNN. For each part of the batch it computes the gradient of the convolution's output, and the
 * source that the convolution has read. From these it computes the gradients of the convolution, and their contribution
 * to the sums of the batch norm before. All of this stays in the cache. */
#include <stdlib.h>

#include "base/no_memory.h"
#include "kernel/kernel.h"
#include "kernel/onednn/base/conv_parts.h"
#include "op/conv/conv2d_grads.h"
#include "op/norm/batch_norm.h"
#include "op/norm/kept.h"
#include "op/op.h"
#include "op/share.h"
#include "tensor/buffer.h"

typedef struct conv_grads_state {
    mst_conv_parts weights, src; /* gradient of the weights, gradient of the source. Both have the same parts; `src` is
                                  * all zeros if the gradient of the source is not computed */
    bool bf16;                   /* `weights` and `src` read operands that are computed for them in bf16 */
    /* Sizes and places in the workspace. It has the workspaces of `src` and `weights`. Then for each thread it has, of
     * its present part: the gradient of the output, the source that the convolution reads, scratch memory to compute
     * these (`blocks` of mst_kept_normalize), and memory for one part of the sums (`parts` of mst_kept_add_up). */
    size_t of_weights, scratch, scratch_step, read, blocks, added;
    size_t sums; /* place of mst_batch_sums, at the end */
    /* The sums of the batch norm before are added up over parts of their own (mst_batch_rows). This is how many of them
     * lie in one part of the convolution; 0: some of them lie in several, so they are added up after all parts. */
    int64_t sums_of_part;
} conv_grads_state;

static void conv_grads_release(void *context) {
    conv_grads_state *s = context;
    if (!s) return;
    mst_conv_parts_free(&s->src);
    mst_conv_parts_free(&s->weights);
    free(s);
}

static mst_status make_state(conv_grads_state *s, const mst_infer *c, int num_threads) {
    mst_conv conv = mst_conv_make(c->options, &c->src[MST_CONV2D_GRADS_SRC].shape,
                                  &c->src[MST_CONV2D_GRADS_WEIGHTS].shape, &c->src[MST_CONV2D_GRADS_GRADIENT].shape);
    const bool both = !((const mst_conv2d_grads_options *)c->options)->weights_only;
    MST_TRY(mst_conv_parts_make(&s->weights, MST_CONVOLUTION_WEIGHTS_GRAD, &conv, num_threads, 0, false, c->name));
    conv.made_bf16 = both && c->dst[0].dtype == MST_BF16;
    if (both) MST_TRY(mst_conv_parts_make(&s->src, MST_CONVOLUTION_SRC_GRAD, &conv, num_threads, 0, false, c->name));
    if (both && s->src.parts != s->weights.parts) { /* make both one part */
        mst_conv_parts *other = s->src.parts > s->weights.parts ? &s->src : &s->weights;
        const mst_convolution_kind kind = other->kind;
        conv.made_bf16 = conv.made_bf16 && other == &s->src;
        mst_conv_parts_free(other);
        MST_TRY(mst_conv_parts_make(other, kind, &conv, num_threads, conv.n, false, c->name));
    }
    const bool normalized = c->num_src > MST_CONV2D_GRADS_SRC_TERMS;
    s->bf16 = s->weights.conv.bf16 && (!both || s->src.conv.bf16);
    if (s->bf16) {
        if (both) mst_conv_parts_take_rounded(&s->src, MST_CONVOLUTION_DST);
        mst_conv_parts_take_rounded(&s->weights, MST_CONVOLUTION_DST);
        if (normalized) mst_conv_parts_take_rounded(&s->weights, MST_CONVOLUTION_SRC);
    }
    s->of_weights = mst_align(s->src.workspace);
    s->scratch = s->of_weights + mst_align(s->weights.workspace);
    const mst_batch_rows rows = mst_batch_rows_of(&c->src[MST_CONV2D_GRADS_SRC].shape);
    const int64_t channels = conv.in_channels > conv.out_channels ? conv.in_channels : conv.out_channels;
    s->read = mst_align(mst_kept_array_bytes(s->bf16, s->weights.dst_step));
    s->blocks = s->read + (normalized ? mst_align(mst_kept_array_bytes(s->bf16, s->weights.src_step)) : 0);
    s->added = s->blocks + mst_kept_blocks_bytes(channels);
    s->scratch_step = s->added + mst_kept_parts_bytes(&rows, c->src[MST_CONV2D_GRADS_SRC].dtype == MST_BF16,
                                                      c->dst[0].dtype == MST_BF16);
    s->sums = s->scratch + (size_t)num_threads * s->scratch_step;
    s->sums_of_part = mst_batch_parts_of_share(&rows, s->weights.parts, s->weights.src_step / conv.in_channels);
    return MST_OK;
}

static mst_status conv_grads_prepare(const mst_infer *c, int num_threads, void **out, size_t *workspace) {
    conv_grads_state *s = calloc(1, sizeof *s);
    if (!s) return MST_NO_MEMORY("for a kernel");
    const mst_status status = make_state(s, c, num_threads);
    if (status) {
        conv_grads_release(s);
        return status;
    }
    const mst_batch_rows rows = mst_batch_rows_of(&c->src[MST_CONV2D_GRADS_SRC].shape);
    const bool sums = c->num_src > MST_CONV2D_GRADS_VARIANCE;
    *workspace = s->sums + (sums ? (size_t)mst_batch_sums_count(&rows) * sizeof(float) : 0);
    *out = s;
    return MST_OK;
}

/* Computes the gradient of the convolution's output in part PART, in SCRATCH. */
static void differentiate(const mst_kernel_args *a, int64_t part, char *scratch) {
    const conv_grads_state *s = a->state;
    mst_batch_limits storage;
    const int64_t first = part * s->weights.dst_step;
    mst_kept_differentiate(a->src[MST_CONV2D_GRADS_TERMS].data,
                           mst_batch_grad_limits(((const mst_conv2d_grads_options *)a->options)->activation, &storage),
                           mst_kept_array_from(mst_kept_array_of(&a->src[MST_CONV2D_GRADS_OUTPUT]), first),
                           mst_kept_array_from(mst_kept_array_of(&a->src[MST_CONV2D_GRADS_GRADIENT]), first),
                           mst_conv_part_count(part, s->weights.dst_step, a->src[MST_CONV2D_GRADS_OUTPUT].count),
                           s->weights.conv.out_channels, (mst_kept_array){.data = scratch, .bf16 = s->bf16},
                           (float *)(void *)(scratch + s->blocks));
}

/* The source that the convolution reads in part PART. If it is the output of a batch norm, it is computed in
 * SCRATCH. */
static void *read_by(const mst_kernel_args *a, int64_t part, char *scratch) {
    const conv_grads_state *s = a->state;
    const mst_array *all = &a->src[MST_CONV2D_GRADS_SRC];
    const mst_kept_array src = mst_kept_array_from(mst_kept_array_of(all), part * s->weights.src_step);
    if (a->num_src <= MST_CONV2D_GRADS_SRC_TERMS) return src.data;
    const mst_kept_array read = {.data = scratch + s->read, .bf16 = s->bf16};
    mst_kept_normalize(a->src[MST_CONV2D_GRADS_SRC_TERMS].data,
                       mst_batch_limits_for(((const mst_conv2d_grads_options *)a->options)->src_activation), src,
                       mst_conv_part_count(part, s->weights.src_step, all->count), s->weights.conv.in_channels, read,
                       (float *)(void *)(scratch + s->blocks));
    return read.data;
}

static mst_batch_sums sums_of(const mst_kernel_args *a) {
    mst_batch_sums sums = mst_conv2d_grads_sums(a);
    sums.sums = (char *)a->workspace + ((const conv_grads_state *)a->state)->sums;
    return sums;
}

static void add_up_kept(const mst_kernel_args *a, int64_t begin, int64_t end, int thread) {
    const conv_grads_state *s = a->state;
    const mst_batch_sums sums = sums_of(a);
    char *scratch = (char *)a->workspace + s->scratch + (size_t)thread * s->scratch_step;
    mst_kept_add_up(&sums, a->src[MST_CONV2D_GRADS_SRC].dtype == MST_BF16, a->dst[0].dtype == MST_BF16, begin, end,
                    (float *)(void *)(scratch + s->added));
}

/* Adds up those parts of the sums that lie in part PART of the convolution, whose gradients were just computed. */
static void add_up_part(const mst_kernel_args *a, int64_t part, int thread) {
    const int64_t count = ((const conv_grads_state *)a->state)->sums_of_part, begin = part * count;
    const mst_batch_rows rows = mst_batch_rows_of(&a->src[MST_CONV2D_GRADS_SRC].shape);
    add_up_kept(a, begin, mst_batch_parts_end(&rows, begin, count), thread);
}

static mst_status conv_grads_sums(void *context, int64_t begin, int64_t end, int thread) {
    add_up_kept(context, begin, end, thread);
    return MST_OK;
}

static mst_status conv_grads_parts(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const conv_grads_state *s = a->state;
    char *workspace = a->workspace, *scratch = workspace + s->scratch + (size_t)thread * s->scratch_step;
    for (int64_t part = begin; part < end; part++) {
        differentiate(a, part, scratch);
        MST_TRY(mst_conv_parts_run(&s->weights, a, part, thread, read_by(a, part, scratch),
                                   a->dst[mst_conv2d_grads_of_weights(a->options)].data, scratch,
                                   workspace + s->of_weights));
        if (!s->src.parts) continue;
        MST_TRY(mst_conv_parts_run(&s->src, a, part, thread,
                                   mst_kept_array_from(mst_kept_array_of(&a->dst[0]), part * s->src.src_step).data,
                                   a->src[MST_CONV2D_GRADS_WEIGHTS].data, scratch, workspace));
        if (a->num_src > MST_CONV2D_GRADS_VARIANCE && s->sums_of_part) add_up_part(a, part, thread);
    }
    return MST_OK;
}

static mst_status conv_grads_run(const mst_kernel_args *a) {
    const conv_grads_state *s = a->state;
    const mst_array *dweights = &a->dst[mst_conv2d_grads_of_weights(a->options)];
    if (s->src.parts) MST_TRY(mst_conv_parts_begin(&s->src, a, a->src[MST_CONV2D_GRADS_WEIGHTS].data, a->workspace));
    MST_TRY(mst_parallel(a, s->weights.parts, 1, conv_grads_parts, mst_context_of(a)));
    MST_TRY(mst_conv_parts_end(&s->weights, a, dweights->data, dweights->count, (char *)a->workspace + s->of_weights));
    if (a->num_src <= MST_CONV2D_GRADS_VARIANCE) return MST_OK;
    const mst_batch_sums sums = sums_of(a);
    if (!s->sums_of_part) MST_TRY(mst_parallel(a, sums.rows.parts, 1, conv_grads_sums, mst_context_of(a)));
    mst_batch_join_f32(&sums);
    return MST_OK;
}

static mst_kernel_function conv_grads_choose(const mst_infer *c, int num_threads) {
    (void)num_threads;
    if (c->src[MST_CONV2D_GRADS_WEIGHTS].dtype != MST_F32) return NULL;
    for (int i = 0; i < c->num_src; i++)
        if (mst_shape_count(c->src[i].shape) == 0) return NULL;
    return conv_grads_run;
}

const mst_kernel mst_kernel_onednn_conv_grads = {
    .engine = "onednn",
    .ops = (const char *const[]){"conv2d_grads", NULL},
    .select = conv_grads_choose,
    .prepare = conv_grads_prepare,
    .release = conv_grads_release,
};
