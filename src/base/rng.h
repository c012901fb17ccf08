/** Random numbers that are a function of (seed, stream, step, index): Philox4x32-10.
 *
 *  No state is kept between calls, so any part of a sequence can be computed anywhere, by any thread, in any order. The
 *  generator is that of J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3",
 *  SC 2011.
 *
 *  A block is 4 words of 32 bits, a function of a key of 64 bits and a counter of 128. The key comes from seed and
 *  stream, the counter holds step (64 bits), attempt (16) and number of the block (48). Element i of a sequence
 *  uses word i % 4 of block i / 4. If it needs 64 bits, it uses words 2 (i % 2) and 2 (i % 2) + 1 of block i / 2. A
 *  rejected draw is repeated with the words of the same place in the next attempt. Some functions are exported for the
 *  command.
 */
#ifndef MUSTER_BASE_RNG_H
#define MUSTER_BASE_RNG_H

#include <stdint.h>

#include "muster/status.h"

/** One sequence: the numbers that a random op gives in one step. */
typedef struct mst_rng {
    uint32_t key[2];
    uint64_t step;
} mst_rng;

/** Makes the sequence of SEED, STREAM and STEP. STREAM tells sequences of one seed apart: each op or epoch that draws
 *  has its own number. */
MST_API mst_rng mst_rng_make(uint64_t seed, uint64_t stream, uint64_t step);

/** The bare generator: 10 rounds on COUNTER with KEY. */
void mst_rng_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/** Computes blocks FIRST to FIRST + N - 1 of the sequence, 4 words each. ATTEMPT is below 65536. */
MST_API void mst_rng_blocks(const mst_rng *rng, uint64_t first, int64_t n, uint32_t attempt, uint32_t *out);

/** A seed made from two seeds; each of its bits depends on all of theirs. */
uint64_t mst_rng_mix(uint64_t a, uint64_t b);

/** A seed from a name: FNV-1a of 64 bits, mixed. Never 0. */
uint64_t mst_rng_hash_name(const char *name);

/** Uniform in [0, 1): the upper 24 bits of WORD. */
static inline float mst_rng_unit_f32(uint32_t word) {
    return (float)(word >> 8) * 0x1p-24f;
}

/** Uniform in [0, 1): the upper 53 of the 64 bits. */
static inline double mst_rng_unit_f64(uint32_t high, uint32_t low) {
    return (double)((((uint64_t)high << 32) | low) >> 11) * 0x1p-53;
}

/** Computes two independent standard normals from four words (Box and Muller 1958). The words give u in (0, 1] and v in
 *  [0, 1). The normals are sqrt(-2 log u) cos(2 pi v) and sqrt(-2 log u) sin(2 pi v). (In f32,
 *  mst_rng_fill_normal_f32 needs two words for a pair.) */
void mst_rng_normal_f64(const uint32_t word[4], double out[2]);

/** The next functions write elements FIRST to FIRST + N - 1 of a sequence to OUT[0], OUT[1], ... FIRST must be a
 *  multiple of 4. The elements do not depend on how the sequence is cut into calls. */

/** Uniform in [0, 1). */
MST_API void mst_rng_fill_uniform_f32(const mst_rng *rng, uint64_t first, int64_t n, float *out);
void mst_rng_fill_uniform_f64(const mst_rng *rng, uint64_t first, int64_t n, double *out);
/** Standard normal. */
void mst_rng_fill_normal_f32(const mst_rng *rng, uint64_t first, int64_t n, float *out);
void mst_rng_fill_normal_f64(const mst_rng *rng, uint64_t first, int64_t n, double *out);
/** Standard normal, redrawn until within [-2, 2]. */
void mst_rng_fill_truncated_f32(const mst_rng *rng, uint64_t first, int64_t n, float *out);
void mst_rng_fill_truncated_f64(const mst_rng *rng, uint64_t first, int64_t n, double *out);

/** Element INDEX of a sequence of integers, uniform in [0, RANGE) without bias; RANGE > 0. */
uint64_t mst_rng_integer(const mst_rng *rng, uint64_t index, uint64_t range);

/** Element INDEX of the sequence of SEED and STREAM in step 0: an integer, uniform in [0, N); N > 0. */
uint64_t mst_rng_below(uint64_t seed, uint64_t stream, uint64_t index, uint64_t n);

/** Shuffles the N elements of INDEX (Fisher and Yates). The new order depends only on N, SEED and STREAM. All n! orders
 *  are equally likely. */
void mst_rng_shuffle(int64_t *index, int64_t n, uint64_t seed, uint64_t stream);

#endif
