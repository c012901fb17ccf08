/** The options that decide the result of a training. They are noted with its checkpoints, so that a training that goes
 *  on with other ones can say so. */
#ifndef MUSTER_CLI_TRAIN_NOTED_OPTIONS_H
#define MUSTER_CLI_TRAIN_NOTED_OPTIONS_H

#include <jansson.h>

#include "cli/option_list.h"

/** Those of LIST that were given, {"batch-size": "50", ...}; NULL where memory runs out. */
json_t *noted_options(const option_list *list);
/** Whether NAME was noted in BEFORE with another value than it has now, or is given only in one of the two. */
bool noted_option_differs(const json_t *before, const option_list *list, const char *name);
/** Warns in one line of all that differ from what was noted in BEFORE (NULL: nothing was). */
void noted_options_compare(const json_t *before, const option_list *list);

#endif
