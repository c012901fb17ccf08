/** The transformer that predicts the next token. mst_gpt and Hugging Face's GPT-2 and Llama are built by it.
 *
 *      x = token_embedding(tokens) + position_embedding        Llama: rotary positions in the attention instead
 *      layers times:  x += attention(norm(x));  x += outer(inner(norm(x)))
 *      logits(norm(x))
 */
#ifndef MUSTER_MODEL_APPLICATION_GPT_NETWORK_H
#define MUSTER_MODEL_APPLICATION_GPT_NETWORK_H

#include "muster/layers.h"

#define MST_TOKEN_EMBEDDING "token_embedding"

typedef struct mst_gpt_network {
    bool is_llama; /**< else it is GPT-2 */
    int64_t layers, width, heads, key_value_heads, head_length, inner, vocabulary_size;
    int64_t positions; /**< the largest number of positions */
    float epsilon;     /**< of the normalizations */
    double rotary_base;
    double deviation; /**< standard deviation of the initial values of kernels and embeddings */
    float embedding_dropout, attention_dropout, residual_dropout;
    bool is_untied;      /**< the output layer does not share the weights of the token embedding */
    bool attention_bias; /**< the products of the attention have biases; GPT-2 always */
    bool inner_bias;     /**< the inner and outer layers have biases; GPT-2 always */
} mst_gpt_network;

/** Adds the network to MODEL, which is empty. Its input has POSITIONS tokens. Returns the logits. */
mst_output mst_gpt_network_add(mst_model *model, const mst_gpt_network *network, int64_t positions);

#endif
