/** A GraphDef that is being read: its nodes, their attributes, and errors that name the node. */
#ifndef MUSTER_GRAPH_GRAPHDEF_READER_H
#define MUSTER_GRAPH_GRAPHDEF_READER_H

#include "graph/graph.h"
#include "graph/graphdef.h"
#include "graph/options.h"

/** What one node needs of another: its output INDEX as a source, -1: that it runs before. */
typedef struct mst_read_link {
    int64_t item;
    int32_t index;
    const mst_field *field; /**< the option that is this value; NULL: a source */
} mst_read_link;

/** A node of the file. */
typedef struct mst_read_item {
    Muster__NodeDef *def;
    const mst_op *op;
    bool is_ours; /**< the file gives the op by our name: it was written by Muster */
    bool is_part; /**< only TensorFlow needs it: no node is made of it */
    enum { MST_WAITING, MST_BEGUN, MST_DONE } state;
    mst_read_link *link; /**< inputs and options that are values, in the order of the file */
    int64_t num_links;
    int64_t next; /**< link to follow, while the node is begun */
    mst_node *node;
    mst_value derivative; /**< output 1 as TensorFlow means it, where that differs; MST_NONE: not made */
} mst_read_item;

typedef struct mst_graph_reader {
    mst_graph *graph;
    const Muster__GraphDef *def;
    mst_read_item *item;
    int64_t num_items;
    mst_names names;      /**< of the nodes -> number of the item */
    mst_arena arena;      /**< of links */
    size_t spare;         /**< bytes of tensors that need not be in the file */
    int64_t outputs_left; /**< a file of n bytes has no use for more than n outputs */
} mst_graph_reader;

/* ---- errors ---- */

/** Names of a damaged file may have control characters, which would spoil the line of a message. */
void mst_read_make_plain(char *text);
/** An error of a node. Names are cut: those of a damaged file may be long. */
mst_status mst_read_wrong(const mst_read_item *it, mst_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/** The last error is of this node. */
mst_status mst_read_wrong_in(const mst_read_item *it);

/* ---- attributes ---- */

/** Attribute K; one without a value is of no kind. */
const Muster__AttrValue *mst_read_attr(const mst_read_item *it, size_t k);
/** NULL where there is none. */
const Muster__AttrValue *mst_read_find_attr(const mst_read_item *it, const char *key);
/** Error where the attribute is of another kind. */
MST_CHECKED mst_status mst_read_want(const mst_read_item *it, const char *key, const Muster__AttrValue *value,
                                     Muster__AttrValue__ValueCase kind);
/** The string of an attribute, in ARENA. */
MST_CHECKED mst_status mst_read_string(const mst_read_item *it, const char *key, const ProtobufCBinaryData *bytes,
                                       mst_arena *arena, const char **out);
MST_CHECKED mst_status mst_read_tensor(mst_graph_reader *r, const mst_read_item *it, const char *key,
                                       const Muster__AttrValue *value, mst_option_memory *memory, mst_tensor **out);
MST_CHECKED mst_status mst_read_option(mst_graph_reader *r, const mst_read_item *it, const mst_field *field,
                                       const Muster__AttrValue *value, mst_option_memory *memory, void *at);
/** Attributes that mean nothing to us: dtypes, which are inferred, and what another program says of a feature that it
 *  does not use. */
bool mst_read_may_skip(const mst_read_item *it, const char *key, const Muster__AttrValue *value);
/** The error of an attribute that is no option. */
mst_status mst_read_unknown(mst_graph_reader *r, const mst_read_item *it, const char *key);

/* ---- nodes ---- */

int mst_read_num_sources(const mst_read_item *it);
/** The value of a link, whose node is made. */
MST_CHECKED mst_status mst_read_resolve(mst_graph_reader *r, const mst_read_item *it, const mst_read_link *l,
                                        mst_value *out);

/** Whether nodes of another program of type TYPE are OP. */
bool mst_reads_type(const mst_op *op, const char *type);
/** The sources and options of a node of another program, by one of the forms of its op. It may turn into a node of
 *  another op. */
MST_CHECKED mst_status mst_read_foreign(mst_graph_reader *r, mst_read_item *it, mst_option_memory *memory,
                                        void *options, mst_value *src, mst_node_parts *parts);
/** Output 1 of a node of another program, where it is not that of our op of the kind. */
MST_CHECKED mst_status mst_read_derivative(mst_graph_reader *r, mst_read_item *it, mst_value *out);

#endif
