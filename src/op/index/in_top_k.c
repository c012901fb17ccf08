/** in_top_k: dst[i] = (number of classes j with predictions[i, j] > predictions[i, targets[i]]) < k
 *
 *  predictions  f32 or f64, [n, classes]: scores
 *  targets      i32 or i64, [n]: numbers of classes
 *  k            at least 1
 *  dst          bool, [n]
 *
 *  Scores equal to the target's score do not count. dst is false if the target is no class, or if a score that is
 *  compared is not finite. As TensorFlow's InTopKV2.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_in_top_k(mst_value predictions, mst_value targets, int k);
#endif
#include <math.h>

#include "op/index/index_hlo.h"
#include "op/op.h"
#include "op/share.h"

typedef struct in_top_k_options {
    int zero_;
    int k;
} in_top_k_options;

static const mst_field in_top_k_fields[] = {
    MST_FIELD_I32(in_top_k_options, k, 0, 1, INT32_MAX, "places that count"),
    MST_FIELD_END,
};

static mst_status in_top_k_infer(mst_infer *c) {
    MST_TRY(mst_infer_want_float(c, 0));
    MST_TRY(mst_infer_want_index(c, 1));
    MST_TRY(mst_infer_want_ndim(c, 0, 2));
    MST_TRY(mst_infer_want_ndim(c, 1, 1));
    c->dst[0] = (mst_spec){.dtype = MST_BOOL, .shape = {.ndim = 1}};
    return mst_infer_same_dim(c, c->src[0].shape.dim[0], c->src[1].shape.dim[0], "numbers of rows",
                              &c->dst[0].shape.dim[0]);
}

static void in_top_k_lower(mst_lower *l) {
    const mst_spec spec = l->src_spec[0];
    const mst_axes last = MST_AXES(1);
    const mst_dtype dtype = l->src_spec[1].dtype, score_dtype = spec.dtype;
    const mst_hlo score = l->src[0], targets = l->src[1];
    const mst_hlo target = mst_hlo_reshape(l, targets, MST_SHAPE(spec.shape.dim[0], 1));
    const mst_hlo is_target = mst_hlo_compare(l, "EQ", target, mst_hlo_iota(l, dtype, spec.shape, 1));
    const mst_hlo lowest = mst_hlo_number(l, score_dtype, -INFINITY);
    const mst_hlo wanted =
        mst_hlo_reduce_keep(l, "maximum", mst_hlo_select(l, is_target, score, lowest), -INFINITY, last);
    const mst_hlo is_better = mst_hlo_convert(l, mst_hlo_compare(l, "GT", score, wanted), MST_I32);
    const mst_hlo better = mst_hlo_reduce(l, "add", is_better, 0, last);
    const mst_hlo among =
        mst_hlo_compare(l, "LT", better, mst_hlo_number(l, MST_I32, ((const in_top_k_options *)l->options)->k));
    const mst_hlo is_finite =
        mst_hlo_compare(l, "LT", mst_hlo_unary(l, "abs", score), mst_hlo_number(l, score_dtype, INFINITY));
    const mst_hlo all_finite = mst_hlo_reduce(l, "and", is_finite, 1, last);
    const mst_hlo is_class = mst_hlo_reduce(l, "or", is_target, 0, last);
    l->dst[0] = mst_hlo_binary(l, "and", among, mst_hlo_binary(l, "and", all_finite, is_class));
}

#define MST_TEMPLATE "op/index/in_top_k_row.inc"
#include "base/floats.inc"

/* Computes rows BEGIN to END - 1. */
static mst_status in_top_k_run(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const int k = ((const in_top_k_options *)a->options)->k;
    const int64_t n = a->src[0].shape.dim[1];
    bool *dst = a->dst[0].data;
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        const int64_t target =
            a->src[1].dtype == MST_I32 ? ((const int32_t *)a->src[1].data)[i] : ((const int64_t *)a->src[1].data)[i];
        if (a->src[0].dtype == MST_F32)
            dst[i] = hit_f32((const float *)a->src[0].data + i * n, n, target, k);
        else
            dst[i] = hit_f64((const double *)a->src[0].data + i * n, n, target, k);
    }
    return MST_OK;
}

static mst_status in_top_k_reference(const mst_kernel_args *a) {
    return mst_parallel(a, a->dst[0].count, mst_grain(a->dst[0].count, 4 * a->src[0].shape.dim[1]), in_top_k_run,
                        mst_context_of(a));
}

#define SCORES                             \
    (const double[]) {                     \
        1, 3, 2, 2, 9, 8, 7, 6, 4, 4, 4, 4 \
    }

static const mst_example in_top_k_examples[] = {
    {.name = "ties are hits",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {3, 4}, .value = SCORES},
             {.dtype = MST_I32, .ndim = 1, .dim = {3}, .value = (const double[]){3, 2, 3}}},
     .options = &(const in_top_k_options){.k = 2},
     .expect = {(const double[]){1, 0, 1}}},
    {.name = "first",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {3, 4}, .value = SCORES},
             {.dtype = MST_I64, .ndim = 1, .dim = {3}, .value = (const double[]){1, 1, 0}}},
     .options = &(const in_top_k_options){.k = 1},
     .expect = {(const double[]){1, 0, 1}}},
    {.name = "more places than classes",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {3, 4}, .value = SCORES},
             {.dtype = MST_I64, .ndim = 1, .dim = {3}, .value = (const double[]){0, 4, -1}}},
     .options = &(const in_top_k_options){.k = 9},
     .expect = {(const double[]){1, 0, 0}}},
    {.name = "not finite",
     .num_src = 2,
     .src = {{.ndim = 2,
              .dim = {3, 2},
              .value = (const double[]){__builtin_nan(""), 1, 2, __builtin_inf(), -__builtin_inf(), 1}},
             {.dtype = MST_I32, .ndim = 1, .dim = {3}, .value = (const double[]){1, 0, 1}}},
     .options = &(const in_top_k_options){.k = 2},
     .expect = {(const double[]){0, 0, 0}}},
    {.name = "random",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {7, 9}}, {.dtype = MST_I32, .ndim = 1, .dim = {7}, .high = 8}},
     .options = &(const in_top_k_options){.k = 3}},
    {.name = "k of 0",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 3}}, {.dtype = MST_I32, .ndim = 1, .dim = {2}}},
     .fails = MST_INVALID},
    {.name = "other number of rows",
     .num_src = 2,
     .src = {{.ndim = 2, .dim = {2, 3}}, {.dtype = MST_I32, .ndim = 1, .dim = {3}}},
     .options = &(const in_top_k_options){.k = 1},
     .fails = MST_INVALID},
};

const mst_op mst_op_in_top_k = {
    .name = "in_top_k",
    .tf_form = "InTopKV2($0, $1, k:t1; T=t1)",
    .num_src = 2,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .fields = in_top_k_fields,
    .options_size = sizeof(in_top_k_options),
    .infer = in_top_k_infer,
    .reference = in_top_k_reference,
    .lower = in_top_k_lower,
    MST_EXAMPLES(in_top_k_examples),
};

mst_value mst_in_top_k(mst_value predictions, mst_value targets, int k) {
    return mst_call(NULL, &mst_op_in_top_k, 2, (const mst_value[]){predictions, targets},
                    &(const in_top_k_options){.k = k});
}
