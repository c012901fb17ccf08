/** Ops in the list of a functional model's layers, as Keras makes them of Python's operators, and of some functions:
 *
 *      x / 127.5 - 1    TrueDivide(x, 127.5), Subtract(.., 1)    Rescaling; also of several numbers
 *      x + y            Add(x, y)                                Add; likewise Subtract, Multiply; TrueDivide: Divide
 *      x ** 3, 2 / x    Power(x, 3), TrueDivide(2, x)            Power
 *      ops.sqrt(x)      Sqrt(x)                                  Power; likewise Square and Reciprocal
 *      x[:, 1:3]        GetItem(x, ..), or Take(x, [1, 2])       Take
 *
 *  Keras 3 has a class for each of them, Keras 2 the class TFOpLambda for all. Divide, Power and Take are no layers in
 *  Keras: they are written as ops again. */
#ifndef MUSTER_MODEL_FILE_KERAS_ARITHMETIC_OPS_H
#define MUSTER_MODEL_FILE_KERAS_ARITHMETIC_OPS_H

#include <jansson.h>

#include "model/model.h"

/** A new list of LAYERS, with the layers that do the same in place of such ops. All else is shared with LAYERS, and ops
 *  without an equal layer stay. NULL: no memory. */
json_t *mst_keras_layers_for_ops(const json_t *layers);
/** Whether LAYER, of such a list, is an op. */
bool mst_keras_is_op(const json_t *layer);
/** Whether LAYER, of such a list, replaces an op. */
bool mst_keras_was_op(const json_t *layer);

/** The op that LAYER is in Keras 3, such as "Power"; NULL: it is a layer there too. */
const char *mst_keras_op_name(const mst_model_layer *layer);
/** What such an op is applied to in a call with TENSORS, which it takes over: [tensor, 2.0]. */
json_t *mst_keras_op_arguments(const mst_model_layer *layer, json_t *tensors);
/** Adds to CONFIG, that of such an op, what is no argument of a call. MST_UNIMPLEMENTED if Keras has no such op. */
MST_CHECKED mst_status mst_keras_op_write(const mst_model_layer *layer, json_t *config);

#endif
