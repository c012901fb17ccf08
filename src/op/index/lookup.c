/** lookup: dst[i] = numbers[j] where keys[j] = src[i], and -1 if there is no such j
 *
 *  src      i64, any shape
 *  keys     i64, [k], in ascending order; if keys are equal, any of their numbers is taken
 *  numbers  i64, [k]
 *  dst      i64, src's shape
 *  found    if true, a run fails with MST_INVALID if an element is no key, or its number is negative
 */
#ifdef MST_OP_HEADER
typedef struct mst_lookup_options {
    int zero_;
    mst_value src, keys, numbers;
    bool found; /**< every element must be found */
} mst_lookup_options;
MST_API mst_value mst_lookup_with(mst_lookup_options options);
#define mst_lookup(...) mst_lookup_with(MST_NAMED_3(mst_lookup_options, src, keys, numbers, __VA_ARGS__))
#endif
#include "op/op.h"
#include "op/share.h"

static const mst_field fields[] = {
    MST_FIELD_BOOL(mst_lookup_options, found, "all elements must be"),
    MST_FIELD_END,
};

static mst_status lookup_infer(mst_infer *c) {
    for (int i = 0; i < 3; i++) MST_TRY(mst_infer_want_dtype(c, i, MST_I64));
    MST_TRY(mst_infer_want_ndim(c, 1, 1));
    MST_TRY(mst_infer_want_ndim(c, 2, 1));
    int64_t ignored;
    MST_TRY(mst_infer_same_dim(c, c->src[1].shape.dim[0], c->src[2].shape.dim[0], "numbers of keys", &ignored));
    c->dst[0] = (mst_spec){.dtype = MST_I64, .shape = c->src[0].shape};
    return MST_OK;
}

static int64_t lookup_number(int64_t x, const int64_t *keys, const int64_t *numbers, int64_t k) {
    int64_t begin = 0, end = k;
    while (begin < end) {
        const int64_t middle = begin + (end - begin) / 2;
        if (keys[middle] == x) return numbers[middle];
        if (keys[middle] < x)
            begin = middle + 1;
        else
            end = middle;
    }
    return -1;
}

static mst_status lookup_all(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const bool found = ((const mst_lookup_options *)a->options)->found;
    const int64_t *src = a->src[0].data, *keys = a->src[1].data, *numbers = a->src[2].data, k = a->src[1].count;
    int64_t *dst = a->dst[0].data;
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        dst[i] = lookup_number(src[i], keys, numbers, k);
        if (found && dst[i] < 0)
            return mst_kernel_fail(a, MST_INVALID, "element %lld is none of the %lld that are known", (long long)i,
                                   (long long)k);
    }
    return MST_OK;
}

static mst_status lookup_reference(const mst_kernel_args *a) {
    enum { ELEMENTS = 30 /* simple elements that take as long as a search */ };
    const int64_t n = a->src[0].count;
    return mst_parallel(a, n, mst_grain(n, ELEMENTS), lookup_all, mst_context_of(a));
}

#define KEYS                                                                 \
    {                                                                        \
        .dtype = MST_I64, .ndim = 1, .dim = {4}, .value = (const double[]) { \
            -7, 0, 3, 9                                                      \
        }                                                                    \
    }
#define NUMBERS                                                              \
    {                                                                        \
        .dtype = MST_I64, .ndim = 1, .dim = {4}, .value = (const double[]) { \
            2, 0, 3, 1                                                       \
        }                                                                    \
    }
static const mst_example lookup_examples[] = {
    {.name = "some are not there",
     .num_src = 3,
     .src = {{.dtype = MST_I64, .ndim = 2, .dim = {2, 3}, .value = (const double[]){9, -7, 4, 0, 10, -8}},
             KEYS,
             NUMBERS},
     .expect = {(const double[]){1, 2, -1, 0, -1, -1}}},
    {.name = "all are there",
     .num_src = 3,
     .src = {{.dtype = MST_I64, .ndim = 0, .value = (const double[]){3}}, KEYS, NUMBERS},
     .options = &(const mst_lookup_options){.found = true},
     .expect = {(const double[]){3}}},
    {.name = "one must be there and is not",
     .num_src = 3,
     .src = {{.dtype = MST_I64, .ndim = 1, .dim = {2}, .value = (const double[]){3, 4}}, KEYS, NUMBERS},
     .options = &(const mst_lookup_options){.found = true},
     .fails = MST_INVALID},
    {.name = "no keys",
     .num_src = 3,
     .src = {{.dtype = MST_I64, .ndim = 1, .dim = {2}, .value = (const double[]){3, 4}},
             {.dtype = MST_I64, .ndim = 1, .dim = {0}},
             {.dtype = MST_I64, .ndim = 1, .dim = {0}}},
     .expect = {(const double[]){-1, -1}}},
    {.name = "fewer numbers than keys",
     .num_src = 3,
     .src = {{.dtype = MST_I64, .ndim = 1, .dim = {2}}, KEYS, {.dtype = MST_I64, .ndim = 1, .dim = {3}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_lookup = {
    .name = "lookup",
    .num_src = 3,
    .num_dst = 1,
    .dtypes = MST_DTYPE_BIT(MST_I64),
    .fields = fields,
    .options_size = sizeof(mst_lookup_options),
    .infer = lookup_infer,
    .reference = lookup_reference,
    MST_EXAMPLES(lookup_examples),
};

mst_value mst_lookup_with(mst_lookup_options o) {
    return mst_call(NULL, &mst_op_lookup, 3, (mst_value[]){o.src, o.keys, o.numbers}, &o);
}
