/** Keras' classes of layers and Muster's: the same options under two names. */
#ifndef MUSTER_MODEL_FILE_KERAS_CLASSES_H
#define MUSTER_MODEL_FILE_KERAS_CLASSES_H

#include <jansson.h>

#include "graph/options.h"
#include "layer/type.h"

typedef struct mst_keras_class mst_keras_class;

/** The class of this name; NULL if Muster has none, InputLayer and nested models among them. */
const mst_keras_class *mst_keras_class_find(const char *name);
const mst_layer_type *mst_keras_class_type(const mst_keras_class *class);

/** Sets OPTIONS, zeroed, of the class's type from Keras' CONFIG, but the name. MEMORY keeps their tensors. *AXIS is
 *  that of BatchNormalization, to be the last one of its source; -1 else. MST_UNIMPLEMENTED, naming the key, for what
 *  Muster cannot do. */
MST_CHECKED mst_status mst_keras_class_read(const mst_keras_class *class, const json_t *config,
                                            mst_option_memory *memory, void *options, int64_t *axis);
/** What the LAYER of a file, or a layer inside it, does only in training and Muster does not do: its class
 *  ("GaussianNoise") or a key of its configuration ("kernel_constraint"). NULL: nothing. */
const char *mst_keras_only_trains(const json_t *layer);
/** MST_UNIMPLEMENTED if OPTIONS have something that Keras 3 does not have, such as an activation of Keras 2. If there
 *  is a layer inside, Keras must have its class. */
MST_CHECKED mst_status mst_keras_class_check(const mst_keras_class *class, const void *options);
/** Adds to CONFIG what OPTIONS say, except for what model_file/keras/preprocessing.h adds. If there is a layer inside,
 *  Keras must have its class. */
void mst_keras_class_write(const mst_keras_class *class, const void *options, json_t *config);
/** Frees what mst_keras_class_read put into OPTIONS, also after a failure. */
void mst_keras_class_free(const mst_keras_class *class, void *options);
/** The name of the class of the layer inside of a TimeDistributed with these OPTIONS, "" if Keras has no such layer;
 *  NULL: the class has none inside. */
const char *mst_keras_class_inside(const mst_keras_class *class, const void *options);
/** The folders of the layers inside a class, ended by NULL; each layer has as many weights as the others. NULL: the
 *  weights are the class's own. */
enum { MST_KERAS_PARTS = 4 };
const char *const *mst_keras_class_parts(const char *name);
/** The folders of the I-th such class; NULL: there are no more. */
const char *const *mst_keras_parts_at(int i);

/** Whether its sources are separate arguments, "query", "value" and "key", and a call may have further arguments. */
bool mst_keras_class_is_called(const mst_keras_class *class);
/** Sets in OPTIONS what the named ARGUMENTS of a call say; mst_keras_arguments_check has checked these. */
void mst_keras_class_read_call(const mst_keras_class *class, const json_t *arguments, void *options);
/** Those arguments; for the caller. */
json_t *mst_keras_class_write_call(const mst_keras_class *class, const void *options);

#endif
