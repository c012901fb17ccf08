#include "rule/moving_average.h"

#include <math.h>

#include "base/simd.h"

double mst_moving_average_rest(const mst_optimizer *optimizer, int64_t step) {
    float decay = (float)optimizer->ema_decay;
    if (optimizer->ema_num_updates) decay = fminf(decay, (1.0f + (float)step) / (10.0f + (float)step));
    return (double)(1.0f - decay);
}

#define FOLLOW(T, name)                                                                          \
    MST_SIMD static void name(T *restrict average, const T *restrict w, T rest, int64_t count) { \
        for (int64_t i = 0; i < count; i++) average[i] -= rest * (average[i] - w[i]);            \
    }
FOLLOW(float, follow_f32)
FOLLOW(double, follow_f64)

void mst_moving_average_f32(float *restrict average, const float *restrict w, float rest, int64_t count) {
    follow_f32(average, w, rest, count);
}

void mst_moving_average_f64(double *restrict average, const double *restrict w, double rest, int64_t count) {
    follow_f64(average, w, rest, count);
}

mst_hlo mst_moving_average_lower(mst_lower *l, mst_hlo average, mst_hlo w, mst_hlo rest) {
    const mst_hlo step = mst_hlo_binary(l, "multiply", mst_hlo_binary(l, "subtract", average, w), rest);
    return mst_hlo_binary(l, "subtract", average, step);
}
