/** Helpers for the functions that build well-known networks (muster/applications.h). */
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

/** Begins the network called NAME in MODEL, which must have no layers. OPTIONS has the defaults of the network; its
 *  alpha and vocabulary_size are 0 if the network does not use them. Options that are set in GIVEN replace the
 *  defaults. Sets *INPUT to the input layer. The height and width of the shape must be known, and alpha must be in the
 *  range of the public header. Otherwise, or if MODEL had an error before, returns false with an error on MODEL; *INPUT
 *  is then not valid. */
bool mst_application_begin(mst_model *model, const char *name, const mst_application_options *given,
                           mst_application_options *options, mst_output *input);

/** Adds the classifier of Keras' networks to X. It has a layer called AVERAGE_NAME, the mean over rows and columns, and
 *  then a dense layer called "predictions". OPTIONS have the number of classes. */
mst_output mst_application_top(mst_output x, const mst_application_options *options, const char *average_name);

#endif
