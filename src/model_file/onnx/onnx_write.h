/** Converts nodes of a graph to nodes of ONNX. Values that depend on no input, mostly weights, are computed once and
 *  written as constants. As in onnx_read.h, a value is written in the order of channels in which it is made. It is
 *  transposed only if a node needs the other order. */
#ifndef MUSTER_MODEL_FILE_ONNX_ONNX_WRITE_H
#define MUSTER_MODEL_FILE_ONNX_ONNX_WRITE_H

#include "graph/graph.h"
#include "graph/names.h"
#include "model_file/onnx/onnx_file.h"

/** A value of the graph, as it is in the file. */
typedef struct mst_onnx_out {
    const char *plain;  /**< its name in the file, in the graph's order; NULL: not written yet */
    const char *first;  /**< its name with channels second, if it has four or five dimensions; NULL: not written yet */
    mst_tensor *tensor; /**< of a constant; else NULL */
} mst_onnx_out;

typedef struct mst_onnx_writer {
    mst_arena arena;
    mst_names names;       /**< of values and initializers in the file */
    const int64_t *offset; /**< for each node id of the graph, the index in `out` of its first output */
    mst_onnx_out *out;
    Muster__OnnxNode **node; /**< of the file */
    int64_t num_nodes, node_capacity;
    Muster__OnnxTensor **initializer;
    int64_t num_initializers, initializer_capacity;
    mst_tensor **made; /**< transposed constants */
    int64_t num_made, made_capacity;
    bool no_memory; /**< memory was out, so a part of the file is missing */
} mst_onnx_writer;

/** The source of a recurrent cell: x kernel + bias. */
typedef struct mst_onnx_gates {
    mst_value x, kernel, bias; /**< bias: MST_NONE if there is none */
} mst_onnx_gates;
/** Whether NODE is a recurrent cell with such a source. Then it is written with these three values instead of its
 *  source 0. */
bool mst_onnx_gates_of(const mst_node *node, mst_onnx_gates *out);

/** Writes the nodes of ONNX for FROM, which depends on an input, and notes the names of its outputs. MST_UNIMPLEMENTED
 *  if ONNX has no equivalent. */
MST_CHECKED mst_status mst_onnx_write_node(mst_onnx_writer *w, const mst_node *from);

/* If memory is out, the functions below set no_memory, and return NULL or "". */

/** A unique name of a value, made from TEXT. */
const char *mst_onnx_name(mst_onnx_writer *w, const char *text);
/** What VALUE is in the file. */
mst_onnx_out *mst_onnx_out_of(mst_onnx_writer *w, mst_value value);
/** The name of VALUE; writes it if it has not been written yet. */
const char *mst_onnx_plain_name(mst_onnx_writer *w, mst_value value);
/** The same with channels second. VALUE must have four or five dimensions. */
const char *mst_onnx_first_name(mst_onnx_writer *w, mst_value value);
/** A new initializer: TENSOR reshaped to RESHAPED, then transposed by PERM. */
const char *mst_onnx_constant(mst_onnx_writer *w, const char *name, mst_tensor *tensor, mst_shape reshaped,
                              mst_axes perm);
/** A new initializer: COUNT numbers of i64; or one number, without dimensions. */
const char *mst_onnx_constant_list(mst_onnx_writer *w, const char *name, const int64_t *list, int count);
const char *mst_onnx_constant_number(mst_onnx_writer *w, const char *name, mst_dtype dtype, double value);

/** A new node. OUTPUT and INPUT are names of values. */
Muster__OnnxNode *mst_onnx_node(mst_onnx_writer *w, const char *op_type, const char *output, size_t num_inputs,
                                const char *const *input);
void mst_onnx_set_int(mst_onnx_writer *w, Muster__OnnxNode *node, const char *name, int64_t value);
void mst_onnx_set_float(mst_onnx_writer *w, Muster__OnnxNode *node, const char *name, float value);
void mst_onnx_set_text(mst_onnx_writer *w, Muster__OnnxNode *node, const char *name, const char *text);
void mst_onnx_set_floats(mst_onnx_writer *w, Muster__OnnxNode *node, const char *name, const float *list, int count);
void mst_onnx_set_texts(mst_onnx_writer *w, Muster__OnnxNode *node, const char *name, const char *const *list,
                        int count);
/** Gives NODE the outputs LIST instead of one output. */
void mst_onnx_set_outputs(mst_onnx_writer *w, Muster__OnnxNode *node, const char *const *list, int count);
void mst_onnx_set_ints(mst_onnx_writer *w, Muster__OnnxNode *node, const char *name, const int64_t *list, int count);

#endif
