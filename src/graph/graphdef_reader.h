/** A GraphDef that is being read: its nodes, their attributes, and errors that name the node. */
#ifndef MUSTER_GRAPH_GRAPHDEF_READER_H
#define MUSTER_GRAPH_GRAPHDEF_READER_H

#include "graph/graph.h"
#include "graph/graphdef.h"
#include "graph/options.h"

/** A link to another node of the file: its output INDEX is a source (or an option); INDEX -1: a control input. */
typedef struct mst_read_link {
    int64_t item; /**< number in reader->item */
    int32_t index;
    const mst_field *field; /**< the option that this value fills; NULL: an ordinary source */
} mst_read_link;

/** A node of the file. */
typedef struct mst_read_item {
    Muster__NodeDef *def;
    const mst_op *op;
    bool is_ours; /**< the file gives the op by our name: it was written by Muster */
    bool is_part; /**< a helper node written for TensorFlow only; skipped */
    enum { MST_READ_WAITING, MST_READ_BEGUN, MST_READ_DONE } state;
    mst_read_link *link; /**< inputs and options that are values, in the order of the file */
    int64_t num_links;
    int64_t next;   /**< next link to follow (state MST_READ_BEGUN) */
    mst_node *node; /**< set in state MST_READ_DONE; NULL for a part */
    /** Output 1 of SoftmaxCrossEntropyWithLogits: softmax(logits) - labels, made when first asked for. */
    mst_value derivative;
} mst_read_item;

typedef struct mst_graph_reader {
    mst_graph *graph;
    const Muster__GraphDef *def;
    mst_read_item *item;
    int64_t num_items;
    mst_names names; /**< node name -> number of its item */
    mst_arena arena; /**< memory of the items, links and names, freed after reading */
    size_t spare;    /**< bytes that tensors may still grow by when a short value list is repeated */
    int depth;       /**< number of graphs in whose bodies this one is nested; 0: it is not a body */
    /** Outputs that may still be made: a limit against hostile files, at first the file's size in bytes. */
    int64_t outputs_left;
} mst_graph_reader;

/** mst_graph_decode for a graph that is nested in DEPTH bodies. */
MST_CHECKED mst_status mst_graph_decode_at(int depth, const void *data, size_t size, mst_graph **out);

/* ---- errors ---- */

/** Records an error of node IT and returns CODE. Long names are cut in the message, because a damaged file may have
 *  very long ones. */
mst_status mst_read_fail(const mst_read_item *it, mst_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/** Adds this node's name to the last error and returns its code. */
mst_status mst_read_fail_at(const mst_read_item *it);

/* ---- attributes ---- */

/** The value of attribute number K; its value_case is NOT_SET if the file gives no value. */
const Muster__AttrValue *mst_read_attr(const mst_read_item *it, size_t k);
/** The value of the attribute named KEY, the last one of that name; NULL: there is none. */
const Muster__AttrValue *mst_read_find_attr(const mst_read_item *it, const char *key);
/** Fails if the value of attribute KEY is not of KIND. */
MST_CHECKED mst_status mst_read_check_kind(const mst_read_item *it, const char *key, const Muster__AttrValue *value,
                                           Muster__AttrValue__ValueCase kind);
/** The string of an attribute, in ARENA. */
MST_CHECKED mst_status mst_read_string(const mst_read_item *it, const char *key, const ProtobufCBinaryData *bytes,
                                       mst_arena *arena, const char **out);
/** The tensor of an attribute; MEMORY keeps it. */
MST_CHECKED mst_status mst_read_tensor(mst_graph_reader *r, const mst_read_item *it, const char *key,
                                       const Muster__AttrValue *value, mst_option_memory *memory, mst_tensor **out);
/** Converts the value to the type of FIELD and writes it to AT; MEMORY keeps strings and tensors. */
MST_CHECKED mst_status mst_read_option(mst_graph_reader *r, const mst_read_item *it, const mst_field *field,
                                       const Muster__AttrValue *value, mst_option_memory *memory, void *at);
/** Whether an unknown attribute may be ignored. A dtype may, because Muster infers dtypes. In nodes that Muster did not
 *  write, false and "" may too: they are the defaults of features that Muster does not have. */
bool mst_read_may_skip(const mst_read_item *it, const char *key, const Muster__AttrValue *value);
/** Fails: KEY is not an option of the op. The message suggests the nearest one. */
mst_status mst_read_unknown(mst_graph_reader *r, const mst_read_item *it, const char *key);

/* ---- nodes ---- */

/** Number of links that are ordinary sources. */
int mst_read_num_sources(const mst_read_item *it);
/** The value that link L of IT refers to; its node has been made already. */
MST_CHECKED mst_status mst_read_resolve(mst_graph_reader *r, const mst_read_item *it, const mst_read_link *l,
                                        mst_value *out);

/** Whether a TensorFlow node of type TYPE is read as OP. */
bool mst_reads_type(const mst_op *op, const char *type);
/** Fills SRC, OPTIONS and PARTS for a node that another program wrote, by the first form of its op that fits. A
 *  reduction over no axes becomes an identity: then it->op and parts->op are changed, and parts->options is NULL. */
MST_CHECKED mst_status mst_read_foreign(mst_graph_reader *r, mst_read_item *it, mst_option_memory *memory,
                                        void *options, mst_value *src, mst_node_parts *parts);
/** The value that TensorFlow means by output 1 of a node with two outputs that another program wrote. Only for
 *  SoftmaxCrossEntropyWithLogits is this not output 1 of our node: see mst_read_item.derivative. */
MST_CHECKED mst_status mst_read_derivative(mst_graph_reader *r, mst_read_item *it, mst_value *out);

#endif
