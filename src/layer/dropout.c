/** dropout: in training, dst = src * mask, where mask[i] is 0 with probability rate and else 1 / (1 - rate);
 *  otherwise dst = src
 *
 *  src          f32 or f64, any shape
 *  rate         fraction of the elements that is dropped, 0 <= rate < 1
 *  seed         of the random numbers; 0 (default): made from the layer's name
 *  name         default dropout, dropout_1, ...
 *  noise_shape  shape of the mask: 1 for dimensions along which all elements are dropped or kept together, -1 for the
 *               others; MST_SHAPE(-1, 1, 1, 1) drops whole pictures. None (default): each element on its own
 *  dst          like src
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_dropout_options {
    int zero_;
    float rate;
    uint64_t seed;
    const char *name;
    mst_shape noise_shape;
} mst_layer_dropout_options;
#undef mst_dropout /* the op's macro of this name takes only values; the one below takes models too */
#define mst_dropout(source, ...) MST_LAYER(dropout, source, MST_NAMED(mst_layer_dropout_options, __VA_ARGS__))
#endif
#include "layer/noise.h"
#include "muster/layers.h"
#include "muster/ops.h"

static const mst_field fields[] = {
    MST_FIELD_F32(mst_layer_dropout_options, rate, 0, 0, 0x1.fffffep-1, "part that is dropped, below 1"),
    MST_FIELD_U64(mst_layer_dropout_options, seed, "of the mask; 0: made from the layer's name"),
    MST_FIELD_STRING(mst_layer_dropout_options, name, "of the layer"),
    MST_FIELD_SHAPE(mst_layer_dropout_options, noise_shape, "1 where elements are dropped together, else -1"),
    MST_FIELD_END,
};

static mst_status dropout_check(const void *options, const char *name) {
    return mst_noise_check(&((const mst_layer_dropout_options *)options)->noise_shape, "dropout", name);
}

static mst_value dropout_build(const mst_layer_call *call) {
    const mst_layer_dropout_options *o = call->options;
    if (!call->training) return call->src[0];
    if (o->noise_shape.ndim) return mst_mul(call->src[0], mst_noise_mask(call, o->rate, o->seed, &o->noise_shape));
    return mst_dropout_with((mst_dropout_options){.src = call->src[0], .rate = o->rate, .seed = o->seed});
}

const mst_layer_type mst_layer_type_dropout = {
    .name = "dropout",
    .class_name = "Dropout",
    .options_size = sizeof(mst_layer_dropout_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .check = dropout_check,
    .build = dropout_build,
    .mask = mst_layer_mask_pass,
    .by_step = true,
};
