/** embedding: dst[..., :] = embeddings[src[...], :]
 *
 *  src          [n, ...], indices of rows, 0 to input_dim - 1. A float is truncated to a whole number, as in Keras. Any
 *               other number, NaN or infinity makes the run fail
 *  input_dim    number of rows: the size of the vocabulary
 *  output_dim   length of a row
 *  mask_zero    places whose index is 0 are masked in the layers after this one: recurrent layers skip them, and
 *               global_average_pooling1d does not average them, as in Keras
 *  initializer  default random_uniform (-0.05 to 0.05). glorot_uniform cannot be chosen: it counts as not given
 *  name         default embedding, embedding_1, ...
 *  constraint   of all rows after each step, whether they have a gradient or not; default none
 *  dst          [n, ..., output_dim]
 *
 *  Weights: embeddings [input_dim, output_dim]. The optimizer decides which rows a step changes: see `sparse` in
 *  muster/optimizer.h.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_embedding_options {
    int zero_;
    int64_t input_dim, output_dim;
    mst_initializer initializer;
    const char *name;
    bool mask_zero;
    mst_constraint constraint;
} mst_layer_embedding_options;
#define mst_embedding(source, ...) \
    MST_LAYER(embedding, source, MST_NAMED_2(mst_layer_embedding_options, input_dim, output_dim, __VA_ARGS__))
#endif
#include "layer/initializer/initializer.h"
#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"
#include "rule/constraint.h"

#define FIELD(kind, ...) MST_FIELD_##kind(mst_layer_embedding_options, __VA_ARGS__)
static const mst_field fields[] = {
    FIELD(I64, input_dim, 0, 1, 2147483647, "number of rows"),
    FIELD(I64, output_dim, 0, 1, 1e12, "length of a row"),
    FIELD(NESTED, initializer, mst_initializer_fields, "of the rows"),
    FIELD(STRING, name, "of the layer"),
    FIELD(BOOL, mask_zero, "steps whose number is 0 do not count"),
    FIELD(NESTED, constraint, mst_constraint_fields, "of the rows"),
    MST_FIELD_END,
};

static mst_status weights(mst_layer_call *call) {
    const mst_layer_embedding_options *o = call->options;
    const mst_initializer rows = mst_initializer_or(o->initializer, mst_random_uniform_initializer());
    mst_layer_weight(call, .name = "embeddings", .shape = MST_SHAPE(o->input_dim, o->output_dim), .initializer = rows,
                     .constraint = o->constraint);
    return MST_OK;
}

/* Converts floats to indices of rows. A cast turns NaN into 0, which is a valid row. So NaN becomes the least integer
 * instead, which is an error. */
static mst_value index_of_floats(mst_graph *graph, mst_value src) {
    const mst_value is_nan = mst_cast(mst_is_nan(src), MST_I32);
    return mst_add(mst_cast(src, MST_I32), mst_mul(is_nan, mst_scalar(graph, MST_I32, INT32_MIN)));
}

static mst_value embedding_build(const mst_layer_call *call) {
    mst_value index = call->src[0];
    const mst_dtype dtype = mst_value_spec(index).dtype;
    if (mst_dtype_is_float(dtype))
        index = index_of_floats(call->graph, index);
    else if (dtype != MST_I32 && dtype != MST_I64)
        index = mst_cast(index, MST_I32);
    return mst_gather(call->weight[0], index, 0);
}

static mst_value embedding_mask(const mst_layer_call *call) {
    const mst_value src = call->src[0];
    if (!((const mst_layer_embedding_options *)call->options)->mask_zero) return MST_NONE;
    return mst_not_equal(src, mst_scalar(call->graph, mst_value_spec(src).dtype, 0));
}

const mst_layer_type mst_layer_type_embedding = {
    .name = "embedding",
    .class_name = "Embedding",
    .options_size = sizeof(mst_layer_embedding_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .weights = weights,
    .build = embedding_build,
    .mask = embedding_mask,
    .by_step = true,
};
