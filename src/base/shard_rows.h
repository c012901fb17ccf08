/** Which rows of a batch each shard has. A shard has neighbouring rows, and the shards follow each other in order. If
 *  the rows cannot be divided equally, the first shards have one row more.
 *
 *      10 rows, 4 shards     0 1 2 | 3 4 5 | 6 7 | 8 9
 */
#ifndef MUSTER_BASE_SHARD_ROWS_H
#define MUSTER_BASE_SHARD_ROWS_H

#include "base/shard_tree.h"

/** The shards of one task, out of NUM_SHARDS. All zeros: there are no shards, and the task has all rows. */
typedef struct mst_shard_window {
    mst_shards shards;
    int32_t num_shards;
} mst_shard_window;

/** Rows FIRST to FIRST + COUNT - 1 of a batch. */
typedef struct mst_row_range {
    int64_t first, count;
} mst_row_range;

/** The first item of part I when SIZE items are cut into N parts, as rows are divided among shards; SIZE for I = N.
 *  Shards are divided among workers in the same way. */
static inline int64_t mst_part_begin(int64_t size, int64_t n, int64_t i) {
    const int64_t more = size % n;
    return size / n * i + (i < more ? i : more);
}

/** The rows of a batch of SIZE rows that the shards of WINDOW have. */
static inline mst_row_range mst_shard_window_rows(mst_shard_window window, int64_t size) {
    if (!window.num_shards) return (mst_row_range){0, size};
    const int64_t first = mst_part_begin(size, window.num_shards, window.shards.first);
    const int64_t end = mst_part_begin(size, window.num_shards, window.shards.first + window.shards.count);
    return (mst_row_range){first, end - first};
}

#endif
