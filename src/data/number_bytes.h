/** Recognises bytes that look like the result of NumPy's tobytes for numbers of more than one byte. */
#ifndef MUSTER_DATA_NUMBER_BYTES_H
#define MUSTER_DATA_NUMBER_BYTES_H

#include <stdbool.h>
#include <stddef.h>

/** What has been seen in some arrays of one kind: a set of kinds of numbers in each member. Begins with all 0. */
typedef struct mst_number_look {
    unsigned likely, impossible;
} mst_number_look;

/** Adds what the SIZE bytes at DATA look like to LOOK. Judges by the places of zero bytes and by the exponents of
 *  little-endian numbers. A kind is likely only if one array has at least 16 numbers that are not 0 (32 for float16).
 *  Integers are taken to be at least -2^15 and less than 2^16. */
void mst_number_look_at(mst_number_look *look, const void *data, size_t size);
/** Whether another array may change the result: some kind is still possible. */
bool mst_number_look_is_open(const mst_number_look *look);
/** What the arrays look like, "float32 or float64": a kind that is likely in one of them and possible in all. NULL:
 *  they may well be numbers of one byte. */
const char *mst_number_look_kind(const mst_number_look *look);

#endif
