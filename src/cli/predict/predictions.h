/** What a model says of each row, as text: a table on standard output, events, or CSV. */
#ifndef MUSTER_CLI_PREDICT_PREDICTIONS_H
#define MUSTER_CLI_PREDICT_PREDICTIONS_H

#include <stdio.h>

#include "cli/class_names.h"
#include "cli/objective.h"

/** Outputs of all rows, finished (objective_finish), [n, outputs], what their classes are called (may be NULL), and the
 *  file of each row, which stands in place of its number (NULL: they are not of files). */
typedef struct predictions {
    const mst_tensor *outputs;
    const objective *objective;
    const char *const *names, *const *files;
} predictions;

/** A line for each row: its number or file, its class and the probability of that; where there are no classes, the
 *  outputs. */
void predictions_print(const predictions *p);
/** The same as events "prediction". */
MST_CHECKED mst_status predictions_write_events(const predictions *p);
/** As CSV: row, class, and a column for each output, named after its class. */
MST_CHECKED mst_status predictions_write_csv(const predictions *p, const char *path);

#endif
