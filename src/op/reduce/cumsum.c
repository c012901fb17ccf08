/** cumsum: dst[..., i, ...] = the sum of src[..., 0, ...] to src[..., i, ...] along axis
 *
 *  src        f32, f64, i32, i64 or u8, at least one dimension
 *  axis       negative ones count from the end; default 0
 *  exclusive  the sum is without src[..., i, ...], so dst begins with 0
 *  reverse    the sum of src[..., i, ...] to the last element of the axis
 *  dst        like src
 *
 *  Added in the order of the elements, in src's dtype; integers wrap around.
 */
#ifdef MST_OP_HEADER
typedef struct mst_cumsum_options {
    int zero_;
    mst_value src;
    int32_t axis;
    bool exclusive, reverse;
} mst_cumsum_options;
MST_API mst_value mst_cumsum_with(mst_cumsum_options options);
#define mst_cumsum(...) mst_cumsum_with(MST_NAMED_1(mst_cumsum_options, src, __VA_ARGS__))
#endif
#include "base/simd.h"
#include "op/op.h"
#include "op/share.h"

static const mst_field cumsum_fields[] = {
    MST_FIELD_I32(mst_cumsum_options, axis, 0, 0, 0, "along which is summed"),
    MST_FIELD_BOOL(mst_cumsum_options, exclusive, "without the element itself"),
    MST_FIELD_BOOL(mst_cumsum_options, reverse, "from the end"),
    MST_FIELD_END,
};

static mst_status cumsum_infer(mst_infer *c) {
    int axis;
    MST_TRY(mst_infer_want_listed(c, 0));
    MST_TRY(mst_infer_axis(c, ((const mst_cumsum_options *)c->options)->axis, c->src[0].shape.ndim, &axis));
    c->dst[0] = c->src[0];
    return MST_OK;
}

/* Element j is a summand of each dst[i] with i >= j, so its gradient is the sum of their gradients. */
static mst_value cumsum_grad(mst_grad *c, int i) {
    const mst_cumsum_options *o = c->options;
    (void)i;
    return mst_cumsum(c->ddst[0], .axis = o->axis, .exclusive = o->exclusive, .reverse = !o->reverse);
}

/* Written as a reduce_window whose window covers all elements up to each element. Compilers recognize this form as a
 * running sum. */
static void cumsum_lower(mst_lower *l) {
    const mst_cumsum_options *o = l->options;
    const mst_spec spec = l->src_spec[0];
    const int axis = o->axis < 0 ? o->axis + spec.shape.ndim : o->axis;
    const int64_t n = spec.shape.dim[axis];
    l->dst[0] = l->src[0];
    if (mst_shape_count(spec.shape) == 0) return;
    mst_hlo_window window = {.size = {0}};
    for (int k = 0; k < spec.shape.ndim; k++) window.size[k] = k == axis ? n : 1;
    (o->reverse ? window.high : window.low)[axis] = n - 1;
    l->dst[0] = mst_hlo_reduce_window(l, "add", l->src[0], 0, &window);
    if (!o->exclusive) return;
    int64_t low[MST_MAX_NDIM] = {0}, high[MST_MAX_NDIM] = {0};
    low[axis] = o->reverse ? -1 : 1;
    high[axis] = -low[axis];
    l->dst[0] = mst_hlo_pad(l, l->dst[0], mst_hlo_number(l, spec.dtype, 0), low, high, NULL);
}

/* The source as [outer, size, inner]; the middle axis is summed. */
typedef struct cumsum_view {
    const mst_kernel_args *a;
    int64_t outer, size, inner;
    bool exclusive, reverse;
} cumsum_view;

static cumsum_view cumsum_view_of(const mst_kernel_args *a) {
    const mst_cumsum_options *o = a->options;
    const mst_shape *shape = &a->src[0].shape;
    const int axis = o->axis < 0 ? o->axis + shape->ndim : o->axis;
    cumsum_view v = {
        .a = a, .outer = 1, .size = shape->dim[axis], .inner = 1, .exclusive = o->exclusive, .reverse = o->reverse};
    for (int k = 0; k < axis; k++) v.outer *= shape->dim[k];
    for (int k = axis + 1; k < shape->ndim; k++) v.inner *= shape->dim[k];
    return v;
}

#define MST_TEMPLATE "op/reduce/cumsum_columns.inc"
#include "op/numbers.inc"

/* Computes columns BEGIN to END - 1, numbered over [outer, inner]. The elements of a column are INNER apart. */
static mst_status cumsum_run(void *context, int64_t begin, int64_t end, int thread) {
    const cumsum_view *v = context;
    (void)thread;
    switch (v->a->src[0].dtype) {
        case MST_F32: cumsum_columns_f32(v, begin, end); break;
        case MST_F64: cumsum_columns_f64(v, begin, end); break;
        case MST_I32: cumsum_columns_i32(v, begin, end); break;
        case MST_I64: cumsum_columns_i64(v, begin, end); break;
        default: cumsum_columns_u8(v, begin, end); break;
    }
    return MST_OK;
}

static mst_status cumsum_reference(const mst_kernel_args *a) {
    cumsum_view v = cumsum_view_of(a);
    const int64_t columns = v.outer * v.inner;
    return mst_parallel(a, columns, mst_grain(columns, 2 * v.size), cumsum_run, &v);
}

static const mst_example cumsum_examples[] = {
    {.name = "a row",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {4}, .value = (const double[]){1, 2, 3, 4}}},
     .expect = {(const double[]){1, 3, 6, 10}}},
    {.name = "down",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 3}, .value = (const double[]){1, 2, 3, 4, 5, 6}}},
     .expect = {(const double[]){1, 2, 3, 5, 7, 9}}},
    {.name = "exclusive",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 3}, .value = (const double[]){1, 2, 3, 4, 5, 6}}},
     .options = &(const mst_cumsum_options){.axis = -1, .exclusive = true},
     .expect = {(const double[]){0, 1, 3, 0, 4, 9}}},
    {.name = "reverse",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 3}, .value = (const double[]){1, 2, 3, 4, 5, 6}}},
     .options = &(const mst_cumsum_options){.axis = 1, .reverse = true},
     .expect = {(const double[]){6, 5, 3, 15, 11, 6}}},
    {.name = "both",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {3, 2}, .value = (const double[]){1, 2, 3, 4, 5, 6}}},
     .options = &(const mst_cumsum_options){.exclusive = true, .reverse = true},
     .expect = {(const double[]){8, 10, 5, 6, 0, 0}}},
    {.name = "the axis in the middle",
     .num_src = 1,
     .src = {{.ndim = 3, .dim = {3, 4, 5}}},
     .options = &(const mst_cumsum_options){.axis = 1}},
    {.name = "integers wrap around",
     .num_src = 1,
     .src = {{.dtype = MST_U8, .ndim = 1, .dim = {3}, .value = (const double[]){200, 100, 1}}},
     .expect = {(const double[]){200, 44, 45}}},
    {.name = "empty", .num_src = 1, .src = {{.ndim = 2, .dim = {0, 3}}}},
    {.name = "a scalar", .num_src = 1, .src = {{.ndim = 0}}, .fails = MST_INVALID},
    {.name = "an axis that is not there",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {2}}},
     .options = &(const mst_cumsum_options){.axis = 1},
     .fails = MST_INVALID},
};

const mst_op mst_op_cumsum = {
    .name = "cumsum",
    .tf_form = "Cumsum($0, axis; Tidx=i32 exclusive=exclusive|false reverse=reverse|false)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .flags = MST_OP_INFALLIBLE,
    .fields = cumsum_fields,
    .options_size = sizeof(mst_cumsum_options),
    .infer = cumsum_infer,
    .grad = cumsum_grad,
    .reference = cumsum_reference,
    .lower = cumsum_lower,
    MST_EXAMPLES(cumsum_examples),
};

mst_value mst_cumsum_with(mst_cumsum_options options) {
    return mst_call(NULL, &mst_op_cumsum, 1, &options.src, &options);
}
