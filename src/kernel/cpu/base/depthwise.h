/** A depthwise convolution with windows of 3x3. It takes one row of a picture after the other, so that the sources of a
 *  row stay in the cache of a core.
 *
 *  Each channel is a convolution of its own: dst[o] = sum over k of src[o stride - before + k] weights[k]. A thread
 *  keeps the last three rows that it has read in a ring, with zeros before and after them. It computes each of these
 *  rows once. If the source is the output of a batch norm, rows are normalized as they are read. Arrays are f32, except
 *  those that may be kept in bf16. A row is [width, channels], weights are [3, 3, channels]. */
#ifndef MUSTER_KERNEL_CPU_BASE_DEPTHWISE_H
#define MUSTER_KERNEL_CPU_BASE_DEPTHWISE_H

#include "op/conv/conv.h"
#include "op/norm/batch_norm.h"
#include "op/norm/kept.h"

enum { MST_DEPTHWISE_SIZE = 3, MST_DEPTHWISE_TAPS = MST_DEPTHWISE_SIZE * MST_DEPTHWISE_SIZE };

/** Whether these functions can compute the node of C: a convolution with an output of shape DST, or its gradients. They
 *  compute in f32 even if the node allows bf16: there are too few products for bf16 to be faster. */
bool mst_is_depthwise(const mst_infer *c, const mst_shape *dst);

/** Threads take the examples in parts. Returns the number of examples in a part. It depends only on EXAMPLES, the
 *  number of all examples, so it is the same on any number of threads. */
int64_t mst_depthwise_chunk(int64_t examples);

/** A ring with the last three rows of an array of HEIGHT rows of WIDTH. Each row has BEFORE columns of zeros before it
 *  and AFTER columns of zeros after it. */
typedef struct mst_row_ring {
    int64_t height, width, channels, before, after;
    float *rows; /**< room for four rows; the last is all zeros */
} mst_row_ring;
/** The ring for the array that the convolution reads, and the ring for the gradient of its output, from which the
 *  gradient of the source is computed. `rows` is not set in either. */
mst_row_ring mst_depthwise_source(const mst_conv *conv);
mst_row_ring mst_depthwise_gradient(const mst_conv *conv);
/** Bytes of the ring's rows. */
size_t mst_row_ring_bytes(const mst_row_ring *ring);
/** Begins the ring with no row. MEMORY has mst_row_ring_bytes bytes. */
void mst_row_ring_begin(mst_row_ring *ring, void *memory);
/** The WIDTH columns of row Y, to be read or written. */
float *mst_row_ring_inside(const mst_row_ring *ring, int64_t y);
/** Row Y, beginning at its first column of zeros. Row Y must be one of the last three rows that were written. If Y is
 *  outside the array, the row is all zeros. */
const float *mst_row_ring_row(const mst_row_ring *ring, int64_t y);

/** Reads row Y of EXAMPLE of SRC, [examples, height, width, channels], into the ring. With TERMS, those
 *  of a batch norm, the row is normalized (mst_batch_normalize_f32) and clipped to LIMITS; else TERMS is NULL. */
void mst_row_ring_read(const mst_row_ring *ring, mst_kept_array src, const float *terms, mst_batch_limits limits,
                       int64_t example, int64_t y);

/** Computes row Y of the output of CONV into DST. */
void mst_depthwise_row(const mst_conv *conv, const mst_row_ring *source, const float *weights, int64_t y, float *dst);
/** Computes row Y of the output from EXAMPLE of the source, [height, width, channels], without a ring. ZEROS is a row
 *  of zeros. */
void mst_depthwise_row_of(const mst_conv *conv, const float *example, const float *zeros, const float *weights,
                          int64_t y, float *dst);
/** Computes row Y of the gradient of the source into DST. */
void mst_depthwise_source_row(const mst_conv *conv, const mst_row_ring *gradient, const float *weights, int64_t y,
                              float *dst);
/** Adds to DWEIGHTS, the gradient of the weights, the contribution of row Y of the output. */
void mst_depthwise_weights_row(const mst_conv *conv, const mst_row_ring *source, const mst_row_ring *gradient,
                               int64_t y, float *dweights);

#endif
