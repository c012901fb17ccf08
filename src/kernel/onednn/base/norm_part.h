/** What batch norms give to a part of a convolution, as its primitive reads it: their output, and the gradient of what
 *  they read. Where products are of bf16 a few rows at a time are made in f32 and rounded while they are in the first
 *  cache. */
#ifndef MUSTER_KERNEL_ONEDNN_BASE_NORM_PART_H
#define MUSTER_KERNEL_ONEDNN_BASE_NORM_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "op/norm/batch_norm.h"

/** Rounds COUNT elements to bf16. */
void mst_round_to_bf16(const float *src, uint16_t *dst, int64_t count);

/** Bytes of scratch that a thread needs for parts of COUNT elements. */
size_t mst_norm_part_bytes(int64_t count, int64_t channels, bool bf16);
/** SCRATCH with the output of the batch norm of COUNT elements of SRC, cut to LIMITS; its arguments are those of
 *  mst_batch_normalize_f32. */
void *mst_norm_part_normalize(const float *terms, mst_batch_limits limits, const float *src, int64_t count,
                              int64_t channels, bool bf16, void *scratch);
/** SCRATCH with the gradient of COUNT elements of SRC from GRADIENT, that of the batch norm's output; its arguments are
 *  those of mst_batch_differentiate_f32. */
void *mst_norm_part_differentiate(const float *terms, const mst_batch_limits *limits, const float *src,
                                  const float *gradient, int64_t count, int64_t channels, bool bf16, void *scratch);

#endif
