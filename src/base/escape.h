/** Bytes inside a quoted string. */
#ifndef MUSTER_BASE_ESCAPE_H
#define MUSTER_BASE_ESCAPE_H

/** Bytes that hold any byte printed here. */
enum { MST_ESCAPE_TEXT = 5 };

/** The byte C as it is written between single quotes: itself, or \\ \' \n \t \r \x00. Returns TEXT. */
const char *mst_escape(unsigned char c, char text[MST_ESCAPE_TEXT]);

#endif
