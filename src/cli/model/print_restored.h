/** Prints what was restored of a model, for train, evaluate and predict. */
#ifndef MUSTER_CLI_MODEL_PRINT_RESTORED_H
#define MUSTER_CLI_MODEL_PRINT_RESTORED_H

#include "cli/model/application_pixels.h"
#include "muster/checkpoint.h"

/** Prints what was restored, and what was missing or left over: as text or, with JSON, as the event "restored". QUIET:
 *  no text. In all cases warns if a damaged checkpoint was skipped. PIXELS: the range that was chosen for u8 inputs
 *  since the network is one of keras.applications; NULL: none was. */
MST_CHECKED mst_status restored_show(const mst_restored *restored, const application_pixels *pixels, bool json,
                                     bool quiet);

#endif
