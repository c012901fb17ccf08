/** random_truncated_normal: dst[i] = mean + stddev * a number drawn from the standard normal distribution, again until
 *  within [-2, 2]
 *
 *  graph   that the node is put in
 *  shape   of dst, all dimensions known; default a scalar
 *  mean    default 0
 *  stddev  default 1, positive; that of the distribution before the cut (after it, 0.8796 of that)
 *  dtype   f32 (the default) or f64
 *  seed    of this op; 0 (the default): made from the node's name
 *
 *  dst[i] depends on the graph's seed, the op's seed, the number of the step and i, and on nothing else.
 */
#ifdef MST_OP_HEADER
typedef struct mst_random_truncated_normal_options {
    int zero_;
    mst_graph *graph;
    mst_shape shape;
    double mean;
    double stddev;   /**< default 1 */
    mst_dtype dtype; /**< default f32 */
    uint64_t seed;   /**< 0: made from the node's name */
} mst_random_truncated_normal_options;
MST_API mst_value mst_random_truncated_normal_with(mst_random_truncated_normal_options options);
#define mst_random_truncated_normal(...) \
    mst_random_truncated_normal_with(MST_NAMED_2(mst_random_truncated_normal_options, graph, shape, __VA_ARGS__))
#endif
#include <float.h>

#include "op/op.h"
#include "op/random/random.h"
#include "op/share.h"

static const mst_field fields[] = {
    MST_FIELD_SHAPE(mst_random_truncated_normal_options, shape, "of the output"),
    MST_FIELD_F64(mst_random_truncated_normal_options, mean, 0, 0, 0, "mean"),
    MST_FIELD_F64(mst_random_truncated_normal_options, stddev, 1, 0, DBL_MAX, "standard deviation"),
    MST_FIELD_DTYPE(mst_random_truncated_normal_options, dtype, MST_F32, "element type"),
    MST_FIELD_U64(mst_random_truncated_normal_options, seed, "of this op; 0: made from the node's name"),
    MST_FIELD_END,
};

static mst_status infer(mst_infer *c) {
    const mst_random_truncated_normal_options *o = c->options;
    return mst_random_infer(c, o->dtype, o->shape);
}

/* Elements BEGIN to END - 1. */
static mst_status draw(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const mst_random_truncated_normal_options *o = a->options;
    const mst_rng rng = mst_random_sequence(a, o->seed);
    (void)thread;
    if (a->dst[0].dtype == MST_F32) {
        float *dst = (float *)a->dst[0].data + begin;
        mst_rng_fill_truncated_f32(&rng, (uint64_t)begin, end - begin, dst);
        mst_random_scale_f32(o->mean, o->stddev, end - begin, dst);
    } else {
        double *dst = (double *)a->dst[0].data + begin;
        mst_rng_fill_truncated_f64(&rng, (uint64_t)begin, end - begin, dst);
        for (int64_t i = 0; i < end - begin; i++) dst[i] = o->mean + o->stddev * dst[i];
    }
    return MST_OK;
}

static mst_status reference(const mst_kernel_args *a) {
    return mst_parallel(a, a->dst[0].count, mst_random_grain(a->dst[0].count), draw, mst_context_of(a));
}

static const mst_example examples[] = {
    {.name = "f32",
     .options = &(const mst_random_truncated_normal_options){.shape = {.ndim = 1, .dim = {5}}, .seed = 1},
     .expect = {(const double[]){1.414386510848999, 1.2161962985992432, 1.2992461919784546, 0.14846420288085938,
                                 0.941311776638031}}},
    {.name = "f64",
     .options =
         &(const mst_random_truncated_normal_options){.shape = {.ndim = 1, .dim = {5}}, .dtype = MST_F64, .seed = 1},
     .expect = {(const double[]){-0.5541044525091116, 0.28116608951644156, 0.8248485776846559, -0.7427778828270969,
                                 -1.1565255306271873}}},
    {.name = "mean and deviation",
     .options =
         &(const mst_random_truncated_normal_options){
             .shape = {.ndim = 2, .dim = {5, 1}}, .mean = 10, .stddev = 2, .dtype = MST_F64, .seed = 1},
     .expect = {(const double[]){8.891791094981777, 10.562332179032882, 11.649697155369312, 8.514444234345806,
                                 7.686948938745625}}},
    {.name = "seed of its name",
     .options = &(const mst_random_truncated_normal_options){.shape = {.ndim = 2, .dim = {3, 7}}}},
    {.name = "scalar", .options = &(const mst_random_truncated_normal_options){.dtype = MST_F64}},
    {.name = "negative deviation",
     .options = &(const mst_random_truncated_normal_options){.stddev = -1},
     .fails = MST_INVALID},
    {.name = "integers",
     .options = &(const mst_random_truncated_normal_options){.dtype = MST_I64},
     .fails = MST_INVALID},
    {.name = "unknown shape",
     .options = &(const mst_random_truncated_normal_options){.shape = {.ndim = 2, .dim = {3, -1}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_random_truncated_normal = {
    .name = "random_truncated_normal",
    .tf_name = "TruncatedNormal",
    .num_src = 0,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_STATEFUL,
    .fields = fields,
    .options_size = sizeof(mst_random_truncated_normal_options),
    .infer = infer,
    .reference = reference,
    MST_EXAMPLES(examples),
};

mst_value mst_random_truncated_normal_with(mst_random_truncated_normal_options options) {
    return mst_call(options.graph, &mst_op_random_truncated_normal, 0, NULL, &options);
}
