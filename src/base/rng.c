/* Philox4x32-10 (rng.h says how its counter is used) and the distributions that are computed from its words.
 *
 * Arrays are filled in chunks: first blocks of words, then numbers computed from the words. LANES blocks are computed
 * side by side, so that the compiler vectorises the ten rounds. An element of a truncated normal that is out of bounds
 * is drawn again with the next attempt. Such elements are collected until LANES of them can be drawn together. The
 * bits of an element do not depend on how a sequence is cut into chunks and calls. */
#include "base/rng.h"

#include <stdbool.h>
#include <string.h>

#include "base/simd_math.h"

enum {
    ROUNDS = 10,
    LANES = 32 /* gcc unrolls loops of 16, and does not vectorise them */,
    CHUNK = 64,   /* blocks computed at a time */
    PAIRS = LANES /* pairs of f32 normals computed at a time */
};

/* The constants of Philox4x32 in the paper: the multipliers, and the numbers that are added to the key in each round
 * (the golden ratio and sqrt(3) - 1). */
#define MULTIPLY_0 0xD2511F53u
#define MULTIPLY_1 0xCD9E8D57u
#define WEYL_0 0x9E3779B9u
#define WEYL_1 0xBB67AE85u

void mst_rng_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
    uint32_t a = counter[0], b = counter[1], c = counter[2], d = counter[3];
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint64_t p = (uint64_t)MULTIPLY_0 * a, q = (uint64_t)MULTIPLY_1 * c;
        a = (uint32_t)(q >> 32) ^ b ^ (key[0] + round * WEYL_0);
        c = (uint32_t)(p >> 32) ^ d ^ (key[1] + round * WEYL_1);
        b = (uint32_t)q;
        d = (uint32_t)p;
    }
    out[0] = a;
    out[1] = b;
    out[2] = c;
    out[3] = d;
}

/* Computes LANES blocks side by side: the compiler vectorises the inner loops. */
MST_SIMD static void philox_lanes(const uint32_t key[2], const uint32_t first[LANES], const uint32_t second[LANES],
                                  uint64_t step, uint32_t *restrict out) {
    uint32_t a[LANES], b[LANES], c[LANES], d[LANES];
    for (int i = 0; i < LANES; i++) {
        a[i] = first[i];
        b[i] = second[i];
        c[i] = (uint32_t)step;
        d[i] = (uint32_t)(step >> 32);
    }
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint32_t key_0 = key[0] + round * WEYL_0, key_1 = key[1] + round * WEYL_1;
        for (int i = 0; i < LANES; i++) {
            const uint64_t p = (uint64_t)MULTIPLY_0 * a[i], q = (uint64_t)MULTIPLY_1 * c[i];
            a[i] = (uint32_t)(q >> 32) ^ b[i] ^ key_0;
            c[i] = (uint32_t)(p >> 32) ^ d[i] ^ key_1;
            b[i] = (uint32_t)q;
            d[i] = (uint32_t)p;
        }
    }
    for (int i = 0; i < LANES; i++) {
        out[4 * i] = a[i];
        out[4 * i + 1] = b[i];
        out[4 * i + 2] = c[i];
        out[4 * i + 3] = d[i];
    }
}

/* Words 0 and 1 of the counter have 48 bits of the block's number, and 16 bits of the attempt. */
static uint32_t low_word(uint64_t block) {
    return (uint32_t)block;
}

static uint32_t high_word(uint64_t block, uint32_t attempt) {
    return (uint32_t)(block >> 32 & 0xffff) | attempt << 16;
}

static void one_block(const mst_rng *rng, uint64_t block, uint32_t attempt, uint32_t out[4]) {
    const uint32_t counter[4] = {low_word(block), high_word(block, attempt), (uint32_t)rng->step,
                                 (uint32_t)(rng->step >> 32)};
    mst_rng_philox(counter, rng->key, out);
}

void mst_rng_blocks(const mst_rng *rng, uint64_t first, int64_t n, uint32_t attempt, uint32_t *out) {
    int64_t done = 0;
    for (; done + LANES <= n; done += LANES) {
        uint32_t low[LANES], high[LANES];
        for (int i = 0; i < LANES; i++) {
            const uint64_t block = first + (uint64_t)(done + i);
            low[i] = low_word(block);
            high[i] = high_word(block, attempt);
        }
        philox_lanes(rng->key, low, high, rng->step, out + 4 * done);
    }
    for (int64_t i = 0; i < n % LANES; i++) one_block(rng, first + (uint64_t)(done + i), attempt, out + 4 * (done + i));
}

/* ---- seeds ---- */

/* The finaliser of SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t finalise(uint64_t z) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

uint64_t mst_rng_mix(uint64_t a, uint64_t b) {
    return finalise(finalise(a + 0x9E3779B97F4A7C15u) + b);
}

uint64_t mst_rng_hash_name(const char *name) {
    uint64_t hash = 0xCBF29CE484222325u;
    for (; *name; name++) hash = (hash ^ (unsigned char)*name) * 0x100000001B3u;
    hash = finalise(hash);
    return hash ? hash : 1;
}

mst_rng mst_rng_make(uint64_t seed, uint64_t stream, uint64_t step) {
    const uint64_t key = mst_rng_mix(seed, stream);
    return (mst_rng){.key = {(uint32_t)key, (uint32_t)(key >> 32)}, .step = step};
}

/* ---- real numbers ---- */

MST_SIMD static void units_f32(const uint32_t *word, int64_t n, float *out) {
    _Pragma("omp simd") for (int64_t i = 0; i < n; i++) out[i] = mst_rng_unit_f32(word[i]);
}

void mst_rng_fill_uniform_f32(const mst_rng *rng, uint64_t first, int64_t n, float *out) {
    uint32_t word[4 * CHUNK];
    for (int64_t done = 0; done < n; done += 4 * CHUNK) {
        const int64_t now = n - done < 4 * CHUNK ? n - done : 4 * CHUNK;
        mst_rng_blocks(rng, (first + (uint64_t)done) / 4, (now + 3) / 4, 0, word);
        units_f32(word, now, out + done);
    }
}

void mst_rng_fill_uniform_f64(const mst_rng *rng, uint64_t first, int64_t n, double *out) {
    uint32_t word[4 * CHUNK];
    for (int64_t done = 0; done < n; done += 2 * CHUNK) {
        const int64_t now = n - done < 2 * CHUNK ? n - done : 2 * CHUNK;
        mst_rng_blocks(rng, (first + (uint64_t)done) / 2, (now + 1) / 2, 0, word);
        for (int64_t i = 0; i < now; i++) out[done + i] = mst_rng_unit_f64(word[2 * i], word[2 * i + 1]);
    }
}

/* Computes PAIRS pairs of standard normals in f32 from as many pairs of words. All go through the same vector
 * functions, which may differ from the plain ones in the last bit. So a number does not depend on how many others are
 * computed with it. */
MST_SIMD static void normals_f32(const uint32_t *word, float *out) {
    float radius[PAIRS], angle[PAIRS], even[PAIRS], odd[PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        /* uses all 32 bits of the first word, so that the tail reaches 6.6 standard deviations */
        radius[i] = ((float)word[2 * i] + 1.0f) * 0x1p-32f;
        angle[i] = 6.28318530717958648f * mst_rng_unit_f32(word[2 * i + 1]);
    }
    _Pragma("omp simd") for (int i = 0; i < PAIRS; i++) radius[i] = sqrtf(-2.0f * logf(radius[i]));
    /* in separate loops: gcc turns a sine and a cosine in one loop into sincosf, which has no vector function */
    _Pragma("omp simd") for (int i = 0; i < PAIRS; i++) even[i] = radius[i] * cosf(angle[i]);
    _Pragma("omp simd") for (int i = 0; i < PAIRS; i++) odd[i] = radius[i] * sinf(angle[i]);
    for (int i = 0; i < PAIRS; i++) {
        out[2 * i] = even[i];
        out[2 * i + 1] = odd[i];
    }
}

void mst_rng_normal_f64(const uint32_t word[4], double out[2]) {
    const double u = 1.0 - mst_rng_unit_f64(word[0], word[1]);
    const double angle = 6.28318530717958648 * mst_rng_unit_f64(word[2], word[3]);
    const double radius = sqrt(-2.0 * log(u));
    out[0] = radius * cos(angle);
    out[1] = radius * sin(angle);
}

void mst_rng_fill_normal_f32(const mst_rng *rng, uint64_t first, int64_t n, float *out) {
    enum { STEP = 2 * PAIRS };
    uint32_t word[4 * CHUNK];
    float normal[STEP];
    for (int64_t done = 0; done < n; done += 4 * CHUNK) {
        const int64_t now = n - done < 4 * CHUNK ? n - done : 4 * CHUNK;
        mst_rng_blocks(rng, (first + (uint64_t)done) / 4, (now + STEP - 1) / STEP * (STEP / 4), 0, word);
        for (int64_t i = 0; i < now; i += STEP) {
            const bool whole = now - i >= STEP;
            normals_f32(word + i, whole ? out + done + i : normal);
            if (!whole) memcpy(out + done + i, normal, (size_t)(now - i) * sizeof *out);
        }
    }
}

void mst_rng_fill_normal_f64(const mst_rng *rng, uint64_t first, int64_t n, double *out) {
    uint32_t word[4 * CHUNK];
    for (int64_t done = 0; done < n; done += 2 * CHUNK) {
        const int64_t now = n - done < 2 * CHUNK ? n - done : 2 * CHUNK;
        mst_rng_blocks(rng, (first + (uint64_t)done) / 2, (now + 1) / 2, 0, word);
        for (int64_t i = 0; i < now; i += 2) {
            double normal[2];
            mst_rng_normal_f64(word + 2 * i, normal);
            for (int64_t k = i; k < i + 2 && k < now; k++) out[done + k] = normal[k - i];
        }
    }
}

/* Draws the N elements OUT[AT[i]] again until they are within the bounds. FIRST is the number of element OUT[0]. */
static void redraw_f32(const mst_rng *rng, uint64_t first, const int64_t *at, int n, float *out) {
    int64_t left[LANES];
    memcpy(left, at, (size_t)n * sizeof *left);
    for (uint32_t attempt = 1; n > 0; attempt++) {
        uint32_t low[LANES], high[LANES], block[4 * LANES], word[2 * PAIRS];
        float normal[2 * PAIRS];
        for (int i = 0; i < LANES; i++) { /* unused lanes repeat the first element */
            const uint64_t number = (first + (uint64_t)left[i < n ? i : 0]) / 4;
            low[i] = low_word(number);
            high[i] = high_word(number, attempt);
        }
        philox_lanes(rng->key, low, high, rng->step, block);
        /* of the 4 words of each block, the 2 from which the pair with the element is computed */
        for (int i = 0; i < LANES; i++) memcpy(word + 2 * i, block + 4 * i + left[i < n ? i : 0] % 4 / 2 * 2, 8);
        normals_f32(word, normal);
        int outside = 0;
        for (int i = 0; i < n; i++) {
            const int64_t element = left[i];
            out[element] = normal[2 * i + element % 2];
            if (fabsf(out[element]) > 2.0f) left[outside++] = element;
        }
        n = outside;
    }
}

/* About 1 in 22 elements is outside the bounds. So only these are drawn again, many at a time. */
void mst_rng_fill_truncated_f32(const mst_rng *rng, uint64_t first, int64_t n, float *out) {
    int64_t at[LANES];
    int outside = 0;
    mst_rng_fill_normal_f32(rng, first, n, out);
    for (int64_t i = 0; i < n; i++) {
        at[outside] = i;
        outside += fabsf(out[i]) > 2.0f;
        if (outside < LANES) continue;
        redraw_f32(rng, first, at, outside, out);
        outside = 0;
    }
    redraw_f32(rng, first, at, outside, out);
}

void mst_rng_fill_truncated_f64(const mst_rng *rng, uint64_t first, int64_t n, double *out) {
    mst_rng_fill_normal_f64(rng, first, n, out);
    for (int64_t i = 0; i < n; i++) {
        for (uint32_t attempt = 1; fabs(out[i]) > 2.0; attempt++) {
            uint32_t word[4];
            double normal[2];
            one_block(rng, (first + (uint64_t)i) / 2, attempt, word);
            mst_rng_normal_f64(word, normal);
            out[i] = normal[i % 2];
        }
    }
}

/* ---- integers ---- */

static uint64_t bits_of(const uint32_t *word, uint64_t index) {
    return (uint64_t)word[2 * (index % 2)] << 32 | word[2 * (index % 2) + 1];
}

/* Whether a draw is accepted. Of the 2^64 possible draws the lowest 2^64 mod RANGE are refused, which leaves a multiple
 * of RANGE. These are fewer than RANGE, so most draws are accepted without a division. */
static bool accept(uint64_t bits, uint64_t range) {
    return bits >= range || bits >= (UINT64_MAX - range + 1) % range;
}

uint64_t mst_rng_integer(const mst_rng *rng, uint64_t index, uint64_t range) {
    for (uint32_t attempt = 0;; attempt++) {
        uint32_t word[4];
        one_block(rng, index / 2, attempt, word);
        const uint64_t bits = bits_of(word, index);
        if (accept(bits, range)) return bits % range;
    }
}

uint64_t mst_rng_below(uint64_t seed, uint64_t stream, uint64_t index, uint64_t n) {
    const mst_rng rng = mst_rng_make(seed, stream, 0);
    return mst_rng_integer(&rng, index, n);
}

void mst_rng_shuffle(int64_t *index, int64_t n, uint64_t seed, uint64_t stream) {
    const mst_rng rng = mst_rng_make(seed, stream, 0);
    uint32_t word[4 * CHUNK];
    int64_t have = n; /* the array `word` has the draws of elements from here on */
    for (int64_t i = n - 1; i > 0; i--) {
        if (i < have) {
            have = i / (2 * CHUNK) * (2 * CHUNK);
            mst_rng_blocks(&rng, (uint64_t)have / 2, CHUNK, 0, word);
        }
        const uint64_t range = (uint64_t)i + 1, bits = bits_of(word + (i - have) / 2 * 4, (uint64_t)i);
        const uint64_t drawn = accept(bits, range) ? bits % range : mst_rng_integer(&rng, (uint64_t)i, range);
        const int64_t other = index[drawn];
        index[drawn] = index[i];
        index[i] = other;
    }
}
