/** What --metrics names: the metrics of each output of a model. */
#ifndef MUSTER_CLI_MODEL_OBJECTIVE_METRICS_H
#define MUSTER_CLI_MODEL_OBJECTIVE_METRICS_H

#include "cli/model/objective.h"

/** Names of metrics, for an option, NULL past the last; and what must be said of one, NULL: nothing. */
const char *objective_metric(int i);
const char *objective_metric_help(int i);
/** Takes the metrics that TEXT names, "accuracy,recall", in place of those of the N objectives of LIST, of all that
 *  they fit (cli/model/metric_fit.h), or "price=mean_absolute_error" of one output; NULL: they stay. MST_INVALID,
 *  naming the nearest one or all, where there is none of a name; or where one fits no output and IS_GIVEN: else it is
 *  left out, since it was noted by a training for another loss. */
MST_CHECKED mst_status objective_metrics(const char *text, bool is_given, objective *list, int n);
/** Fails as that does where TEXT (may be NULL) names a metric that there is not; outputs are not looked at. */
MST_CHECKED mst_status objective_check_metrics(const char *text);

#endif
