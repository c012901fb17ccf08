/** ZIP archives. The module `zip` (module/module.h) writes and reads them by libzip. Other files read archives through
 *  format/zip_read.h. */
#ifndef MUSTER_FORMAT_ZIP_MODULE_H
#define MUSTER_FORMAT_ZIP_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "muster/status.h"

/** A piece of the contents of a file; the pieces end with one without bytes. */
typedef struct mst_zip_piece {
    const void *data;
    size_t size;
} mst_zip_piece;

typedef struct mst_zip_file {
    const char *name;
    mst_zip_piece piece[3];
} mst_zip_file;

/** Writes SIZE bytes at OFFSET of an archive. OFFSET is at most the size of the archive so far. */
typedef mst_status (*mst_zip_put)(void *sink, uint64_t offset, const void *data, size_t size);

/** Reads SIZE bytes at OFFSET of an archive; *GOT is less only at its end. */
typedef mst_status (*mst_zip_get)(const void *source, uint64_t offset, void *dst, size_t size, size_t *got);

/** An archive that is being read. */
typedef struct mst_zip_archive mst_zip_archive;

typedef struct mst_zip_stat {
    const char *name; /**< belongs to the archive */
    uint64_t size, compressed_size;
    int method; /**< 0: stored; 8: deflate */
    bool is_encrypted;
} mst_zip_stat;

/** The interface of the module. Messages of errors do not name the archive; MST_CORRUPT if it is damaged. */
typedef struct mst_zip_library {
    /** Writes an archive of COUNT files through PUT, with 64-bit sizes where they are needed. Files are not compressed,
     *  and dated 1980-01-01, so that equal files give equal archives. */
    mst_status (*write)(const mst_zip_file *files, int64_t count, mst_zip_put put, void *sink);
    /** Opens the archive of SIZE bytes that GET reads; *COUNT is its number of entries. */
    mst_status (*open)(const void *source, mst_zip_get get, uint64_t size, mst_zip_archive **out, int64_t *count);
    mst_status (*stat)(mst_zip_archive *archive, int64_t entry, mst_zip_stat *out);
    /** Begins to read an entry. Only one can be read at a time: this ends reading the one before. */
    mst_status (*begin)(mst_zip_archive *archive, int64_t entry);
    /** Reads the next SIZE bytes of the entry. *GOT is less only at its end, where the checksum has been compared. */
    mst_status (*read)(mst_zip_archive *archive, void *dst, size_t size, size_t *got);
    /** NULL is allowed. */
    void (*close)(mst_zip_archive *archive);
} mst_zip_library;

#endif
