/** ZIP archives are written by the module `zip` (module/module.h). Reading them is format/zip_read.h. */
#ifndef MUSTER_FORMAT_ZIP_WRITE_H
#define MUSTER_FORMAT_ZIP_WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "muster/status.h"

/** A piece of a file of an archive; the last one has no bytes. */
typedef struct mst_zip_piece {
    const void *data;
    size_t size;
} mst_zip_piece;

typedef struct mst_zip_file {
    const char *name;
    mst_zip_piece piece[3];
} mst_zip_file;

/** Writes SIZE bytes at OFFSET of an archive, which is at most its size so far. */
typedef mst_status (*mst_zip_put)(void *sink, uint64_t offset, const void *data, size_t size);

/** The interface of the module. */
typedef struct mst_zip_writer {
    /** An archive of COUNT files through PUT, with 64-bit sizes where they are needed. They are stored, not compressed,
     *  and dated 1980-01-01: equal files give equal archives. */
    mst_status (*write)(const mst_zip_file *files, int64_t count, mst_zip_put put, void *sink);
} mst_zip_writer;

#endif
