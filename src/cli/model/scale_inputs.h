/** Converts inputs into the form that the models of the command take. */
#ifndef MUSTER_CLI_MODEL_SCALE_INPUTS_H
#define MUSTER_CLI_MODEL_SCALE_INPUTS_H

#include "cli/model/network_end.h"

/** The values of --pixels, which say how u8 inputs are scaled, in the order of pixels_choices: "0..1", "-1..1",
 *  "torch", "caffe", "raw" (unchanged). */
enum { PIXELS_UNIT, PIXELS_TF, PIXELS_TORCH, PIXELS_CAFFE, PIXELS_RAW };
extern const char *const pixels_choices[];

/** The value for NAME, one of pixels_choices; PIXELS_UNIT for NULL and for other names. */
int pixels_from_name(const char *name);

/** Whether inputs that are stored as DTYPE are divided by 255. They are if DTYPE is u8 and PIXELS is PIXELS_UNIT,
 *  unless the network rescales its INPUT (NULL: not known) itself. */
bool scale_inputs_divides(int pixels, mst_dtype dtype, const network_input *input);

/** Converts the inputs, component COMPONENT of *DATASET, to f32, and scales them as PIXELS says (for PIXELS_UNIT see
 *  scale_inputs_divides). Integers stay unchanged if INPUT takes integers or uses them as indices. Replaces *DATASET
 *  and takes over its reference. MST_INVALID if the inputs do not have the u8 dtype or the three channels that PIXELS
 *  needs. */
MST_CHECKED mst_status scale_inputs(int pixels, int component, const network_input *input, mst_dataset **dataset);

/** For a model that was trained on pixels divided by 255: warns if component COMPONENT of DATA is not stored as u8 and
 *  has a number above 2 in the first rows. SPEC names the data in the warning. */
MST_CHECKED mst_status scale_inputs_warn(const char *spec, int component, mst_dataset *data);

#endif
