/** Inputs as the models of the command take them. */
#ifndef MUSTER_CLI_SCALE_INPUTS_H
#define MUSTER_CLI_SCALE_INPUTS_H

#include "model_file/network_end.h"

/** The data of one part, with inputs COMPONENT in f32; takes the reference to *DATASET. u8 pixels are from 0 to 1
 *  without RAW_PIXELS, unless INPUT (NULL: not known), of a network, rescales them. Integers stay what they are where
 *  INPUT counts with them. */
MST_CHECKED mst_status scale_inputs(bool raw_pixels, int component, const mst_network_input *input,
                                    mst_dataset **dataset);

#endif
