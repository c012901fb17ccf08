/** ZIP archives, for reading: stored and deflated entries, ZIP64 fields.
 *
 *  The central directory at the end of the file lists the entries; only it and the entries asked for are read.
 *  Source: PKWARE, APPNOTE.TXT, sections 4.3 and 4.5.3.
 */
#ifndef MUSTER_FORMAT_ZIP_READ_H
#define MUSTER_FORMAT_ZIP_READ_H

#include "format/stream.h"

typedef struct mst_zip_entry {
    char *name;
    int method; /**< 0 stored, 8 deflate */
    int flags;
    uint32_t crc; /**< CRC-32 of the data */
    uint64_t compressed_size;
    uint64_t size;
    uint64_t offset; /**< of the local header */
} mst_zip_entry;

/** Zero-initialised is empty. */
typedef struct mst_zip {
    const mst_bytes *bytes;
    mst_zip_entry *entry;
    int64_t num_entries;
} mst_zip;

/** Reads the directory of BYTES, which must outlive the archive. Free also after a failure (MST_CORRUPT with the file
 *  and offset). */
MST_CHECKED mst_status mst_zip_open(const mst_bytes *bytes, mst_zip *out);
void mst_zip_free(mst_zip *zip);
/** The first entry of that name, or NULL. */
const mst_zip_entry *mst_zip_find(const mst_zip *zip, const char *name);

/** One entry being read. */
typedef struct mst_zip_reader {
    const mst_zip_entry *entry;
    const mst_bytes *bytes;
    mst_stream *stream;
    uint64_t done; /**< bytes of data read */
    uint32_t crc;
} mst_zip_reader;

/** Fails with MST_UNIMPLEMENTED where the entry is encrypted or compressed in another way. Close also after a
 *  failure. */
MST_CHECKED mst_status mst_zip_reader_open(const mst_zip *zip, const mst_zip_entry *entry, mst_zip_reader *out);
void mst_zip_reader_close(mst_zip_reader *reader);
/** Reads exactly SIZE bytes to DST; fewer left is MST_CORRUPT. */
MST_CHECKED mst_status mst_zip_reader_read(mst_zip_reader *reader, void *dst, size_t size);
/** After the last byte: checks that it was the last, and the CRC-32. */
MST_CHECKED mst_status mst_zip_reader_finish(mst_zip_reader *reader);

#endif
