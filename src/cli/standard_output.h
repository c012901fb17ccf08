/** Standard output as a file: `--out -`, `--history -`. */
#ifndef MUSTER_CLI_STANDARD_OUTPUT_H
#define MUSTER_CLI_STANDARD_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

#include "muster/status.h"

/** Whether PATH, which may be NULL, stands for standard output: "-". */
bool standard_output_is(const char *path);
/** *OUT becomes a stream to standard output, which the caller closes. Everything else that is printed goes to standard
 *  error from now on. */
MST_CHECKED mst_status standard_output_take(FILE **out);

#endif
