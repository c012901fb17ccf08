/** The position of an iterator as numbers: mst_iterator_save returns them, and cursors read them back. */
#ifndef MUSTER_DATA_CURSORS_BOOKMARK_H
#define MUSTER_DATA_CURSORS_BOOKMARK_H

#include <stdbool.h>
#include <stdint.h>

#include "muster/status.h"

/** The largest number that a cursor saves as a count: adding to it does not overflow. */
#define MST_BOOKMARK_MOST (INT64_MAX / 2)

/** A list of numbers. Zero-initialised is empty. */
typedef struct mst_bookmark {
    int64_t *number;
    int64_t count, capacity;
    int64_t at;     /**< index of the number that is taken next */
    bool no_memory; /**< a number could not be added */
} mst_bookmark;

void mst_bookmark_put(mst_bookmark *bookmark, int64_t number);
/** Takes the next number. MST_CORRUPT if there is none, or if it is not from LOW to HIGH: then the bookmark was made by
 *  another kind of dataset. */
MST_CHECKED mst_status mst_bookmark_take(mst_bookmark *bookmark, int64_t low, int64_t high, int64_t *number);
/** Adds all numbers of OTHER, with their count first. */
void mst_bookmark_put_all(mst_bookmark *bookmark, const mst_bookmark *other);
/** Takes the numbers that mst_bookmark_put_all added, and puts them into OTHER, which is empty. */
MST_CHECKED mst_status mst_bookmark_take_all(mst_bookmark *bookmark, mst_bookmark *other);
void mst_bookmark_free(mst_bookmark *bookmark);

#endif
