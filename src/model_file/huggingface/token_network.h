/** GPT-2 and Llama of Hugging Face as layers. */
#ifndef MUSTER_MODEL_FILE_HUGGINGFACE_TOKEN_NETWORK_H
#define MUSTER_MODEL_FILE_HUGGINGFACE_TOKEN_NETWORK_H

#include "model_file/huggingface/token_config.h"
#include "muster/model.h"

/** The largest number of positions with which a network is made. The logits of long texts take much memory: those of
 *  2,048 positions, with 128,256 tokens, 1 GB. */
enum { MST_HUGGINGFACE_POSITIONS = 2048 };

/** Adds the network of CONFIG to MODEL, which is empty, with the layers and names of mst_gpt. Its input has POSITIONS
 *  tokens, at most those of CONFIG. */
MST_CHECKED mst_status mst_huggingface_network_add(mst_model *model, const mst_gpt_network *config, int64_t positions);
/** Gives the input of such a network another number of positions, before it is compiled. MST_INVALID if the network has
 *  weights for fewer. */
MST_API MST_CHECKED mst_status mst_huggingface_set_positions(mst_model *model, int64_t positions);
/** Describes MODEL, which was made by mst_huggingface_network_add or mst_gpt. MST_UNIMPLEMENTED, naming a layer, if it
 *  is another network. */
MST_CHECKED mst_status mst_huggingface_network_read(const mst_model *model, mst_gpt_network *out);

#endif
