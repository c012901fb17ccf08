/** Ops in the list of a functional model's layers, as Keras makes them of Python's operators:
 *
 *      x / 127.5 - 1    TrueDivide(x, 127.5), Subtract(.., 1)    Rescaling
 *      x + y            Add(x, y)                                Add; likewise Subtract and Multiply
 *
 *  Keras 3 has a class for each of them, Keras 2 the class TFOpLambda for all. */
#ifndef MUSTER_MODEL_FILE_ARITHMETIC_OPS_H
#define MUSTER_MODEL_FILE_ARITHMETIC_OPS_H

#include <jansson.h>

/** A new list of LAYERS, with the layers that do the same in place of such ops. All else is shared with LAYERS, and ops
 *  that no layer does are left. NULL: no memory. */
json_t *mst_keras_layers_for_ops(const json_t *layers);

#endif
