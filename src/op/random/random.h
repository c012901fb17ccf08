/** Code that the random ops share: their sequences of random numbers, and the inference of an op without sources.
 *
 *  Element i of an output depends on the graph's seed, the op's seed, the number of the step and i. The op's seed is
 *  the option `seed`; if that is 0, it is made from the node's name. */
#ifndef MUSTER_OP_RANDOM_H
#define MUSTER_OP_RANDOM_H

#include "base/rng.h"
#include "muster/hlo.h"
#include "muster/op.h"
#include "op/share.h"

/** The stream of a node of OP, of the name NAME and with the option SEED. Two ops with the same seed draw different
 *  numbers. */
static inline uint64_t mst_random_stream(const mst_op *op, const char *name, uint64_t seed) {
    const uint64_t stream = seed ? seed : mst_rng_hash_name(name);
    /* A node may have the name of its op. Without the factor, its two hashes would then cancel each other. */
    return stream ^ mst_rng_hash_name(op->name) * 0x9e3779b97f4a7c15u;
}

/** The sequence of a node, which depends on the seed of the graph, the seed of the node, its op and the step. */
static inline mst_rng mst_random_sequence(const mst_kernel_args *a, uint64_t seed) {
    return mst_rng_make(a->step->seed, mst_random_stream(a->op, a->name, seed), (uint64_t)a->step->number);
}

/** The grain of mst_parallel over N elements: a multiple of 64, so that no vector of numbers is split. */
static inline int64_t mst_random_grain(int64_t n) {
    return mst_grain_aligned(mst_grain(n, 8), 64);
}

/** Infers dst[0]: it has DTYPE, which the op must list, and SHAPE, which must be known. */
MST_CHECKED mst_status mst_random_infer(mst_infer *c, mst_dtype dtype, mst_shape shape);

/* ---- what ops with mst_random_normal_options share ---- */

/** The table of options and `infer` of these ops. */
extern const mst_field mst_random_normal_fields[];
MST_CHECKED mst_status mst_random_normal_infer(mst_infer *c);

/** Writes numbers FIRST to FIRST + COUNT - 1 of a sequence to DST. */
typedef void mst_random_fill_f32(const mst_rng *rng, uint64_t first, int64_t count, float *dst);
typedef void mst_random_fill_f64(const mst_rng *rng, uint64_t first, int64_t count, double *dst);
/** Sets dst[0] to mean + stddev * the numbers of a standard distribution, on the threads of the device. */
MST_CHECKED mst_status mst_random_normal_draw(const mst_kernel_args *a, mst_random_fill_f32 *fill_f32,
                                              mst_random_fill_f64 *fill_f64);

/* ---- StableHLO (random_hlo.c): the numbers of base/rng.h, for output 0 of the node that is written ---- */

/** A sequence: its key and the number of the step, as scalars of u32. */
typedef struct mst_random_hlo {
    mst_hlo key[2], step[2];
} mst_random_hlo;
/** The sequence of a node with the option SEED. */
mst_random_hlo mst_random_hlo_make(mst_lower *l, uint64_t seed);

/** Random bits for all elements: 32 per element as u32, or 64 as u64. ATTEMPT, a scalar of u32, is 0, and higher if
 *  numbers are drawn again. */
mst_hlo mst_random_hlo_words(mst_lower *l, const mst_random_hlo *sequence, mst_hlo attempt);
mst_hlo mst_random_hlo_long_words(mst_lower *l, const mst_random_hlo *sequence, mst_hlo attempt);
/** Uniform in [0, 1), of output 0's dtype, f32 or f64: the same bits as of mst_rng_fill_uniform_f32 and ..._f64. */
mst_hlo mst_random_hlo_uniform(mst_lower *l, const mst_random_hlo *sequence);
/** Of the standard normal distribution, of output 0's dtype, f32 or f64. */
mst_hlo mst_random_hlo_standard_normal(mst_lower *l, const mst_random_hlo *sequence);
/** Sets dst[0] to mean + stddev * numbers of the standard normal distribution, with mean and stddev of the options
 *  (mst_random_normal_options). IS_CUT: numbers outside [-2, 2] are drawn again. */
void mst_random_hlo_normal(mst_lower *l, bool is_cut);

#endif
