/** Bytes that look like the numbers of NumPy's tobytes, which have more than one byte each. */
#ifndef MUSTER_DATA_NUMBER_BYTES_H
#define MUSTER_DATA_NUMBER_BYTES_H

#include <stdbool.h>
#include <stddef.h>

/** What looks at some arrays of one kind have shown; at first all is 0. Bits are kinds of numbers. */
typedef struct mst_number_look {
    unsigned likely, impossible;
} mst_number_look;

/** Looks at the SIZE bytes at DATA too. Judged by the places of zero bytes and by the exponents of little-endian
 *  numbers; for a kind to be likely, it takes at least 16 numbers in one array that are not 0, of float16 32. Integers
 *  are at least -2^15 and less than 2^16. */
void mst_number_look_at(mst_number_look *look, const void *data, size_t size);
/** Whether another look may show more: some kind is possible. */
bool mst_number_look_is_open(const mst_number_look *look);
/** What the arrays look like, "float32 or float64": likely from one and possible from all of them. NULL: they may well
 *  be numbers of one byte. */
const char *mst_number_look_kind(const mst_number_look *look);

#endif
