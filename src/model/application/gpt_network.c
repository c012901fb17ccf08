#include "model/application/gpt_network.h"

#include "model/application/application.h"
#include "model/model.h"

static mst_initializer initial_values(const mst_gpt_network *n) {
    return mst_random_normal_initializer(.stddev = n->deviation);
}

static mst_output normalized(mst_output x, const mst_gpt_network *n, const char *name) {
    return n->is_llama ? mst_rms_normalization(x, .epsilon = n->epsilon, .name = name)
                       : mst_layer_normalization(x, .epsilon = n->epsilon, .name = name);
}

static mst_output dense(mst_output x, const mst_gpt_network *n, int64_t units, mst_activation activation,
                        const char *name) {
    return mst_dense(x, units, .activation = activation, .no_bias = !n->inner_bias,
                     .kernel_initializer = initial_values(n), .name = name);
}

/* X + PART, with dropout of PART in training. */
static mst_output added(mst_output x, mst_output part, const mst_gpt_network *n, const char *name) {
    if (n->residual_dropout > 0) part = mst_dropout(part, n->residual_dropout);
    return mst_merge(MST_OUTPUTS(x, part), MST_MERGE_ADD, .name = name);
}

static mst_output inner_layers(mst_output x, const mst_gpt_network *n, long long i) {
    if (!n->is_llama) return dense(x, n, n->inner, MST_GELU_TANH, LAYER_NAME("block_%lld_inner", i));
    const mst_output gate = dense(x, n, n->inner, MST_SWISH, LAYER_NAME("block_%lld_gate", i));
    const mst_output up = dense(x, n, n->inner, MST_LINEAR, LAYER_NAME("block_%lld_inner", i));
    return mst_merge(MST_OUTPUTS(gate, up), MST_MERGE_MULTIPLY, .name = LAYER_NAME("block_%lld_swiglu", i));
}

/* Block I, from 1. */
static mst_output token_block(mst_output x, const mst_gpt_network *n, long long i) {
    const bool other_length = n->heads * n->head_length != n->width;
    const mst_output seen = normalized(x, n, LAYER_NAME("block_%lld_norm_1", i));
    const mst_output heads = mst_multi_head_attention(
        seen, n->heads, n->head_length, .output_dim = other_length ? n->width : 0, .dropout = n->attention_dropout,
        .no_bias = !n->attention_bias, .causal = true, .kernel_initializer = initial_values(n),
        .name = LAYER_NAME("block_%lld_attention", i), .num_key_value_heads = n->key_value_heads,
        .rotary_base = n->is_llama ? n->rotary_base : 0);
    x = added(x, heads, n, LAYER_NAME("block_%lld_add_1", i));
    const mst_output inner = inner_layers(normalized(x, n, LAYER_NAME("block_%lld_norm_2", i)), n, i);
    const mst_output outer = dense(inner, n, n->width, MST_LINEAR, LAYER_NAME("block_%lld_outer", i));
    return added(x, outer, n, LAYER_NAME("block_%lld_add_2", i));
}

mst_output mst_gpt_network_add(mst_model *model, const mst_gpt_network *network, int64_t positions) {
    const mst_gpt_network *n = network;
    mst_output x = mst_input(model, MST_SHAPE(positions), .dtype = MST_I32);
    x = mst_embedding(x, n->vocabulary_size, n->width, .initializer = initial_values(n), .name = MST_TOKEN_EMBEDDING);
    if (!n->is_llama) x = mst_position_embedding(x, .sequence_length = n->positions, .initializer = initial_values(n));
    if (n->embedding_dropout > 0) x = mst_dropout(x, n->embedding_dropout);
    for (int64_t i = 1; i <= n->layers && !model->failure.code; i++) x = token_block(x, n, i);
    x = normalized(x, n, "norm");
    if (n->is_untied)
        return mst_dense(x, n->vocabulary_size, .no_bias = true, .kernel_initializer = initial_values(n),
                         .name = "logits");
    return mst_embedding_logits(x, MST_TOKEN_EMBEDDING, .name = "logits");
}
