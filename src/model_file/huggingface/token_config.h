/** config.json of Hugging Face's GPT-2 and Llama: what the network is like. */
#ifndef MUSTER_MODEL_FILE_HUGGINGFACE_TOKEN_CONFIG_H
#define MUSTER_MODEL_FILE_HUGGINGFACE_TOKEN_CONFIG_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "muster/status.h"

typedef struct mst_huggingface_config {
    bool is_llama; /**< else it is GPT-2 */
    int64_t layers, width, heads, key_value_heads, head_length, inner, vocabulary_size;
    int64_t positions; /**< the largest number of positions */
    float epsilon;     /**< of the normalizations */
    double rotary_base;
    double deviation; /**< of the initial values of kernels and embeddings */
    float embedding_dropout, attention_dropout, residual_dropout;
    bool is_untied;      /**< the outputs have weights of their own */
    bool attention_bias; /**< the products of the attention have biases; GPT-2 always */
    bool inner_bias;     /**< those of the inner layers have biases; GPT-2 always */
} mst_huggingface_config;

/** Reads a config from SIZE bytes of TEXT. NAME is the path of the file, for messages. MST_CORRUPT: it is no JSON.
 *  MST_INVALID, naming the key: a value is missing, or cannot be right. MST_UNIMPLEMENTED, naming the key: Muster has
 *  no such network. */
MST_CHECKED mst_status mst_huggingface_config_parse(const char *name, const char *text, size_t size,
                                                    mst_huggingface_config *out);
/** Writes CONFIG as JSON. Keys of BASE, the text of another config, are kept if they do not contradict CONFIG and BASE
 *  is of the same type of model. BASE may be NULL. Free *OUT. */
MST_CHECKED mst_status mst_huggingface_config_print(const mst_huggingface_config *config, const char *base, char **out);

#endif
