/** The option --metrics: the metrics of each output of a model. */
#ifndef MUSTER_CLI_MODEL_OBJECTIVE_METRICS_H
#define MUSTER_CLI_MODEL_OBJECTIVE_METRICS_H

#include "cli/model/objective.h"

/** The name of metric I, counted from 0, as --metrics takes it; NULL if I is past the last. objective_metric_help gives
 *  a hint about the metric for --help; NULL: there is none. */
const char *objective_metric(int i);
const char *objective_metric_help(int i);
/** Replaces the metrics of the N objectives of LIST by the metrics that TEXT names. In "accuracy,recall", each metric
 *  is for all outputs that it fits (cli/model/metric_fit.h); "price=mean_absolute_error" is for one output. If TEXT is
 *  NULL, nothing changes. MST_INVALID if TEXT has an unknown name; the message gives the most similar name, or all
 *  names.
 *
 *  IS_GIVEN: the user has given TEXT, so a metric that fits no output is MST_INVALID too. Otherwise TEXT was noted by a
 *  training, perhaps for another loss, and such a metric is left out. */
MST_CHECKED mst_status objective_metrics(const char *text, bool is_given, objective *list, int n);
/** Checks only the names of the metrics in TEXT, with the errors of objective_metrics. TEXT may be NULL. */
MST_CHECKED mst_status objective_check_metrics(const char *text);

#endif
