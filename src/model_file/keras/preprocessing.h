/** The parts of the configuration of Keras' preprocessing layers that are not plain members
 *  (model_file/keras/classes.h): lists of numbers, modes, and values learnt from data.
 *
 *      Normalization     axis: [-1], [] for all elements; mean and variance, null if they are weights
 *      CategoryEncoding  output_mode
 *      Discretization    output_mode; bin_boundaries, given or learnt (Muster keeps learnt ones in a weight)
 *      StringLookup      output_mode, mask_token; vocabulary, with or without the special tokens before it, which stand
 *                        for the masked token and for all other tokens
 *      IntegerLookup     the same; vocabulary, given or learnt (Muster keeps a learnt one in weights)
 *      TextVectorization the same of strings; standardize, split, output_sequence_length
 *      Rescaling         scale and offset: numbers or lists
 *      Take              indices (an op in the file: model_file/keras/indexing.h) */
#ifndef MUSTER_MODEL_FILE_KERAS_PREPROCESSING_H
#define MUSTER_MODEL_FILE_KERAS_PREPROCESSING_H

#include <jansson.h>

#include "graph/options.h"
#include "model/model.h"

/** Sets these parts in OPTIONS, the options of a layer of Keras' class CLASS_NAME. Does nothing for other classes.
 *  MEMORY keeps the tensors. */
MST_CHECKED mst_status mst_keras_preprocessing_read(const char *class_name, const json_t *config,
                                                    mst_option_memory *memory, void *options);
/** MST_UNIMPLEMENTED if Keras encodes a source of shape SOURCE, which includes the batch, in another way. */
MST_CHECKED mst_status mst_keras_preprocessing_check(const mst_model_layer *layer, mst_shape source);
/** Adds these parts of LAYER of MODEL to CONFIG. MST_UNIMPLEMENTED if Keras has no such layer. */
MST_CHECKED mst_status mst_keras_preprocessing_write(mst_model *model, const mst_model_layer *layer, json_t *config);
/** Whether the weights of layers of this class in Muster are part of the configuration in Keras. */
bool mst_keras_preprocessing_keeps_weights(const char *class_name);

#endif
