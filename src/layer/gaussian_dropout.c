/** gaussian_dropout: in training, dst = src * (1 + s * numbers of the standard normal distribution), where
 *  s = sqrt(rate / (1 - rate)); otherwise dst = src
 *
 *  src   f32 or f64, any shape
 *  rate  the variance is that of a dropout of this rate, 0 <= rate < 1
 *  seed  of the random numbers; 0 (default): made from the layer's name
 *  name  default gaussian_dropout, gaussian_dropout_1, ...
 *  dst   like src
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_gaussian_dropout_options {
    int zero_;
    float rate;
    uint64_t seed;
    const char *name;
} mst_layer_gaussian_dropout_options;
#define mst_gaussian_dropout(source, ...) \
    MST_LAYER(gaussian_dropout, source, MST_NAMED(mst_layer_gaussian_dropout_options, __VA_ARGS__))
#endif
#include <math.h>

#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"

static const mst_field fields[] = {
    MST_FIELD_F32(mst_layer_gaussian_dropout_options, rate, 0, 0, 0x1.fffffep-1, "rate of a dropout with its variance"),
    MST_FIELD_U64(mst_layer_gaussian_dropout_options, seed, "of the noise; 0: made from the layer's name"),
    MST_FIELD_STRING(mst_layer_gaussian_dropout_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_value gaussian_dropout_build(const mst_layer_call *call) {
    const mst_layer_gaussian_dropout_options *o = call->options;
    if (!call->training) return call->src[0];
    const double rate = (double)o->rate;
    const mst_value noise = mst_scale(mst_random_normal_like(call->src[0], .seed = o->seed), sqrt(rate / (1 - rate)));
    return mst_mul(call->src[0], mst_add(mst_ones_like(noise), noise));
}

const mst_layer_type mst_layer_type_gaussian_dropout = {
    .name = "gaussian_dropout",
    .class_name = "GaussianDropout",
    .options_size = sizeof(mst_layer_gaussian_dropout_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .build = gaussian_dropout_build,
    .mask = mst_layer_mask_pass,
    .by_step = true,
};
