/** What writing and reading a GraphDef share: names of attributes, and how dtypes, shapes and tensors are written. */
#ifndef MUSTER_GRAPH_GRAPHDEF_H
#define MUSTER_GRAPH_GRAPHDEF_H

#include "graph/graphdef.pb-c.h"
#include "muster/tensor.h"

/* Attributes that begin with '_' are private to a program: TensorFlow keeps and ignores them. */
#define MST_ATTR_OP "_muster_op"     /**< on each node, string: name of the op */
#define MST_ATTR_SEED "_muster_seed" /**< on one node, integer: of the graph; none: 0 */
/** On one node, ..._0 and on: the name of a collection, then its values in their order. */
#define MST_ATTR_COLLECTION "_muster_collection"
#define MST_ATTR_SHAPES "_output_shapes" /**< on each node, list of shapes */
#define MST_ATTR_OPTION "_"              /**< before the name of an option */
/** On a node whose inputs are not the sources, list of strings: its sources. */
#define MST_ATTR_SOURCES "_muster_sources"
/** On a node that only TensorFlow needs, string: the node that it is a part of. */
#define MST_ATTR_PART "_muster_part"
/** Before our name of an op, in camel case, that TensorFlow has no equal of. */
#define MST_TYPE_PREFIX "Muster"

/** A GraphDef has at most this many bytes: protobuf's limit for a message. */
#define MST_GRAPHDEF_MOST ((size_t)INT32_MAX)

Muster__DataType mst_dtype_to_proto(mst_dtype dtype);
/** MST_NO_DTYPE where there is none; references (VariableV2 has such an output) count as what they refer to. */
mst_dtype mst_dtype_from_proto(Muster__DataType type);

/** Fails where the number of dimensions is not known or more than MST_MAX_NDIM. Dimensions may be any numbers. */
MST_CHECKED mst_status mst_shape_from_proto(const Muster__TensorShapeProto *proto, mst_shape *out);

/** A new tensor. A list of values that is shorter than the tensor is filled up with its last; the bytes that this makes
 *  are taken from *SPARE, and it is an error where they are not enough. */
MST_CHECKED mst_status mst_tensor_from_proto(const Muster__TensorProto *proto, size_t *spare, mst_tensor **out);

#endif
