/** A convolution, or a gradient of one, in parts of the batch. The caller gives each part its source and output.
 *
 *  The examples are cut into parts in the same way on any number of threads, so that they give the same bits. Each part
 *  is a call of its own, on one thread. The gradient of the weights is a sum over the examples. Each part writes its
 *  own to a separate place, and they are added up in the order of the parts. A convolution of one example is cut into
 *  bands of rows of its output; each reads the rows that its windows reach. If it reads single pixels, and an example
 *  is more than fits into the cache of a core, parts are rows of an example too.
 *
 *  If the convolution is of bf16, a part's source and output are rounded before it reads them, unless they are given
 *  so; what is made is bf16 too if `made_bf16` says so. One that oneDNN has no fast code for is made in f32.
 *
 *  The weights are rearranged in each step, once for all parts, to the layout that oneDNN reads fastest, unless they
 *  are constant: then they are packed when the plan is made. */
#ifndef MUSTER_KERNEL_ONEDNN_BASE_CONV_PARTS_H
#define MUSTER_KERNEL_ONEDNN_BASE_CONV_PARTS_H

#include "kernel/onednn/base/convolution.h"

enum { MST_CONV_PART_ARGS = MST_CONVOLUTION_OPERANDS + 1 };
/* Parts of `chunk` examples, or bands inside of the example; the last part; the first band, which has zeros above. */
enum { MST_CONV_WHOLE, MST_CONV_REST, MST_CONV_FIRST, MST_CONV_SIZES };

/** What one thread gives to a primitive. */
typedef struct mst_conv_call {
    dnnl_stream_t stream;
    dnnl_memory_t memory[MST_CONV_PART_ARGS];
    dnnl_exec_arg_t args[MST_CONV_PART_ARGS];
} mst_conv_call;

typedef struct mst_conv_parts {
    mst_convolution_kind kind;
    mst_conv conv;
    mst_convolution *primitive[MST_CONV_SIZES];
    mst_conv_call *calls; /* [num_threads][MST_CONV_SIZES] */
    dnnl_stream_t stream;
    dnnl_memory_t plain, chosen; /* weights */
    int num_threads;
    int64_t parts, chunk;
    int64_t band;               /* rows of output of a part of an example; 0: parts are of examples */
    bool packed;                /* the weights are given in the layout of the primitive */
    int64_t src_step, dst_step; /* elements from one part to the next */
    int64_t src_before;         /* elements that a band, but for the first, reads before its step */
    /* The workspace: weights in the layout of the primitive, or their gradients, one of each part; then the scratchpads
     * of the threads. */
    size_t weights_step, scratchpads, scratchpad_step, workspace;
    size_t rounded; /* in a thread's scratchpad: of bf16, what it reads of source and output */
    size_t made;    /* likewise if `rounds_made`: the f32 output that becomes bf16 */
    bool rounds_made;
    bool given_rounded[MST_CONVOLUTION_OPERANDS]; /* mst_conv_parts_take_rounded */
} mst_conv_parts;

/** Examples of a part. */
int64_t mst_conv_chunk(const mst_conv *conv);
/** Whether the gradient of the weights CONV is better a product of matrices (kernel/onednn/conv1d_weights_grad.c). */
bool mst_conv_grad_is_product(const mst_conv *conv);
/** Makes PARTS; CHUNK examples a part, or as many as are best if that is 0, bands of rows among them if BANDS. NAME
 *  is the node's. */
MST_CHECKED mst_status mst_conv_parts_make(mst_conv_parts *parts, mst_convolution_kind kind, const mst_conv *conv,
                                           int num_threads, int64_t chunk, bool bands, const char *name);
/** WEIGHTS, which are constant, in the layout that the parts read from now on: a tensor of u8 for the caller. NULL if
 *  they are in that layout already. The workspace gets smaller. */
MST_CHECKED mst_status mst_conv_parts_pack(mst_conv_parts *parts, const void *weights, mst_tensor **packed);
/** From now on operand WHICH, the source or the output, which is read, is given in bf16 if PARTS are of bf16 (`conv`
 *  says so). The workspace gets smaller. */
void mst_conv_parts_take_rounded(mst_conv_parts *parts, int which);
/** Frees what mst_conv_parts_make has made. PARTS may be all zero. */
void mst_conv_parts_free(mst_conv_parts *parts);

/** The elements in part PART of what a convolution reads, or of its gradient. The whole has COUNT elements; STEP
 *  elements lie from one part to the next. */
static inline int64_t mst_conv_part_count(int64_t part, int64_t step, int64_t count) {
    const int64_t left = count - part * step;
    return left < step ? left : step;
}

/** Elements from the begin of the source to what part PART reads. */
static inline int64_t mst_conv_part_src(const mst_conv_parts *parts, int64_t part) {
    return part * parts->src_step - (part ? parts->src_before : 0);
}

/** Before the parts: WEIGHTS to the workspace, which has `workspace` bytes. Nothing for a gradient of weights. */
MST_CHECKED mst_status mst_conv_parts_begin(const mst_conv_parts *parts, const mst_kernel_args *a, const void *weights,
                                            void *workspace);
/** Part PART, by THREAD: SRC and DST are those of the part, WEIGHTS as in begin or, for their gradient, in end. */
MST_CHECKED mst_status mst_conv_parts_run(const mst_conv_parts *parts, const mst_kernel_args *a, int64_t part,
                                          int thread, void *src, void *weights, void *dst, void *workspace);
/** After the parts: the gradient of the weights, COUNT elements, to WEIGHTS. Nothing for the others. */
MST_CHECKED mst_status mst_conv_parts_end(const mst_conv_parts *parts, const mst_kernel_args *a, void *weights,
                                          int64_t count, void *workspace);

#endif
