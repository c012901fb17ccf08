/** Nodes of a graph as nodes of ONNX. What depends on no input, mostly weights, is computed once and written as
 *  constants. As in onnx_read.h, a value is written in the order of channels in which it is made, and is turned round
 *  only where a node needs the other. */
#ifndef MUSTER_MODEL_FILE_ONNX_ONNX_WRITE_H
#define MUSTER_MODEL_FILE_ONNX_ONNX_WRITE_H

#include "graph/graph.h"
#include "graph/names.h"
#include "model_file/onnx/onnx_file.h"

/** A value of the graph in the file. */
typedef struct mst_onnx_out {
    const char *plain;  /**< its name there; NULL: not written yet */
    const char *first;  /**< of four or five dimensions, with channels second */
    mst_tensor *tensor; /**< of a constant; else NULL */
} mst_onnx_out;

typedef struct mst_onnx_writer {
    mst_arena arena;
    mst_names names;
    const int64_t *offset; /**< of a node's id: where its outputs are in OUT */
    mst_onnx_out *out;
    Muster__OnnxNode **node;
    int64_t num_nodes, node_capacity;
    Muster__OnnxTensor **initializer;
    int64_t num_initializers, initializer_capacity;
    mst_tensor **made; /**< constants that are turned round */
    int64_t num_made, made_capacity;
    bool no_memory; /**< a part of what was written is missing */
} mst_onnx_writer;

/** The source of a recurrent cell: x kernel + bias. */
typedef struct mst_onnx_gates {
    mst_value x, kernel, bias; /**< bias: MST_NONE if there is none */
} mst_onnx_gates;
/** Whether NODE is such a cell with such a source: it is written from these three in place of its source 0. */
bool mst_onnx_gates_of(const mst_node *node, mst_onnx_gates *out);

/** The nodes of FROM, which depends on an input, and where its outputs are. MST_UNIMPLEMENTED if ONNX has no
 *  equivalent. */
MST_CHECKED mst_status mst_onnx_write_node(mst_onnx_writer *w, const mst_node *from);

/* All that follow set no_memory if there is none, and give NULL or "". */

/** A name like TEXT that no other value has. */
const char *mst_onnx_name(mst_onnx_writer *w, const char *text);
mst_onnx_out *mst_onnx_out_of(mst_onnx_writer *w, mst_value value);
/** The name of VALUE; writes it if it has not been written yet. */
const char *mst_onnx_plain_name(mst_onnx_writer *w, mst_value value);
/** The same of its other order; VALUE has four or five dimensions. */
const char *mst_onnx_first_name(mst_onnx_writer *w, mst_value value);
/** A new initializer of TENSOR with the axes PERM, seen as RESHAPED first. */
const char *mst_onnx_constant(mst_onnx_writer *w, const char *name, mst_tensor *tensor, mst_shape reshaped,
                              mst_axes perm);
const char *mst_onnx_constant_list(mst_onnx_writer *w, const char *name, const int64_t *list, int count);
const char *mst_onnx_constant_number(mst_onnx_writer *w, const char *name, mst_dtype dtype, double value);

/** A new node. The names are those of values. */
Muster__OnnxNode *mst_onnx_node(mst_onnx_writer *w, const char *op_type, const char *output, size_t num_inputs,
                                const char *const *input);
void mst_onnx_set_int(mst_onnx_writer *w, Muster__OnnxNode *node, const char *name, int64_t value);
void mst_onnx_set_float(mst_onnx_writer *w, Muster__OnnxNode *node, const char *name, float value);
void mst_onnx_set_text(mst_onnx_writer *w, Muster__OnnxNode *node, const char *name, const char *text);
void mst_onnx_set_floats(mst_onnx_writer *w, Muster__OnnxNode *node, const char *name, const float *list, int count);
void mst_onnx_set_texts(mst_onnx_writer *w, Muster__OnnxNode *node, const char *name, const char *const *list,
                        int count);
/** NODE has these outputs in place of one. */
void mst_onnx_set_outputs(mst_onnx_writer *w, Muster__OnnxNode *node, const char *const *list, int count);
void mst_onnx_set_ints(mst_onnx_writer *w, Muster__OnnxNode *node, const char *name, const int64_t *list, int count);

#endif
