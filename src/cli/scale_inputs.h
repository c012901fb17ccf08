/** Inputs as the models of the command take them. */
#ifndef MUSTER_CLI_SCALE_INPUTS_H
#define MUSTER_CLI_SCALE_INPUTS_H

#include "model_file/network_end.h"

/** The data of one part, with inputs COMPONENT in f32, u8 pixels from 0 to 1 without RAW_PIXELS; takes the reference to
 *  *DATASET. Integers stay what they are where INPUT (NULL: not known), of a network, counts with them. */
MST_CHECKED mst_status scale_inputs(bool raw_pixels, int component, const mst_network_input *input,
                                    mst_dataset **dataset);

#endif
