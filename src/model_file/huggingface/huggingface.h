/** Folders of Hugging Face as models: config.json and model.safetensors of GPT-2 and Llama. */
#ifndef MUSTER_MODEL_FILE_HUGGINGFACE_HUGGINGFACE_H
#define MUSTER_MODEL_FILE_HUGGINGFACE_HUGGINGFACE_H

#include "muster/model_file.h"

/** Whether PATH is a folder with a config.json. */
MST_API bool mst_huggingface_is(const char *path);
/** Whether a model that is saved to PATH becomes such a folder: PATH ends in '/', or is one already. */
MST_API bool mst_huggingface_is_named(const char *path);

/** Whether the folder PATH has a tokenizer, which mst_tokenizer_open(PATH) reads. */
MST_API bool mst_huggingface_has_tokenizer(const char *path);

/** Adds the network of the folder PATH to MODEL, which is empty, and unless NETWORK_ONLY its weights. COMPILED may be
 *  NULL. Destroy MODEL after a failure. Fails as mst_model_load does. */
MST_CHECKED mst_status mst_huggingface_load(const char *path, bool network_only, mst_model *model,
                                            mst_model_compiled *compiled);
/** Sets the weights of MODEL, a network as such a folder has it, from the folder PATH, all or none. */
MST_CHECKED mst_status mst_huggingface_load_weights(mst_model *model, const char *path);

/** Fails if mst_huggingface_save would fail because of the network, but writes nothing. */
MST_API MST_CHECKED mst_status mst_huggingface_check(const mst_model *model);
/** Fails if mst_huggingface_save would fail because of the folder PATH, as far as that can be known beforehand. */
MST_API MST_CHECKED mst_status mst_huggingface_check_folder(const char *path);
/** Writes MODEL to the folder PATH, which is made if it is missing. Its files are complete, or as they were.
 *  MST_UNIMPLEMENTED, naming a layer, if it is neither GPT-2 nor Llama. */
MST_CHECKED mst_status mst_huggingface_save(mst_model *model, const char *path);

#endif
