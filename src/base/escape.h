/** Bytes as text that can be shown, between single quotes or on a line. Names from files and from other tasks are
 *  printed through here. Control characters, some of them above ASCII, could control the terminal. Characters that
 *  change the direction of text could make a name look like another one. */
#ifndef MUSTER_BASE_ESCAPE_H
#define MUSTER_BASE_ESCAPE_H

#include <stddef.h>

/** Bytes enough for any character written here, with the zero at its end. */
enum { MST_ESCAPE_TEXT = 5 };

/** Writes the first character of the LENGTH > 0 bytes at DATA to TEXT, and returns how many bytes it had in DATA. A
 *  character of UTF-8 is written as it is. There are five exceptions: a backslash, a single quote, a newline, a tab and
 *  a carriage return become \\ \' \n \t \r. Any other byte is written as \xHH, with its two hexadecimal digits HH.
 *  Characters with an effect on a terminal or on the direction of text are written in this way too, byte by byte. These
 *  are U+0000 to U+001F, U+007F to U+009F, U+2028, U+2029, U+202E and others. */
size_t mst_escape(const char *data, size_t length, char text[MST_ESCAPE_TEXT]);
/** Writes the LENGTH bytes at DATA as text for one line without quotes around it. Characters are written as by
 *  mst_escape, except that \ and ' stay as they are. A text that needs more than SIZE bytes is cut off and ends in
 *  "...". Returns TEXT. Names and notes of files are printed in this form, so that they cannot control the terminal. */
const char *mst_escape_line(const char *data, size_t length, char *text, size_t size);
/** The number of bytes of the first character of the LENGTH > 0 bytes at DATA, if that character has an effect on a
 *  terminal or on the direction of text, as above. 0: it has none, or is not valid UTF-8. */
size_t mst_obeyed_size(const char *data, size_t length);
/** Replaces by '?' each character that mst_escape writes as \n \t \r or \xHH, and each byte that belongs to no
 *  character. */
void mst_make_plain(char *text);

#endif
