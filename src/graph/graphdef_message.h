/** Parts of a GraphDef that is being written. They are made in an arena and refer to the strings and tensors of the
 *  graph. */
#ifndef MUSTER_GRAPH_GRAPHDEF_MESSAGE_H
#define MUSTER_GRAPH_GRAPHDEF_MESSAGE_H

#include "base/arena.h"
#include "graph/graph.h"
#include "graph/graphdef.h"

typedef struct mst_graph_writer {
    const mst_graph *graph;
    mst_arena arena;
    Muster__NodeDef **node; /**< nodes written so far; allocated with malloc */
    int64_t num_nodes, capacity;
    mst_names parts; /**< names of nodes that only TensorFlow needs (graphdef_form.c) */
} mst_graph_writer;

/** Members of messages are not const, even if they are only read. These functions cast it away. */
char *mst_message_text(const char *text);
ProtobufCBinaryData mst_message_bytes(const char *text);

/** Adds an attribute to NODE, whose list has room for it; NULL if memory runs out. */
Muster__AttrValue *mst_message_add(mst_graph_writer *w, Muster__NodeDef *node, const char *key);
MST_CHECKED mst_status mst_message_add_text(mst_graph_writer *w, Muster__NodeDef *node, const char *key,
                                            const char *text);
MST_CHECKED mst_status mst_message_add_integer(mst_graph_writer *w, Muster__NodeDef *node, const char *key,
                                               int64_t integer);
MST_CHECKED mst_status mst_message_add_type(mst_graph_writer *w, Muster__NodeDef *node, const char *key,
                                            mst_dtype dtype);
/** Adds an attribute that is a list; NULL if memory runs out. */
Muster__AttrValue__ListValue *mst_message_add_list(mst_graph_writer *w, Muster__NodeDef *node, const char *key);
Muster__TensorShapeProto *mst_message_shape(mst_graph_writer *w, const mst_shape *shape);
MST_CHECKED mst_status mst_message_add_shape(mst_graph_writer *w, Muster__NodeDef *node, const char *key,
                                             const mst_shape *shape);
/** Adds a tensor that points to DATA, which must not move. */
MST_CHECKED mst_status mst_message_add_tensor(mst_graph_writer *w, Muster__NodeDef *node, const char *key,
                                              mst_dtype dtype, mst_shape shape, const void *data, size_t bytes);
MST_CHECKED mst_status mst_message_add_strings(mst_graph_writer *w, Muster__NodeDef *node, const char *key,
                                               const mst_tensor *tensor);
/** The text "node:1" of a value, in the arena or the graph. */
const char *mst_message_value(mst_graph_writer *w, mst_value value);

/** Adds attribute KEY from option FIELD of a node, unless the option is 0. */
MST_CHECKED mst_status mst_message_add_option(mst_graph_writer *w, const mst_node *from, Muster__NodeDef *node,
                                              const mst_field *field, const char *key);

#endif
