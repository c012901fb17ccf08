#include "op/random/random.h"

#include "base/simd.h"

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

MST_SIMD void mst_random_scale_f32(double mean, double stddev, int64_t count, float *dst) {
    for (int64_t i = 0; i < count; i++) dst[i] = (float)(mean + stddev * (double)dst[i]);
}
