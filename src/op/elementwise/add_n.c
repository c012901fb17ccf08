/** add_n: dst = ((values[0] + values[1]) + (values[2] + values[3])) + ...
 *
 *  values  at least one, of one dtype (f32, f64, i32, i64 or u8) and shape
 *  dst     like them; may alias any of them
 *
 *  Neighbours are added, then neighbouring sums, and so on. A value without a neighbour moves up unchanged. This is the
 *  tree in which shards are added up. The order depends only on the number of values, so sums of runs of 2, 4, 8, ...
 *  values may be computed elsewhere. Integers wrap around.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_add_n(const mst_value *values, int n);
#endif
#include <string.h>

#include "base/shard_tree.h"
#include "base/simd.h"
#include "op/op.h"
#include "op/shape/strided.h"

static mst_status add_n_infer(mst_infer *c) {
    if (c->num_src > 0) MST_TRY(mst_infer_want_listed(c, 0));
    return mst_infer_sources_alike(c, -1, &c->dst[0]);
}

static mst_value add_n_grad(mst_grad *c, int i) {
    (void)i;
    return c->ddst[0];
}

/* in the tree of base/shard_tree.h */
static void add_n_lower(mst_lower *l) {
    mst_hlo sum[MST_SHARD_LEVELS];
    int32_t height = 0;
    for (int32_t i = 0; i < l->num_src; i++) {
        sum[height++] = l->src[i];
        for (mst_shards s = {i, 1}; mst_shards_is_right(s, l->num_src); s = mst_shards_parent(s, l->num_src)) {
            height--;
            sum[height - 1] = mst_hlo_binary(l, "add", sum[height - 1], sum[height]);
        }
    }
    l->dst[0] = sum[0];
}

enum { BLOCK = 256 };

#define MST_TEMPLATE "op/elementwise/add_n_tree.inc"
#include "op/numbers.inc"

static mst_status add_n_reference(const mst_kernel_args *a) {
    static const mst_kernel_function kernel[MST_NUM_DTYPES] = {MST_BY_NUMBER(add)};
    return kernel[a->dst[0].dtype](a);
}

static const mst_example add_n_examples[] = {
    {.name = "two",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {2}, .value = (const double[]){1, 2}},
             {.ndim = 1, .dim = {2}, .value = (const double[]){3, 4}}},
     .expect = {(const double[]){4, 6}}},
    {.name = "five",
     .num_src = 5,
     .src = {{.ndim = 0, .value = (const double[]){1}},
             {.ndim = 0, .value = (const double[]){2}},
             {.ndim = 0, .value = (const double[]){3}},
             {.ndim = 0, .value = (const double[]){4}},
             {.ndim = 0, .value = (const double[]){5}}},
     .expect = {(const double[]){15}}},
    /* in f32, 1 + 2^24 is 2^24: added from left to right, the sum would be -1 */
    {.name = "neighbours first",
     .num_src = 4,
     .src = {{.dtype = MST_F32, .ndim = 0, .value = (const double[]){1}},
             {.dtype = MST_F32, .ndim = 0, .value = (const double[]){16777216}},
             {.dtype = MST_F32, .ndim = 0, .value = (const double[]){-16777216}},
             {.dtype = MST_F32, .ndim = 0, .value = (const double[]){-1}}},
     .expect = {(const double[]){0}}},
    {.name = "three of more than a block",
     .num_src = 3,
     .src = {{.ndim = 2, .dim = {3, 100}}, {.ndim = 2, .dim = {3, 100}}, {.ndim = 2, .dim = {3, 100}}}},
    {.name = "one",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {2}, .value = (const double[]){1, 2}}},
     .expect = {(const double[]){1, 2}}},
    {.name = "empty", .num_src = 2, .src = {{.ndim = 1, .dim = {0}}, {.ndim = 1, .dim = {0}}}},
    {.name = "shapes differ",
     .num_src = 2,
     .src = {{.ndim = 1, .dim = {2}}, {.ndim = 1, .dim = {1}}},
     .fails = MST_INVALID},
    {.name = "dtypes differ",
     .num_src = 2,
     .src = {{.dtype = MST_F32, .ndim = 0}, {.dtype = MST_F64, .ndim = 0}},
     .fails = MST_INVALID},
};

static bool add_n_is_identity(const mst_infer *c) {
    return c->num_src == 1;
}

const mst_op mst_op_add_n = {
    .name = "add_n",
    .tf_form =
        "AddN($*; N=n)\n"
        "<AccumulateNV2($*; N=n shape=*)",
    .num_src = MST_VARIADIC,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .infer = add_n_infer,
    .grad = add_n_grad,
    .is_identity = add_n_is_identity,
    .reference = add_n_reference,
    .lower = add_n_lower,
    MST_EXAMPLES(add_n_examples),
};

mst_value mst_add_n(const mst_value *values, int n) {
    return mst_call(NULL, &mst_op_add_n, n, values, NULL);
}
