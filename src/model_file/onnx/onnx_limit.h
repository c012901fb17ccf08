/** Limits of the memory that nodes of an ONNX file may need. They are needed because a file of a few bytes can ask for
 *  a tensor of any size. */
#ifndef MUSTER_MODEL_FILE_ONNX_ONNX_LIMIT_H
#define MUSTER_MODEL_FILE_ONNX_ONNX_LIMIT_H

#include "model_file/onnx/onnx_read.h"

/** A limit is MST_ONNX_ROOM bytes, plus a multiple of the bytes of the file (onnx_limit.c). MST_ONNX_TIMES_OF_VALUE is
 *  for each value that depends on an input of the model, computed for one example. MST_ONNX_TIMES_OF_CONSTANTS is for
 *  the sum of all constants that nodes compute. */
enum { MST_ONNX_ROOM = 128 << 20, MST_ONNX_TIMES_OF_VALUE = 1024, MST_ONNX_TIMES_OF_CONSTANTS = 64 };
/** Bytes of all constants that are computed while the file is read, such as the weights of Resize. */
enum { MST_ONNX_ROOM_OF_WEIGHTS = 32 << 20 };

/** Begins the checks. Nodes that the graph already has do not belong to the file. INPUT has the COUNT input values. */
void mst_onnx_limit_begin(mst_onnx_reader *reader, const mst_value *input, size_t count);
/** Checks the nodes of the graph that were made for the node of C, since the last call. Only their shapes are needed,
 *  nothing is computed. MST_INVALID if one is too large; the message tells the shape and its bytes. */
MST_CHECKED mst_status mst_onnx_limit_check(const mst_onnx_call *c);
/** Counts BYTES of a constant that READER is about to compute. MST_INVALID if that is too much. */
MST_CHECKED mst_status mst_onnx_limit_weights(mst_onnx_reader *reader, int64_t bytes);

#endif
