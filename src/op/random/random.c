#include "op/random/random.h"

#include <float.h>

#include "base/simd.h"
#include "muster/ops.h"

mst_status mst_random_infer(mst_infer *c, mst_dtype dtype, mst_shape shape) {
    char text[MST_SHAPE_TEXT];
    if (dtype < 0 || dtype >= MST_NUM_DTYPES || !(c->op->dtypes & MST_DTYPE_BIT(dtype)))
        return mst_infer_fail(c, "the dtype %s is none that it makes", mst_dtype_name(dtype));
    if (shape.ndim < 0 || shape.ndim > MST_MAX_NDIM)
        return mst_infer_fail(c, "a shape of %d dimensions, must have 0 to %d", shape.ndim, MST_MAX_NDIM);
    for (int k = 0; k < shape.ndim; k++)
        if (shape.dim[k] < 0)
            return mst_infer_fail(c, "all dimensions of the shape %s must be known",
                                  mst_shape_print(shape, text, sizeof text));
    c->dst[0] = (mst_spec){.dtype = dtype, .shape = shape};
    return MST_OK;
}

/* ---- normal distributions ---- */

const mst_field mst_random_normal_fields[] = {
    MST_FIELD_SHAPE(mst_random_normal_options, shape, "of the output"),
    MST_FIELD_F64(mst_random_normal_options, mean, 0, 0, 0, "mean"),
    MST_FIELD_F64(mst_random_normal_options, stddev, 1, 0, DBL_MAX, "standard deviation"),
    MST_FIELD_DTYPE(mst_random_normal_options, dtype, MST_F32, "element type"),
    MST_FIELD_U64(mst_random_normal_options, seed, "of this op; 0: made from the node's name"),
    MST_FIELD_END,
};

mst_status mst_random_normal_infer(mst_infer *c) {
    const mst_random_normal_options *o = c->options;
    return mst_random_infer(c, o->dtype, o->shape);
}

typedef struct drawing {
    const mst_kernel_args *args;
    mst_random_fill_f32 *fill_f32;
    mst_random_fill_f64 *fill_f64;
} drawing;

/* dst = mean + stddev * dst, computed in f64 and rounded once. */
MST_SIMD static void scale_f32(double mean, double stddev, int64_t count, float *dst) {
    for (int64_t i = 0; i < count; i++) dst[i] = (float)(mean + stddev * (double)dst[i]);
}

/* Draws elements BEGIN to END - 1. */
static mst_status draw(void *context, int64_t begin, int64_t end, int thread) {
    const drawing *d = context;
    const mst_array *array = &d->args->dst[0];
    const mst_random_normal_options *o = d->args->options;
    const mst_rng rng = mst_random_sequence(d->args, o->seed);
    (void)thread;
    if (array->dtype == MST_F32) {
        float *dst = (float *)array->data + begin;
        d->fill_f32(&rng, (uint64_t)begin, end - begin, dst);
        scale_f32(o->mean, o->stddev, end - begin, dst);
    } else {
        double *dst = (double *)array->data + begin;
        d->fill_f64(&rng, (uint64_t)begin, end - begin, dst);
        for (int64_t i = 0; i < end - begin; i++) dst[i] = o->mean + o->stddev * dst[i];
    }
    return MST_OK;
}

mst_status mst_random_normal_draw(const mst_kernel_args *a, mst_random_fill_f32 *fill_f32,
                                  mst_random_fill_f64 *fill_f64) {
    drawing d = {.args = a, .fill_f32 = fill_f32, .fill_f64 = fill_f64};
    return mst_parallel(a, a->dst[0].count, mst_random_grain(a->dst[0].count), draw, &d);
}
