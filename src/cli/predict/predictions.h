/** What a model says of each row, as text: a table on standard output, events, or CSV. */
#ifndef MUSTER_CLI_PREDICT_PREDICTIONS_H
#define MUSTER_CLI_PREDICT_PREDICTIONS_H

#include <stdio.h>

#include "cli/model/class_names.h"
#include "cli/model/objective.h"

/** Outputs of all rows, finished (objective_finish), COUNT of them, each [n, outputs], with their objectives, and the
 *  file of each row, which stands in place of its number (NULL: they are not of files). Of several outputs, columns
 *  have their names. */
typedef struct predictions {
    mst_tensor *const *outputs;
    const objective *objective;
    int count;
    const char *const *files;
} predictions;

/** A line for each row: its number or file, its class and the probability of that, or its score where nothing makes
 *  probabilities of the outputs; where there are no classes, the outputs, at most 20. */
void predictions_print(const predictions *p);
/** The same as events "prediction"; of several outputs "outputs" has such an object for each by its name. */
MST_CHECKED mst_status predictions_write_events(const predictions *p);
/** As CSV: row, class, and a column for each number of an output, named after its class. */
MST_CHECKED mst_status predictions_write_csv(const predictions *p, const char *path);

#endif
