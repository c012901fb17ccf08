/** UTF-8 (RFC 3629). */
#ifndef MUSTER_BASE_UTF8_H
#define MUSTER_BASE_UTF8_H

#include <stddef.h>

/** Bytes, 1 to 4, of the character that begins at DATA, of which LENGTH > 0 bytes are left; 0 if there is none. Not
 *  in its shortest form, or half of a pair of UTF-16, it is none. */
size_t mst_utf8_size(const char *data, size_t length);

#endif
