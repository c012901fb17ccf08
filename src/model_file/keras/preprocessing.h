/** Those parts of the configuration of Keras' layers of preprocessing that are no plain members
 *  (model_file/keras/classes.h): lists of numbers, modes, and what was learnt from data.
 *
 *      Normalization     axis: [-1], [] for all elements; mean and variance, null if they are weights
 *      CategoryEncoding  output_mode
 *      Discretization    output_mode; bin_boundaries, also those that were learnt, which are no weights there
 *      StringLookup      output_mode, mask_token; vocabulary, with or without the tokens before it that stand for the
 *                        masked one and for all others
 *      IntegerLookup     the same; a vocabulary that was learnt, a weight here, is in the configuration there
 *      Rescaling         scale and offset: numbers or lists
 *      Take              indices (an op in the file: model_file/keras/indexing.h) */
#ifndef MUSTER_MODEL_FILE_KERAS_PREPROCESSING_H
#define MUSTER_MODEL_FILE_KERAS_PREPROCESSING_H

#include <jansson.h>

#include "graph/options.h"
#include "model/model.h"

/** Sets these parts in OPTIONS, those of a layer of Keras' class CLASS_NAME; does nothing for other classes. Tensors
 *  are kept in MEMORY. */
MST_CHECKED mst_status mst_keras_preprocessing_read(const char *class_name, const json_t *config,
                                                    mst_option_memory *memory, void *options);
/** MST_UNIMPLEMENTED if a SOURCE of this shape, with the batch, is encoded in another way by Keras. */
MST_CHECKED mst_status mst_keras_preprocessing_check(const mst_model_layer *layer, mst_shape source);
/** Adds these parts of LAYER of MODEL to CONFIG. MST_UNIMPLEMENTED if Keras has no such layer. */
MST_CHECKED mst_status mst_keras_preprocessing_write(mst_model *model, const mst_model_layer *layer, json_t *config);
/** Whether Keras keeps in the configuration what Muster keeps in weights of layers of this class. */
bool mst_keras_preprocessing_keeps_weights(const char *class_name);

#endif
