/** Inputs as the models of the command take them. */
#ifndef MUSTER_CLI_SCALE_INPUTS_H
#define MUSTER_CLI_SCALE_INPUTS_H

#include "muster/dataset.h"

/** The data of one part, inputs in f32, u8 pixels from 0 to 1 without RAW_PIXELS; takes the reference to *DATASET. */
MST_CHECKED mst_status scale_inputs(bool raw_pixels, mst_dataset **dataset);

#endif
