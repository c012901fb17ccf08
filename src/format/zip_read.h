/** Reads ZIP archives by the module `zip`. Errors name the file, and sizes that the archive claims are limited. */
#ifndef MUSTER_FORMAT_ZIP_READ_H
#define MUSTER_FORMAT_ZIP_READ_H

#include <pthread.h>

#include "format/byte_source.h"
#include "format/zip_module.h"

typedef struct mst_zip_entry {
    char *name;
    uint64_t size;
} mst_zip_entry;

/** Zero-initialised is empty. */
typedef struct mst_zip {
    const mst_bytes *bytes;
    const mst_zip_library *library;
    mst_zip_archive *archive;
    pthread_mutex_t *lock; /**< held while an entry is read: threads take turns */
    mst_zip_entry *entry;
    int64_t num_entries;
} mst_zip;

/** Reads the directory of BYTES, which must outlive OUT. MST_CORRUPT if it is damaged, claims more data than is
 *  possible, or has two entries with the same name; MST_UNAVAILABLE without the module. Free OUT also after a
 *  failure. */
MST_CHECKED mst_status mst_zip_open(const mst_bytes *bytes, mst_zip *out);
void mst_zip_free(mst_zip *zip);
/** MST_CORRUPT if two entries have the same name, as in mst_zip_open. Call it after names were changed. */
MST_CHECKED mst_status mst_zip_check_names(const mst_zip *zip);
/** The entry with that name; NULL: there is none. */
const mst_zip_entry *mst_zip_find(const mst_zip *zip, const char *name);

/** One entry being read. */
typedef struct mst_zip_reader {
    const mst_zip *zip;
    const mst_zip_entry *entry;
    uint64_t done; /**< bytes of data that have been read */
} mst_zip_reader;

/** Begins to read an entry, after waiting until no other thread reads one. Fails with MST_UNIMPLEMENTED if the entry is
 *  encrypted, or compressed by other means than deflate. Close OUT also after a failure, on the same thread. */
MST_CHECKED mst_status mst_zip_reader_open(const mst_zip *zip, const mst_zip_entry *entry, mst_zip_reader *out);
void mst_zip_reader_close(mst_zip_reader *reader);
/** Reads exactly SIZE bytes to DST; MST_CORRUPT if fewer are left. */
MST_CHECKED mst_status mst_zip_reader_read(mst_zip_reader *reader, void *dst, size_t size);
/** Call it after the last byte: checks that no bytes follow, and the CRC-32. */
MST_CHECKED mst_status mst_zip_reader_finish(mst_zip_reader *reader);

#endif
