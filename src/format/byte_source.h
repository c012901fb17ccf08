/** Reads bytes at any offset of a regular file, or of memory (for tests and fuzzing). */
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

/** Opens the file at PATH for reading. Fails with MST_NOT_FOUND if there is none, MST_INVALID if it is not a regular
 *  file, MST_IO if it cannot be opened; each message names the path. Close OUT also after a failure. */
MST_CHECKED mst_status mst_bytes_open(const char *path, mst_bytes *out);
/** Opens the file PATH in FOLDER or its subfolders. PATH may come from the contents of a file, and is not trusted.
 *  MST_INVALID if PATH could lead out of FOLDER: if it begins with '/', has a part "..", or leads through a symbolic
 *  link. Otherwise as mst_bytes_open. */
MST_CHECKED mst_status mst_bytes_open_inside(const mst_folder *folder, const char *path, mst_bytes *out);
/** Makes OUT read the SIZE bytes at DATA, which the caller keeps until after mst_bytes_close. NAME stands for the path
 *  in messages. */
MST_CHECKED mst_status mst_bytes_of_memory(const char *name, const void *data, size_t size, mst_bytes *out);
/** Closes the file, and sets BYTES to zero. */
void mst_bytes_close(mst_bytes *bytes);

/** Reads up to SIZE bytes at OFFSET to DST; *GOT is less only at the end. */
MST_CHECKED mst_status mst_bytes_read(const mst_bytes *bytes, uint64_t offset, void *dst, size_t size, size_t *got);

#endif
