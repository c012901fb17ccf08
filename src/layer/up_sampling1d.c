/** up_sampling1d: repeats each step several times
 *
 *  src   [n, steps, channels]; the number of steps must be known
 *  size  how often each step is repeated, default 2
 *  dst   [n, size * steps, channels]
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_up_sampling1d_options {
    int zero_;
    int32_t size;
    const char *name;
    int end_;
} mst_layer_up_sampling1d_options;
#define mst_up_sampling1d(...) MST_UP_SAMPLING1D_(__VA_ARGS__, .end_ = 0)
#define MST_UP_SAMPLING1D_(source, ...) \
    MST_LAYER(up_sampling1d, source, MST_NAMED(mst_layer_up_sampling1d_options, __VA_ARGS__))
#endif
#include "layer/repeat.h"
#include "muster/layers.h"

static const mst_field fields[] = {
    MST_FIELD_I32(mst_layer_up_sampling1d_options, size, 2, 1, 1e4, "how often each step comes"),
    MST_FIELD_STRING(mst_layer_up_sampling1d_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_value up_sampling1d_build(const mst_layer_call *call) {
    const mst_layer_up_sampling1d_options *o = call->options;
    return mst_repeat_axes(call, "[n, steps, channels]", &o->size, 1);
}

const mst_layer_type mst_layer_type_up_sampling1d = {
    .name = "up_sampling1d",
    .class_name = "UpSampling1D",
    .options_size = sizeof(mst_layer_up_sampling1d_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .build = up_sampling1d_build,
};
