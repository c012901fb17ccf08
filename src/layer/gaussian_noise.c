/** gaussian_noise: in training, dst = src + stddev * numbers of the standard normal distribution; otherwise dst = src
 *
 *  src     f32 or f64, any shape
 *  stddev  standard deviation of the noise, stddev >= 0
 *  seed    of the random numbers; 0 (default): made from the layer's name
 *  name    default gaussian_noise, gaussian_noise_1, ...
 *  dst     like src
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_gaussian_noise_options {
    int zero_;
    float stddev;
    uint64_t seed;
    const char *name;
} mst_layer_gaussian_noise_options;
#define mst_gaussian_noise(source, ...) \
    MST_LAYER(gaussian_noise, source, MST_NAMED(mst_layer_gaussian_noise_options, __VA_ARGS__))
#endif
#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"

static const mst_field fields[] = {
    MST_FIELD_F32(mst_layer_gaussian_noise_options, stddev, 0, 0, 1e30, "standard deviation of the noise"),
    MST_FIELD_U64(mst_layer_gaussian_noise_options, seed, "of the noise; 0: made from the layer's name"),
    MST_FIELD_STRING(mst_layer_gaussian_noise_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_value gaussian_noise_build(const mst_layer_call *call) {
    const mst_layer_gaussian_noise_options *o = call->options;
    if (!call->training) return call->src[0];
    const mst_value noise = mst_random_normal_like(call->src[0], .seed = o->seed);
    return mst_add(call->src[0], mst_scale(noise, (double)o->stddev));
}

const mst_layer_type mst_layer_type_gaussian_noise = {
    .name = "gaussian_noise",
    .class_name = "GaussianNoise",
    .options_size = sizeof(mst_layer_gaussian_noise_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .build = gaussian_noise_build,
    .mask = mst_layer_mask_pass,
    .by_step = true,
};
