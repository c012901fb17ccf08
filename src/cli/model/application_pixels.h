/** The range of pixels on which the networks of keras.applications were trained: the modes of Keras'
 *  preprocess_input. */
#ifndef MUSTER_CLI_MODEL_APPLICATION_PIXELS_H
#define MUSTER_CLI_MODEL_APPLICATION_PIXELS_H

#include "cli/model/network_end.h"

typedef struct application_pixels {
    const char *name; /**< name of the network in keras.applications; NULL: it is none of these, or no range is known */
    int pixels;       /**< PIXELS_UNIT, ... (cli/model/scale_inputs.h) */
} application_pixels;

/** Finds the range for MODEL, which was read from a file of Keras and has one input, INPUT. It is found by the model's
 *  name, such as "resnet50" or "mobilenetv2_1.00_224". If Keras wrote the file, it is also found by the names of
 *  layers, because a model with another top still has these layers. No range is found if a layer before the first
 *  convolution changes the pixels, unless the network itself begins with such a layer. */
application_pixels application_pixels_of(const mst_model *model, const network_input *input);
/** The same for --model NAME, "resnet50" or "mobilenet_v2:0.35", with weights of keras.applications. */
application_pixels application_pixels_named(const char *name);
/** The same for weights of FILE that are loaded into the layers of MODEL (NULL: of --model NAME). No range is found if
 *  FILE is no .keras or .h5 file, is a .weights.h5 file, or was written by Muster. */
application_pixels application_pixels_of_weights(const char *file, const char *name, const mst_model *model,
                                                 const network_input *input);

#endif
