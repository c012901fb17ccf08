/** The name of an op as TensorFlow writes it. */
#ifndef MUSTER_GRAPH_TYPE_NAME_H
#define MUSTER_GRAPH_TYPE_NAME_H

#include "muster/op.h"

enum { MST_TYPE_NAME_TEXT = 64 };

/** TensorFlow's name of the op where it has one, else its own in camel case, "leaky_relu" as "LeakyRelu", cut off to
 *  fit TEXT of SIZE bytes. Returns the op's own string or TEXT. */
const char *mst_op_type_name(const mst_op *op, char *text, size_t size);

#endif
