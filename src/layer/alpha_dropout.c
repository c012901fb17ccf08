/** alpha_dropout: in training, dst = a * (kept ? src : c) + b; otherwise dst = src
 *
 *      c = -1.0507009873554805 * 1.6732632423543773   the value of selu far below 0
 *      a = 1 / sqrt((1 - rate) * (1 + rate * c^2)),  b = -a * c * rate
 *
 *  src          f32 or f64, any shape
 *  rate         probability that an element is not kept, 0 <= rate < 1
 *  noise_shape  one draw for all elements along dimensions of 1, as of mst_dropout; none (default): all on their own
 *  seed         of the random numbers; 0 (default): made from the layer's name
 *  name         default alpha_dropout, alpha_dropout_1, ...
 *  dst          like src
 *
 *  A source of mean 0 and variance 1 keeps them. https://arxiv.org/abs/1706.02515
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_alpha_dropout_options {
    int zero_;
    float rate;
    mst_shape noise_shape;
    uint64_t seed;
    const char *name;
} mst_layer_alpha_dropout_options;
#define mst_alpha_dropout(source, ...) \
    MST_LAYER(alpha_dropout, source, MST_NAMED(mst_layer_alpha_dropout_options, __VA_ARGS__))
#endif
#include <math.h>

#include "layer/noise.h"
#include "muster/layers.h"
#include "muster/ops.h"

#define LOWEST (-1.0507009873554805 * 1.6732632423543773)

static const mst_field fields[] = {
    MST_FIELD_F32(mst_layer_alpha_dropout_options, rate, 0, 0, 0x1.fffffep-1, "part that is not kept, below 1"),
    MST_FIELD_SHAPE(mst_layer_alpha_dropout_options, noise_shape, "1 where elements share a draw, else -1"),
    MST_FIELD_U64(mst_layer_alpha_dropout_options, seed, "of the mask; 0: made from the layer's name"),
    MST_FIELD_STRING(mst_layer_alpha_dropout_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_status alpha_dropout_check(const void *options, const char *name) {
    return mst_noise_check(&((const mst_layer_alpha_dropout_options *)options)->noise_shape, "alpha_dropout", name);
}

static mst_value alpha_dropout_build(const mst_layer_call *call) {
    const mst_layer_alpha_dropout_options *o = call->options;
    if (!call->training) return call->src[0];
    const double rate = (double)o->rate, a = 1 / sqrt((1 - rate) * (1 + rate * LOWEST * LOWEST));
    const mst_value mask = mst_noise_mask(call, o->rate, o->seed, &o->noise_shape);
    const mst_value kept = mst_greater(mask, mst_zeros_like(mask)), ones = mst_ones_like(mask);
    /* kept elements: factor a, offset b; dropped ones: factor 0, offset a * c + b */
    const mst_value factor = mst_select(kept, mst_scale(ones, a), mst_zeros_like(mask));
    const mst_value offset =
        mst_select(kept, mst_scale(ones, -a * LOWEST * rate), mst_scale(ones, a * LOWEST * (1 - rate)));
    return mst_add(mst_mul(call->src[0], factor), offset);
}

const mst_layer_type mst_layer_type_alpha_dropout = {
    .name = "alpha_dropout",
    .class_name = "AlphaDropout",
    .options_size = sizeof(mst_layer_alpha_dropout_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .check = alpha_dropout_check,
    .build = alpha_dropout_build,
    .mask = mst_layer_mask_pass,
    .by_step = true,
};
