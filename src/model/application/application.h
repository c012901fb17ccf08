/** What the builders of well-known networks share. */
#ifndef MUSTER_MODEL_APPLICATION_APPLICATION_H
#define MUSTER_MODEL_APPLICATION_APPLICATION_H

#include "muster/applications.h"

/** The smallest number of tokens in a text of mst_text_cnn. With it, one position is left after the last pooling. */
enum { MST_TEXT_CNN_TOKENS = 12 };

/** The name of a layer, made from printf's arguments. It is valid until the end of the calling block. */
#define LAYER_NAME(...) mst_application_name(&(mst_application_layer_name){{0}}, __VA_ARGS__)
typedef struct mst_application_layer_name {
    char text[64];
} mst_application_layer_name;
const char *mst_application_name(mst_application_layer_name *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Begins the network called NAME in MODEL. OPTIONS has the defaults of the network; its alpha and vocabulary_size are
 *  0 if the network has none. The options in GIVEN replace them. Sets *INPUT to the input layer. MODEL must have no
 *  layers; the height and width of the shape must be known, and alpha must be as the public header says. Returns false,
 *  with an error on MODEL, if this does not hold or MODEL had an error before; then *INPUT is not valid. */
bool mst_application_begin(mst_model *model, const char *name, const mst_application_options *given,
                           mst_application_options *options, mst_output *input);

/** Adds the classifier of Keras' networks to X. It has a layer called AVERAGE_NAME, the mean over rows and columns, and
 *  then a dense layer called "predictions". OPTIONS have the number of classes. */
mst_output mst_application_top(mst_output x, const mst_application_options *options, const char *average_name);

#endif
