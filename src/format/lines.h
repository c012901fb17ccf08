/** Reads text line by line, plain or gzip (recognised by the first bytes).
 *
 *  A line ends with "\n" or "\r\n", which is not part of it, or at the end of the file. After the last line end there
 *  is another line only if bytes follow. Bytes are as they are in the file, in any encoding, zero bytes too.
 */
#ifndef MUSTER_FORMAT_LINES_H
#define MUSTER_FORMAT_LINES_H

#include <stdbool.h>

#include "format/record_index.h"
#include "muster/tfrecord.h"

typedef struct mst_lines_reader mst_lines_reader;

/** Opens the file at PATH. *OUT is NULL on failure: MST_NOT_FOUND, MST_IO or MST_INVALID if PATH is not a file that can
 *  be read. */
MST_CHECKED mst_status mst_lines_reader_open(const char *path, mst_lines_reader **out);
/** A reader of SIZE bytes at DATA, which the caller keeps until mst_lines_reader_close; NAME stands for the path in
 *  messages. */
MST_CHECKED mst_status mst_lines_reader_parse(const char *name, const void *data, size_t size, mst_lines_reader **out);
/** NULL is allowed. */
void mst_lines_reader_close(mst_lines_reader *reader);
bool mst_lines_reader_is_compressed(const mst_lines_reader *reader);

/** Reads the next line, valid until the next call; its data is NULL at the end of the file. Fails with MST_CORRUPT,
 *  naming the file and the byte, if compressed data is damaged; later calls then fail in the same way. Needs memory for
 *  the longest line. */
MST_CHECKED mst_status mst_lines_reader_next(mst_lines_reader *reader, mst_record *line);

/** Finds the places of the lines in the plain file at PATH. Close OUT also after a failure. */
MST_CHECKED mst_status mst_lines_index_open(const char *path, mst_record_index *out);

#endif
