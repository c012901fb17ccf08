/** Custom classes: classes in Keras' files that are not part of Keras, whatever their names. */
#ifndef MUSTER_MODEL_FILE_KERAS_CUSTOM_CLASS_H
#define MUSTER_MODEL_FILE_KERAS_CUSTOM_CLASS_H

#include <stdbool.h>

#include <jansson.h>

/** Whether the class of OBJECT, such as a layer or an initializer, was written by the user. In files of Keras 3, the
 *  module of such a class is null or in another package. The older form, .h5, has no modules of layers: there, only a
 *  registered class is recognised, by its name "package>Name". */
bool mst_keras_is_custom_class(const json_t *object);

#endif
