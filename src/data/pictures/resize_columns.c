#include "data/pictures/resize_columns.h"

#include <math.h>
#include <string.h>

#include "base/simd.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAVE_SHUFFLES 1
#else
#define HAVE_SHUFFLES 0
#endif

/* GROUP, HALF: elements. RUN: bytes from which a shuffle picks. MASKS: bytes of the masks of a group. NOTHING: a byte
 * of a mask for which the shuffle writes 0. */
enum { GROUP = MST_COLUMNS_AT_ONCE, HALF = GROUP / 2, RUN = 16, MASKS = 64, WORD = sizeof(uint32_t), NOTHING = 0x80 };

/* ---- memory ---- */

static void *resize_columns_take(char *memory, size_t *used, size_t bytes) {
    char *taken = memory ? memory + *used : NULL;
    *used += (bytes + 63) / 64 * 64;
    return taken;
}

size_t mst_columns_lay_out(mst_columns *columns, char *memory) {
    const size_t groups = (size_t)(columns->count + GROUP - 1) / GROUP;
    size_t used = 0;
    columns->index = resize_columns_take(memory, &used, groups * GROUP * sizeof *columns->index);
    columns->weight = resize_columns_take(memory, &used, groups * GROUP * sizeof *columns->weight);
    columns->base = resize_columns_take(memory, &used, groups * 2 * sizeof *columns->base);
    columns->mask = resize_columns_take(memory, &used, groups * MASKS);
    return used;
}

/* ---- places ---- */

/* Places the half group that begins at element I. False if its source bytes do not fit in one run of 16 bytes. */
static bool place_half(mst_columns *c, int64_t i) {
    uint8_t *first = c->mask + i / GROUP * MASKS + i % GROUP * WORD, *second = first + MASKS / 2;
    int32_t base = c->index[i];
    for (int k = 1; k < HALF; k++) base = c->index[i + k] < base ? c->index[i + k] : base;
    c->base[i / HALF] = base;
    memset(first, NOTHING, HALF * WORD);
    memset(second, NOTHING, HALF * WORD);
    for (int k = 0; k < HALF; k++) {
        const int32_t at = c->index[i + k] - base;
        if (at + c->channels >= RUN) return false;
        first[k * WORD] = (uint8_t)at;
        second[k * WORD] = (uint8_t)(at + c->channels);
    }
    return true;
}

static bool has_shuffles(void) {
#if HAVE_SHUFFLES
    return __builtin_cpu_supports("avx2");
#else
    return false;
#endif
}

void mst_columns_place(mst_columns *c, int64_t width, float scale) {
    const int64_t whole = (c->count + GROUP - 1) / GROUP * GROUP;
    for (int64_t j = 0; j < width; j++) {
        const float at = ((float)j + 0.5f) * scale - 0.5f, floor = floorf(at);
        for (int k = 0; k < c->channels; k++) {
            c->index[j * c->channels + k] = (int32_t)(((int64_t)floor + 1) * c->channels + k);
            c->weight[j * c->channels + k] = at - floor;
        }
    }
    for (int64_t i = c->count; i < whole; i++) {
        c->index[i] = c->index[c->count - 1];
        c->weight[i] = 0;
    }
    c->shuffles = has_shuffles();
    for (int64_t i = 0; i < whole && c->shuffles; i += HALF) c->shuffles = place_half(c, i);
}

/* ---- rows ---- */

/* One load reads both neighbours: the second begins SHIFT bits after the first. */
MST_SIMD static void blend(const uint8_t *restrict src, unsigned shift, const int32_t *restrict index,
                           const float *restrict weight, int64_t n, float *restrict dst) {
    for (int64_t i = 0; i < n; i++) {
        uint32_t word;
        memcpy(&word, src + index[i], WORD);
        const float first = (float)(int)(word & 255), second = (float)(int)(word >> shift & 255);
        dst[i] = first + (second - first) * weight[i];
    }
}

#if HAVE_SHUFFLES
__attribute__((target("avx2"))) static void blend_by_shuffles(const mst_columns *c, const uint8_t *src, float *dst) {
    const uint8_t *mask = c->mask;
    const int32_t *base = c->base;
    for (int64_t i = 0; i < c->count; i += GROUP, mask += MASKS, base += 2) {
        const __m128i low = _mm_loadu_si128((const void *)(src + base[0]));
        const __m128i high = _mm_loadu_si128((const void *)(src + base[1]));
        const __m256i runs = _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
        const __m256i a = _mm256_shuffle_epi8(runs, _mm256_load_si256((const void *)mask));
        const __m256i b = _mm256_shuffle_epi8(runs, _mm256_load_si256((const void *)(mask + MASKS / 2)));
        const __m256 first = _mm256_cvtepi32_ps(a), step = _mm256_sub_ps(_mm256_cvtepi32_ps(b), first);
        _mm256_storeu_ps(dst + i, _mm256_add_ps(first, _mm256_mul_ps(step, _mm256_load_ps(c->weight + i))));
    }
}
#endif

void mst_columns_blend(const mst_columns *c, const uint8_t *src, float *dst) {
#if HAVE_SHUFFLES
    if (c->shuffles) {
        blend_by_shuffles(c, src, dst);
        return;
    }
#endif
    blend(src, 8 * (unsigned)c->channels, c->index, c->weight, c->count, dst);
}
