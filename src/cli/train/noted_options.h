/** The options that decide the result of a training. They are noted in its checkpoints, so that a training that resumes
 *  with other options can warn. */
#ifndef MUSTER_CLI_TRAIN_NOTED_OPTIONS_H
#define MUSTER_CLI_TRAIN_NOTED_OPTIONS_H

#include <jansson.h>

#include "cli/option_list.h"

/** The options in LIST of this kind that were given, {"batch-size": "50", ...}; NULL if memory is out. */
json_t *noted_options(const option_list *list);
/** Whether option NAME has another value in LIST than in BEFORE, or was given in only one of the two. */
bool noted_option_differs(const json_t *before, const option_list *list, const char *name);
/** Warns in one line of all options that differ from those noted in BEFORE. NULL: none were noted. */
void noted_options_compare(const json_t *before, const option_list *list);

#endif
