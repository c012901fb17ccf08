/** The files of a folder of Hugging Face: config.json, and model.safetensors or several such files with an index. */
#ifndef MUSTER_MODEL_FILE_HUGGINGFACE_HUGGINGFACE_FILES_H
#define MUSTER_MODEL_FILE_HUGGINGFACE_HUGGINGFACE_FILES_H

#include <jansson.h>

#include "base/folder.h"
#include "format/safetensors.h"
#include "model/application/gpt_network.h"

typedef struct mst_huggingface_files {
    mst_folder folder;
    json_t *index;          /**< model.safetensors.index.json; NULL: there is one file */
    mst_safetensors **file; /**< [num_files] */
    const char **file_name; /**< [num_files] in the folder */
    int64_t num_files;
} mst_huggingface_files;

extern const char mst_huggingface_config_name[], mst_huggingface_weights_name[], mst_huggingface_index_name[];

/** Reads config.json in the folder PATH. *TEXT becomes its text, to be freed; NULL after a failure. TEXT may be NULL.
 *  MST_NOT_FOUND if there is none; else fails as mst_huggingface_config_parse. */
MST_CHECKED mst_status mst_huggingface_read_config(const char *path, mst_gpt_network *out, char **text);

/** Opens the files with tensors in the folder PATH. An index cannot name files outside the folder. Close OUT after a
 *  failure too. */
MST_CHECKED mst_status mst_huggingface_open(const char *path, mst_huggingface_files *out);
void mst_huggingface_close(mst_huggingface_files *files);
/** Finds the tensor NAME: number *I of file *FILE, an index in `file`; *FILE is -1 if there is none. MST_CORRUPT if the
 *  index names a file that lacks it. */
MST_CHECKED mst_status mst_huggingface_find(const mst_huggingface_files *files, const char *name, int64_t *file,
                                            int64_t *i);

#endif
