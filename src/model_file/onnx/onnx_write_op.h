/** What the files that write ops as ONNX's operators share. */
#ifndef MUSTER_MODEL_FILE_ONNX_ONNX_WRITE_OP_H
#define MUSTER_MODEL_FILE_ONNX_ONNX_WRITE_OP_H

#include "graph/tf_form.h"
#include "model_file/onnx/onnx_write.h"

enum { MST_ONNX_MOST_SOURCES = 64 };

typedef struct mst_onnx_written {
    const char *name; /**< Muster's name of the op */
    mst_status (*write)(mst_onnx_writer *w, const mst_node *from, const struct mst_onnx_written *op);
    const char *onnx; /**< ONNX's name of the operator, if the op is one operator */
} mst_onnx_written;

/** The tables of ops, each ended by a NULL name. */
extern const mst_onnx_written mst_onnx_written_elements[], mst_onnx_written_windows[], mst_onnx_written_rows[],
    mst_onnx_written_shapes[], mst_onnx_written_indices[], mst_onnx_written_cells[];

/** The option NAME of NODE, which must have this type. */
int32_t mst_onnx_option_int(const mst_node *node, const char *name);
double mst_onnx_option_double(const mst_node *node, const char *name);
float mst_onnx_option_float(const mst_node *node, const char *name);
bool mst_onnx_option_bool(const mst_node *node, const char *name);
mst_axes mst_onnx_option_axes(const mst_node *node, const char *name);
mst_shape mst_onnx_option_shape(const mst_node *node, const char *name);

int mst_onnx_source_ndim(const mst_node *node, int i);
/** The index of AXIS, of NDIM axes, counted from the front. */
int64_t mst_onnx_from_front(int64_t axis, int ndim);
/** Whether VALUE has been written with channels second, and not in the graph's order. */
bool mst_onnx_is_first(mst_onnx_writer *w, mst_value value);
/** A new name for output 0 of NODE. FIRST: its channels are second; else it is in the graph's order. */
const char *mst_onnx_output_name(mst_onnx_writer *w, const mst_node *node, bool first);
/** The same for output I, in the graph's order. */
const char *mst_onnx_output_name_of(mst_onnx_writer *w, const mst_node *node, int i);
/** A new name for an intermediate value: the node's name, '/' and WHAT. */
const char *mst_onnx_between(mst_onnx_writer *w, const mst_node *node, const char *what);
/** The name of source I in the graph's order. */
const char *mst_onnx_plain_source(mst_onnx_writer *w, const mst_node *node, int i);
/** The names of all sources, in the same order of channels: the order in which one of them has been written already.
 *  Returns true if channels are second, false if the order is the graph's. */
bool mst_onnx_operand_names(mst_onnx_writer *w, const mst_node *node, const char **name);

/* Intermediate nodes; each call returns the name of the node's output. */

const char *mst_onnx_unary(mst_onnx_writer *w, const mst_node *node, const char *op_type, const char *a);
const char *mst_onnx_binary(mst_onnx_writer *w, const mst_node *node, const char *op_type, const char *a,
                            const char *b);
/** The operator OP_TYPE of A and the number B, a constant of NODE's dtype. */
const char *mst_onnx_with_number(mst_onnx_writer *w, const mst_node *node, const char *op_type, const char *a,
                                 double b);
const char *mst_onnx_transposed(mst_onnx_writer *w, const mst_node *node, const char *a, mst_axes perm);
/** A cast to DTYPE. */
const char *mst_onnx_cast(mst_onnx_writer *w, const mst_node *node, const char *a, mst_dtype dtype);
/** Makes OUTPUT another name of A. */
void mst_onnx_same(mst_onnx_writer *w, const char *output, const char *a);

#endif
