/** Networks in Keras' JSON, of Keras 2 and 3. This is the result of `to_json`, and part of .keras and .h5 files. */
#ifndef MUSTER_MODEL_FILE_KERAS_NETWORK_H
#define MUSTER_MODEL_FILE_KERAS_NETWORK_H

#include <jansson.h>

#include "model/model.h"

/** A layer of a file. */
typedef struct mst_keras_layer {
    const char *name;       /**< also its name in the model */
    const char *class_name; /**< "Dense" */
    const char *path;       /**< folder of its weights in Keras 3; NULL: its class and position tell the folder */
    const char *inside;     /**< class of the inner layer of a TimeDistributed; NULL: none */
    const char *group;      /**< the inner model that it belongs to; NULL: the model itself */
} mst_keras_layer;

/** The layers in the order of the file, including InputLayer if the file lists it. */
typedef struct mst_keras_network {
    mst_arena arena;
    mst_keras_layer *layer;
    int64_t num_layers;
    bool is_sequential;
} mst_keras_network;

/** Adds the layers of CONFIG, an object with class_name and config, to MODEL, which is empty. Names of layers of inner
 *  models are prefixed (model_file/keras/nested_network.h). NAME is the name of the file, for messages.
 *  MST_UNIMPLEMENTED if a layer is not known or contains code; the message tells the layer, and no code is run. Free
 *  OUT with mst_keras_network_free, also after a failure. */
MST_CHECKED mst_status mst_keras_network_read(const char *name, const json_t *config, mst_model *model,
                                              mst_keras_network *out);
/** Writes MODEL in the form of Keras 3. The shapes of its inputs must be known. Layers that no output needs are
 *  omitted. */
MST_CHECKED mst_status mst_keras_network_write(mst_model *model, json_t **config, mst_keras_network *out);
void mst_keras_network_free(mst_keras_network *network);

#endif
