/** The options of a training that decide what comes of it, as they are noted with its checkpoints: a training that goes
 *  on with others says so. */
#ifndef MUSTER_CLI_TRAIN_NOTED_OPTIONS_H
#define MUSTER_CLI_TRAIN_NOTED_OPTIONS_H

#include <jansson.h>

#include "cli/options.h"

/** Those that were given, {"batch-size": "50", ...}; NULL where memory runs out. */
json_t *noted_options(const option_list *list);
/** Whether NAME was noted in BEFORE with another value than it has now, or is given only in one of the two. */
bool noted_option_differs(const json_t *before, const option_list *list, const char *name);
/** Warns, in one line, of those that differ. BEFORE may be NULL: nothing was noted. */
void noted_options_compare(const json_t *before, const option_list *list);

#endif
