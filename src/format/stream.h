/** Reads a part of a file from front to back, decompressed on the way, straight into the reader's memory.
 *
 *  Whatever the size of the file, a compressed stream needs 256 KiB for reading ahead and about 100 KB for the state of
 *  the decompressor. A plain stream needs neither.
 */
#ifndef MUSTER_FORMAT_STREAM_H
#define MUSTER_FORMAT_STREAM_H

#include "format/byte_source.h"

typedef enum mst_stream_kind {
    MST_STREAM_PLAIN = 0,
    MST_STREAM_GZIP,    /**< RFC 1952: any number of members; the CRC-32 and length of each are checked */
    MST_STREAM_DEFLATE, /**< RFC 1951: one raw stream */
    MST_STREAM_ZLIB     /**< RFC 1950: one stream; its Adler-32 is checked */
} mst_stream_kind;

typedef struct mst_stream mst_stream;

/** No deflate stream is longer than this many times its compressed size (RFC 1951: 258 bytes from two bits). */
enum { MST_DEFLATE_MAX_RATIO = 1032 };

/** Makes a stream over SIZE bytes at OFFSET of BYTES, which must outlive it. Destroy it also after a failure. */
MST_CHECKED mst_status mst_stream_create(const mst_bytes *bytes, uint64_t offset, uint64_t size, mst_stream_kind kind,
                                         mst_stream **out);
/** NULL is allowed. */
void mst_stream_destroy(mst_stream *stream);

/** Reads the next SIZE bytes to DST; *GOT is less only at the end of the stream. Fails with MST_CORRUPT, naming the
 *  file and the offset in it, if the compressed data is damaged, cut off, or followed by something else. Reading until
 *  *GOT < SIZE checks the whole part. */
MST_CHECKED mst_status mst_stream_read(mst_stream *stream, void *dst, size_t size, size_t *got);

/** The offset in the file at which reading continues. */
uint64_t mst_stream_offset(const mst_stream *stream);

#endif
