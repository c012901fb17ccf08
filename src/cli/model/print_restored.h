/** Prints what was restored of a model, for train, evaluate and predict. */
#ifndef MUSTER_CLI_MODEL_PRINT_RESTORED_H
#define MUSTER_CLI_MODEL_PRINT_RESTORED_H

#include "cli/model/application_pixels.h"
#include "muster/checkpoint.h"

/** Prints what was restored, what was missing in the file, and which of its entries were not used: as text or, with
 *  JSON, as the event "restored". QUIET: no text is printed. In all cases warns if a damaged checkpoint was skipped.
 *  PIXELS is the range for u8 inputs, if it was chosen because the network is one of keras.applications; else NULL. */
MST_CHECKED mst_status restored_show(const mst_restored *restored, const application_pixels *pixels, bool json,
                                     bool quiet);

#endif
