/** string_to_hash_bucket_fast: dst[i] = hash(src[i]) modulo num_buckets
 *
 *  src          strings, any shape
 *  num_buckets  1 to 2^53
 *  dst          i64, src's shape, from 0 to num_buckets - 1
 *
 *  The hash is FarmHash's Fingerprint64, and never changes. As TensorFlow's StringToHashBucketFast.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_string_to_hash_bucket_fast(mst_value src, int64_t num_buckets);
#endif
#include "base/farm_hash.h"
#include "op/op.h"
#include "op/share.h"

typedef struct hash_options {
    int zero_;
    int64_t num_buckets;
} hash_options;

static const mst_field fields[] = {
    MST_FIELD_I64(hash_options, num_buckets, 0, 1, 0x1p53, "hashes that there are"),
    MST_FIELD_END,
};

static mst_status string_to_hash_bucket_fast_infer(mst_infer *c) {
    MST_TRY(mst_infer_want_dtype(c, 0, MST_STRING));
    c->dst[0] = (mst_spec){.dtype = MST_I64, .shape = c->src[0].shape};
    return MST_OK;
}

static mst_status hash_strings(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const uint64_t buckets = (uint64_t)((const hash_options *)a->options)->num_buckets;
    const mst_string *src = a->src[0].data;
    int64_t *dst = a->dst[0].data;
    (void)thread;
    for (int64_t i = begin; i < end; i++) dst[i] = (int64_t)(mst_farm_hash(src[i].data, src[i].length) % buckets);
    return MST_OK;
}

static mst_status string_to_hash_bucket_fast_reference(const mst_kernel_args *a) {
    enum { ELEMENTS = 30 /* for mst_grain: hashing a string of some words takes as long as 30 simple elements */ };
    const int64_t n = a->src[0].count;
    return mst_parallel(a, n, mst_grain(n, ELEMENTS), hash_strings, mst_context_of(a));
}

static const mst_example string_to_hash_bucket_fast_examples[] = {
    {.name = "one bucket",
     .num_src = 1,
     .src = {{.dtype = MST_STRING, .ndim = 2, .dim = {2, 2}}},
     .options = &(const hash_options){.num_buckets = 1},
     .expect = {(const double[]){0, 0, 0, 0}}},
    {.name = "any strings",
     .num_src = 1,
     .src = {{.dtype = MST_STRING, .ndim = 1, .dim = {5}}},
     .options = &(const hash_options){.num_buckets = 1000003}},
    {.name = "a scalar",
     .num_src = 1,
     .src = {{.dtype = MST_STRING, .ndim = 0}},
     .options = &(const hash_options){.num_buckets = (int64_t)1 << 53}},
    {.name = "none",
     .num_src = 1,
     .src = {{.dtype = MST_STRING, .ndim = 1, .dim = {0}}},
     .options = &(const hash_options){.num_buckets = 7}},
    {.name = "no buckets", .num_src = 1, .src = {{.dtype = MST_STRING, .ndim = 1, .dim = {1}}}, .fails = MST_INVALID},
};

const mst_op mst_op_string_to_hash_bucket_fast = {
    .name = "string_to_hash_bucket_fast",
    .tf_form = "StringToHashBucketFast($0; num_buckets=num_buckets)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_DTYPE_BIT(MST_STRING),
    .flags = MST_OP_INFALLIBLE,
    .fields = fields,
    .options_size = sizeof(hash_options),
    .infer = string_to_hash_bucket_fast_infer,
    .reference = string_to_hash_bucket_fast_reference,
    MST_EXAMPLES(string_to_hash_bucket_fast_examples),
};

mst_value mst_string_to_hash_bucket_fast(mst_value src, int64_t num_buckets) {
    return mst_call(NULL, &mst_op_string_to_hash_bucket_fast, 1, (mst_value[]){src},
                    &(hash_options){.num_buckets = num_buckets});
}
