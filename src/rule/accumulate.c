#include "rule/accumulate.h"

#include "base/simd.h"

bool mst_accumulates(const mst_optimizer *optimizer) {
    return optimizer->gradient_accumulation_steps > 1;
}

int64_t mst_accumulated_mean(const mst_optimizer *optimizer, int64_t added) {
    return added + 1 >= optimizer->gradient_accumulation_steps ? added + 1 : 0;
}

int64_t mst_accumulated_updates(const mst_optimizer *optimizer, int64_t step) {
    return mst_accumulates(optimizer) ? step / optimizer->gradient_accumulation_steps : step;
}

/* The sum is divided by the number, not multiplied by 1 / number, so that it rounds as in Keras. */
#define ACCUMULATE(T, type)                                                                               \
    MST_SIMD static void add_##type(T *restrict sum, const T *restrict gradient, int64_t count) {         \
        for (int64_t i = 0; i < count; i++) sum[i] += gradient[i];                                        \
    }                                                                                                     \
    MST_SIMD static void mean_##type(T *mean, const T *gradient, const T *sum, T number, int64_t count) { \
        for (int64_t i = 0; i < count; i++) mean[i] = (gradient[i] + sum[i]) / number;                    \
    }
ACCUMULATE(float, f32)
ACCUMULATE(double, f64)

void mst_accumulate_f32(float *sum, const float *gradient, int64_t count) {
    add_f32(sum, gradient, count);
}

void mst_accumulate_f64(double *sum, const double *gradient, int64_t count) {
    add_f64(sum, gradient, count);
}

void mst_take_mean_f32(float *mean, const float *gradient, const float *sum, float number, int64_t count) {
    mean_f32(mean, gradient, sum, number, count);
}

void mst_take_mean_f64(double *mean, const double *gradient, const double *sum, double number, int64_t count) {
    mean_f64(mean, gradient, sum, number, count);
}

mst_hlo mst_take_mean_lower(mst_lower *l, mst_hlo gradient, mst_hlo sum, mst_hlo number) {
    return mst_hlo_binary(l, "divide", mst_hlo_binary(l, "add", gradient, sum), number);
}
