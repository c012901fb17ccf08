/** Networks of files that begin anew, for the command. */
#ifndef MUSTER_MODEL_FILE_NETWORK_ADAPT_H
#define MUSTER_MODEL_FILE_NETWORK_ADAPT_H

#include "muster/dataset.h"
#include "muster/model.h"

/** Lets each Normalization of MODEL, which is not compiled yet, that is applied to an input learn from the component
 *  of DATA for that input. *LEFT is the name of the first that is applied to something else, and so begins with a mean
 *  of 0 and a variance of 1; NULL if there is none. */
MST_API MST_CHECKED mst_status mst_network_adapt(mst_model *model, mst_dataset *data, const char **left);

#endif
