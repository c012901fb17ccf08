/** random_normal: dst[i] = mean + stddev * a number drawn from the standard normal distribution
 *
 *  graph   the graph to which the node is added
 *  shape   shape of dst, all dimensions known; default: a scalar
 *  mean    default 0
 *  stddev  default 1, positive
 *  dtype   f32 (the default) or f64
 *  seed    seed of this op; if it is 0 (the default), the seed is made from the node's name
 *
 *  dst[i] depends only on the graph's seed, the op's seed, the number of the step and i.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_random_normal_with(mst_random_normal_options options);
#define mst_random_normal(...) mst_random_normal_with(MST_NAMED_2(mst_random_normal_options, graph, shape, __VA_ARGS__))
#endif
#include "op/op.h"
#include "op/random/random.h"

static void random_normal_lower(mst_lower *l) {
    mst_random_hlo_normal(l, false);
}

static mst_status random_normal_reference(const mst_kernel_args *a) {
    return mst_random_normal_draw(a, mst_rng_fill_normal_f32, mst_rng_fill_normal_f64);
}

static const mst_example random_normal_examples[] = {
    {.name = "f32",
     .options = &(const mst_random_normal_options){.shape = {.ndim = 1, .dim = {5}}, .seed = 7},
     .expect = {(const double[]){-0.7260264754295349, -0.5451846718788147, 0.7944594025611877, 0.1373424530029297,
                                 -1.2920374870300293}}},
    {.name = "f64",
     .options = &(const mst_random_normal_options){.shape = {.ndim = 1, .dim = {5}}, .dtype = MST_F64, .seed = 7},
     .expect = {(const double[]){-0.25315120774797184, -1.4514078020423065, -0.1408207577683398, 0.5086763144425871,
                                 1.7097063217896198}}},
    {.name = "mean and deviation",
     .options =
         &(const mst_random_normal_options){
             .shape = {.ndim = 2, .dim = {5, 1}}, .mean = 10, .stddev = 2, .dtype = MST_F64, .seed = 7},
     .expect = {(const double[]){9.493697584504057, 7.097184395915387, 9.71835848446332, 11.017352628885174,
                                 13.41941264357924}}},
    {.name = "seed of its name", .options = &(const mst_random_normal_options){.shape = {.ndim = 2, .dim = {3, 7}}}},
    {.name = "scalar", .options = &(const mst_random_normal_options){.dtype = MST_F64}},
    {.name = "negative deviation", .options = &(const mst_random_normal_options){.stddev = -1}, .fails = MST_INVALID},
    {.name = "integers", .options = &(const mst_random_normal_options){.dtype = MST_I64}, .fails = MST_INVALID},
    {.name = "unknown shape",
     .options = &(const mst_random_normal_options){.shape = {.ndim = 2, .dim = {3, -1}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_random_normal = {
    .name = "random_normal",
    .tf_form =
        "RandomStandardNormal(shape:i64; T=i64 dtype=dtype seed=0 seed2=seed) if mean==0 "
        "stddev==1\n"
        ">AddV2(Mul(RandomStandardNormal(shape:i64; T=i64 dtype=dtype seed=0 seed2=seed), "
        "stddev:dtype), mean:dtype)",
    .num_src = 0,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_STATEFUL,
    .fields = mst_random_normal_fields,
    .options_size = sizeof(mst_random_normal_options),
    .infer = mst_random_normal_infer,
    .reference = random_normal_reference,
    .lower = random_normal_lower,
    MST_EXAMPLES(random_normal_examples),
};

mst_value mst_random_normal_with(mst_random_normal_options options) {
    return mst_call(options.graph, &mst_op_random_normal, 0, NULL, &options);
}
