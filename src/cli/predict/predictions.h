/** Predictions of a model for each row, as text: a table on standard output, events, or CSV. */
#ifndef MUSTER_CLI_PREDICT_PREDICTIONS_H
#define MUSTER_CLI_PREDICT_PREDICTIONS_H

#include <stdio.h>

#include "cli/model/class_names.h"
#include "cli/model/objective.h"

/** COUNT outputs of a model for all rows, each [n, outputs], after objective_finish, with their objectives. FILES has
 *  the file of each row, which is shown instead of its number; NULL: the rows are not files. If there are several
 *  outputs, columns are named after them. */
typedef struct predictions {
    mst_tensor *const *outputs;
    const objective *objective;
    int count;
    const char *const *files;
} predictions;

/** Prints one line per row: its number or file, its class, and the probability of the class. The score is printed
 *  instead if the outputs are not probabilities. Without classes, the outputs are printed, at most 20. */
void predictions_print(const predictions *p);
/** The same as events "prediction". If there are several outputs, its member "outputs" has an object for each, under
 *  the name of the output. */
MST_CHECKED mst_status predictions_write_events(const predictions *p);
/** Writes the predictions as CSV: row, class, and a column for each number of an output, named after its class. */
MST_CHECKED mst_status predictions_write_csv(const predictions *p, const char *path);
/** The same to FILE, which is flushed. */
MST_CHECKED mst_status predictions_print_csv(const predictions *p, FILE *file);

#endif
