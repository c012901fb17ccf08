/** A depthwise convolution of 3x3, one row of a picture after the other, so that the sources of a row stay in the cache
 *  of a core.
 *
 *  Each channel is a convolution of its own: dst[o] = sum over k of src[o stride - before + k] weights[k]. A thread
 *  keeps the last three rows of what is read in a ring, with the zeros before and after them, and makes each row of
 *  them once. If the source is the output of a batch norm, rows are normalized as they come. Arrays are f32 but for
 *  those that may be kept in bf16; a row is [width, channels], weights are [3, 3, channels]. */
#ifndef MUSTER_KERNEL_CPU_BASE_DEPTHWISE_H
#define MUSTER_KERNEL_CPU_BASE_DEPTHWISE_H

#include "op/conv/conv.h"
#include "op/norm/batch_norm.h"
#include "op/norm/kept.h"

enum { MST_DEPTHWISE_SIZE = 3, MST_DEPTHWISE_TAPS = MST_DEPTHWISE_SIZE * MST_DEPTHWISE_SIZE };

/** Whether these functions can compute a node, a convolution or gradients of one, with an output of DST, in f32. Its
 *  products are of f32 also if it asks for bf16: they are too few to gain. */
bool mst_is_depthwise(const mst_infer *c, const mst_shape *dst);

/** Examples of a part, a function of the number of all: the same on any number of threads. */
int64_t mst_depthwise_chunk(int64_t examples);

/** The last three rows of an array of HEIGHT rows of WIDTH, with columns of zeros BEFORE and AFTER each. */
typedef struct mst_row_ring {
    int64_t height, width, channels, before, after;
    float *rows; /**< four; the last is all zero */
} mst_row_ring;
/** The array that the convolution reads, and the gradient of its output as the gradient of its source reads it; both
 *  without `rows`. */
mst_row_ring mst_depthwise_source(const mst_conv *conv);
mst_row_ring mst_depthwise_gradient(const mst_conv *conv);
/** Bytes of the rows. */
size_t mst_row_ring_bytes(const mst_row_ring *ring);
/** Begins with no row; MEMORY has that many bytes. */
void mst_row_ring_begin(mst_row_ring *ring, void *memory);
/** Where row Y is, or is to be written: its WIDTH columns. */
float *mst_row_ring_inside(const mst_row_ring *ring, int64_t y);
/** Row Y, one of the last three that were written, from the first of its columns of zeros on; zeros if the array has
 *  no row Y. */
const float *mst_row_ring_row(const mst_row_ring *ring, int64_t y);

/** Row Y of EXAMPLE of SRC, [examples, height, width, channels], to the ring; if TERMS are given, the output of the
 *  batch norm of it, cut to LIMITS, made with BLOCKS of mst_kept_blocks_bytes. */
void mst_row_ring_read(const mst_row_ring *ring, mst_kept_array src, const float *terms, mst_batch_limits limits,
                       int64_t example, int64_t y, float *blocks);

/** Row Y of the output of CONV, in DST. */
void mst_depthwise_row(const mst_conv *conv, const mst_row_ring *source, const float *weights, int64_t y, float *dst);
/** The same of EXAMPLE of the source, [height, width, channels], read where it lies; ZEROS are a row of zeros. */
void mst_depthwise_row_of(const mst_conv *conv, const float *example, const float *zeros, const float *weights,
                          int64_t y, float *dst);
/** Row Y of the gradient of the source, in DST. */
void mst_depthwise_source_row(const mst_conv *conv, const mst_row_ring *gradient, const float *weights, int64_t y,
                              float *dst);
/** Adds to DWEIGHTS what row Y of the output adds to the gradient of the weights. */
void mst_depthwise_weights_row(const mst_conv *conv, const mst_row_ring *source, const mst_row_ring *gradient,
                               int64_t y, float *dweights);

#endif
