/** Bytes as text that can be shown, between single quotes or on a line. Names from files and from other tasks are
 *  printed through here: a terminal obeys control characters, some of them above ASCII, and shows letters in another
 *  order behind those that turn the direction of text round. */
#ifndef MUSTER_BASE_ESCAPE_H
#define MUSTER_BASE_ESCAPE_H

#include <stddef.h>

/** Bytes that hold any character written here. */
enum { MST_ESCAPE_TEXT = 5 };

/** Writes the first character of the LENGTH > 0 bytes at DATA to TEXT, and returns how many bytes it has: a character
 *  of UTF-8 as it is; \\ \' \n \t \r; and any other byte as \x00, also each of a character that is not only shown:
 *  U+0080 to U+009F, U+2028, U+2029, U+202E and its like. */
size_t mst_escape(const char *data, size_t length, char text[MST_ESCAPE_TEXT]);
/** The LENGTH bytes at DATA as text that is printed on one line without quotes around it: as mst_escape, but \ and ' as
 *  they are. Cut off, with "..." at its end, where it needs more than SIZE bytes. Returns TEXT. A terminal obeys what
 *  is printed: names and notes of files go through here. */
const char *mst_escape_line(const char *data, size_t length, char *text, size_t size);
/** Replaces what mst_escape writes as \n \t \r or \x00, each character and each byte that is none, by '?'. */
void mst_make_plain(char *text);

#endif
