/** The class for which precision, recall, f1, auc and pr_auc are computed. If an output has two exclusive classes, the
 *  command computes these metrics for one class, as most programs other than Keras do: the class of --positive, else
 *  the second class in the order of names or numbers. */
#ifndef MUSTER_CLI_MODEL_POSITIVE_CLASS_H
#define MUSTER_CLI_MODEL_POSITIVE_CLASS_H

#include <jansson.h>

#include "cli/model/objective.h"

/** Whether METRIC is precision, recall, f1, auc or pr_auc. */
bool positive_class_counts(mst_metric metric);
/** Chooses the class for each of the N objectives of LIST, whose names are known. TEXT is the value of --positive,
 *  CLASS or OUTPUT=CLASS,OUTPUT=CLASS, by name or number; NULL: not given. TEXT may also choose one of more than two
 *  classes. MST_INVALID if there is no such class; the message tells the classes. */
MST_CHECKED mst_status positive_class_choose(const char *text, objective *list, int n);
/** Prints ", auc and recall of class 'rare'" for each objective that has such metrics. */
void positive_class_print(const objective *list, int n);
/** Adds "positive": "rare" to EVENT if a metric needs it; for several outputs, an object with the class of each. */
void positive_class_add(json_t **event, const objective *list, int n);

#endif
