/** Reads pickles of NumPy's arrays of objects if the objects are integers and lists of integers. Nothing in a pickle is
 *  executed. A pickle is a program for a stack machine. Supported are the instructions that make integers, texts,
 *  tuples and lists, and the names that NumPy's arrays need:
 *
 *      array = numpy.core.multiarray._reconstruct(numpy.ndarray, (0,), b"b")
 *      array.__setstate__((1, (3,), numpy.dtype("O8", False, True), False, [[1, 2, 300], [70000], []]))
 *
 *  Any other instruction is refused, and so is any other name, since a pickle could call it. Lists that refer to each
 *  other do no harm: only two levels of lists are read.
 *
 *  Source: Lib/pickletools.py of CPython; numpy/_core/src/multiarray/methods.c (array_reduce), protocols 2 to 5.
 */
#ifndef MUSTER_FORMAT_PICKLE_H
#define MUSTER_FORMAT_PICKLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "muster/status.h"

/** Lists of integers. List i has the integers from end[i - 1] (0 for the first list) to end[i] - 1. Zero-initialised is
 *  empty. */
typedef struct mst_integer_lists {
    int64_t *integer;
    int64_t *end;
    int64_t num_lists;
    bool flat; /**< the array has integers, not lists: each list has one of them */
} mst_integer_lists;

/** Reads the one-dimensional array in the pickle of SIZE bytes at DATA. NAME is for messages. MST_CORRUPT if the bytes
 *  are damaged, MST_UNIMPLEMENTED if they contain or call something else; then there is nothing to free. */
MST_CHECKED mst_status mst_pickle_read(const char *name, const void *data, size_t size, mst_integer_lists *out);
void mst_integer_lists_free(mst_integer_lists *lists);

#endif
