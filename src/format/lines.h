/** Text, line by line, plain or gzip (recognised by the first bytes).
 *
 *  A line ends with "\n" or "\r\n", which is not part of it, or with the file: what follows the last line end is a line
 *  unless it is empty. Bytes are as they are in the file, in any encoding, zeros too.
 */
#ifndef MUSTER_FORMAT_LINES_H
#define MUSTER_FORMAT_LINES_H

#include <stdbool.h>

#include "format/record_index.h"
#include "muster/tfrecord.h"

typedef struct mst_lines_reader mst_lines_reader;

/** Opens the file at PATH. *OUT is NULL on failure: MST_NOT_FOUND, MST_IO or MST_INVALID where it is not a file that
 *  can be read. */
MST_CHECKED mst_status mst_lines_reader_open(const char *path, mst_lines_reader **out);
/** A reader of SIZE bytes at DATA, which the caller keeps until the close; NAME stands for the path in messages. */
MST_CHECKED mst_status mst_lines_reader_parse(const char *name, const void *data, size_t size, mst_lines_reader **out);
/** NULL is allowed. */
void mst_lines_reader_close(mst_lines_reader *reader);
bool mst_lines_reader_is_compressed(const mst_lines_reader *reader);

/** The next line, valid until the next call; its data is NULL at the end of the file. Fails with MST_CORRUPT, naming
 *  the file and the byte, where compressed data is damaged; the same again then. The longest line is in memory. */
MST_CHECKED mst_status mst_lines_reader_next(mst_lines_reader *reader, mst_record *line);

/** Reads where the lines of the plain file at PATH are. Close it also after a failure. */
MST_CHECKED mst_status mst_lines_index_open(const char *path, mst_record_index *out);

#endif
