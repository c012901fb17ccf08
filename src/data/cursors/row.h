/** A row as it flows along cursors: its number in the source, and the pass over the source in which it was given out. A
 *  pass is an epoch of the source: mst_dataset_repeat starts repetition r of epoch e as epoch e * count + r. So rows of
 *  several passes can be mixed, as a shuffle after a repeat does, and each still carries its own pass.
 *
 *      bit 62 ... 40   bit 39 ... 0
 *      pass            number
 *
 *  A row of pass 0 equals its number. Only code that needs the number or the pass takes a row apart. */
#ifndef MUSTER_DATA_CURSORS_ROW_H
#define MUSTER_DATA_CURSORS_ROW_H

#include <stdint.h>

#define MST_ROW_MOST_NUMBER (((int64_t)1 << 40) - 1)
/** The number of different passes; after the last of them, passes are counted from 0 again. */
#define MST_ROW_NUM_PASSES ((int64_t)1 << 22)

static inline int64_t mst_row_number(int64_t row) {
    return row & MST_ROW_MOST_NUMBER;
}

static inline int64_t mst_row_pass(int64_t row) {
    return row >> 40;
}

static inline int64_t mst_row_make(int64_t number, int64_t pass) {
    return number | (pass % MST_ROW_NUM_PASSES) << 40;
}

/** What the random numbers for a row are drawn from, together with a seed. */
typedef struct mst_row_key {
    uint64_t pass;
    uint64_t record; /**< identifies the record in the source, whatever the order of rows */
} mst_row_key;

#endif
