/** Text in other encodings than UTF-8, by iconv. */
#ifndef MUSTER_FORMAT_ENCODING_H
#define MUSTER_FORMAT_ENCODING_H

#include <stddef.h>

#include "muster/status.h"

/** MST_INVALID, naming the option, if iconv does not know ENCODING. */
MST_API MST_CHECKED mst_status mst_encoding_check(const char *encoding);
/** Makes UTF-8 of the SIZE bytes of *TEXT, which is from malloc; *TEXT and *SIZE become those of the new text, with
 *  room for one more byte. A byte order mark of UTF-8, UTF-16 or UTF-32 says the encoding; else ENCODING does. If there
 *  is neither (ENCODING is NULL), or it is UTF-8 by its mark, nothing is changed. MST_CORRUPT, naming NAME and the
 *  byte, if the text is not in that encoding; *TEXT is then as before. */
MST_CHECKED mst_status mst_encoding_decode(const char *name, const char *encoding, char **text, size_t *size);

#endif
