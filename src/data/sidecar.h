/** Small text files, PREFIX-NAME, beside the record files of a prefix, for what records cannot hold. */
#ifndef MUSTER_DATA_SIDECAR_H
#define MUSTER_DATA_SIDECAR_H

#include <stddef.h>

#include "muster/status.h"

/** Writes SIZE bytes at TEXT to the file; if TEXT is NULL, removes the file. */
MST_CHECKED mst_status mst_beside_write(const char *prefix, const char *name, const char *text, size_t size);
/** Reads the file: *TEXT gets its contents, followed by a zero byte; free it with free(). NULL if there is no file. */
MST_CHECKED mst_status mst_beside_read(const char *prefix, const char *name, char **text, size_t *size);
/** The same for the file at PATH. */
MST_CHECKED mst_status mst_text_file_read(const char *path, char **text, size_t *size);

#endif
