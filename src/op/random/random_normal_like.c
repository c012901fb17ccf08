/** random_normal_like: dst[i] = a number drawn from the standard normal distribution
 *
 *  src   f32 or f64, any shape; only its shape and dtype are used
 *  seed  seed of this op; if it is 0 (the default), the seed is made from the node's name
 *  dst   like src
 *
 *  dst[i] depends only on the graph's seed, the op's seed, the number of the step and i. No gradient flows through.
 */
#ifdef MST_OP_HEADER
typedef struct mst_random_normal_like_options {
    int zero_;
    mst_value src;
    uint64_t seed; /**< 0: made from the node's name */
} mst_random_normal_like_options;
MST_API mst_value mst_random_normal_like_with(mst_random_normal_like_options options);
#define mst_random_normal_like(...) \
    mst_random_normal_like_with(MST_NAMED_1(mst_random_normal_like_options, src, __VA_ARGS__))
#endif
#include "op/op.h"
#include "op/random/random.h"
#include "op/share.h"

static const mst_field random_normal_like_fields[] = {
    MST_FIELD_U64(mst_random_normal_like_options, seed, "of this op; 0: made from the node's name"),
    MST_FIELD_END,
};

static mst_status random_normal_like_infer(mst_infer *c) {
    MST_TRY(mst_infer_want_float(c, 0));
    c->dst[0] = c->src[0];
    return MST_OK;
}

static void random_normal_like_lower(mst_lower *l) {
    const mst_random_normal_like_options *o = l->options;
    const mst_random_hlo sequence = mst_random_hlo_make(l, o->seed);
    l->dst[0] = mst_random_hlo_standard_normal(l, &sequence);
}

/* Draws elements BEGIN to END - 1. */
static mst_status normal_like_draw(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const mst_random_normal_like_options *o = a->options;
    const mst_rng rng = mst_random_sequence(a, o->seed);
    (void)thread;
    if (a->dst[0].dtype == MST_F32)
        mst_rng_fill_normal_f32(&rng, (uint64_t)begin, end - begin, (float *)a->dst[0].data + begin);
    else
        mst_rng_fill_normal_f64(&rng, (uint64_t)begin, end - begin, (double *)a->dst[0].data + begin);
    return MST_OK;
}

static mst_status random_normal_like_reference(const mst_kernel_args *a) {
    return mst_parallel(a, a->dst[0].count, mst_random_grain(a->dst[0].count), normal_like_draw, mst_context_of(a));
}

static const mst_example random_normal_like_examples[] = {
    {.name = "any source",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {3, 7}}},
     .options = &(const mst_random_normal_like_options){.seed = 7}},
    {.name = "seed of its name", .num_src = 1, .src = {{.ndim = 1, .dim = {1030}, .no_grad = true}}},
    {.name = "scalar", .num_src = 1, .src = {{.ndim = 0}}},
    {.name = "integers", .num_src = 1, .src = {{.dtype = MST_I32, .ndim = 1, .dim = {3}}}, .fails = MST_INVALID},
};

const mst_op mst_op_random_normal_like = {
    .name = "random_normal_like",
    .tf_form = ">RandomStandardNormal(Shape($0; out_type=i32); T=i32 dtype=t0 seed=0 seed2=seed)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_STATEFUL,
    .shape_only = 1,
    .fields = random_normal_like_fields,
    .options_size = sizeof(mst_random_normal_like_options),
    .infer = random_normal_like_infer,
    .reference = random_normal_like_reference,
    .lower = random_normal_like_lower,
    MST_EXAMPLES(random_normal_like_examples),
};

mst_value mst_random_normal_like_with(mst_random_normal_like_options options) {
    return mst_call(NULL, &mst_op_random_normal_like, 1, &options.src, &options);
}
