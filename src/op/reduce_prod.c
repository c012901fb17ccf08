/** reduce_prod: dst = product of src over axes
 *
 *  src        f32, f64, i32, i64 or u8, any shape
 *  dst        src's dtype; src's dimensions without the axes, or with 1 in their place with keep_dims
 *  axes       negative ones count from the end; none: all
 *  keep_dims  dst keeps the axes, as dimensions of 1
 *
 *  The product of nothing is 1. f32 is multiplied in f64 and rounded once; integers wrap around. The gradient is right
 *  also where elements are 0.
 */
#ifdef MST_OP_HEADER
typedef struct mst_reduce_prod_options {
    int zero_;
    mst_value src;
    mst_axes axes;  /**< none: all */
    bool keep_dims; /**< the axes stay, as dimensions of 1 */
} mst_reduce_prod_options;
MST_API mst_value mst_reduce_prod_with(mst_reduce_prod_options options);
#define mst_reduce_prod(...) mst_reduce_prod_with((mst_reduce_prod_options){.zero_ = 0, __VA_ARGS__})
#endif
#include "op/op.h"
#include "op/reduce.h"

static const mst_field fields[] = {
    MST_FIELD_AXES(mst_reduce_prod_options, axes, "axes to reduce; none: all"),
    MST_FIELD_BOOL(mst_reduce_prod_options, keep_dims, "the axes stay, as dimensions of 1"),
    MST_FIELD_END,
};

static mst_status infer(mst_infer *c) {
    const mst_reduce_prod_options *o = c->options;
    return mst_reduce_infer(c, &o->axes, o->keep_dims);
}

/* d dst / d src[i] is the product of the others: dst / src[i] would not do where src[i] is 0 */
static mst_value grad(mst_grad *c, int i) {
    (void)i;
    const mst_reduce_prod_options *o = c->options;
    mst_value others = mst_reduce_prod_others(c->src[0], o->axes);
    return mst_mul(others, mst_reduce_restore(c, c->ddst[0], &o->axes, o->keep_dims));
}

static inline double times(double a, double b) {
    return a * b;
}
static inline uint64_t times_bits(uint64_t a, uint64_t b) {
    return a * b;
}
static inline double times_f32(double a, float x) {
    return a * (double)x;
}
static inline uint64_t times_i32(uint64_t a, int32_t x) {
    return a * (uint64_t)(int64_t)x;
}
static inline uint64_t times_i64(uint64_t a, int64_t x) {
    return a * (uint64_t)x;
}
static inline uint64_t times_u8(uint64_t a, uint8_t x) {
    return a * x;
}

#define CAST_F32(a, n) ((void)(n), (float)(a))
#define CAST_F64(a, n) ((void)(n), (a))
#define CAST_I32(a, n) ((void)(n), (int32_t)(a))
#define CAST_I64(a, n) ((void)(n), (int64_t)(a))
#define CAST_U8(a, n) ((void)(n), (uint8_t)(a))

MST_REDUCE_LOOPS(products_f32, float, double, 1, times_f32, times, CAST_F32)
MST_REDUCE_LOOPS(products_f64, double, double, 1, times, times, CAST_F64)
MST_REDUCE_LOOPS(products_i32, int32_t, uint64_t, 1, times_i32, times_bits, CAST_I32)
MST_REDUCE_LOOPS(products_i64, int64_t, uint64_t, 1, times_i64, times_bits, CAST_I64)
MST_REDUCE_LOOPS(products_u8, uint8_t, uint64_t, 1, times_u8, times_bits, CAST_U8)

static mst_status reference(const mst_kernel_args *a) {
    mst_reduction r = mst_reduction_over(&a->src[0], &((const mst_reduce_prod_options *)a->options)->axes);
    switch (a->src[0].dtype) {
        case MST_F32: products_f32(&r, a->src[0].data, a->dst[0].data); break;
        case MST_F64: products_f64(&r, a->src[0].data, a->dst[0].data); break;
        case MST_I32: products_i32(&r, a->src[0].data, a->dst[0].data); break;
        case MST_I64: products_i64(&r, a->src[0].data, a->dst[0].data); break;
        default: products_u8(&r, a->src[0].data, a->dst[0].data); break;
    }
    return MST_OK;
}

static const mst_example examples[] = {
    {.name = "all axes",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 2}, .value = (const double[]){1, 2, 3, 4}}},
     .expect = {(const double[]){24}}},
    {.name = "last axis",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {2, 3}, .value = (const double[]){1, 2, 3, 4, 5, 6}}},
     .options = &(const mst_reduce_prod_options){.axes = {.count = 1, .axis = {-1}}, .keep_dims = true},
     .expect = {(const double[]){6, 120}}},
    {.name = "columns with zeros",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {3, 3}, .value = (const double[]){1, 2, 3, 4, 0, 0, 2, 5, 0}}},
     .options = &(const mst_reduce_prod_options){.axes = {.count = 1, .axis = {0}}},
     .expect = {(const double[]){8, 0, 0}}},
    {.name = "wraps around",
     .num_src = 1,
     .src = {{.dtype = MST_I32, .ndim = 1, .dim = {3}, .value = (const double[]){65536, -65536, 3}}},
     .expect = {(const double[]){0}}},
    {.name = "scalar",
     .num_src = 1,
     .src = {{.ndim = 0, .value = (const double[]){3}}},
     .expect = {(const double[]){3}}},
    {.name = "two axes of three",
     .num_src = 1,
     .src = {{.ndim = 3, .dim = {2, 3, 2}}},
     .options = &(const mst_reduce_prod_options){.axes = {.count = 2, .axis = {0, 2}}}},
    {.name = "of nothing",
     .num_src = 1,
     .src = {{.ndim = 2, .dim = {0, 2}}},
     .options = &(const mst_reduce_prod_options){.axes = {.count = 1, .axis = {0}}},
     .expect = {(const double[]){1, 1}}},
    {.name = "axis out of range",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {2}}},
     .options = &(const mst_reduce_prod_options){.axes = {.count = 1, .axis = {1}}},
     .fails = MST_INVALID},
};

const mst_op mst_op_reduce_prod = {
    .name = "reduce_prod",
    .tf_name = "Prod",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_NUMBERS,
    .flags = MST_OP_INFALLIBLE,
    .fields = fields,
    .options_size = sizeof(mst_reduce_prod_options),
    .infer = infer,
    .grad = grad,
    .reference = reference,
    MST_EXAMPLES(examples),
};

mst_value mst_reduce_prod_with(mst_reduce_prod_options options) {
    return mst_call(NULL, &mst_op_reduce_prod, 1, &options.src, &options);
}
