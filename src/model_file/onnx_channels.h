/** Which axis of the pictures that go into a file of ONNX, and come out of it, holds the channels. */
#ifndef MUSTER_MODEL_FILE_ONNX_CHANNELS_H
#define MUSTER_MODEL_FILE_ONNX_CHANNELS_H

#include "model_file/onnx_file.h"

/** FIRST[I] tells of input I, OUTPUT_FIRST[I] of output I, whether its channels are the second axis and must be turned
 *  round to be last. False for what is no picture or volume, and where the channels are last already. */
MST_CHECKED mst_status mst_onnx_channels_find(const mst_onnx_file *file, bool *first, bool *output_first);

#endif
