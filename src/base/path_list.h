/** Lists of paths in one text, with a line end between them. */
#ifndef MUSTER_BASE_PATH_LIST_H
#define MUSTER_BASE_PATH_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "muster/status.h"

enum { MST_PATH_LIST_END = '\n' };

/** Whether TEXT is a list of two or more paths. False if a file with the path TEXT exists. */
bool mst_path_list_is(const char *text);
/** Copies the first path of the list *REST to *PATH. *REST becomes the list after this path, NULL after the last one.
 *  *PATH is NULL before the first call, and is reallocated by each call; the caller frees it at the end. */
MST_CHECKED mst_status mst_path_list_next(const char **rest, char **path);

#endif
