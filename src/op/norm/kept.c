#include "op/norm/kept.h"

#include "base/bf16.h"
#include "base/simd.h"
#include "tensor/buffer.h"

enum { TOGETHER = 2048 }; /* elements that are converted to f32 at a time: they stay in the first-level cache */

#if defined(__x86_64__) && defined(__GNUC__)

#include <immintrin.h>

__attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16"))) static void round_by_instruction(
    const float *restrict src, uint16_t *restrict dst, int64_t count) {
    enum { LANES = 16 };
    int64_t i = 0;
    for (; i + LANES <= count; i += LANES)
        _mm256_storeu_si256((void *)(dst + i), (__m256i)_mm512_cvtneps_pbh(_mm512_loadu_ps(src + i)));
    const __mmask16 rest = (__mmask16)((1U << (count - i)) - 1);
    _mm256_mask_storeu_epi16(dst + i, rest, (__m256i)_mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(rest, src + i)));
}

static bool has_instruction(void) {
    return __builtin_cpu_supports("avx512bf16");
}

#else

static void round_by_instruction(const float *src, uint16_t *dst, int64_t count) {
    (void)src, (void)dst, (void)count;
}

static bool has_instruction(void) {
    return false;
}

#endif

MST_SIMD static void round_all(const float *restrict src, uint16_t *restrict dst, int64_t count) {
    for (int64_t i = 0; i < count; i++) dst[i] = mst_bf16_of(src[i]);
}

void mst_round_to_bf16(const float *src, uint16_t *dst, int64_t count) {
    (has_instruction() ? round_by_instruction : round_all)(src, dst, count);
}

MST_SIMD static void widen(const uint16_t *restrict src, float *restrict dst, int64_t count) {
    for (int64_t i = 0; i < count; i++) dst[i] = mst_bf16_value(src[i]);
}

/* Returns COUNT elements of ARRAY from FIRST on as f32: a pointer into the array if it is f32; else they are converted
 * to TO. */
static const float *widened(mst_kept_array array, int64_t first, int64_t count, float *to) {
    const mst_kept_array from = mst_kept_array_from(array, first);
    if (!from.bf16) return from.data;
    widen(from.data, to, count);
    return to;
}

/* ---- a few rows at a time ---- */

static int64_t elements_together(int64_t channels) {
    return channels < TOGETHER ? TOGETHER / channels * channels : channels;
}

static size_t block_bytes(int64_t channels) {
    return mst_align((size_t)elements_together(channels) * sizeof(float));
}

enum { MADE, SRC, GRADIENT, BLOCKS }; /* blocks of f32: one for the result, two for the arrays that are read */

size_t mst_kept_blocks_bytes(int64_t channels) {
    return BLOCKS * block_bytes(channels);
}

static float *block_of(float *blocks, int which, int64_t channels) {
    return blocks + (size_t)which * block_bytes(channels) / sizeof *blocks;
}

/* Where the elements of DST from FIRST on are computed as f32: in DST itself, or in a block if DST is bf16. */
static float *place_made(mst_kept_array dst, int64_t first, float *blocks, int64_t channels) {
    return dst.bf16 ? block_of(blocks, MADE, channels) : (float *)dst.data + first;
}

static void put(const float *made, mst_kept_array dst, int64_t first, int64_t count) {
    if (dst.bf16) mst_round_to_bf16(made, (uint16_t *)dst.data + first, count);
}

void mst_kept_normalize(const float *terms, mst_batch_limits limits, mst_kept_array src, int64_t count,
                        int64_t channels, mst_kept_array dst, float *blocks) {
    const int64_t step = dst.bf16 ? elements_together(channels) : count;
    for (int64_t i = 0; i < count; i += step) {
        const int64_t here = count - i < step ? count - i : step;
        const mst_kept_array from = mst_kept_array_from(src, i);
        float *made = place_made(dst, i, blocks, channels);
        if (from.bf16)
            mst_batch_normalize_bf16(terms, limits, from.data, here / channels, channels, made);
        else
            mst_batch_normalize_f32(terms, limits, from.data, here / channels, channels, made);
        put(made, dst, i, here);
    }
}

void mst_kept_differentiate(const float *terms, const mst_batch_limits *limits, mst_kept_array src,
                            mst_kept_array gradient, int64_t count, int64_t channels, mst_kept_array dst,
                            float *blocks) {
    const int64_t step = src.bf16 || gradient.bf16 || dst.bf16 ? elements_together(channels) : count;
    for (int64_t i = 0; i < count; i += step) {
        const int64_t here = count - i < step ? count - i : step, rows = here / channels;
        const mst_kept_array from = mst_kept_array_from(src, i), grad = mst_kept_array_from(gradient, i);
        float *made = place_made(dst, i, blocks, channels);
        if (from.bf16 && grad.bf16)
            mst_batch_differentiate_bf16(terms, limits, from.data, grad.data, rows, channels, made);
        else
            mst_batch_differentiate_f32(terms, limits, widened(from, 0, here, block_of(blocks, SRC, channels)),
                                        widened(grad, 0, here, block_of(blocks, GRADIENT, channels)), rows, channels,
                                        made);
        put(made, dst, i, here);
    }
}

/* ---- a part at a time ---- */

static size_t part_bytes(const mst_batch_rows *rows) {
    return mst_align((size_t)(rows->rows_of_part * rows->channels) * sizeof(float));
}

size_t mst_kept_parts_bytes(const mst_batch_rows *rows, bool src_bf16, bool gradient_bf16) {
    return src_bf16 != gradient_bf16 ? part_bytes(rows) : 0;
}

void mst_kept_measure(const mst_batch_statistics *statistics, bool bf16, int64_t begin, int64_t end) {
    const int64_t step = statistics->rows.rows_of_part * statistics->rows.channels;
    for (int64_t part = begin; part < end; part++)
        if (bf16)
            mst_batch_measure_part_bf16(statistics, part, (const uint16_t *)statistics->src + part * step);
        else
            mst_batch_measure_part_f32(statistics, part, (const float *)statistics->src + part * step);
}

/* If both arrays are bf16, neither is converted to f32. If one is, only this one is converted, so PARTS has room for
 * one. */
void mst_kept_add_up(const mst_batch_sums *sums, bool src_bf16, bool gradient_bf16, int64_t begin, int64_t end,
                     float *parts) {
    const int64_t step = sums->rows.rows_of_part * sums->rows.channels;
    const mst_kept_array src = {.data = (void *)(uintptr_t)sums->src, .bf16 = src_bf16}; /* only read */
    const mst_kept_array gradient = {.data = (void *)(uintptr_t)sums->gradient, .bf16 = gradient_bf16};
    for (int64_t part = begin; part < end; part++) {
        const int64_t first = part * step, count = mst_batch_rows_in(&sums->rows, part) * sums->rows.channels;
        if (src_bf16 && gradient_bf16)
            mst_batch_add_up_part_bf16(sums, part, mst_kept_array_from(src, first).data,
                                       mst_kept_array_from(gradient, first).data);
        else
            mst_batch_add_up_part_f32(sums, part, widened(src, first, count, parts),
                                      widened(gradient, first, count, parts));
    }
}
