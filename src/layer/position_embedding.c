/** position_embedding: dst[..., p, :] = src[..., p, :] + embeddings[p, :]
 *
 *  src              [n, positions, features], with positions and features that are known
 *  sequence_length  number of rows: the largest number of positions; default that of src
 *  initializer      default glorot_uniform
 *  name             default position_embedding, position_embedding_1, ...
 *  dst              like src
 *
 *  Weights: embeddings [sequence_length, features], of which the first rows are used.
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_position_embedding_options {
    int zero_;
    int64_t sequence_length;
    mst_initializer initializer;
    const char *name;
    int end_;
} mst_layer_position_embedding_options;
#define mst_position_embedding(...) MST_POSITION_EMBEDDING_(__VA_ARGS__, .end_ = 0)
#define MST_POSITION_EMBEDDING_(source, ...) \
    MST_LAYER(position_embedding, source, MST_NAMED(mst_layer_position_embedding_options, __VA_ARGS__))
#endif
#include "layer/initializer/initializer.h"
#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"

static const mst_field fields[] = {
    MST_FIELD_I64(mst_layer_position_embedding_options, sequence_length, 0, 0, 1e12,
                  "number of rows; 0: the positions of the source"),
    MST_FIELD_NESTED(mst_layer_position_embedding_options, initializer, mst_initializer_fields, "of the rows"),
    MST_FIELD_STRING(mst_layer_position_embedding_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_status position_embedding_weights(mst_layer_call *call) {
    const mst_layer_position_embedding_options *o = call->options;
    const mst_spec src = mst_value_spec(call->src[0]);
    const mst_shape shape = src.shape;
    MST_TRY(mst_layer_want_ndim(call, 3, "[n, positions, features]"));
    const int64_t rows = o->sequence_length ? o->sequence_length : shape.dim[1];
    if (shape.dim[1] < 0 || shape.dim[2] < 1 || shape.dim[1] > rows)
        return MST_FAIL(MST_INVALID,
                        "position_embedding '%s': needs positions and features that are known, and at most "
                        "sequence_length positions, %lld",
                        call->name, (long long)rows);
    mst_layer_weight(call, .name = "embeddings", .shape = MST_SHAPE(rows, shape.dim[2]), .dtype = src.dtype,
                     .initializer = o->initializer);
    return MST_OK;
}

static mst_value position_embedding_build(const mst_layer_call *call) {
    const mst_shape shape = mst_value_spec(call->src[0]).shape;
    const int64_t rows = mst_value_spec(call->weight[0]).shape.dim[0];
    mst_value positions = call->weight[0];
    if (call->steps) return mst_add(call->src[0], mst_gather(positions, call->steps->place, 0));
    if (shape.dim[1] < rows) positions = mst_slice(positions, MST_SHAPE(0, 0), MST_SHAPE(shape.dim[1], shape.dim[2]));
    return mst_add(call->src[0], positions);
}

const mst_layer_type mst_layer_type_position_embedding = {
    .name = "position_embedding",
    .class_name = "PositionEmbedding",
    .options_size = sizeof(mst_layer_position_embedding_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .weights = position_embedding_weights,
    .build = position_embedding_build,
    .mask = mst_layer_mask_pass,
    .by_step = true,
};
