/** Numbers of bytes as people read them. */
#ifndef MUSTER_BASE_BYTE_COUNT_H
#define MUSTER_BASE_BYTE_COUNT_H

#include <stddef.h>
#include <stdint.h>

#define MST_BYTES_TEXT 32

/** Prints a number of bytes as "712 bytes", "3.9 KB", "512.0 MB" or "1.5 GB", by powers of 1024. Options of the command
 *  take the same form. Returns TEXT. */
const char *mst_bytes_print(int64_t bytes, char *text, size_t size);

#endif
