/** Decides which metrics are meaningful for the outputs of a model that is trained for a loss. */
#ifndef MUSTER_CLI_MODEL_METRIC_FIT_H
#define MUSTER_CLI_MODEL_METRIC_FIT_H

#include "cli/model/objective.h"

/** MST_INVALID if METRIC is meaningless for O, such as f1 for a regression or r2 for classes. The message suggests
 *  other metrics or another loss. */
MST_CHECKED mst_status metric_fit_check(mst_metric metric, const objective *o);

#endif
