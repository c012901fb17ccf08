/** A folder of a benchmark's own, new and with a name that nothing else had. */
#ifndef MUSTER_BENCH_FOLDER_H
#define MUSTER_BENCH_FOLDER_H

#include "muster/status.h"

/** Makes it in PARENT; where that is NULL in $TMPDIR or /tmp. *OUT is its path, for bench_folder_remove. */
MST_CHECKED mst_status bench_folder_make(const char *parent, char **out);
/** Removes it with what is in it, and frees the path; nothing where that is NULL. */
void bench_folder_remove(char *path);

#endif
