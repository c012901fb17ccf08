/** Prints what was restored of a model, for train, evaluate and predict. */
#ifndef MUSTER_CLI_MODEL_PRINT_RESTORED_H
#define MUSTER_CLI_MODEL_PRINT_RESTORED_H

#include "muster/checkpoint.h"

/** Prints what was restored, and what was missing or left over: as text or, with JSON, as the event "restored". QUIET:
 *  no text. In all cases warns if a damaged checkpoint was skipped. */
MST_CHECKED mst_status restored_show(const mst_restored *restored, bool json, bool quiet);

#endif
