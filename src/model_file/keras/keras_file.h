/** The contents of a file of Keras: JSON and an HDF5 file, alone or in an archive. */
#ifndef MUSTER_MODEL_FILE_KERAS_KERAS_FILE_H
#define MUSTER_MODEL_FILE_KERAS_KERAS_FILE_H

#include <jansson.h>

#include "model_file/keras/tree.h"

typedef struct mst_keras_file {
    json_t *config;      /**< the network, or NULL */
    const json_t *made;  /**< compile_config or training_config: loss and optimizer; or NULL */
    json_t *training;    /**< owns `made` if that does not belong to `config` */
    json_t *metadata;    /**< the program that wrote the file, and notes; or NULL */
    mst_keras_tree tree; /**< empty without weights */
    bool has_weights;
} mst_keras_file;

/** The root attribute of .h5 files with the text of metadata.json. */
#define MST_KERAS_METADATA "muster_metadata"

/** Reads the file PATH. Free OUT also after a failure. MST_CORRUPT if it is not a file of Keras, or damaged.
 *  MST_UNIMPLEMENTED if it was written by a newer Keras. */
MST_CHECKED mst_status mst_keras_file_read(const char *path, mst_keras_file *out);
void mst_keras_file_free(mst_keras_file *file);

#endif
