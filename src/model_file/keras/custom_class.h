/** Custom classes: those of Keras' files that are not Keras', whatever their names. */
#ifndef MUSTER_MODEL_FILE_KERAS_CUSTOM_CLASS_H
#define MUSTER_MODEL_FILE_KERAS_CUSTOM_CLASS_H

#include <stdbool.h>

#include <jansson.h>

/** Whether the class of OBJECT, a layer, an initializer and so on, was written by the user: files of Keras 3 have null,
 *  or another package, as its module. The older form, .h5, has no modules of layers: there only a registered class is
 *  recognised, by its name, "package>Name". */
bool mst_keras_is_custom_class(const json_t *object);

#endif
