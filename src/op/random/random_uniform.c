/** random_uniform: dst[i] = a number drawn evenly from [low, high)
 *
 *  graph      the graph to which the node is added
 *  shape      shape of dst, all dimensions known; default: a scalar
 *  low, high  bounds, low < high; if both are 0 (the default), the bounds are 0 and 1
 *  dtype      f32 (the default) or f64
 *  seed       seed of this op; if it is 0 (the default), the seed is made from the node's name
 *
 *  dst[i] depends only on the graph's seed, the op's seed, the number of the step and i.
 */
#ifdef MST_OP_HEADER
typedef struct mst_random_uniform_options {
    int zero_;
    mst_graph *graph;
    mst_shape shape;
    double low, high; /**< if both are 0: 0 and 1 */
    mst_dtype dtype;  /**< default f32 */
    uint64_t seed;    /**< 0: made from the node's name */
} mst_random_uniform_options;
MST_API mst_value mst_random_uniform_with(mst_random_uniform_options options);
#define mst_random_uniform(...) \
    mst_random_uniform_with(MST_NAMED_2(mst_random_uniform_options, graph, shape, __VA_ARGS__))
#endif
#include <math.h>

#include "base/simd.h"
#include "op/op.h"
#include "op/random/random.h"
#include "op/share.h"

static const mst_field random_uniform_fields[] = {
    MST_FIELD_SHAPE(mst_random_uniform_options, shape, "of the output"),
    MST_FIELD_F64(mst_random_uniform_options, low, 0, 0, 0, "least value"),
    MST_FIELD_F64(mst_random_uniform_options, high, 0, 0, 0, "bound that is not reached"),
    MST_FIELD_DTYPE(mst_random_uniform_options, dtype, MST_F32, "element type"),
    MST_FIELD_U64(mst_random_uniform_options, seed, "of this op; 0: made from the node's name"),
    MST_FIELD_END,
};

/* The upper bound; 1 if both bounds have the default 0. */
static double high_of(const mst_random_uniform_options *o) {
    return o->low == 0 && o->high == 0 ? 1 : o->high;
}

static mst_status random_uniform_infer(mst_infer *c) {
    const mst_random_uniform_options *o = c->options;
    if (!(o->low < high_of(o)) || !isfinite(high_of(o) - o->low))
        return mst_infer_fail(c, "low %g must be less than high %g, and both finite", o->low, o->high);
    return mst_random_infer(c, o->dtype, o->shape);
}

/* Numbers are mapped to the bounds in f64, as in the kernel, unless the bounds are 0 and 1. */
static void random_uniform_lower(mst_lower *l) {
    const mst_random_uniform_options *o = l->options;
    const mst_dtype dtype = l->dst_spec[0].dtype;
    const double low = o->low, range = high_of(o) - low, bound = low + range;
    const mst_random_hlo sequence = mst_random_hlo_make(l, o->seed);
    l->dst[0] = mst_random_hlo_uniform(l, &sequence);
    if (low == 0 && range == 1) return;
    const double last = dtype == MST_F32 ? nextafterf((float)bound, (float)low) : nextafter(bound, low);
    const mst_hlo unit = mst_hlo_convert(l, l->dst[0], MST_F64);
    const mst_hlo offset = mst_hlo_binary(l, "multiply", mst_hlo_number(l, MST_F64, range), unit);
    const mst_hlo x = mst_hlo_convert(l, mst_hlo_binary(l, "add", mst_hlo_number(l, MST_F64, low), offset), dtype);
    const mst_hlo is_below = mst_hlo_compare(l, "LT", x, mst_hlo_number(l, dtype, bound));
    l->dst[0] = mst_hlo_select(l, is_below, x, mst_hlo_number(l, dtype, last));
}

/* Maps numbers from [0, 1) to [low, low + range). If rounding gives the upper bound, the next lower number is taken. */
MST_SIMD static void spread_f32(double low, double range, int64_t count, float *dst) {
    const float bound = (float)(low + range), last = nextafterf(bound, (float)low);
    for (int64_t i = 0; i < count; i++) {
        const float x = (float)(low + range * (double)dst[i]);
        dst[i] = x < bound ? x : last;
    }
}

/* Draws elements BEGIN to END - 1. */
static mst_status draw(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const mst_random_uniform_options *o = a->options;
    const mst_rng rng = mst_random_sequence(a, o->seed);
    const double low = o->low, range = high_of(o) - low;
    const int64_t count = end - begin;
    (void)thread;
    if (a->dst[0].dtype == MST_F32) {
        float *dst = (float *)a->dst[0].data + begin;
        mst_rng_fill_uniform_f32(&rng, (uint64_t)begin, count, dst);
        spread_f32(low, range, count, dst);
    } else {
        double *dst = (double *)a->dst[0].data + begin;
        const double bound = low + range, last = nextafter(bound, low);
        mst_rng_fill_uniform_f64(&rng, (uint64_t)begin, count, dst);
        for (int64_t i = 0; i < count; i++) {
            const double x = low + range * dst[i];
            dst[i] = x < bound ? x : last;
        }
    }
    return MST_OK;
}

static mst_status random_uniform_reference(const mst_kernel_args *a) {
    return mst_parallel(a, a->dst[0].count, mst_random_grain(a->dst[0].count), draw, mst_context_of(a));
}

static const mst_example random_uniform_examples[] = {
    {.name = "f32",
     .options = &(const mst_random_uniform_options){.shape = {.ndim = 1, .dim = {5}}, .seed = 7},
     .expect = {(const double[]){0.40444326400756836, 0.8086328506469727, 0.6052466630935669, 0.2864232063293457,
                                 0.21106594800949097}}},
    {.name = "f64",
     .options = &(const mst_random_uniform_options){.shape = {.ndim = 1, .dim = {5}}, .dtype = MST_F64, .seed = 7},
     .expect = {(const double[]){0.4044433102963103, 0.6052466668855453, 0.2110659970826554, 0.005212323681512698,
                                 0.9155509312616706}}},
    {.name = "bounds",
     .options =
         &(const mst_random_uniform_options){.shape = {.ndim = 2, .dim = {1, 5}}, .low = -1, .high = 3, .seed = 7},
     .expect = {(const double[]){0.6177730560302734, 2.2345314025878906, 1.4209866523742676, 0.1456928253173828,
                                 -0.15573620796203613}}},
    {.name = "seed of its name", .options = &(const mst_random_uniform_options){.shape = {.ndim = 2, .dim = {3, 7}}}},
    {.name = "scalar", .options = &(const mst_random_uniform_options){.dtype = MST_F64}},
    {.name = "no room", .options = &(const mst_random_uniform_options){.low = 3, .high = 3}, .fails = MST_INVALID},
    {.name = "integers", .options = &(const mst_random_uniform_options){.dtype = MST_I32}, .fails = MST_INVALID},
    {.name = "unknown shape",
     .options = &(const mst_random_uniform_options){.shape = {.ndim = 1, .dim = {-1}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_random_uniform = {
    .name = "random_uniform",
    .tf_form =
        "RandomUniform(shape:i64; T=i64 dtype=dtype seed=0 seed2=seed) if low==0 high==0\n"
        ">AddV2(Mul(RandomUniform(shape:i64; T=i64 dtype=dtype seed=0 seed2=seed), "
        "Sub(high:dtype, low:dtype)), low:dtype)",
    .num_src = 0,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_STATEFUL,
    .fields = random_uniform_fields,
    .options_size = sizeof(mst_random_uniform_options),
    .infer = random_uniform_infer,
    .reference = random_uniform_reference,
    .lower = random_uniform_lower,
    MST_EXAMPLES(random_uniform_examples),
};

mst_value mst_random_uniform_with(mst_random_uniform_options options) {
    return mst_call(options.graph, &mst_op_random_uniform, 0, NULL, &options);
}
