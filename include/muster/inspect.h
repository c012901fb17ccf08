/** What is in a file, as text. */
#ifndef MUSTER_INSPECT_H
#define MUSTER_INSPECT_H

#include <stdio.h>

#include "muster/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Writes to OUT what is in the file at PATH, of any format that Muster reads, told by its bytes: keys, dtypes, shapes,
 *  counts, statistics. All of it is read and checked. Fails with MST_CORRUPT, naming the first damage, after what could
 *  be read was written; MST_INVALID where the format is not known; MST_NOT_FOUND, MST_IO. */
MST_API MST_CHECKED mst_status mst_inspect(const char *path, FILE *out);

#ifdef __cplusplus
}
#endif
#endif
