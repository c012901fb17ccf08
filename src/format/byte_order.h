/** Byte order of stored arrays. The machines that Muster runs on are little-endian, as most files are. */
#ifndef MUSTER_FORMAT_BYTE_ORDER_H
#define MUSTER_FORMAT_BYTE_ORDER_H

#include <stddef.h>
#include <stdint.h>

/** Turns COUNT big-endian elements of SIZE bytes (1, 4 or 8) at DATA into this machine's order. */
void mst_swap_big_endian(void *data, int64_t count, size_t size);

#endif
