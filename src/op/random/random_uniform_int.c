/** random_uniform_int: dst[i] = an integer drawn evenly from low, low + 1, ..., high - 1
 *
 *  graph      the graph to which the node is added
 *  shape      shape of dst, all dimensions known; default: a scalar
 *  low, high  bounds, low < high; high itself is not drawn. All integers have exactly the same probability
 *  dtype      i32 (the default) or i64, which must hold low and high - 1
 *  seed       seed of this op; if it is 0 (the default), the seed is made from the node's name
 *
 *  dst[i] depends only on the graph's seed, the op's seed, the number of the step and i.
 */
#ifdef MST_OP_HEADER
typedef struct mst_random_uniform_int_options {
    int zero_;
    mst_graph *graph;
    mst_shape shape;
    int64_t low, high; /**< high itself is not drawn */
    mst_dtype dtype;   /**< default i32 */
    uint64_t seed;     /**< 0: made from the node's name */
} mst_random_uniform_int_options;
MST_API mst_value mst_random_uniform_int_with(mst_random_uniform_int_options options);
#define mst_random_uniform_int(...) \
    mst_random_uniform_int_with(MST_NAMED_2(mst_random_uniform_int_options, graph, shape, __VA_ARGS__))
#endif
#include "op/op.h"
#include "op/random/random.h"
#include "op/share.h"

static const mst_field random_uniform_int_fields[] = {
    MST_FIELD_SHAPE(mst_random_uniform_int_options, shape, "of the output"),
    MST_FIELD_I64(mst_random_uniform_int_options, low, 0, 0, 0, "least value"),
    MST_FIELD_I64(mst_random_uniform_int_options, high, 0, 0, 0, "bound that is not reached"),
    MST_FIELD_DTYPE(mst_random_uniform_int_options, dtype, MST_I32, "element type"),
    MST_FIELD_U64(mst_random_uniform_int_options, seed, "of this op; 0: made from the node's name"),
    MST_FIELD_END,
};

static mst_status random_uniform_int_infer(mst_infer *c) {
    const mst_random_uniform_int_options *o = c->options;
    const long long low = o->low, high = o->high;
    if (low >= high) return mst_infer_fail(c, "low %lld must be less than high %lld", low, high);
    if (o->dtype == MST_I32 && (low < INT32_MIN || high - 1 > INT32_MAX))
        return mst_infer_fail(c, "i32 does not hold all from %lld to %lld (i64 does)", low, high - 1);
    return mst_random_infer(c, o->dtype, o->shape);
}

/* Draws of 64 bits, for integers. Draws below `num_refused` are drawn again, as in mst_rng_integer. */
typedef struct integers {
    mst_random_hlo sequence;
    uint64_t num_refused;
} integers;

static mst_hlo is_refused(mst_lower *l, const integers *draws, mst_hlo bits) {
    return mst_hlo_compare(l, "LT", bits, mst_hlo_integer(l, MST_HLO_U64, (int64_t)draws->num_refused));
}

/* The loop that draws again has two values: the number of the attempt, and the bits. */

static void some_are_refused(mst_lower *l, void *draws, const mst_hlo *argument, mst_hlo *result) {
    result[0] = mst_hlo_reduce_whole(l, "or", is_refused(l, draws, argument[1]), 0);
}

static void draw_again(mst_lower *l, void *context, const mst_hlo *argument, mst_hlo *result) {
    const integers *draws = context;
    const mst_hlo attempt = argument[0], bits = argument[1];
    result[0] = mst_hlo_binary(l, "add", attempt, mst_hlo_number(l, MST_HLO_U32, 1));
    const mst_hlo again = mst_random_hlo_long_words(l, &draws->sequence, attempt);
    result[1] = mst_hlo_select(l, is_refused(l, draws, bits), again, bits);
}

static void random_uniform_int_lower(mst_lower *l) {
    const mst_random_uniform_int_options *o = l->options;
    const uint64_t range = (uint64_t)o->high - (uint64_t)o->low;
    /* 2^64 modulo the range */
    integers draws = {.sequence = mst_random_hlo_make(l, o->seed), .num_refused = (UINT64_MAX - range + 1) % range};
    mst_hlo bits = mst_random_hlo_long_words(l, &draws.sequence, mst_hlo_number(l, MST_HLO_U32, 0));
    if (draws.num_refused) {
        const mst_hlo begin[] = {mst_hlo_number(l, MST_HLO_U32, 1), bits};
        mst_hlo end[2];
        mst_hlo_while(l, 2, begin, some_are_refused, draw_again, &draws, end);
        bits = end[1];
    }
    const mst_hlo within = mst_hlo_binary(l, "remainder", bits, mst_hlo_integer(l, MST_HLO_U64, (int64_t)range));
    const mst_hlo x = mst_hlo_binary(l, "add", mst_hlo_integer(l, MST_HLO_U64, o->low), within);
    l->dst[0] = mst_hlo_convert(l, mst_hlo_bits(l, x, MST_I64), l->dst_spec[0].dtype);
}

/* Draws elements BEGIN to END - 1. */
static mst_status draw(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const mst_random_uniform_int_options *o = a->options;
    const mst_rng rng = mst_random_sequence(a, o->seed);
    const uint64_t low = (uint64_t)o->low, range = (uint64_t)o->high - low;
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        const int64_t x = (int64_t)(low + mst_rng_integer(&rng, (uint64_t)i, range));
        if (a->dst[0].dtype == MST_I32)
            ((int32_t *)a->dst[0].data)[i] = (int32_t)x;
        else
            ((int64_t *)a->dst[0].data)[i] = x;
    }
    return MST_OK;
}

static mst_status random_uniform_int_reference(const mst_kernel_args *a) {
    return mst_parallel(a, a->dst[0].count, mst_random_grain(a->dst[0].count), draw, mst_context_of(a));
}

static const mst_example random_uniform_int_examples[] = {
    {.name = "i32",
     .options =
         &(const mst_random_uniform_int_options){.shape = {.ndim = 1, .dim = {8}}, .low = -3, .high = 7, .seed = 7},
     .expect = {(const double[]){-1, 1, -1, 4, 0, 1, -1, 1}}},
    {.name = "i64",
     .options =
         &(const mst_random_uniform_int_options){
             .shape = {.ndim = 2, .dim = {2, 2}}, .high = 1000000000000000, .dtype = MST_I64, .seed = 7},
     .expect = {(const double[]){428942368173532, 679678668247574, 730156427195132, 357989478740367}}},
    {.name = "one value",
     .options = &(const mst_random_uniform_int_options){.shape = {.ndim = 1, .dim = {3}}, .low = 4, .high = 5},
     .expect = {(const double[]){4, 4, 4}}},
    {.name = "all of i64",
     .options = &(const mst_random_uniform_int_options){.low = INT64_MIN, .high = INT64_MAX, .dtype = MST_I64}},
    /* half of the draws are refused */
    {.name = "drawn again",
     .options =
         &(const mst_random_uniform_int_options){
             .shape = {.ndim = 2, .dim = {5, 13}}, .low = INT64_MIN, .high = 1, .dtype = MST_I64}},
    {.name = "no room", .options = &(const mst_random_uniform_int_options){.low = 3, .high = 3}, .fails = MST_INVALID},
    {.name = "too large", .options = &(const mst_random_uniform_int_options){.high = 2147483649}, .fails = MST_INVALID},
    {.name = "floats",
     .options = &(const mst_random_uniform_int_options){.high = 3, .dtype = MST_F32},
     .fails = MST_INVALID},
};

const mst_op mst_op_random_uniform_int = {
    .name = "random_uniform_int",
    .tf_form =
        "RandomUniformInt(shape:i64, low:dtype, high:dtype; T=i64 Tout=dtype seed=0 "
        "seed2=seed)",
    .num_src = 0,
    .num_dst = 1,
    .dtypes = MST_INDICES,
    .flags = MST_OP_STATEFUL,
    .fields = random_uniform_int_fields,
    .options_size = sizeof(mst_random_uniform_int_options),
    .infer = random_uniform_int_infer,
    .reference = random_uniform_int_reference,
    .lower = random_uniform_int_lower,
    MST_EXAMPLES(random_uniform_int_examples),
};

mst_value mst_random_uniform_int_with(mst_random_uniform_int_options options) {
    return mst_call(options.graph, &mst_op_random_uniform_int, 0, NULL, &options);
}
