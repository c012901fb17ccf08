/** Whole files. */
#ifndef MUSTER_BASE_FILE_H
#define MUSTER_BASE_FILE_H

#include <stddef.h>

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

/** The same piece by piece: what is added is written to the side, and the commit syncs and renames. */
typedef struct mst_file_writer mst_file_writer;
MST_CHECKED mst_status mst_file_begin(const char *path, mst_file_writer **out);
MST_CHECKED mst_status mst_file_add(mst_file_writer *writer, const void *data, size_t size);
/** Nothing can be added then. */
MST_CHECKED mst_status mst_file_commit(mst_file_writer *writer);
/** Frees the writer; what was not committed is removed. NULL is allowed. */
void mst_file_end(mst_file_writer *writer);

/** Fails as mst_file_write would where that can be known before; writes nothing. MST_INVALID where PATH is something
 *  else than a regular file. */
MST_CHECKED mst_status mst_file_check(const char *path);

/** The bytes of the file at PATH, which the caller frees with free(). Fails with MST_NOT_FOUND where there is none,
 *  MST_INVALID where it is no regular file or has more than MOST bytes, MST_IO where it cannot be read; each message
 *  names the path. */
MST_CHECKED mst_status mst_file_read(const char *path, size_t most, void **data, size_t *size);

#endif
