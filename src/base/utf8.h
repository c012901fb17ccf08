/** UTF-8 (RFC 3629). */
#ifndef MUSTER_BASE_UTF8_H
#define MUSTER_BASE_UTF8_H

#include <stddef.h>

/** The number of bytes, 1 to 4, of the character that begins at DATA; 0 if there is no valid character. LENGTH > 0
 *  bytes are left at DATA. A form longer than the shortest one, or half of a UTF-16 pair, is not valid. */
size_t mst_utf8_size(const char *data, size_t length);
/** The number of bytes of the byte order mark with which the LENGTH bytes at DATA begin: 3, or 0 if there is none. */
size_t mst_utf8_mark_size(const char *data, size_t length);

#endif
