/** The folder in which compiled programs of devices that compile (such as GPUs) are kept. A later process need not
 *  compile them again, and computes the same bits. Workers that train without parameter servers send each other
 *  compiled programs, so that their job compiles each program once; each worker also keeps them in its own folder. With
 *  parameter servers, and in sessions over several tasks, each process compiles for itself. */
#ifndef MUSTER_COMPILE_CACHE_H
#define MUSTER_COMPILE_CACHE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "muster/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Chooses the folder for this process; programs that are compiled from now on are looked for there. Without this call
 *  it is the default folder, with the default limit and no log.
 *
 *  FOLDER  is accessible to this user only, and is made when it is first needed. NULL: "muster/executables" in
 *          $XDG_CACHE_HOME, or in $HOME/.cache if that is not set. "off": no folder; every process compiles anew.
 *  LIMIT   most bytes of all programs in it; beyond that, the least recently used ones are removed. 0: 1 GiB
 *  LOG     gets a warning if the folder cannot be used, or a file in it is damaged; programs are then compiled anew. It
 *          must stay open. NULL: no warnings
 *
 *  MST_INVALID if LIMIT is negative; MST_IO if FOLDER is relative and the current folder is not known. */
MST_API MST_CHECKED mst_status mst_compile_cache_set(const char *folder, int64_t limit, FILE *log);

/** The folder that this process uses. */
typedef struct mst_compile_cache_info {
    char folder[4096];    /**< its path; "": every process compiles anew ("off") */
    bool is_made;         /**< the folder exists; false: it is made for the first program */
    int64_t num_programs; /**< programs in the folder */
    int64_t bytes, limit; /**< bytes of these programs, and the limit of these bytes */
} mst_compile_cache_info;

/** Looks at the folder as a device that compiles does: whether it belongs to this user alone, and can be written, or
 *  made if it is not there. A file is written to it, and removed. MST_IO or MST_INVALID if it cannot be used. */
MST_API MST_CHECKED mst_status mst_compile_cache_describe(mst_compile_cache_info *out);

#ifdef __cplusplus
}
#endif
#endif
