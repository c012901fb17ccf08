/** Names of the classes of models with several outputs. */
#ifndef MUSTER_CLI_MODEL_OUTPUT_NAMES_H
#define MUSTER_CLI_MODEL_OUTPUT_NAMES_H

#include "cli/model/class_names.h"
#include "cli/model/model_note.h"
#include "cli/model/objective.h"

/** Gives the N objectives of LIST the names that TEXT, which --class-names was given, has for them:
 *  "OUTPUT=FILE,OUTPUT=FILE", or "FILE" where one output alone has classes; NULL: none. OWN[i] holds those of output i,
 *  to be freed with free() also after a failure; they are NULL before. MST_INVALID, naming the outputs, where it is not
 *  clear whose classes a file names, or where these are not as many. */
MST_CHECKED mst_status output_names_read(const char *text, objective *list, int n, class_names *own);
/** The same of objectives that have no names yet, by what NOTE (may be NULL) has, else DATA. */
MST_CHECKED mst_status output_names_find(const model_note *note, const mst_dataset *data, objective *list, int n,
                                         class_names *own);

#endif
