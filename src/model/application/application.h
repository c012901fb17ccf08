/** What the builders of well-known networks share. */
#ifndef MUSTER_MODEL_APPLICATION_APPLICATION_H
#define MUSTER_MODEL_APPLICATION_APPLICATION_H

#include <stdio.h>

#include "muster/applications.h"

/** Name of a layer, of printf's arguments: valid until the end of the calling block. */
#define LAYER_NAME(...) (mst_application_name((mst_application_layer_name){{0}}.text, __VA_ARGS__))
typedef struct mst_application_layer_name {
    char text[64];
} mst_application_layer_name;
const char *mst_application_name(char text[64], const char *format, ...) __attribute__((format(printf, 2, 3)));

/** The input of the network called NAME: OPTIONS' shape, or else DEFAULT_SHAPE. MODEL must be without layers, the shape
 *  one of height, width and channels that are known; otherwise there is no output, and MODEL keeps the error. */
mst_output mst_application_input(mst_model *model, const char *name, const mst_application_options *options,
                                 mst_shape default_shape);

/** The classifier of Keras' networks: the mean over rows and columns of X, and OPTIONS' classes, called "predictions".
 *  AVERAGE_NAME is the name of the former. */
mst_output mst_application_top(mst_output x, const mst_application_options *options, const char *average_name);

#endif
