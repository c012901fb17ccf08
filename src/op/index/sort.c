/** sort: the elements of src in order along axis
 *
 *  src         f32, f64, i32, i64 or u8, at least one dimension
 *  axis        MST_AXES(0), ...; negative ones count from the end; none: the last
 *  descending  the largest first
 *  dst         like src
 *
 *  Equal elements keep their order, in both directions; NaN comes after all numbers. The gradient of an element of dst
 *  goes to the place in src from which the element was taken.
 */
#ifdef MST_OP_HEADER
MST_API mst_value mst_sort_with(mst_sort_options options);
#define mst_sort(...) mst_sort_with(MST_NAMED_1(mst_sort_options, src, __VA_ARGS__))
#endif
#include "op/index/sort.h"

#include <string.h>

#include "op/index/index_hlo.h"
#include "op/index/row_index.h"
#include "op/list.h"
#include "op/op.h"
#include "op/share.h"

typedef struct sort_options {
    int zero_;
    bool descending;
} sort_options;

static const mst_field sort_fields[] = {
    MST_FIELD_BOOL(sort_options, descending, "the largest first"),
    MST_FIELD_END,
};

/* The op sorts rows, along the last dimension; its outputs are the values and their indices. */
static mst_status sort_infer(mst_infer *c) {
    const mst_shape shape = c->src[0].shape;
    MST_TRY(mst_infer_want_listed(c, 0));
    if (shape.ndim < 1) return mst_infer_fail(c, "source 0 is a scalar, must have rows");
    const int64_t n = shape.dim[shape.ndim - 1];
    if (n > INT32_MAX) return mst_infer_fail(c, "rows have %lld elements, more than i32 counts", (long long)n);
    c->dst[MST_SORT_VALUES] = c->src[0];
    c->dst[MST_SORT_INDICES] = (mst_spec){.dtype = MST_I32, .shape = shape};
    return MST_OK;
}

static mst_value sort_grad(mst_grad *c, int i) {
    (void)i;
    if (mst_value_is_none(c->ddst[MST_SORT_VALUES])) return MST_NONE; /* the indices have no gradient */
    return mst_scatter_last(c->ddst[MST_SORT_VALUES], c->dst[MST_SORT_INDICES], c->src[0]);
}

static void sort_lower(mst_lower *l) {
    mst_hlo_sort_rows(l, l->src[0], ((const sort_options *)l->options)->descending, &l->dst[MST_SORT_VALUES],
                      &l->dst[MST_SORT_INDICES]);
}

/* ---- keys: unsigned numbers in the order of the elements; 0 and -0 have the same key ---- */

enum { MOST_INSERTED = 40, BYTE_VALUES = 256, BYTE_MASK = 255 }; /* rows up to MOST_INSERTED are sorted by insertion */

/* f32, i32 and u8 have keys of 32 bits, f64 and i64 of 64 bits. */

#define K uint32_t
#define MST_NAME(name) name##_32
#include "op/index/sort_pairs.inc"
#undef K
#undef MST_NAME
#define K uint64_t
#define MST_NAME(name) name##_64
#include "op/index/sort_pairs.inc"
#undef K
#undef MST_NAME

typedef uint32_t keys_f32, keys_i32, keys_u8;
typedef uint64_t keys_f64, keys_i64;
typedef pair_32 pairs_f32, pairs_i32, pairs_u8;
typedef pair_64 pairs_f64, pairs_i64;
#define order_f32 order_32
#define order_i32 order_32
#define order_u8 order_32
#define order_f64 order_64
#define order_i64 order_64

#define SIGN_32 (UINT32_C(1) << 31)
#define SIGN_64 (UINT64_C(1) << 63)

/* The bits of a positive float, as an unsigned number, grow with the float; the bits of a negative float shrink. */
static uint32_t key_f32(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return x == 0 ? SIGN_32 : bits & SIGN_32 ? ~bits : bits | SIGN_32;
}

static uint64_t key_f64(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return x == 0 ? SIGN_64 : bits & SIGN_64 ? ~bits : bits | SIGN_64;
}

static uint32_t key_i32(int32_t x) {
    return (uint32_t)x ^ SIGN_32;
}

static uint64_t key_i64(int64_t x) {
    return (uint64_t)x ^ SIGN_64;
}

static uint32_t key_u8(uint8_t x) {
    return x;
}

#define MST_TEMPLATE "op/index/sort_rows.inc"
#include "op/numbers.inc"

/* ---- the kernel ---- */

/* Bytes of workspace for one thread: two arrays of the pairs of a row. */
static size_t thread_workspace(mst_dtype dtype, int64_t n) {
    enum { LINE = 64 };
    const size_t pair = mst_dtype_size(dtype) > sizeof(uint32_t) ? sizeof(pair_64) : sizeof(pair_32);
    return (2 * (size_t)n * pair + LINE - 1) / LINE * LINE;
}

static size_t sort_workspace(const mst_infer *c, int num_threads) {
    const mst_shape *shape = &c->src[0].shape;
    return (size_t)num_threads * thread_workspace(c->src[0].dtype, shape->dim[shape->ndim - 1]);
}

static mst_status sort_run(void *context, int64_t begin, int64_t end, int thread) {
    const mst_kernel_args *a = context;
    const int32_t n = (int32_t)a->src[0].shape.dim[a->src[0].shape.ndim - 1];
    void *workspace = (char *)a->workspace + (size_t)thread * thread_workspace(a->src[0].dtype, n);
    static void (*const rows[MST_NUM_DTYPES])(const mst_kernel_args *, int64_t, int64_t, int32_t,
                                              void *) = {MST_BY_NUMBER(sort_rows)};
    rows[a->src[0].dtype](a, begin, end, n, workspace);
    return MST_OK;
}

static mst_status sort_reference(const mst_kernel_args *a) {
    enum { ELEMENTS = 16 /* simple elements that take as long as sorting one */ };
    const int64_t n = a->src[0].shape.dim[a->src[0].shape.ndim - 1], rows = n ? a->src[0].count / n : 0;
    if (rows == 0) return MST_OK;
    return mst_parallel(a, rows, mst_grain(rows, ELEMENTS * n), sort_run, mst_context_of(a));
}

static const mst_example sort_examples[] = {
    {.name = "two rows",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 4}, .value = (const double[]){3, 9, 1, 7, 24, 21, 22, 23}}},
     .expect = {(const double[]){1, 3, 7, 9, 21, 22, 23, 24}, (const double[]){2, 0, 3, 1, 1, 2, 3, 0}}},
    {.name = "descending",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 4}, .value = (const double[]){3, 9, 1, 7, 24, 21, 22, 23}}},
     .options = &(const sort_options){.descending = true},
     .expect = {(const double[]){9, 7, 3, 1, 24, 23, 22, 21}, (const double[]){1, 3, 0, 2, 0, 3, 2, 1}}},
    {.name = "equal elements keep their order",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {7}, .value = (const double[]){2, 5, 2, 5, 1, 5, 2}, .no_grad = true}},
     .expect = {(const double[]){1, 2, 2, 2, 5, 5, 5}, (const double[]){4, 0, 2, 6, 1, 3, 5}}},
    {.name = "equal elements keep their order, descending",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {7}, .value = (const double[]){2, 5, 2, 5, 1, 5, 2}, .no_grad = true}},
     .options = &(const sort_options){.descending = true},
     .expect = {(const double[]){5, 5, 5, 2, 2, 2, 1}, (const double[]){1, 3, 5, 0, 2, 6, 4}}},
    {.name = "below 0, infinite, no number; 0 is -0",
     .num_src = 1,
     .dtypes = MST_FLOATS,
     .src = {{.ndim = 1,
              .dim = {8},
              .value = (const double[]){NAN, 0, -2.5, INFINITY, -0.0, -INFINITY, -1e-30, 1},
              .no_grad = true}},
     .expect = {(const double[]){-INFINITY, -2.5, -1e-30, 0, -0.0, 1, INFINITY, NAN},
                (const double[]){5, 2, 6, 1, 4, 7, 3, 0}}},
    {.name = "no number is last, descending",
     .num_src = 1,
     .dtypes = MST_FLOATS,
     .src = {{.ndim = 1, .dim = {5}, .value = (const double[]){NAN, -0.0, INFINITY, 0, -3}, .no_grad = true}},
     .options = &(const sort_options){.descending = true},
     .expect = {(const double[]){INFINITY, -0.0, 0, -3, NAN}, (const double[]){2, 1, 3, 4, 0}}},
    {.name = "integers below 0",
     .num_src = 1,
     .dtypes = MST_INDICES,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){-1, 300, -70000, 0}}},
     .expect = {(const double[]){-70000, -1, 0, 300}, (const double[]){2, 0, 3, 1}}},
    {.name = "long rows", .num_src = 1, .src = {{.ndim = 3, .dim = {2, 2, 67}}}},
    {.name = "long rows, descending",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {3, 300}, .low = -1e6, .high = 1e6, .no_grad = true}},
     .dtypes = MST_FLOATS | MST_INDICES,
     .options = &(const sort_options){.descending = true}},
    {.name = "empty rows", .num_src = 1, .src = {{.ndim = 2, .dim = {3, 0}}}},
    {.name = "a scalar", .num_src = 1, .src = {{.ndim = 0}}, .fails = MST_INVALID},
    {.name = "bool", .num_src = 1, .src = {{.dtype = MST_BOOL, .ndim = 1, .dim = {3}}}, .fails = MST_INVALID},
};

const mst_op mst_op_sort = {
    .name = "sort",
    .num_src = 1,
    .num_dst = 2,
    .dtypes = MST_NUMBERS,
    .flags = MST_OP_INFALLIBLE,
    .fields = sort_fields,
    .options_size = sizeof(sort_options),
    .infer = sort_infer,
    .grad = sort_grad,
    .workspace = sort_workspace,
    .reference = sort_reference,
    .lower = sort_lower,
    MST_EXAMPLES(sort_examples),
};

/* An axis other than the last is swapped with the last, before and after the sort. */
mst_value mst_sort_output(const mst_sort_options *o, int output) {
    mst_graph *graph = mst_value_graph(o->src);
    const char *name = output == MST_SORT_VALUES ? "sort" : "argsort";
    if (mst_value_is_none(o->src)) return o->src;
    const int ndim = mst_value_spec(o->src).shape.ndim, given = o->axis.count ? o->axis.axis[0] : -1;
    const int axis = given < 0 ? given + ndim : given;
    if (o->axis.count > 1 || (ndim > 0 && (axis < 0 || axis >= ndim)))
        return mst_value_fail(graph, MST_INVALID, "%s: give one axis, of the %d of '%s'", name, ndim,
                              mst_value_name(o->src));
    mst_axes swap = {.count = ndim};
    for (int k = 0; k < ndim; k++) swap.axis[k] = k == axis ? ndim - 1 : k == ndim - 1 ? axis : k;
    const bool is_last = axis == ndim - 1;
    const mst_value src = is_last ? o->src : mst_transpose(o->src, swap);
    const mst_value sorted = mst_call(NULL, &mst_op_sort, 1, &src, &(sort_options){.descending = o->descending});
    if (mst_value_is_none(sorted)) return sorted;
    const mst_value of_rows = output == MST_SORT_VALUES ? sorted : mst_value_output(sorted, output);
    return is_last ? of_rows : mst_transpose(of_rows, swap);
}

mst_value mst_sort_with(mst_sort_options options) {
    return mst_sort_output(&options, MST_SORT_VALUES);
}
