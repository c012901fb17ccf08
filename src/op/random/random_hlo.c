/* Random numbers in StableHLO: the generator and the distributions of base/rng.c.
 *
 * The generator makes blocks of four words. Word w of all blocks is one value of u32, with one element per block. The
 * four values are put side by side: row b of the result is block b. So elements are in the order of the sequence. */
#include "muster/ops.h"
#include "op/random/random.h"

/* the constants of base/rng.c */
#define MULTIPLY_0 0xD2511F53
#define MULTIPLY_1 0xCD9E8D57
#define WEYL_0 0x9E3779B9u
#define WEYL_1 0xBB67AE85u
enum { ROUNDS = 10, WORDS = 4 };
#define TWO_PI 6.28318530717958648

/* ---- the generator ---- */

static void two_words(mst_lower *l, mst_hlo words, mst_hlo *out) {
    for (int i = 0; i < 2; i++) out[i] = mst_hlo_reshape(l, mst_hlo_slice_axis(l, words, 0, i, i + 1), MST_SCALAR);
}

mst_random_hlo mst_random_hlo_make(mst_lower *l, uint64_t seed) {
    mst_random_hlo sequence;
    two_words(l, mst_hlo_key(l, mst_random_stream(l->op, l->name, seed)), sequence.key);
    two_words(l, mst_hlo_step(l), sequence.step);
    return sequence;
}

/* The upper 32 bits of X, of u64, as u32. */
static mst_hlo upper(mst_lower *l, mst_hlo x) {
    const mst_hlo bits = mst_hlo_number(l, MST_HLO_U64, 32);
    return mst_hlo_convert(l, mst_hlo_binary(l, "shift_right_logical", x, bits), MST_HLO_U32);
}

static mst_hlo lower(mst_lower *l, mst_hlo x) {
    const mst_hlo mask = mst_hlo_number(l, MST_HLO_U64, UINT32_MAX);
    return mst_hlo_convert(l, mst_hlo_binary(l, "and", x, mask), MST_HLO_U32);
}

static mst_hlo xor_of_three(mst_lower *l, mst_hlo a, mst_hlo b, mst_hlo c) {
    return mst_hlo_binary(l, "xor", mst_hlo_binary(l, "xor", a, b), c);
}

/* Sets WORD to the four words of blocks 0 to COUNT - 1. Words of the counter that are the same for all blocks stay
 * scalars. */
static void blocks(mst_lower *l, const mst_random_hlo *sequence, int64_t count, mst_hlo attempt, mst_hlo *word) {
    if (count > UINT32_MAX) mst_hlo_fail(l, "too many random numbers");
    const mst_hlo attempt_bits = mst_hlo_number(l, MST_HLO_U32, 16);
    mst_hlo a = mst_hlo_iota(l, MST_HLO_U32, MST_SHAPE(count), 0);
    mst_hlo b = mst_hlo_binary(l, "shift_left", attempt, attempt_bits), c = sequence->step[0], d = sequence->step[1];
    const mst_hlo multiply[] = {mst_hlo_number(l, MST_HLO_U64, MULTIPLY_0), mst_hlo_number(l, MST_HLO_U64, MULTIPLY_1)};
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const mst_hlo weyl[] = {mst_hlo_number(l, MST_HLO_U32, round * WEYL_0),
                                mst_hlo_number(l, MST_HLO_U32, round * WEYL_1)};
        const mst_hlo p = mst_hlo_binary(l, "multiply", mst_hlo_convert(l, a, MST_HLO_U64), multiply[0]);
        const mst_hlo q = mst_hlo_binary(l, "multiply", mst_hlo_convert(l, c, MST_HLO_U64), multiply[1]);
        a = xor_of_three(l, upper(l, q), b, mst_hlo_binary(l, "add", sequence->key[0], weyl[0]));
        c = xor_of_three(l, upper(l, p), d, mst_hlo_binary(l, "add", sequence->key[1], weyl[1]));
        b = lower(l, q);
        d = lower(l, p);
    }
    const mst_hlo out[WORDS] = {a, b, c, d};
    for (int i = 0; i < WORDS; i++) word[i] = out[i];
}

/* Interleaves COUNT values of one dimension: first their first elements, then their second elements, and so on. Returns
 * the first of these elements in the shape of output 0. */
static mst_hlo in_turns(mst_lower *l, int count, const mst_hlo *x) {
    mst_hlo column[WORDS];
    const mst_shape shape = l->dst_spec[0].shape;
    const int64_t rows = mst_hlo_spec(l, x[0]).shape.dim[0];
    for (int i = 0; i < count; i++) column[i] = mst_hlo_reshape(l, x[i], MST_SHAPE(rows, 1));
    const mst_hlo all = mst_hlo_reshape(l, mst_hlo_concat(l, count, column, 1), MST_SHAPE(rows * count));
    return mst_hlo_reshape(l, mst_hlo_slice_axis(l, all, 0, 0, mst_shape_count(shape)), shape);
}

static int64_t num_blocks(const mst_lower *l, int elements_per_block) {
    return (mst_shape_count(l->dst_spec[0].shape) + elements_per_block - 1) / elements_per_block;
}

mst_hlo mst_random_hlo_words(mst_lower *l, const mst_random_hlo *sequence, mst_hlo attempt) {
    mst_hlo word[WORDS];
    blocks(l, sequence, num_blocks(l, 4), attempt, word);
    return in_turns(l, 4, word);
}

/* u64 with the upper word HIGH and the lower word LOW */
static mst_hlo joined(mst_lower *l, mst_hlo high, mst_hlo low) {
    const mst_hlo bits = mst_hlo_number(l, MST_HLO_U64, 32);
    const mst_hlo shifted = mst_hlo_binary(l, "shift_left", mst_hlo_convert(l, high, MST_HLO_U64), bits);
    return mst_hlo_binary(l, "or", shifted, mst_hlo_convert(l, low, MST_HLO_U64));
}

mst_hlo mst_random_hlo_long_words(mst_lower *l, const mst_random_hlo *sequence, mst_hlo attempt) {
    mst_hlo word[WORDS];
    blocks(l, sequence, num_blocks(l, 2), attempt, word);
    return in_turns(l, 2, (const mst_hlo[]){joined(l, word[0], word[1]), joined(l, word[2], word[3])});
}

/* ---- distributions ---- */

/* Uniform in [0, 1): the upper 24 bits of u32 as f32, or the upper 53 of u64 as f64. */
static mst_hlo unit(mst_lower *l, mst_hlo bits) {
    const bool is_short = mst_hlo_spec(l, bits).dtype == MST_HLO_U32;
    const mst_hlo shifted =
        mst_hlo_binary(l, "shift_right_logical", bits, mst_hlo_number_like(l, bits, is_short ? 8 : 11));
    const mst_hlo x = mst_hlo_convert(l, shifted, is_short ? MST_F32 : MST_F64);
    return mst_hlo_binary(l, "multiply", x, mst_hlo_number_like(l, x, is_short ? 0x1p-24 : 0x1p-53));
}

mst_hlo mst_random_hlo_uniform(mst_lower *l, const mst_random_hlo *sequence) {
    const mst_hlo first = mst_hlo_number(l, MST_HLO_U32, 0);
    return unit(l, l->dst_spec[0].dtype == MST_F32 ? mst_random_hlo_words(l, sequence, first)
                                                   : mst_random_hlo_long_words(l, sequence, first));
}

/* Sets OUT to two normal numbers for each element: sqrt(-2 log U) cos(2 pi V) and sqrt(-2 log U) sin(2 pi V), with U in
 * (0, 1]. */
static void box_muller(mst_lower *l, mst_hlo u, mst_hlo v, mst_hlo *out) {
    const mst_hlo logarithm = mst_hlo_binary(l, "multiply", mst_hlo_number_like(l, u, -2), mst_hlo_unary(l, "log", u));
    const mst_hlo radius = mst_hlo_unary(l, "sqrt", logarithm);
    const mst_hlo angle = mst_hlo_binary(l, "multiply", mst_hlo_number_like(l, v, TWO_PI), v);
    out[0] = mst_hlo_binary(l, "multiply", radius, mst_hlo_unary(l, "cosine", angle));
    out[1] = mst_hlo_binary(l, "multiply", radius, mst_hlo_unary(l, "sine", angle));
}

/* Standard normal numbers in f32: two from two words. U is computed from all 32 bits of the first word. */
static mst_hlo normals_f32(mst_lower *l, const mst_random_hlo *sequence, mst_hlo attempt) {
    mst_hlo word[WORDS], normal[WORDS];
    blocks(l, sequence, num_blocks(l, 4), attempt, word);
    for (int i = 0; i < WORDS; i += 2) {
        const mst_hlo x = mst_hlo_convert(l, word[i], MST_F32);
        const mst_hlo above = mst_hlo_binary(l, "add", x, mst_hlo_number_like(l, x, 1));
        box_muller(l, mst_hlo_binary(l, "multiply", above, mst_hlo_number_like(l, x, 0x1p-32)), unit(l, word[i + 1]),
                   normal + i);
    }
    return in_turns(l, WORDS, normal);
}

/* Standard normal numbers in f64: two from four words. */
static mst_hlo normals_f64(mst_lower *l, const mst_random_hlo *sequence, mst_hlo attempt) {
    mst_hlo word[WORDS], normal[2];
    blocks(l, sequence, num_blocks(l, 2), attempt, word);
    const mst_hlo x = unit(l, joined(l, word[0], word[1]));
    box_muller(l, mst_hlo_binary(l, "subtract", mst_hlo_number_like(l, x, 1), x), unit(l, joined(l, word[2], word[3])),
               normal);
    return in_turns(l, 2, normal);
}

static mst_hlo normals(mst_lower *l, const mst_random_hlo *sequence, mst_hlo attempt) {
    return l->dst_spec[0].dtype == MST_F32 ? normals_f32(l, sequence, attempt) : normals_f64(l, sequence, attempt);
}

mst_hlo mst_random_hlo_standard_normal(mst_lower *l, const mst_random_hlo *sequence) {
    return normals(l, sequence, mst_hlo_number(l, MST_HLO_U32, 0));
}

static mst_hlo is_outside(mst_lower *l, mst_hlo x) {
    return mst_hlo_compare(l, "GT", mst_hlo_unary(l, "abs", x), mst_hlo_number_like(l, x, 2));
}

/* The loop that draws again has two values: the number of the attempt, and the numbers. */

static void some_are_outside(mst_lower *l, void *sequence, const mst_hlo *argument, mst_hlo *result) {
    (void)sequence;
    result[0] = mst_hlo_reduce_whole(l, "or", is_outside(l, argument[1]), 0);
}

static void draw_again(mst_lower *l, void *sequence, const mst_hlo *argument, mst_hlo *result) {
    const mst_hlo attempt = argument[0], x = argument[1];
    result[0] = mst_hlo_binary(l, "add", attempt, mst_hlo_number_like(l, attempt, 1));
    result[1] = mst_hlo_select(l, is_outside(l, x), normals(l, sequence, attempt), x);
}

/* mean + stddev * x is computed in the dtype of the output. The kernel computes it in f64 also for f32. */
void mst_random_hlo_normal(mst_lower *l, bool is_cut) {
    const mst_random_normal_options *o = l->options;
    mst_random_hlo sequence = mst_random_hlo_make(l, o->seed);
    mst_hlo x = mst_random_hlo_standard_normal(l, &sequence);
    if (is_cut) {
        const mst_hlo begin[] = {mst_hlo_number(l, MST_HLO_U32, 1), x};
        mst_hlo end[2];
        mst_hlo_while(l, 2, begin, some_are_outside, draw_again, &sequence, end);
        x = end[1];
    }
    const mst_hlo spread = mst_hlo_binary(l, "multiply", mst_hlo_number_like(l, x, o->stddev), x);
    l->dst[0] = mst_hlo_binary(l, "add", mst_hlo_number_like(l, x, o->mean), spread);
}
