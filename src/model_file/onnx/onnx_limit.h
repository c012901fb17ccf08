/** How much memory the nodes of a file of ONNX may ask for: a few bytes can name a tensor of any size. */
#ifndef MUSTER_MODEL_FILE_ONNX_ONNX_LIMIT_H
#define MUSTER_MODEL_FILE_ONNX_ONNX_LIMIT_H

#include "model_file/onnx/onnx_read.h"

/** The bytes that every file may ask for, and the multiple of its own bytes that it may ask for in addition. One pair
 *  is for each value that depends on an input of the model, computed for one example. The other is for all constants
 *  together that nodes compute. */
enum { MST_ONNX_ROOM = 128 << 20, MST_ONNX_TIMES_OF_VALUE = 1024, MST_ONNX_TIMES_OF_CONSTANTS = 64 };

/** Nodes that the graph already has do not belong to the file; INPUT has COUNT values. */
void mst_onnx_limit_begin(mst_onnx_reader *reader, const mst_value *input, size_t count);
/** Checks the nodes of the graph that were made since the last call, for the node of C. Nothing has been computed:
 *  their shapes are enough. MST_INVALID, with the shape and its bytes. */
MST_CHECKED mst_status mst_onnx_limit_check(const mst_onnx_call *c);

#endif
