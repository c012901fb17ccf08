/** config.json of Hugging Face's GPT-2 and Llama: the sizes and options of the network. */
#ifndef MUSTER_MODEL_FILE_HUGGINGFACE_TOKEN_CONFIG_H
#define MUSTER_MODEL_FILE_HUGGINGFACE_TOKEN_CONFIG_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "model/application/gpt_network.h"
#include "muster/status.h"

/** Reads a config from SIZE bytes of TEXT. NAME is the path of the file, for messages. MST_CORRUPT: it is no JSON.
 *  MST_INVALID, naming the key: a value is missing, or cannot be right. MST_UNIMPLEMENTED, naming the key: Muster has
 *  no such network. */
MST_CHECKED mst_status mst_huggingface_config_parse(const char *name, const char *text, size_t size,
                                                    mst_gpt_network *out);
/** Writes CONFIG as JSON. Keys of BASE, the text of another config, are kept if they do not contradict CONFIG and BASE
 *  is of the same type of model. BASE may be NULL. Free *OUT. */
MST_CHECKED mst_status mst_huggingface_config_print(const mst_gpt_network *config, const char *base, char **out);

#endif
