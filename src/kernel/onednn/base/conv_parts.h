/** A convolution, or a gradient of one, in parts of the batch. The caller gives each part its source and output.
 *
 *  The examples are cut into parts in the same way on any number of threads, so that they give the same bits. Each part
 *  is a call of its own, on one thread. The gradient of the weights is a sum over the examples. Each part writes its
 *  sum to a separate place, and these sums are added up in the order of the parts. A convolution of one example is cut
 *  into bands of rows of its output; each band reads the rows that its windows reach. If windows are 1 x 1, a part can
 *  also be some rows of an example. Examples are divided like this if one does not fit into the cache of a core.
 *
 *  If the convolution is in bf16, a part's operands are rounded before it reads them, unless they are given in bf16.
 *  The result is bf16 too if `made_bf16` is set. If oneDNN has no fast code for bf16, the convolution is computed in
 *  f32.
 *
 *  In each step the weights are rearranged, once for all parts, to the layout that oneDNN reads fastest. Constant
 *  weights are rearranged once, when the plan is made. */
#ifndef MUSTER_KERNEL_ONEDNN_BASE_CONV_PARTS_H
#define MUSTER_KERNEL_ONEDNN_BASE_CONV_PARTS_H

#include "kernel/onednn/base/convolution.h"

enum { MST_CONV_PART_ARGS = MST_CONVOLUTION_OPERANDS + 1 };
/* Sizes of parts; each has a primitive. WHOLE: `chunk` examples, or a band inside the example. REST: the last part.
 * FIRST: the first band, which has zeros above it. */
enum { MST_CONV_WHOLE, MST_CONV_REST, MST_CONV_FIRST, MST_CONV_SIZES };

/** A prepared call of a primitive by one thread. */
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
    dnnl_memory_t plain, chosen; /* memory objects of the weights: as given, and in the primitive's layout */
    int num_threads;
    int64_t parts, chunk;
    int64_t band;               /* rows of output in a band; 0: parts are examples, not bands */
    bool packed;                /* the weights are given in the primitive's layout */
    int64_t src_step, dst_step; /* elements from one part to the next */
    int64_t src_before;         /* a band, except the first, reads from so many elements before part * src_step on */
    /* Sizes and places in the workspace. It has the weights in the primitive's layout, or a gradient of them for each
     * part. After that come the scratchpads of the threads. */
    size_t weights_step, scratchpads, scratchpad_step, workspace;
    size_t rounded; /* in a thread's scratchpad: place of the operands that are rounded to bf16 */
    size_t made;    /* in a thread's scratchpad, if `rounds_made`: place of the f32 result that is rounded to bf16 */
    bool rounds_made;
    bool given_rounded[MST_CONVOLUTION_OPERANDS]; /* mst_conv_parts_take_rounded */
} mst_conv_parts;

/** The number of examples in a part. */
int64_t mst_conv_chunk(const mst_conv *conv);
/** Whether the gradient of the weights of CONV is faster as a product of matrices
 *  (kernel/onednn/conv1d_weights_grad.c). */
bool mst_conv_grad_is_product(const mst_conv *conv);
/** Makes PARTS with CHUNK examples each. If CHUNK is 0, it chooses the best size; with BANDS it may also choose bands
 *  of rows. NAME is the node's name. */
MST_CHECKED mst_status mst_conv_parts_make(mst_conv_parts *parts, mst_convolution_kind kind, const mst_conv *conv,
                                           int num_threads, int64_t chunk, bool bands, const char *name);
/** Puts constant WEIGHTS into the layout that the parts read from now on. *PACKED is a u8 tensor that the caller owns;
 *  NULL if WEIGHTS have that layout already. The workspace gets smaller. */
MST_CHECKED mst_status mst_conv_parts_pack(mst_conv_parts *parts, const void *weights, mst_tensor **packed);
/** From now on operand WHICH, a source or output that is read, is given in bf16 if PARTS are in bf16 (see `conv`). The
 *  workspace gets smaller. */
void mst_conv_parts_take_rounded(mst_conv_parts *parts, int which);
/** Frees what mst_conv_parts_make has made. PARTS may be all zeros. */
void mst_conv_parts_free(mst_conv_parts *parts);

/** The number of elements in part PART of an operand with COUNT elements; there are STEP elements from one part to the
 *  next. */
static inline int64_t mst_conv_part_count(int64_t part, int64_t step, int64_t count) {
    const int64_t left = count - part * step;
    return left < step ? left : step;
}

/** The element of the source at which part PART begins to read. */
static inline int64_t mst_conv_part_src(const mst_conv_parts *parts, int64_t part) {
    return part * parts->src_step - (part ? parts->src_before : 0);
}

/** Call it before the parts run: puts WEIGHTS into the workspace, which has `workspace` bytes. Does nothing for a
 *  gradient of weights. */
MST_CHECKED mst_status mst_conv_parts_begin(const mst_conv_parts *parts, const mst_kernel_args *a, const void *weights,
                                            void *workspace);
/** Runs part PART on THREAD. SRC and DST are the operands of this part. WEIGHTS are those given to begin or, for their
 *  gradient, to end. */
MST_CHECKED mst_status mst_conv_parts_run(const mst_conv_parts *parts, const mst_kernel_args *a, int64_t part,
                                          int thread, void *src, void *weights, void *dst, void *workspace);
/** Call it after the parts have run: writes the gradient of the weights, COUNT elements, to WEIGHTS. Does nothing for
 *  the other kinds. */
MST_CHECKED mst_status mst_conv_parts_end(const mst_conv_parts *parts, const mst_kernel_args *a, void *weights,
                                          int64_t count, void *workspace);

#endif
