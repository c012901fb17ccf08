/** Reads bytes at any offset of something that has a size: a regular file, or memory (for tests and fuzzing). */
#ifndef MUSTER_FORMAT_BYTE_SOURCE_H
#define MUSTER_FORMAT_BYTE_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/folder.h"
#include "muster/status.h"

typedef struct mst_bytes {
    char *name; /**< for messages: the path */
    int fd;     /**< -1 for memory */
    const uint8_t *memory;
    uint64_t size;
} mst_bytes;

/** Opens the file at PATH for reading. Fails with MST_NOT_FOUND where there is none, MST_INVALID where it is not a
 *  regular file, MST_IO where it cannot be opened; each message names the path. Close it also after a failure. */
MST_CHECKED mst_status mst_bytes_open(const char *path, mst_bytes *out);
/** Opens the file PATH in FOLDER or its subfolders; for a PATH that comes from a file. MST_INVALID if PATH could lead
 *  out of FOLDER: it begins with '/', has a part "..", or leads through a link. Otherwise as mst_bytes_open. */
MST_CHECKED mst_status mst_bytes_open_inside(const mst_folder *folder, const char *path, mst_bytes *out);
/** SIZE bytes of memory that the caller keeps until after the close; NAME stands for the path in messages. */
MST_CHECKED mst_status mst_bytes_of_memory(const char *name, const void *data, size_t size, mst_bytes *out);
/** Closes and zeroes. */
void mst_bytes_close(mst_bytes *bytes);

/** Reads up to SIZE bytes at OFFSET to DST; *GOT is less only at the end. */
MST_CHECKED mst_status mst_bytes_read(const mst_bytes *bytes, uint64_t offset, void *dst, size_t size, size_t *got);

#endif
