/** Which weight of the network is which tensor of Hugging Face's files.
 *
 *      GPT-2: h.0.attn.c_attn.weight [width, 3 * width]       Llama: layers.0.self_attn.q_proj.weight [width, width]
 *             |  query  |   key   |  value  |                        transposed: [outputs, inputs]
 */
#ifndef MUSTER_MODEL_FILE_HUGGINGFACE_TENSORS_H
#define MUSTER_MODEL_FILE_HUGGINGFACE_TENSORS_H

#include "model_file/huggingface/token_config.h"
#include "muster/tensor.h"

enum { MST_HUGGINGFACE_NAME = 80 };

/** A weight of the network, taken as a matrix of ROWS x COLUMNS, is one part of a tensor. */
typedef struct mst_huggingface_tensor {
    char name[MST_HUGGINGFACE_NAME];   /**< in the file, without the prefix of the network */
    char weight[MST_HUGGINGFACE_NAME]; /**< in the store */
    mst_shape shape;                   /**< of the weight */
    int64_t rows, columns;
    int part, num_parts; /**< the tensor has NUM_PARTS * COLUMNS columns; the weight is COLUMNS of them, from column
                              PART * COLUMNS on */
    bool is_vector;      /**< the tensor has one dimension; ROWS is 1 */
    bool is_transposed;  /**< the tensor is [columns, rows] */
    bool has_no_prefix;  /**< its name never begins with the prefix of the network */
} mst_huggingface_tensor;

/** Lists the tensors of a network of CONFIG. Parts of one tensor follow one another. Free *OUT with free(). */
MST_CHECKED mst_status mst_huggingface_tensors(const mst_gpt_network *config, mst_huggingface_tensor **out,
                                               int64_t *count);
/** The shape in the file. */
mst_shape mst_huggingface_tensor_shape(const mst_huggingface_tensor *tensor);
/** "transformer." or "model.": the prefix of names in files of a model that predicts tokens. */
const char *mst_huggingface_prefix(const mst_gpt_network *config);
/** Whether the tensor NAME, without prefix, may be in a file and is not needed, such as the mask of GPT-2. */
bool mst_huggingface_is_left_out(const mst_gpt_network *config, const char *name);

/** Copies the part of FILE, the data of the tensor, to WEIGHT. */
void mst_huggingface_take(const mst_huggingface_tensor *tensor, const float *file, float *weight);
/** Copies WEIGHT to its part of FILE. */
void mst_huggingface_give(const mst_huggingface_tensor *tensor, const float *weight, float *file);

#endif
