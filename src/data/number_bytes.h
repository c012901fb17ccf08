/** Bytes that look like the numbers of NumPy's tobytes, which have more than one byte each. */
#ifndef MUSTER_DATA_NUMBER_BYTES_H
#define MUSTER_DATA_NUMBER_BYTES_H

#include <stddef.h>

/** What the SIZE bytes at DATA look like, "float32 or float64"; NULL: they may well be numbers of one byte. Judged by
 *  the places of zero bytes and by the exponents; that takes at least 16 numbers that are not 0, or 32 of float16. */
const char *mst_number_bytes(const void *data, size_t size);

#endif
