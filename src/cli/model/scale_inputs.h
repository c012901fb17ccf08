/** Converts inputs into the form that the models of the command take. */
#ifndef MUSTER_CLI_MODEL_SCALE_INPUTS_H
#define MUSTER_CLI_MODEL_SCALE_INPUTS_H

#include "cli/model/network_end.h"

/** What becomes of u8 inputs, in the order of pixels_choices: "0..1", "-1..1", "torch", "caffe", "raw". */
enum { PIXELS_UNIT, PIXELS_TF, PIXELS_TORCH, PIXELS_CAFFE, PIXELS_RAW };
extern const char *const pixels_choices[];

/** The number of the choice NAME; PIXELS_UNIT for NULL and for other names. */
int pixels_from_name(const char *name);

/** Whether inputs that are stored as DTYPE are pixels from 0 to 255 that are scaled to 0 to 1. They are if PIXELS says
 *  so, unless the network rescales its INPUT (NULL: not known). */
bool scale_inputs_divides(int pixels, mst_dtype dtype, const network_input *input);

/** Converts the inputs, component COMPONENT of *DATASET, to f32, and gives them the range that PIXELS names; with
 *  PIXELS_UNIT, divides them by 255 if scale_inputs_divides says so. Integers stay unchanged if INPUT uses them as
 *  indices. Replaces *DATASET and takes its reference. MST_INVALID if PIXELS needs u8 inputs, or three channels, and
 *  they are others. */
MST_CHECKED mst_status scale_inputs(int pixels, int component, const network_input *input, mst_dataset **dataset);

/** For a model that was trained on pixels divided by 255. Warns if component COMPONENT of DATA, whose spec is SPEC, is
 *  not stored as u8 and has a number above 2. Looks at the first rows. */
MST_CHECKED mst_status scale_inputs_warn(const char *spec, int component, mst_dataset *data);

#endif
