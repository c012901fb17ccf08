/** Reads all of standard input. */
#ifndef MUSTER_BASE_STANDARD_INPUT_H
#define MUSTER_BASE_STANDARD_INPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "muster/status.h"

/** The name of standard input in messages. */
#define MST_STANDARD_INPUT "standard input"

/** Whether PATH is "-", which stands for standard input. */
MST_API bool mst_standard_input_is(const char *path);
/** The name of PATH in messages: PATH itself, or MST_STANDARD_INPUT. */
const char *mst_standard_input_name(const char *path);
/** Reads standard input to its end, which is possible only once. *DATA gets *SIZE bytes and has room for one more; free
 *  it with free(). */
MST_API MST_CHECKED mst_status mst_standard_input_read(void **data, size_t *size);

#endif
