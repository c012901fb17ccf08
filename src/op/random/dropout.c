/** dropout: dst = src * mask, where mask[i] is 0 with probability rate and else 1 / (1 - rate)
 *
 *  src   f32 or f64, any shape
 *  rate  fraction of elements that are dropped, 0 <= rate < 1
 *  seed  seed of this op; if it is 0 (the default), the seed is made from the node's name
 *  dst   output 0, like src; may alias it. Dropped elements are 0, even if src is NaN or infinite there
 *  mask  output 1, like src
 *
 *  mask[i] depends only on the graph's seed, the op's seed, the number of the step and i. The gradient applies the same
 *  mask.
 */
#ifdef MST_OP_HEADER
typedef struct mst_dropout_options {
    int zero_;
    mst_value src;
    float rate;    /**< fraction of elements that are dropped */
    uint64_t seed; /**< 0: made from the node's name */
} mst_dropout_options;
/** Returns output 0. */
MST_API mst_value mst_dropout_with(mst_dropout_options options);
#define mst_dropout(...) mst_dropout_with(MST_NAMED_1(mst_dropout_options, src, __VA_ARGS__))
#endif
#include <math.h>

#include "base/simd.h"
#include "op/op.h"
#include "op/random/random.h"
#include "op/share.h"

#define MOST 0x1.fffffep-1 /* the last float before 1 */

static const mst_field dropout_fields[] = {
    MST_FIELD_F32(mst_dropout_options, rate, 0, 0, MOST, "part that is dropped"),
    MST_FIELD_U64(mst_dropout_options, seed, "of this op; 0: made from the node's name"),
    MST_FIELD_END,
};

static mst_status dropout_infer(mst_infer *c) {
    MST_TRY(mst_infer_want_float(c, 0));
    c->dst[0] = c->dst[1] = c->src[0];
    return MST_OK;
}

static mst_value dropout_grad(mst_grad *c, int i) {
    (void)i;
    return mst_value_is_none(c->ddst[0]) ? MST_NONE : mst_mul(c->ddst[0], c->dst[1]);
}

static void dropout_lower(mst_lower *l) {
    const mst_dropout_options *o = l->options;
    const mst_dtype dtype = l->src_spec[0].dtype;
    const mst_random_hlo sequence = mst_random_hlo_make(l, o->seed);
    const mst_hlo word = mst_random_hlo_words(l, &sequence, mst_hlo_number(l, MST_HLO_U32, 0));
    const mst_hlo dropped = mst_hlo_number(l, MST_HLO_U32, floor((double)o->rate * 0x1p32));
    const mst_hlo keep = mst_hlo_compare(l, "GE", word, dropped), zero = mst_hlo_number(l, dtype, 0);
    const mst_hlo scale = mst_hlo_number(l, dtype, 1 / (1 - (double)o->rate));
    l->dst[0] = mst_hlo_select(l, keep, mst_hlo_binary(l, "multiply", l->src[0], scale), zero);
    l->dst[1] = mst_hlo_select(l, keep, scale, zero);
}

enum { CHUNK = 1024 };

#define MST_TEMPLATE "op/random/dropout_loop.inc"
#include "base/floats.inc"

/* Computes elements BEGIN to END - 1. BEGIN is a multiple of 4, the number of words of a block. Each element has one
 * word of random bits, and is dropped if this word is less than rate * 2^32. */
static mst_status drop(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const mst_dropout_options *o = a->options;
    const mst_rng rng = mst_random_sequence(a, o->seed);
    const uint32_t dropped = (uint32_t)((double)o->rate * 0x1p32);
    const double scale = 1 / (1 - (double)o->rate);
    (void)thread;
    for (int64_t i = begin; i < end; i += CHUNK) {
        uint32_t word[CHUNK];
        const int64_t count = end - i < CHUNK ? end - i : CHUNK;
        mst_rng_blocks(&rng, (uint64_t)i / 4, (count + 3) / 4, 0, word);
        if (a->dst[0].dtype == MST_F32)
            drop_f32(word, dropped, (float)scale, (const float *)a->src[0].data + i, (float *)a->dst[0].data + i,
                     (float *)a->dst[1].data + i, count);
        else
            drop_f64(word, dropped, scale, (const double *)a->src[0].data + i, (double *)a->dst[0].data + i,
                     (double *)a->dst[1].data + i, count);
    }
    return MST_OK;
}

static mst_status dropout_reference(const mst_kernel_args *a) {
    return mst_parallel(a, a->dst[0].count, mst_random_grain(a->dst[0].count), drop, mst_context_of(a));
}

static const mst_example dropout_examples[] = {
    {.name = "half",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {8}, .value = (const double[]){1, 2, 3, 4, 5, 6, 7, 8}}},
     .options = &(const mst_dropout_options){.rate = 0.5f, .seed = 7},
     .expect = {(const double[]){0, 0, 0, 8, 0, 12, 14, 0}, (const double[]){0, 0, 0, 2, 0, 2, 2, 0}}},
    {.name = "none",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 2}, .value = (const double[]){1, 2, 3, 4}}},
     .expect = {(const double[]){1, 2, 3, 4}, (const double[]){1, 1, 1, 1}}},
    {.name = "seed of its name",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {3, 7}}},
     .options = &(const mst_dropout_options){.rate = 0.25f}},
    {.name = "many",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {1030}, .no_grad = true}},
     .options = &(const mst_dropout_options){.rate = 0.9f}},
    {.name = "all",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {3}}},
     .options = &(const mst_dropout_options){.rate = 1.0f},
     .fails = MST_INVALID},
    {.name = "negative",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {3}}},
     .options = &(const mst_dropout_options){.rate = -0.5f},
     .fails = MST_INVALID},
    {.name = "integers", .num_src = 1, .src = {{.dtype = MST_I32, .ndim = 1, .dim = {3}}}, .fails = MST_INVALID},
};

const mst_op mst_op_dropout = {
    .name = "dropout",
    .tf_form =
        ">IdentityN(SelectV2(Greater(Div(Cast(GreaterEqual(RandomUniform(Shape($0; "
        "out_type=i32); T=i32 dtype=t0 seed=0 seed2=seed), rate:t0); SrcT=bool DstT=t0), "
        "Sub(1, rate:t0)), 0), Mul($0, Div(Cast(GreaterEqual(RandomUniform(Shape($0; "
        "out_type=i32); T=i32 dtype=t0 seed=0 seed2=seed), rate:t0); SrcT=bool DstT=t0), "
        "Sub(1, rate:t0))), ZerosLike($0)), Div(Cast(GreaterEqual(RandomUniform(Shape($0; "
        "out_type=i32); T=i32 dtype=t0 seed=0 seed2=seed), rate:t0); SrcT=bool DstT=t0), "
        "Sub(1, rate:t0)))",
    .num_src = 1,
    .num_dst = 2,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_STATEFUL,
    .may_alias = true,
    .fields = dropout_fields,
    .options_size = sizeof(mst_dropout_options),
    .infer = dropout_infer,
    .grad = dropout_grad,
    .reference = dropout_reference,
    .lower = dropout_lower,
    MST_EXAMPLES(dropout_examples),
};

mst_value mst_dropout_with(mst_dropout_options options) {
    return mst_call(NULL, &mst_op_dropout, 1, &options.src, &options);
}
