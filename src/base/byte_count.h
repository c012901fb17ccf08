/** Numbers of bytes as people read them. */
#ifndef MUSTER_BASE_BYTE_COUNT_H
#define MUSTER_BASE_BYTE_COUNT_H

#include <stddef.h>
#include <stdint.h>

#define MST_BYTES_TEXT 32

/** Prints a number of bytes as "712 bytes", "3.9 KB", "512.0 MB" or "1.5 GB", by powers of 1024. Options of the command
 *  take the same form. Returns TEXT. */
const char *mst_bytes_print(int64_t bytes, char *text, size_t size);
/** Prints two numbers that a message compares. If they differ, and both would become "3.0 MB", both are printed as
 *  "3145728 bytes". */
void mst_bytes_print_two(int64_t a, int64_t b, char text_a[MST_BYTES_TEXT], char text_b[MST_BYTES_TEXT]);

#endif
