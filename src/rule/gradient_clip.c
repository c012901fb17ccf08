#include "rule/gradient_clip.h"

#include <math.h>

#include "base/simd.h"

/* A NaN stays NaN. */
#define CLIP(T, name)                                                                  \
    MST_SIMD static void name(T *clipped, const T *gradient, T limit, int64_t count) { \
        for (int64_t i = 0; i < count; i++) {                                          \
            const T g = gradient[i] > limit ? limit : gradient[i];                     \
            clipped[i] = g < -limit ? -limit : g;                                      \
        }                                                                              \
    }
CLIP(float, clip_f32)
CLIP(double, clip_f64)

void mst_clip_value_f32(float *clipped, const float *gradient, float limit, int64_t count) {
    clip_f32(clipped, gradient, limit, count);
}

void mst_clip_value_f64(double *clipped, const double *gradient, double limit, int64_t count) {
    clip_f64(clipped, gradient, limit, count);
}

mst_hlo mst_clip_value_lower(mst_lower *l, mst_hlo gradient, double limit) {
    const mst_dtype dtype = mst_hlo_spec(l, gradient).dtype;
    return mst_hlo_clamp(l, mst_hlo_number(l, dtype, -limit), gradient, mst_hlo_number(l, dtype, limit));
}

bool mst_clips_by_norm(const mst_optimizer *optimizer) {
    return optimizer->clip_norm > 0 || optimizer->clip_global_norm > 0;
}

/* limit / max(norm, limit); NaN if the norm is NaN. */
static double factor_of(double norm, double limit) {
    return norm < limit ? 1 : limit / norm;
}

void mst_clip_factors(const mst_optimizer *optimizer, const double *squares, int32_t num_variables, double *factor) {
    const double each = optimizer->clip_norm, together = optimizer->clip_global_norm;
    double all = 0;
    for (int32_t v = 0; v < num_variables; v++) {
        all += squares[v];
        factor[v] = each > 0 ? factor_of(sqrt(squares[v]), each) : 1;
    }
    /* norm - norm is 0, but NaN if the norm is infinite. All factors are then NaN, as in TensorFlow. Factors of 0 would
     * hide the error: the step would be like a step without gradients. */
    const double norm = sqrt(all);
    for (int32_t v = 0; v < num_variables && together > 0; v++) factor[v] = factor_of(norm, together) + (norm - norm);
}
