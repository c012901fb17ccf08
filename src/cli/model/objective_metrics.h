/** The option --metrics: the metrics of each output of a model. */
#ifndef MUSTER_CLI_MODEL_OBJECTIVE_METRICS_H
#define MUSTER_CLI_MODEL_OBJECTIVE_METRICS_H

#include "cli/model/objective.h"

/** The name of metric I, from 0, as --metrics takes it; NULL past the last. objective_metric_help gives a hint about it
 *  for --help; NULL: none. */
const char *objective_metric(int i);
const char *objective_metric_help(int i);
/** Gives the N objectives of LIST the metrics that TEXT names, instead of those that they have. "accuracy,recall" goes
 *  to all outputs that these fit (cli/model/metric_fit.h), "price=mean_absolute_error" to one output. If TEXT is NULL,
 *  nothing changes. MST_INVALID if TEXT has a name that no metric has; the message tells the most similar name, or all.
 *
 *  IS_GIVEN: the user has given TEXT. Then a metric that fits no output is MST_INVALID too. Otherwise TEXT was noted by
 *  a training, perhaps for another loss, and such a metric is left out. */
MST_CHECKED mst_status objective_metrics(const char *text, bool is_given, objective *list, int n);
/** Fails as objective_metrics does if TEXT (may be NULL) has a name that no metric has. Does not look at outputs. */
MST_CHECKED mst_status objective_check_metrics(const char *text);

#endif
