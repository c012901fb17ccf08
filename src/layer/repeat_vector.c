/** repeat_vector: repeats each example in n equal steps
 *
 *  src   [batch, features]
 *  n     number of steps
 *  dst   [batch, n, features]
 *  name  default repeat_vector, repeat_vector_1, ...
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_repeat_vector_options {
    int zero_;
    int32_t n;
    const char *name;
} mst_layer_repeat_vector_options;
#define mst_repeat_vector(source, ...) \
    MST_LAYER(repeat_vector, source, MST_NAMED_1(mst_layer_repeat_vector_options, n, __VA_ARGS__))
#endif
#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"

static const mst_field fields[] = {
    MST_FIELD_I32(mst_layer_repeat_vector_options, n, 0, 1, 1e9, "number of steps"),
    MST_FIELD_STRING(mst_layer_repeat_vector_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_value repeat_vector_build(const mst_layer_call *call) {
    const mst_layer_repeat_vector_options *o = call->options;
    if (mst_layer_want_ndim(call, 2, "[batch, features]")) return mst_layer_fail(call);
    return mst_broadcast_to(mst_expand_dims(call->src[0], 1), MST_SHAPE(-1, o->n, -1));
}

const mst_layer_type mst_layer_type_repeat_vector = {
    .name = "repeat_vector",
    .class_name = "RepeatVector",
    .options_size = sizeof(mst_layer_repeat_vector_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .build = repeat_vector_build,
};
