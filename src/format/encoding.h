/** Converts text in other encodings to UTF-8, by iconv. */
#ifndef MUSTER_FORMAT_ENCODING_H
#define MUSTER_FORMAT_ENCODING_H

#include <stddef.h>

#include "muster/status.h"

/** MST_INVALID, naming the option, if iconv does not know ENCODING. */
MST_API MST_CHECKED mst_status mst_encoding_check(const char *encoding);
/** Converts the *SIZE bytes at *TEXT, which come from malloc, to UTF-8. *TEXT and *SIZE become the new text and its
 *  size; one more byte is allocated after it. A byte order mark of UTF-8, UTF-16 or UTF-32 determines the encoding;
 *  without a mark, ENCODING does. Nothing changes if there is no mark and ENCODING is NULL, or if the mark is UTF-8's.
 *  MST_CORRUPT, with NAME and the byte in the message, if the text is not in that encoding; *TEXT is then unchanged. */
MST_CHECKED mst_status mst_encoding_decode(const char *name, const char *encoding, char **text, size_t *size);

#endif
