/** Files that are read whole, and files that are written to the side and renamed when they are whole. */
#ifndef MUSTER_BASE_FILE_H
#define MUSTER_BASE_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "muster/status.h"

/** Makes the file at PATH hold SIZE bytes of DATA. They are written to the side, synced and renamed: PATH is the old
 *  file or the new one, whole, at any time and after a crash. Where PATH is a symbolic link, so is it after that, and
 *  what it leads to is replaced. MST_IO, naming the path, where that cannot be done; the old file stays then. */
MST_CHECKED mst_status mst_file_write(const char *path, const void *data, size_t size);

typedef struct mst_file_part {
    const void *data;
    size_t size;
} mst_file_part;
/** The same with the parts one after the other. */
MST_CHECKED mst_status mst_file_write_parts(const char *path, const mst_file_part *part, int num_parts);
/** A file that is being written, to the side. */
typedef struct mst_file {
    char *path, *side; /**< where it will be; where it is */
    int descriptor;
    uint64_t size, begun; /**< bytes written, and of these those that the disk was told to begin with */
} mst_file;

/** How the name of a file begins that is being written; one that was left by a process that is gone can be removed. */
#define MST_FILE_SIDE ".muster-"

/** Begins a file that will be PATH; commit or abandon it. Nothing is left to do after a failure. */
MST_CHECKED mst_status mst_file_create(const char *path, mst_file *out);
MST_CHECKED mst_status mst_file_append(mst_file *file, const void *data, size_t size);
/** The same at OFFSET, at most the size so far, over what was written there. */
MST_CHECKED mst_status mst_file_put(mst_file *file, uint64_t offset, const void *data, size_t size);
/** Syncs it and gives it its name, in place of what had it. After a failure the old file is there, and no other. */
MST_CHECKED mst_status mst_file_commit(mst_file *file);
/** Removes it; nothing where it was committed or never created. */
void mst_file_abandon(mst_file *file);
/** Removes the file at PATH, where there is one. */
MST_CHECKED mst_status mst_file_remove(const char *path);
/** What was renamed and removed in the folder of PATH is on the disk too, where the file system can say so. */
void mst_file_sync_folder(const char *path);

/** Calls of the system by which this file changes the disk. */
typedef enum mst_file_call {
    MST_FILE_CREATE,
    MST_FILE_WRITE,
    MST_FILE_SYNC,
    MST_FILE_RENAME,
    MST_FILE_UNLINK
} mst_file_call;
/** Asked before each call: 0, or the number of the error with which it fails. A write of *SIZE bytes can be made
 *  shorter; one that fails writes *SIZE bytes before, where that was made less. Below 0: a sync is left out. */
typedef int (*mst_file_fault)(mst_file_call call, size_t *size);
/** For tests of what happens when the disk is full or gone; NULL ends it. */
void mst_file_replace_fault(mst_file_fault function);

/** Fails as mst_file_write would where that can be known before; writes nothing. MST_INVALID where PATH is something
 *  else than a regular file. */
MST_CHECKED mst_status mst_file_check(const char *path);

/** The bytes of the file at PATH, which the caller frees with free(). Fails with MST_NOT_FOUND where there is none,
 *  MST_INVALID where it is no regular file or has more than MOST bytes, MST_IO where it cannot be read; each message
 *  names the path. There is memory for one byte more. */
MST_CHECKED mst_status mst_file_read(const char *path, size_t most, void **data, size_t *size);

#endif
