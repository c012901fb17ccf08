/** The byte order of stored arrays. Muster runs on little-endian machines, and most files are little-endian. */
#ifndef MUSTER_FORMAT_BYTE_ORDER_H
#define MUSTER_FORMAT_BYTE_ORDER_H

#include <stddef.h>
#include <stdint.h>

/** Converts COUNT big-endian elements of SIZE bytes (1, 4 or 8) at DATA to the byte order of this machine. */
void mst_swap_big_endian(void *data, int64_t count, size_t size);

#endif
