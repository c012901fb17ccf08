/** Networks in Keras' JSON: the form that `to_json` gives and that .keras and .h5 files contain, of Keras 2 and 3. */
#ifndef MUSTER_MODEL_FILE_KERAS_NETWORK_H
#define MUSTER_MODEL_FILE_KERAS_NETWORK_H

#include <jansson.h>

#include "model/model.h"

/** A layer of a file. */
typedef struct mst_keras_layer {
    const char *name;       /**< also its name in the model */
    const char *class_name; /**< "Dense" */
    const char *path;       /**< where Keras 3 keeps its weights; NULL: as its class and its position say */
    const char *inside;     /**< class of the layer inside of a TimeDistributed; NULL: there is none */
    const char *group;      /**< the inner model that it belongs to; NULL: the model itself */
} mst_keras_layer;

/** The layers in the file's order, InputLayer among them if the file lists it. */
typedef struct mst_keras_network {
    mst_arena arena;
    mst_keras_layer *layer;
    int64_t num_layers;
    bool is_sequential;
} mst_keras_network;

/** Adds the layers of CONFIG, an object with class_name and config, to MODEL, which is empty; those of models inside of
 *  it with their names before the layers' (model_file/keras/nested_network.h). NAME is the file's, for
 *  messages. MST_UNIMPLEMENTED, naming the layer, if one is not known or would run code: nothing of it is run. OUT
 *  is to be freed with mst_keras_network_free also after a failure. */
MST_CHECKED mst_status mst_keras_network_read(const char *name, const json_t *config, mst_model *model,
                                              mst_keras_network *out);
/** MODEL as Keras 3 writes it. Its inputs' shapes must be known. Layers that no output needs are left out. */
MST_CHECKED mst_status mst_keras_network_write(mst_model *model, json_t **config, mst_keras_network *out);
void mst_keras_network_free(mst_keras_network *network);

#endif
