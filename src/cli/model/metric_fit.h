/** Which metrics say something about the outputs of a model that is trained for a loss. */
#ifndef MUSTER_CLI_MODEL_METRIC_FIT_H
#define MUSTER_CLI_MODEL_METRIC_FIT_H

#include "cli/model/objective.h"

/** MST_INVALID, saying what to take instead, where METRIC means nothing for O: f1 of a regression, r2 of classes. */
MST_CHECKED mst_status metric_fit_check(mst_metric metric, const objective *o);

#endif
