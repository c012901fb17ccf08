/** scale: dst = factor * src
 *
 *  src     any shape, f32 or f64
 *  dst     like src; may alias it
 *  factor  any number, rounded to the dtype of src
 */
#ifdef MST_OP_HEADER
typedef struct mst_scale_options {
    double factor; /**< what src is multiplied with */
} mst_scale_options;
MST_API mst_value mst_scale(mst_value src, double factor);
#endif
#include "op/elementwise/elementwise.h"

static const mst_field fields[] = {
    MST_FIELD_F64(mst_scale_options, factor, 0, 0, 0, "what src is multiplied with"),
    MST_FIELD_END,
};

static mst_value grad(mst_grad *c, int i) {
    (void)i;
    return mst_scale(c->ddst[0], ((const mst_scale_options *)c->options)->factor);
}

#define LOOP(name, D)                                                                     \
    MST_SIMD static void name##_loop(const D *src, D factor, D *dst, int64_t count) {     \
        _Pragma("omp simd") for (int64_t i = 0; i < count; i++) dst[i] = factor * src[i]; \
    }                                                                                     \
    static mst_status name(const mst_kernel_args *a) {                                    \
        const D factor = (D)((const mst_scale_options *)a->options)->factor;              \
        name##_loop(a->src[0].data, factor, a->dst[0].data, a->dst[0].count);             \
        return MST_OK;                                                                    \
    }

LOOP(f32, float)
LOOP(f64, double)
MST_REFERENCE([MST_F32] = f32, [MST_F64] = f64)

static const mst_example examples[] = {
    {.num_src = 1,
     .src = {{.ndim = 1, .dim = {3}, .value = (const double[]){-2, 0, 3}}},
     .options = &(const mst_scale_options){.factor = -2.5},
     .expect = {(const double[]){5, 0, -7.5}}},
    {.name = "factor 0",
     .num_src = 1,
     .src = {{.ndim = 1, .dim = {2}, .value = (const double[]){-2, 3}}},
     .expect = {(const double[]){0, 0}}},
    {.num_src = 1, .src = {{.ndim = 2, .dim = {3, 5}}}, .options = &(const mst_scale_options){.factor = 0.1}},
    {.num_src = 1, .src = {{.dtype = MST_I32, .ndim = 1, .dim = {2}}}, .fails = MST_INVALID},
};

const mst_op mst_op_scale = {
    .name = "scale",
    .tf_form = ">Mul($0, factor:t0)",
    .num_src = 1,
    .num_dst = 1,
    .dtypes = MST_FLOATS,
    .flags = MST_OP_ELEMENTWISE,
    .may_alias = true,
    .fields = fields,
    .options_size = sizeof(mst_scale_options),
    .infer = mst_infer_unary,
    .grad = grad,
    .reference = reference,
    MST_EXAMPLES(examples),
};

mst_value mst_scale(mst_value src, double factor) {
    return mst_call(NULL, &mst_op_scale, 1, &src, &(mst_scale_options){.factor = factor});
}
