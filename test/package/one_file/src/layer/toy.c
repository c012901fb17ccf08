/** toy: dst = src * factor */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_toy_options {
    int zero_;
    float factor; /**< default 2 */
    const char *name;
} mst_layer_toy_options;
#define mst_toy_layer(source, ...) MST_LAYER(toy, source, MST_NAMED(mst_layer_toy_options, __VA_ARGS__))
#endif
#include "layer/type.h"
#include "muster/layers.h"

static const mst_field fields[] = {
    MST_FIELD_F32(mst_layer_toy_options, factor, 2, -1e30, 1e30, "of what comes in"),
    MST_FIELD_STRING(mst_layer_toy_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_value build(const mst_layer_call *call) {
    return mst_scale(call->src[0], (double)((const mst_layer_toy_options *)call->options)->factor);
}

const mst_layer_type mst_layer_type_toy = {
    .name = "toy",
    .class_name = "Toy",
    .options_size = sizeof(mst_layer_toy_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .build = build,
};
