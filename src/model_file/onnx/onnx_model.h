/** Files of ONNX as models. */
#ifndef MUSTER_MODEL_FILE_ONNX_ONNX_MODEL_H
#define MUSTER_MODEL_FILE_ONNX_ONNX_MODEL_H

#include "model_file/onnx/onnx_file.h"
#include "muster/model.h"

/** Adds the contents of the file at PATH to MODEL, which is empty. MODEL gets the file's inputs, and one layer `onnx`,
 *  whose weights are the initializers. It also gets a layer for each output, with the name of the output. Fails as
 *  mst_model_load does. LEFT_OUT, of SIZE bytes, gets a text that names what of the file the model omits, or "". */
MST_CHECKED mst_status mst_onnx_load(const char *path, mst_model *model, char *left_out, size_t size);
/** Makes a valid name of a layer of MODEL from NAME. Characters that are not allowed become '_'. If a layer has this
 *  name already, a number is appended. OUT has MST_ONNX_LAYER_NAME bytes, and is returned. */
const char *mst_onnx_name_layer(const mst_model *model, const char *name, char *out);
/** The graph of FILE, as mst_onnx_read returns it. */
MST_CHECKED mst_status mst_onnx_graph(const mst_onnx_file *file, mst_graph **out);

/** Fails if mst_onnx_save would fail, but writes nothing. */
MST_API MST_CHECKED mst_status mst_onnx_check(mst_model *model);
/** Writes MODEL as a file of ONNX for inference. The weights in its store become initializers. */
MST_CHECKED mst_status mst_onnx_save(mst_model *model, const char *path);

#endif
