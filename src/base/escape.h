/** Bytes as text between single quotes. */
#ifndef MUSTER_BASE_ESCAPE_H
#define MUSTER_BASE_ESCAPE_H

#include <stddef.h>

/** Bytes that hold any character written here. */
enum { MST_ESCAPE_TEXT = 5 };

/** Writes the first character of the LENGTH > 0 bytes at DATA to TEXT, and returns how many bytes it has: a character of
 *  UTF-8 as it is; \\ \' \n \t \r; and any other byte as \x00. */
size_t mst_escape(const char *data, size_t length, char text[MST_ESCAPE_TEXT]);

#endif
