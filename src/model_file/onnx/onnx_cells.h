/** The attributes of ONNX's recurrent operators: LSTM, GRU and RNN. */
#ifndef MUSTER_MODEL_FILE_ONNX_ONNX_CELLS_H
#define MUSTER_MODEL_FILE_ONNX_ONNX_CELLS_H

#include "model_file/onnx/onnx_read.h"
#include "muster/ops.h"

enum { MST_ONNX_RNN_GATES = 1, MST_ONNX_GRU_GATES = 3, MST_ONNX_LSTM_GATES = 4 };
enum { MST_ONNX_MOST_DIRECTIONS = 2, MST_ONNX_MOST_FUNCTIONS = 3 * MST_ONNX_MOST_DIRECTIONS };
/** The inputs after the source. */
enum {
    MST_ONNX_KERNEL = 1,
    MST_ONNX_RECURRENT,
    MST_ONNX_BIAS,
    MST_ONNX_LENGTHS,
    MST_ONNX_FIRST_STATE,
    MST_ONNX_FIRST_MEMORY,
    MST_ONNX_PEEPHOLES
};

typedef struct mst_onnx_cell {
    int gates, functions, directions; /**< functions: the number of activations per direction */
    bool backwards;                   /**< the only direction is backwards */
    bool rows_first;                  /**< the source is [n, steps, features] */
    int64_t units;                    /**< the attribute hidden_size; -1: it is missing */
    mst_cell_activation activation[MST_ONNX_MOST_FUNCTIONS];
} mst_onnx_cell;

/** Reads the attributes of a cell with GATES gates. */
MST_CHECKED mst_status mst_onnx_cell_read(mst_onnx_call *c, int gates, mst_onnx_cell *out);
/** Sets the number of units to UNITS, which is that of the weights. An error if the attribute hidden_size differs. */
MST_CHECKED mst_status mst_onnx_cell_set_units(mst_onnx_cell *cell, int64_t units);
/** The error of a node with input I, which is after MST_ONNX_BIAS and which Muster does not support. */
mst_status mst_onnx_cell_refuse(size_t i);
/** The index in ONNX's order of gate I of Muster's order. An LSTM has 4 GATES: i, o, f, c in ONNX, and i, f, c, o in
 *  Muster and Keras. */
int mst_onnx_cell_gate(int gates, int i);

#endif
