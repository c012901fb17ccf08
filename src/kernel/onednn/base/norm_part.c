#include "kernel/onednn/base/norm_part.h"

#include "base/bf16.h"
#include "base/simd.h"
#include "tensor/buffer.h"

enum { TOGETHER = 4096 }; /* elements of f32 that are rounded while they are in the first cache */

MST_SIMD void mst_round_to_bf16(const float *restrict src, uint16_t *restrict dst, int64_t count) {
    for (int64_t i = 0; i < count; i++) dst[i] = mst_bf16_of(src[i]);
}

static int64_t rows_together(int64_t channels) {
    return channels < TOGETHER ? TOGETHER / channels : 1;
}

static size_t rounded_bytes(int64_t count) {
    return mst_align((size_t)count * sizeof(uint16_t));
}

size_t mst_norm_part_bytes(int64_t count, int64_t channels, bool bf16) {
    if (!bf16) return mst_align((size_t)count * sizeof(float));
    return rounded_bytes(count) + mst_align((size_t)(rows_together(channels) * channels) * sizeof(float));
}

/* Rows that are made together, all where they are not rounded, and where they are made. */
typedef struct block {
    int64_t count;
    float *made;
} block;

static block block_of(int64_t count, int64_t channels, bool bf16, void *scratch) {
    if (!bf16) return (block){.count = count, .made = scratch};
    return (block){.count = rows_together(channels) * channels,
                   .made = (float *)(void *)((char *)scratch + rounded_bytes(count))};
}

void *mst_norm_part_normalize(const float *terms, mst_batch_limits limits, const float *src, int64_t count,
                              int64_t channels, bool bf16, void *scratch) {
    const block b = block_of(count, channels, bf16, scratch);
    for (int64_t i = 0; i < count; i += b.count) {
        const int64_t here = count - i < b.count ? count - i : b.count;
        mst_batch_normalize_f32(terms, limits, src + i, here / channels, channels, b.made);
        if (bf16) mst_round_to_bf16(b.made, (uint16_t *)scratch + i, here);
    }
    return scratch;
}

void *mst_norm_part_differentiate(const float *terms, const mst_batch_limits *limits, const float *src,
                                  const float *gradient, int64_t count, int64_t channels, bool bf16, void *scratch) {
    const block b = block_of(count, channels, bf16, scratch);
    for (int64_t i = 0; i < count; i += b.count) {
        const int64_t here = count - i < b.count ? count - i : b.count;
        mst_batch_differentiate_f32(terms, limits, src + i, gradient + i, here / channels, channels, b.made);
        if (bf16) mst_round_to_bf16(b.made, (uint16_t *)scratch + i, here);
    }
    return scratch;
}
