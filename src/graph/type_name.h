/** The name of an op's type in TensorFlow's style: "LeakyRelu". */
#ifndef MUSTER_GRAPH_TYPE_NAME_H
#define MUSTER_GRAPH_TYPE_NAME_H

#include "muster/op.h"

enum { MST_TYPE_NAME_TEXT = 64 };

/** Writes TensorFlow's name of OP if it has one, else the op's own name in camel case ("leaky_relu" as "LeakyRelu").
 *  TEXT has SIZE bytes; a longer name is cut off. Returns TEXT. */
const char *mst_op_type_name(const mst_op *op, char *text, size_t size);

#endif
