/** Says which files of a folder of pictures were left out. */
#ifndef MUSTER_CLI_LEFT_OUT_H
#define MUSTER_CLI_LEFT_OUT_H

#include <jansson.h>

#include "muster/dataset.h"

/** Prints ", 3 files left out (2 are no pictures, 1 is hidden)" for DATASET; nothing if there are none. */
void left_out_print(const mst_dataset *dataset);
/** Adds the counts to EVENT as left_out, an object; nothing if there are none. */
void left_out_add(const mst_dataset *dataset, json_t **event);
/** Prints a line about the damaged records or pictures of DATASET that were left out, if there are any. PART is "" or
 *  " of the test part", and follows the number of records or pictures in the line. DATASET may be NULL. */
void damaged_print(const mst_dataset *dataset, const char *part);
/** Adds their number to EVENT as skipped_corrupt, and the first of damaged pictures as first_corrupt; nothing if there
 *  are none. DATASET may be NULL. */
void damaged_add(const mst_dataset *dataset, json_t **event);

#endif
