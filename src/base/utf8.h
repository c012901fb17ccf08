/** UTF-8 (RFC 3629). */
#ifndef MUSTER_BASE_UTF8_H
#define MUSTER_BASE_UTF8_H

#include <stddef.h>

/** Bytes, 1 to 4, of the character that begins at DATA, with LENGTH > 0 bytes left; 0 if there is none. A longer form
 *  than the shortest, or half of a pair of UTF-16, is no character. */
size_t mst_utf8_size(const char *data, size_t length);

#endif
