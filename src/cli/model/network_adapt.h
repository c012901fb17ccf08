/** Lets the Normalization layers of a network from a file learn mean and variance, for a training from the start. */
#ifndef MUSTER_CLI_MODEL_NETWORK_ADAPT_H
#define MUSTER_CLI_MODEL_NETWORK_ADAPT_H

#include "muster/dataset.h"
#include "muster/model.h"

/** Each Normalization of MODEL that is applied to an input learns from the component of DATA for that input. MODEL is
 *  not compiled yet. A Normalization that is applied to something else begins with a mean of 0 and a variance of 1;
 *  *LEFT becomes the name of the first such layer, or NULL if there is none. */
MST_CHECKED mst_status network_adapt(mst_model *model, mst_dataset *data, const char **left);

#endif
