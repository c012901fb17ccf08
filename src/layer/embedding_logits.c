/** embedding_logits: dst[..., i] = sum over k of src[..., k] embeddings[i, k], with the weights of an embedding
 *
 *  src        [n, ..., output_dim of the embedding], f32 or f64; it depends on the embedding
 *  embedding  name of the layer embedding whose weights it shares
 *  name       default embedding_logits, embedding_logits_1, ...
 *  dst        [n, ..., input_dim of the embedding]: one number for each row, such as the logit of a token
 *
 *  This layer has no weights of its own. Training changes the embedding's weights by the gradients of both layers.
 *  https://arxiv.org/abs/1608.05859
 */
#ifdef MST_LAYER_HEADER
typedef struct mst_layer_embedding_logits_options {
    int zero_;
    const char *embedding;
    const char *name;
} mst_layer_embedding_logits_options;
#define mst_embedding_logits(source, ...) \
    MST_LAYER(embedding_logits, source, MST_NAMED_1(mst_layer_embedding_logits_options, embedding, __VA_ARGS__))
#endif
#include <stdio.h>
#include <string.h>

#include "graph/graph.h"
#include "layer/type.h"
#include "muster/layers.h"
#include "muster/ops.h"

static const mst_field fields[] = {
    MST_FIELD_STRING(mst_layer_embedding_logits_options, embedding, "name of the layer whose weights it shares"),
    MST_FIELD_STRING(mst_layer_embedding_logits_options, name, "of the layer"),
    MST_FIELD_END,
};

static mst_status embedding_logits_check(const void *options, const char *name) {
    const mst_layer_embedding_logits_options *o = options;
    if (o->embedding && *o->embedding) return MST_OK;
    return MST_FAIL(MST_INVALID, "embedding_logits '%s': needs the name of an embedding", name);
}

/* The weights of the embedding, whose scope has the same parent as the scope of this layer. MST_NONE: not found. */
static mst_value find_embeddings(const mst_layer_call *call) {
    const mst_layer_embedding_logits_options *o = call->options;
    enum { LONGEST = 512 };
    char full[LONGEST];
    const char *prefix = call->graph->current.variable_prefix;
    const size_t own = strlen(call->name) + 1, length = strlen(prefix);
    const size_t outer = call->scoped && length >= own ? length - own : length;
    const int size = snprintf(full, sizeof full, "%.*s%s/embeddings", (int)outer, prefix, o->embedding);
    const mst_value found = {.node = size < LONGEST ? mst_graph_find(call->graph, full) : NULL};
    return found.node && mst_is_variable(found) ? found : MST_NONE;
}

static mst_value embedding_logits_build(const mst_layer_call *call) {
    const mst_layer_embedding_logits_options *o = call->options;
    const mst_value embeddings = find_embeddings(call), src = call->src[0];
    if (mst_value_is_none(embeddings))
        return mst_value_fail(call->graph, MST_NOT_FOUND, "embedding_logits '%s': there is no embedding '%s' before it",
                              call->name, o->embedding);
    mst_shape shape = mst_value_spec(src).shape;
    const int last = shape.ndim - 1;
    const mst_shape matrix = mst_value_spec(embeddings).shape;
    int num_open = 0;
    for (int i = 0; i < last; i++) num_open += shape.dim[i] < 0;
    if (last < 1 || num_open > 1 || shape.dim[last] != matrix.dim[1])
        return mst_value_fail(call->graph, MST_INVALID,
                              "embedding_logits '%s': needs [n, ..., %lld], as long as the rows of '%s'", call->name,
                              (long long)matrix.dim[1], o->embedding);
    const mst_value rows = last > 1 ? mst_reshape(src, MST_SHAPE(-1, shape.dim[last])) : src;
    const mst_value logits = mst_matmul(rows, embeddings, .transpose_b = true);
    shape.dim[last] = matrix.dim[0];
    return last > 1 ? mst_reshape(logits, shape) : logits;
}

const mst_layer_type mst_layer_type_embedding_logits = {
    .name = "embedding_logits",
    .class_name = "EmbeddingLogits",
    .options_size = sizeof(mst_layer_embedding_logits_options),
    .fields = fields,
    .min_src = 1,
    .max_src = 1,
    .check = embedding_logits_check,
    .build = embedding_logits_build,
    .mask = mst_layer_mask_pass,
    .by_step = true,
};
