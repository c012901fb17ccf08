/** Small text files beside the records of a prefix, PREFIX-NAME, for what records cannot hold. */
#ifndef MUSTER_DATA_SIDECAR_H
#define MUSTER_DATA_SIDECAR_H

#include <stddef.h>

#include "muster/status.h"

/** Writes SIZE bytes at TEXT; NULL: removes the file. */
MST_CHECKED mst_status mst_beside_write(const char *prefix, const char *name, const char *text, size_t size);
/** *TEXT gets the contents of the file, with a 0 after them, to be freed with free(); NULL if there is no file. */
MST_CHECKED mst_status mst_beside_read(const char *prefix, const char *name, char **text, size_t *size);
/** The same of the file at PATH. */
MST_CHECKED mst_status mst_text_file_read(const char *path, char **text, size_t *size);

#endif
