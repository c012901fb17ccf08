/** Evaluates nodes of ONNX that compute with sizes while the graph is built. */
#ifndef MUSTER_MODEL_FILE_ONNX_ONNX_FOLD_H
#define MUSTER_MODEL_FILE_ONNX_ONNX_FOLD_H

#include "model_file/onnx/onnx_read.h"

/** Computes the node if all its inputs are short tensors of integers or booleans. Its result must not depend on values
 *  that are known only in a run. Otherwise *DONE is false, and nothing has changed. */
MST_CHECKED mst_status mst_onnx_fold(mst_onnx_call *c, bool *done);

#endif
