/** Files of ONNX as models. */
#ifndef MUSTER_MODEL_FILE_ONNX_ONNX_MODEL_H
#define MUSTER_MODEL_FILE_ONNX_ONNX_MODEL_H

#include "model_file/onnx/onnx_file.h"
#include "muster/model.h"

/** Adds to MODEL, which is empty, the contents of the file at PATH: its inputs, one layer, `onnx`, whose weights are
 *  the initializers, and after it a layer for each output, with the output's name. Fails as mst_model_load does. */
MST_CHECKED mst_status mst_onnx_load(const char *path, mst_model *model);
/** The graph of FILE, as mst_onnx_read gives it. */
MST_CHECKED mst_status mst_onnx_graph(const mst_onnx_file *file, mst_graph **out);

/** Fails as mst_onnx_save would; writes nothing. */
MST_API MST_CHECKED mst_status mst_onnx_check(mst_model *model);
/** Writes MODEL as a file of ONNX, for inference: with the weights of its store as initializers. */
MST_CHECKED mst_status mst_onnx_save(mst_model *model, const char *path);

#endif
