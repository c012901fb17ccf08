/** The range of pixels on which the networks of keras.applications were trained: the modes of Keras'
 *  preprocess_input. */
#ifndef MUSTER_CLI_MODEL_APPLICATION_PIXELS_H
#define MUSTER_CLI_MODEL_APPLICATION_PIXELS_H

#include "cli/model/network_end.h"

typedef struct application_pixels {
    const char *name; /**< of the network in keras.applications; NULL: it is none of these, or no range is known */
    int pixels;       /**< PIXELS_UNIT, ... (cli/model/scale_inputs.h) */
} application_pixels;

/** Finds the range for MODEL, which was read from a file of Keras and has one input, INPUT: by its name, such as
 *  "resnet50" or "mobilenetv2_1.00_224"; or, where Keras wrote the file, by the names of its layers, which a network
 *  with another top has, too. None is found if a layer before the network's first convolution changes the pixels,
 *  unless that is a part of the network. */
application_pixels application_pixels_of(const mst_model *model, const network_input *input);
/** The same for --model NAME, "resnet50" or "mobilenet_v2:0.35", with weights of keras.applications. */
application_pixels application_pixels_named(const char *name);
/** The same for weights of FILE that go to the layers of MODEL (NULL: those of --model NAME). None is found if FILE is
 *  no whole model or list of layers of Keras, or Muster wrote it. */
application_pixels application_pixels_of_weights(const char *file, const char *name, const mst_model *model,
                                                 const network_input *input);

#endif
