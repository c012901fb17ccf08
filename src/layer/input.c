/** input: an input of a model
 *
 *  shape  of one example, without the batch; -1 for a dimension that is not known
 *  dtype  default f32; values of another dtype are cast to it
 *  name   default input_layer, input_layer_1, ..., as in Keras
 *  dst    [n, shape]
 *
 *  A model's inputs are fed in the order in which they are made. A model that begins with another layer has one input,
 *  with the shape of the first data that it gets.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_input_options {
    int zero_;
    mst_shape shape;
    mst_dtype dtype;
    const char *name;
} mst_layer_input_options;
#define mst_input(model, ...) MST_LAYER(input, model, MST_NAMED_1(mst_layer_input_options, shape, __VA_ARGS__))
#endif
#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"

static const mst_field fields[] = {
    MST_FIELD_SHAPE(mst_layer_input_options, shape, "of one example"),
    MST_FIELD_DTYPE(mst_layer_input_options, dtype, MST_F32, "of the values"),
    MST_FIELD_STRING(mst_layer_input_options, name, "of the input"),
    MST_FIELD_END,
};

/* Source 0 is the value that the model feeds. */
static mst_value input_build(const mst_layer_call *call) {
    const mst_layer_input_options *o = call->options;
    const mst_spec have = mst_value_spec(call->src[0]);
    return have.dtype == o->dtype ? call->src[0] : mst_cast(call->src[0], o->dtype);
}

static const char *default_name(const void *options) {
    (void)options;
    return "input_layer";
}

const mst_layer_type mst_layer_type_input = {
    .name = "input",
    .class_name = "InputLayer",
    .options_size = sizeof(mst_layer_input_options),
    .fields = fields,
    .default_name = default_name,
    .build = input_build,
};
