/** Nodes of ONNX that compute with sizes. Their results are computed while the graph is built, not in each run. */
#ifndef MUSTER_MODEL_FILE_ONNX_ONNX_FOLD_H
#define MUSTER_MODEL_FILE_ONNX_ONNX_FOLD_H

#include "model_file/onnx/onnx_read.h"

/** Computes the result of the node, if its operator is one of those for sizes. All inputs must be constant tensors of
 *  at most MST_ONNX_MOST_LIST integers or booleans. Sizes in them, and in the result, may be open (MST_ONNX_OPEN).
 *  *DONE: whether the output was set. If it was not, the node must become nodes of the graph. */
MST_CHECKED mst_status mst_onnx_fold(mst_onnx_call *c, bool *done);

#endif
