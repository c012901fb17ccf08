/** Pickles of NumPy's arrays of objects, as far as these are integers and lists of integers: nothing in a pickle is
 *  executed. A pickle is a program for a machine with a stack; known are the instructions that make integers, texts,
 *  tuples and lists, and the names that NumPy's arrays need:
 *
 *      array = numpy.core.multiarray._reconstruct(numpy.ndarray, (0,), b"b")
 *      array.__setstate__((1, (3,), numpy.dtype("O8", False, True), False, [[1, 2, 300], [70000], []]))
 *
 *  Any other name, of whatever could be called, and any other instruction is refused. Lists that refer to one another
 *  are no harm: what they hold is looked at to a depth of two.
 *
 *  Source: Lib/pickletools.py of CPython; numpy/_core/src/multiarray/methods.c (array_reduce), protocols 2 to 5.
 */
#ifndef MUSTER_FORMAT_PICKLE_H
#define MUSTER_FORMAT_PICKLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "muster/status.h"

/** Lists of integers: list i has those from end[i - 1], 0 of the first, to end[i]. Zero-initialised is empty. */
typedef struct mst_integer_lists {
    int64_t *integer;
    int64_t *end;
    int64_t num_lists;
    bool flat; /**< they are no lists, but integers: one in each */
} mst_integer_lists;

/** The array that the SIZE bytes at DATA pickle, of one dimension. NAME is for messages. MST_CORRUPT where the bytes
 *  are damaged, MST_UNIMPLEMENTED where they hold something else, or call for it; nothing is to be freed then. */
MST_CHECKED mst_status mst_pickle_read(const char *name, const void *data, size_t size, mst_integer_lists *out);
void mst_integer_lists_free(mst_integer_lists *lists);

#endif
