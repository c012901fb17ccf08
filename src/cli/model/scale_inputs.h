/** Inputs as the models of the command take them. */
#ifndef MUSTER_CLI_MODEL_SCALE_INPUTS_H
#define MUSTER_CLI_MODEL_SCALE_INPUTS_H

#include "cli/model/network_end.h"

/** Whether inputs that are stored as DTYPE are pixels from 0 to 255 that become 0 to 1: not with RAW_PIXELS, nor where
 *  INPUT (NULL: not known), of a network, rescales them. */
bool scale_inputs_divides(bool raw_pixels, mst_dtype dtype, const network_input *input);

/** The data of one part, with inputs COMPONENT in f32, divided by 255 where scale_inputs_divides; takes the reference
 *  to *DATASET. Integers stay what they are where INPUT counts with them. */
MST_CHECKED mst_status scale_inputs(bool raw_pixels, int component, const network_input *input, mst_dataset **dataset);

/** Of a model that was trained on pixels divided by 255: warns where the inputs COMPONENT of DATA, which SPEC names,
 *  are stored as numbers of another kind and are not from 0 to 1. Looks at the first rows. */
MST_CHECKED mst_status scale_inputs_warn(const char *spec, int component, mst_dataset *data);

#endif
