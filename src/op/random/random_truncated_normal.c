/** random_truncated_normal: dst[i] = mean + stddev * a number drawn from the standard normal distribution; numbers
 *  outside [-2, 2] are drawn again
 *
 *  graph   the graph to which the node is added
 *  shape   shape of dst, all dimensions known; default: a scalar
 *  mean    default 0
 *  stddev  default 1, positive: the standard deviation before the cut; dst's standard deviation is 0.8796 times this
 *  dtype   f32 (the default) or f64
 *  seed    seed of this op; if it is 0 (the default), the seed is made from the node's name
 *
 *  dst[i] depends only on the graph's seed, the op's seed, the number of the step and i.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_random_truncated_normal_with(mst_random_normal_options options);
#define mst_random_truncated_normal(...) \
    mst_random_truncated_normal_with(MST_NAMED_2(mst_random_normal_options, graph, shape, __VA_ARGS__))
#endif
#include "op/op.h"
#include "op/random/random.h"

static void random_truncated_normal_lower(mst_lower *l) {
    mst_random_hlo_normal(l, true);
}

static mst_status random_truncated_normal_reference(const mst_kernel_args *a) {
    return mst_random_normal_draw(a, mst_rng_fill_truncated_f32, mst_rng_fill_truncated_f64);
}

static const mst_example random_truncated_normal_examples[] = {
    {.name = "f32",
     .options = &(const mst_random_normal_options){.shape = {.ndim = 1, .dim = {5}}, .seed = 1},
     .expect = {(const double[]){1.414386510848999, 1.2161962985992432, 1.2992461919784546, 0.14846420288085938,
                                 0.941311776638031}}},
    {.name = "f64",
     .options = &(const mst_random_normal_options){.shape = {.ndim = 1, .dim = {5}}, .dtype = MST_F64, .seed = 1},
     .expect = {(const double[]){-0.5541044525091116, 0.28116608951644156, 0.8248485776846559, -0.7427778828270969,
                                 -1.1565255306271873}}},
    {.name = "mean and deviation",
     .options =
         &(const mst_random_normal_options){
             .shape = {.ndim = 2, .dim = {5, 1}}, .mean = 10, .stddev = 2, .dtype = MST_F64, .seed = 1},
     .expect = {(const double[]){8.891791094981777, 10.562332179032882, 11.649697155369312, 8.514444234345806,
                                 7.686948938745625}}},
    {.name = "seed of its name", .options = &(const mst_random_normal_options){.shape = {.ndim = 2, .dim = {3, 7}}}},
    {.name = "many", .options = &(const mst_random_normal_options){.shape = {.ndim = 1, .dim = {1030}}}},
    {.name = "many of f64",
     .options = &(const mst_random_normal_options){.shape = {.ndim = 1, .dim = {1030}}, .dtype = MST_F64}},
    {.name = "scalar", .options = &(const mst_random_normal_options){.dtype = MST_F64}},
    {.name = "negative deviation", .options = &(const mst_random_normal_options){.stddev = -1}, .fails = MST_INVALID},
    {.name = "integers", .options = &(const mst_random_normal_options){.dtype = MST_I64}, .fails = MST_INVALID},
    {.name = "unknown shape",
     .options = &(const mst_random_normal_options){.shape = {.ndim = 2, .dim = {3, -1}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_random_truncated_normal = {
    .name = "random_truncated_normal",
    .tf_form =
        "TruncatedNormal(shape:i64; T=i64 dtype=dtype seed=0 seed2=seed) if mean==0 stddev==1\n"
        ">AddV2(Mul(TruncatedNormal(shape:i64; T=i64 dtype=dtype seed=0 seed2=seed), "
        "stddev:dtype), mean:dtype)",
    .num_src = 0,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_STATEFUL,
    .fields = mst_random_normal_fields,
    .options_size = sizeof(mst_random_normal_options),
    .infer = mst_random_normal_infer,
    .reference = random_truncated_normal_reference,
    .lower = random_truncated_normal_lower,
    MST_EXAMPLES(random_truncated_normal_examples),
};

mst_value mst_random_truncated_normal_with(mst_random_normal_options options) {
    return mst_call(options.graph, &mst_op_random_truncated_normal, 0, NULL, &options);
}
