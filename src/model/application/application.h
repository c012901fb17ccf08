/** What the builders of well-known networks share. */
#ifndef MUSTER_MODEL_APPLICATION_APPLICATION_H
#define MUSTER_MODEL_APPLICATION_APPLICATION_H

#include "muster/applications.h"

/** The fewest tokens of a text that mst_text_cnn takes: one position is left after its last pooling. */
enum { MST_TEXT_CNN_TOKENS = 12 };

/** Name of a layer, of printf's arguments: valid until the end of the calling block. */
#define LAYER_NAME(...) mst_application_name(&(mst_application_layer_name){{0}}, __VA_ARGS__)
typedef struct mst_application_layer_name {
    char text[64];
} mst_application_layer_name;
const char *mst_application_name(mst_application_layer_name *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Begins the network called NAME in MODEL. OPTIONS has its defaults, alpha and
 *  vocabulary_size 0 where it has none; what is GIVEN
 *  replaces them. Sets *INPUT to the input layer. False where MODEL has an error, or has one from now on: MODEL must be
 *  without layers, the shape one of known height and width, with or without channels, alpha as the header says; then
 *  *INPUT is no output. */
bool mst_application_begin(mst_model *model, const char *name, const mst_application_options *given,
                           mst_application_options *options, mst_output *input);

/** The classifier of Keras' networks: the mean over rows and columns of X, and OPTIONS' classes, called "predictions".
 *  AVERAGE_NAME is the name of the former. */
mst_output mst_application_top(mst_output x, const mst_application_options *options, const char *average_name);

#endif
