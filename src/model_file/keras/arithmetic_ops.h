/** Ops in the list of a functional model's layers. Keras makes them from Python's operators and from some functions:
 *
 *      in Python        op in the file                           layer that is read
 *      x / 127.5 - 1    TrueDivide(x, 127.5), Subtract(.., 1)    Rescaling; also for several numbers
 *      x + y            Add(x, y)                                Add; likewise Subtract, Multiply; TrueDivide: Divide
 *      x ** 3, 2 / x    Power(x, 3), TrueDivide(2, x)            Power
 *      ops.sqrt(x)      Sqrt(x)                                  Power; likewise Square and Reciprocal
 *      x[:, 1:3]        GetItem(x, ..), or Take(x, [1, 2])       Take
 *
 *  Keras 3 has a class for each of them, Keras 2 has the class TFOpLambda for all. Divide, Power and Take are not
 *  layers in Keras, so they are written as ops again. */
#ifndef MUSTER_MODEL_FILE_KERAS_ARITHMETIC_OPS_H
#define MUSTER_MODEL_FILE_KERAS_ARITHMETIC_OPS_H

#include <jansson.h>

#include "model/model.h"

/** A copy of the list LAYERS in which such ops are replaced by layers that compute the same. Ops without such a layer
 *  stay. All other layers are shared with LAYERS. NULL: memory is out. */
json_t *mst_keras_layers_for_ops(const json_t *layers);
/** Whether LAYER, from such a list, is an op. */
bool mst_keras_is_op(const json_t *layer);
/** Whether LAYER, from such a list, replaces an op. */
bool mst_keras_was_op(const json_t *layer);

/** The name of the op that LAYER is in Keras 3, such as "Power"; NULL: it is a layer there too. */
const char *mst_keras_op_name(const mst_model_layer *layer);
/** The arguments of such an op in a call with TENSORS: [tensor, 2.0]. Takes ownership of TENSORS. */
json_t *mst_keras_op_arguments(const mst_model_layer *layer, json_t *tensors);
/** Adds the settings of such an op that are not arguments of a call to its CONFIG. MST_UNIMPLEMENTED if Keras has no
 *  such op. */
MST_CHECKED mst_status mst_keras_op_write(const mst_model_layer *layer, json_t *config);

#endif
