/** Lists of paths in one text, with a line end between them. */
#ifndef MUSTER_BASE_PATH_LIST_H
#define MUSTER_BASE_PATH_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "muster/status.h"

enum { MST_PATH_LIST_END = '\n' };

/** Whether TEXT is a list of two or more paths. A file whose own name is TEXT is none. */
bool mst_path_list_is(const char *text);
/** Copies the next path of *REST to *PATH, which is grown and which the caller frees at the end; it may be NULL before.
 *  *REST becomes what follows, NULL behind the last path. */
MST_CHECKED mst_status mst_path_list_next(const char **rest, char **path);

#endif
