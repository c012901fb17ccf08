/** Converts inputs into the form that the models of the command take. */
#ifndef MUSTER_CLI_MODEL_SCALE_INPUTS_H
#define MUSTER_CLI_MODEL_SCALE_INPUTS_H

#include "cli/model/network_end.h"

/** Whether inputs that are stored as DTYPE are pixels from 0 to 255 that are scaled to 0 to 1. They are not scaled with
 *  RAW_PIXELS, nor if the network rescales its INPUT (NULL: not known). */
bool scale_inputs_divides(bool raw_pixels, mst_dtype dtype, const network_input *input);

/** Converts the inputs, component COMPONENT of *DATASET, to f32, and divides them by 255 if scale_inputs_divides says
 *  so. Integers stay unchanged if INPUT uses them as indices. Replaces *DATASET and takes its reference. */
MST_CHECKED mst_status scale_inputs(bool raw_pixels, int component, const network_input *input, mst_dataset **dataset);

/** For a model that was trained on pixels divided by 255. Warns if component COMPONENT of DATA, whose spec is SPEC, is
 *  not stored as u8 and has a number above 2. Looks at the first rows. */
MST_CHECKED mst_status scale_inputs_warn(const char *spec, int component, mst_dataset *data);

#endif
