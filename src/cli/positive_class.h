/** The class that precision, recall, f1, auc and pr_auc are of. In the command these are of one class where an output
 *  has two that exclude each other, as elsewhere but in Keras: the second in the order of their names or numbers, or
 *  that of --positive. */
#ifndef MUSTER_CLI_POSITIVE_CLASS_H
#define MUSTER_CLI_POSITIVE_CLASS_H

#include <jansson.h>

#include "cli/objective.h"

/** Chooses it for each of the N objectives of LIST, whose names are known. TEXT, that of --positive (NULL: not given),
 *  is CLASS, or OUTPUT=CLASS,OUTPUT=CLASS, by name or number; it also chooses one of more than two. MST_INVALID, saying
 *  which there are, where there is no such class. */
MST_CHECKED mst_status positive_class_choose(const char *text, objective *list, int n);
/** Prints ", auc and recall of class 'rare'" for each objective that has such metrics. */
void positive_class_print(const objective *list, int n);
/** Adds the class, "positive": "rare", or of several outputs an object with the class of each, where it is of use. */
void positive_class_add(json_t **event, const objective *list, int n);

#endif
