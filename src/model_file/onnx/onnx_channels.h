/** Finds the axis of the channels in inputs and outputs of an ONNX file that are pictures. */
#ifndef MUSTER_MODEL_FILE_ONNX_ONNX_CHANNELS_H
#define MUSTER_MODEL_FILE_ONNX_ONNX_CHANNELS_H

#include "model_file/onnx/onnx_file.h"

/** Sets FIRST[I] to whether input I has the channels on the second axis, and OUTPUT_FIRST[I] to the same for output I.
 *  Such channels must be moved to the last axis. Both are false for an input or output that is not a picture or volume,
 *  or that has the channels last. */
MST_CHECKED mst_status mst_onnx_channels_find(const mst_onnx_file *file, bool *first, bool *output_first);

#endif
