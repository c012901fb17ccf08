/** Nodes of ONNX that compute with sizes. Their results are computed while the graph is built, not in each run. */
#ifndef MUSTER_MODEL_FILE_ONNX_ONNX_FOLD_H
#define MUSTER_MODEL_FILE_ONNX_ONNX_FOLD_H

#include "model_file/onnx/onnx_read.h"

/** Tries to compute the result of the node now. This is possible only if its operator is one of those for sizes, and if
 *  all its inputs are constant tensors of at most MST_ONNX_MOST_LIST integers or booleans (or single floats that are
 *  compared). Sizes in the inputs and in the result may be open, that is known only in a run (MST_ONNX_OPEN). *DONE
 *  becomes whether output 0 was set. If not, the caller adds nodes to the graph for this node. */
MST_CHECKED mst_status mst_onnx_fold(mst_onnx_call *c, bool *done);

#endif
