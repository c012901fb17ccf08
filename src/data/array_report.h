/** Finds arrays of an npz file that are not read because the name of the array that is read differs only in upper and
 *  lower case. Users should be told of them. */
#ifndef MUSTER_DATA_ARRAY_REPORT_H
#define MUSTER_DATA_ARRAY_REPORT_H

#include "muster/status.h"

enum { MST_MOST_ARRAY_PAIRS = 6 };

/** Two arrays of one file whose names differ only in upper and lower case. */
typedef struct mst_array_pair {
    const char *read; /**< the one that is read: x, y, x_train, y_train, x_test or y_test */
    char other[8];
} mst_array_pair;

/** Finds these pairs in the file of SPEC, npz:FILE or word-ids:FILE. Returns how many it found; 0 for other kinds of
 *  data, and for a file that cannot be read. */
MST_API int mst_array_pairs(const char *spec, mst_array_pair out[MST_MOST_ARRAY_PAIRS]);

#endif
