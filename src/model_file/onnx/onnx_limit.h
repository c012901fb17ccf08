/** How much memory the nodes of a file of ONNX may ask for: a few bytes can name a tensor of any size. */
#ifndef MUSTER_MODEL_FILE_ONNX_ONNX_LIMIT_H
#define MUSTER_MODEL_FILE_ONNX_ONNX_LIMIT_H

#include "model_file/onnx/onnx_read.h"

/** What every file may ask for, and how many times its own bytes: for each value that depends on an input of the model,
 *  computed for one example, and for all constants that nodes compute together. */
enum { MST_ONNX_ROOM = 128 << 20, MST_ONNX_TIMES_OF_VALUE = 1024, MST_ONNX_TIMES_OF_CONSTANTS = 64 };

/** Nodes of the graph that are there are not the file's; INPUT has COUNT values. */
void mst_onnx_limit_begin(mst_onnx_reader *reader, const mst_value *input, size_t count);
/** Checks the nodes of the graph that were made since the last call, for the node of C. Nothing has been computed:
 *  their shapes are enough. MST_INVALID, with the shape and its bytes. */
MST_CHECKED mst_status mst_onnx_limit_check(const mst_onnx_call *c);

#endif
