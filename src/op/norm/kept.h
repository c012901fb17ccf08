/** Batch norms whose source or gradient is kept in memory in bf16, or whose output is read as bf16. A few rows at a
 *  time are converted to or from f32, while they are in the first-level cache. If all arrays are f32, these functions
 *  do the same as the functions of batch_norm.h. */
#ifndef MUSTER_OP_NORM_KEPT_H
#define MUSTER_OP_NORM_KEPT_H

#include "op/norm/batch_norm.h"

/** An array of f32 or bf16. */
typedef struct mst_kept_array {
    void *data;
    bool bf16;
} mst_kept_array;
static inline mst_kept_array mst_kept_array_of(const mst_array *array) {
    return (mst_kept_array){.data = array->data, .bf16 = array->dtype == MST_BF16};
}
static inline size_t mst_kept_array_bytes(bool bf16, int64_t count) {
    return (size_t)count * (bf16 ? sizeof(uint16_t) : sizeof(float));
}
/** The array from element FIRST on. */
static inline mst_kept_array mst_kept_array_from(mst_kept_array array, int64_t first) {
    return (mst_kept_array){.data = (char *)array.data + mst_kept_array_bytes(array.bf16, first), .bf16 = array.bf16};
}

/** Rounds COUNT elements to the nearest bf16; if two are equally near, to the even one. NaN stays NaN. If the processor
 *  has an instruction for it, numbers below 2^-126 become 0. */
void mst_round_to_bf16(const float *src, uint16_t *dst, int64_t count);

/** Bytes of BLOCKS, scratch memory of the next two functions. It has a few rows at a time of bf16 arrays, as f32. */
size_t mst_kept_blocks_bytes(int64_t channels);
/** Applies mst_batch_normalize_f32 to COUNT elements of SRC; the result goes to DST. If DST is f32, BLOCKS is not used,
 *  and may be NULL. */
void mst_kept_normalize(const float *terms, mst_batch_limits limits, mst_kept_array src, int64_t count,
                        int64_t channels, mst_kept_array dst, float *blocks);
/** Applies mst_batch_differentiate_f32 to COUNT elements of SRC and GRADIENT; the result goes to DST. */
void mst_kept_differentiate(const float *terms, const mst_batch_limits *limits, mst_kept_array src,
                            mst_kept_array gradient, int64_t count, int64_t channels, mst_kept_array dst,
                            float *blocks);

/** As mst_batch_measure_f32; the source is bf16 if BF16 is set. */
void mst_kept_measure(const mst_batch_statistics *statistics, bool bf16, int64_t begin, int64_t end);
/** Bytes of PARTS, the scratch memory of the next function. */
size_t mst_kept_parts_bytes(const mst_batch_rows *rows, bool src_bf16, bool gradient_bf16);
/** As mst_batch_add_up_f32, for a source and a gradient that may be bf16. */
void mst_kept_add_up(const mst_batch_sums *sums, bool src_bf16, bool gradient_bf16, int64_t begin, int64_t end,
                     float *parts);

#endif
