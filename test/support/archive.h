/** Files to test readers with: IDX, gzip, zip and NPY, made in memory. */
#ifndef MUSTER_TEST_SUPPORT_ARCHIVE_H
#define MUSTER_TEST_SUPPORT_ARCHIVE_H

#include <stddef.h>
#include <stdint.h>

/** Grows as it is written to; zero-initialised is empty. */
typedef struct blob {
    uint8_t *data;
    size_t size;
} blob;

void blob_add(blob *b, const void *data, size_t size);
/** The low SIZE bytes of VALUE, little- or big-endian. */
void blob_little(blob *b, uint64_t value, int size);
void blob_big(blob *b, uint64_t value, int size);
void blob_free(blob *b);

/** Header of an IDX file. */
void blob_idx(blob *b, int type, int ndim, const uint32_t *dim);
/** An IDX file of u8 with element i = i * FACTOR mod 251. */
void blob_idx_u8(blob *b, int ndim, const uint32_t *dim, unsigned factor);
/** One gzip member with DATA, or with NULL raw deflate. */
void blob_gzip(blob *b, const void *data, size_t size);
void blob_deflate(blob *b, const void *data, size_t size);
/** Version, header text and data of an NPY file. */
void blob_npy(blob *b, int version, const char *text, const void *data, size_t size);

/** A zip archive being written. */
typedef struct zip_maker {
    blob file, directory;
    int num_entries;
} zip_maker;

void zip_add(zip_maker *zip, const char *name, const blob *data, int method);
/** Appends the directory; the archive is zip->file. */
void zip_end(zip_maker *zip);
void zip_free(zip_maker *zip);

#endif
