/** Networks as texts in Keras' JSON. The command keeps such a text in the note of a model (cli/model/model_note.h). */
#ifndef MUSTER_MODEL_FILE_KERAS_NETWORK_TEXT_H
#define MUSTER_MODEL_FILE_KERAS_NETWORK_TEXT_H

#include "muster/model.h"

/** The network of MODEL in Keras' JSON, to be freed. Fails as mst_keras_network_write does. */
MST_API MST_CHECKED mst_status mst_network_print(mst_model *model, char **out);
/** MST_INVALID if the name of a layer contains '/', which Keras does not accept in files. */
MST_API MST_CHECKED mst_status mst_network_check_names(const mst_model *model);
/** Makes a new model from such a text. NAME is the name of its file, for messages. MST_CORRUPT if it is damaged. */
MST_API MST_CHECKED mst_status mst_network_parse(const char *name, const char *text, mst_model **out);

#endif
