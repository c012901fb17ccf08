/** Shared by writing and reading a GraphDef: names of attributes, and how dtypes, shapes and tensors are written. */
#ifndef MUSTER_GRAPH_GRAPHDEF_H
#define MUSTER_GRAPH_GRAPHDEF_H

#include "graph/graphdef.pb-c.h"
#include "muster/tensor.h"

/* Attributes that begin with '_' are private to a program: TensorFlow keeps and ignores them. */
#define MST_ATTR_OP "_muster_op"     /**< on each node, a string: name of the op */
#define MST_ATTR_SEED "_muster_seed" /**< on one node, an integer: seed of the graph; missing: 0 */
/** On one node, a list of strings for each collection, with the suffix _0, _1, ... after this name. The list has the
 *  name of the collection, then its values in their order. */
#define MST_ATTR_COLLECTION "_muster_collection"
#define MST_ATTR_SHAPES "_output_shapes" /**< on each node, a list of shapes */
#define MST_ATTR_OPTION "_"              /**< prefix of the name of an option */
/** On a node whose inputs in the file are not the sources that it has in the graph: a list of strings with these
 *  sources. */
#define MST_ATTR_SOURCES "_muster_sources"
/** On a node that only TensorFlow needs: a string with the name of the node of which it is a part. */
#define MST_ATTR_PART "_muster_part"
/** If TensorFlow has no equivalent of an op, its type in the file is this prefix and the op's name in camel case. */
#define MST_TYPE_PREFIX "Muster"

/** The most bytes that a GraphDef may have: protobuf's limit for a message. */
#define MST_GRAPHDEF_MOST ((size_t)INT32_MAX)

Muster__DataType mst_dtype_to_proto(mst_dtype dtype);
/** MST_NO_DTYPE if there is none. A reference type, such as that of VariableV2's output, counts as the type to which it
 *  refers. */
mst_dtype mst_dtype_from_proto(Muster__DataType type);

/** Fails if the number of dimensions is unknown or more than MST_MAX_NDIM. Dimensions may be any numbers. */
MST_CHECKED mst_status mst_shape_from_proto(const Muster__TensorShapeProto *proto, mst_shape *out);

/** Makes a tensor. If the list of values is shorter than the tensor, the last value fills the rest. The bytes of this
 *  rest are subtracted from *SPARE; if *SPARE is too small, that is an error. */
MST_CHECKED mst_status mst_tensor_from_proto(const Muster__TensorProto *proto, size_t *spare, mst_tensor **out);

#endif
