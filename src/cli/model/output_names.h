/** Names of the classes of models with several outputs. */
#ifndef MUSTER_CLI_MODEL_OUTPUT_NAMES_H
#define MUSTER_CLI_MODEL_OUTPUT_NAMES_H

#include "cli/model/class_names.h"
#include "cli/model/model_note.h"
#include "cli/model/objective.h"

/** Gives the N objectives of LIST the names of classes in the files of TEXT, the value of --class-names. TEXT is
 *  "OUTPUT=FILE,OUTPUT=FILE", or "FILE" if only one output has classes; NULL: no files. OWN[i], NULL before, gets the
 *  names of output i; free it with free(), also after a failure. MST_INVALID if a file is for no output, or if its
 *  number of names is not the number of classes; the message lists the outputs. */
MST_CHECKED mst_status output_names_read(const char *text, objective *list, int n, class_names *own);
/** Gives the objectives without names the names in NOTE (may be NULL), else those in DATA. */
MST_CHECKED mst_status output_names_find(const model_note *note, const mst_dataset *data, objective *list, int n,
                                         class_names *own);

#endif
