/** Finds the axis of the channels in inputs and outputs of an ONNX file that are pictures. */
#ifndef MUSTER_MODEL_FILE_ONNX_ONNX_CHANNELS_H
#define MUSTER_MODEL_FILE_ONNX_ONNX_CHANNELS_H

#include "model_file/onnx/onnx_file.h"

/** Sets FIRST[I] and OUTPUT_FIRST[I] to whether input I and output I have the channels on the second axis, so that they
 *  must be moved to the last axis. False if it is not a picture or volume, or has the channels last already. */
MST_CHECKED mst_status mst_onnx_channels_find(const mst_onnx_file *file, bool *first, bool *output_first);

#endif
