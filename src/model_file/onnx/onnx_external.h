/** Tensors of ONNX whose bytes are in files beside the model (external data), as torch.onnx.export writes them. */
#ifndef MUSTER_MODEL_FILE_ONNX_ONNX_EXTERNAL_H
#define MUSTER_MODEL_FILE_ONNX_ONNX_EXTERNAL_H

#include "base/folder.h"
#include "model_file/onnx/onnx_file.h"
#include "muster/status.h"

/** Reads the bytes of such tensors of FILE into their messages, as if they had been in the model. FOLDER is the folder
 *  of the model; NULL: there is none, and such a tensor is MST_UNIMPLEMENTED. The files must be regular files in
 *  FOLDER or its subfolders, reached without `..` and without links. MST_CORRUPT if a file is too short, or if all
 *  tensors together need more bytes than their files have. The number of bytes read is added to *BYTES. */
MST_CHECKED mst_status mst_onnx_read_external(const mst_onnx_file *file, const mst_folder *folder, int64_t *bytes);

#endif
