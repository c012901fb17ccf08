/** The correspondence between Keras' classes of layers and Muster's types: the same options under two names. */
#ifndef MUSTER_MODEL_FILE_KERAS_CLASSES_H
#define MUSTER_MODEL_FILE_KERAS_CLASSES_H

#include <jansson.h>

#include "graph/options.h"
#include "layer/type.h"

typedef struct mst_keras_class mst_keras_class;

/** The class of this name; NULL if Muster has none, which includes InputLayer and nested models. */
const mst_keras_class *mst_keras_class_find(const char *name);
const mst_layer_type *mst_keras_class_type(const mst_keras_class *class);

/** Sets OPTIONS, zeroed, of the class's type from Keras' CONFIG, except the name. MEMORY keeps their tensors. *AXIS
 *  becomes the axis of a BatchNormalization, which must be the last one of its source; else -1. MST_UNIMPLEMENTED if
 *  CONFIG has something that Muster cannot do; the message tells the key. */
MST_CHECKED mst_status mst_keras_class_read(const mst_keras_class *class, const json_t *config,
                                            mst_option_memory *memory, void *options, int64_t *axis);
/** Something that LAYER of a file, or its inner layer, does only in training and that Muster does not do. It is a class
 *  ("GaussianNoise") or a key of the configuration ("kernel_constraint"). NULL: nothing. */
const char *mst_keras_only_trains(const json_t *layer);
/** MST_UNIMPLEMENTED if OPTIONS have something that Keras 3 does not have, such as an activation of Keras 2. Keras must
 *  have the class of an inner layer, if there is one. */
MST_CHECKED mst_status mst_keras_class_check(const mst_keras_class *class, const void *options);
/** Writes OPTIONS to CONFIG, except those that model_file/keras/preprocessing.h writes. Keras must have the class of an
 *  inner layer, if there is one. */
void mst_keras_class_write(const mst_keras_class *class, const void *options, json_t *config);
/** Frees the memory that mst_keras_class_read put into OPTIONS, also after a failure. */
void mst_keras_class_free(const mst_keras_class *class, void *options);
/** The name of the class of the inner layer of a TimeDistributed with these OPTIONS; "" if Keras has no such layer.
 *  NULL: CLASS has no inner layer. */
const char *mst_keras_class_inside(const mst_keras_class *class, const void *options);
enum { MST_KERAS_PARTS = 4 }; /**< most inner layers of a class */
/** The folders of the inner layers of a class, ended by NULL. All inner layers have the same number of weights. NULL:
 *  the layer has its weights itself. */
const char *const *mst_keras_class_parts(const char *name);
/** The folders of the I-th such class; NULL: there are no more. */
const char *const *mst_keras_parts_at(int i);

/** Whether the sources of CLASS are separate arguments, "query", "value" and "key"; calls may have more arguments. */
bool mst_keras_class_is_called(const mst_keras_class *class);
/** Sets members of OPTIONS from the named ARGUMENTS of a call, which mst_keras_arguments_check has checked. */
void mst_keras_class_read_call(const mst_keras_class *class, const json_t *arguments, void *options);
/** The named arguments for OPTIONS, owned by the caller. */
json_t *mst_keras_class_write_call(const mst_keras_class *class, const void *options);

#endif
