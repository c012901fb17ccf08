/** The line about reading, writing or converting that takes over two seconds, on standard error. */
#ifndef MUSTER_CLI_LONG_WORK_LINE_H
#define MUSTER_CLI_LONG_WORK_LINE_H

#include "cli/option_list.h"

/** Shows such lines from now on, unless the options of LIST, whose values are in VALUES, have --json or --progress
 *  none. On a terminal a line is written over until the work is done; elsewhere it is written once. */
void long_work_line_show(const option_list *list, const void *values);
/** Shows none for a while, such as during training, which has lines of its own; then again. */
void long_work_line_pause(void);
void long_work_line_resume(void);

#endif
