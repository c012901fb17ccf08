/** Sources whose rows are rows of other datasets, their parts: mst_dataset_zip and mst_dataset_interleave.
 *
 *  The parts number their rows as they like. Each row of a joined source gets a number that no other row of the
 *  iterator has, and the cursor keeps the numbers that the parts have for it until it is forgotten. */
#ifndef MUSTER_DATA_TRANSFORMS_JOINED_H
#define MUSTER_DATA_TRANSFORMS_JOINED_H

#include "data/dataset.h"
#include "data/row_fetch.h"
#include "data/sources/record_pool.h"

typedef struct mst_joined {
    mst_dataset base;
    mst_dataset **part;
    int num_parts;
    int width; /**< parts that a row is made of: all, or 1 */
} mst_joined;

typedef struct mst_part {
    mst_cursor *cursor;
    mst_row_fetch *fetch;
    bool begun; /**< was started or restored */
} mst_part;

/** A row of one of the parts. */
typedef struct mst_part_row {
    int64_t part, row;
} mst_part_row;

typedef struct mst_joined_cursor {
    mst_cursor base;
    mst_part *part;
    mst_part_row *row; /**< [width], for the caller's use */
    int64_t number;    /**< of the next row */
    mst_record_pool pool;
    int64_t *restored; /**< numbers of rows that were held at the saved position, until it is settled which still are */
    int64_t num_restored;
    int64_t first_new; /**< number of the first row since the restore: the parts hold what those before it are made of
                            only once it is kept */
} mst_joined_cursor;

/** MST_INVALID, naming TRANSFORM, unless the N datasets are some and have rows. */
MST_CHECKED mst_status mst_joined_check(const char *transform, mst_dataset *const *datasets, int n);
/** Makes a dataset of SIZE bytes (struct mst_joined first) over N datasets, which are retained. The caller sets row and
 *  cardinality. */
MST_CHECKED mst_status mst_joined_alloc(const mst_dataset_type *type, size_t size, int num_components,
                                        mst_dataset *const *datasets, int n, int width, void *out);
/** What its type has as `destroy` and as `values`: the components of the first part of a row, then those of the second,
 *  and so on. */
void mst_joined_destroy(mst_dataset *dataset);
MST_CHECKED mst_status mst_joined_values(const mst_dataset *source, mst_cursor *base, int64_t row, void *const *dst,
                                         mst_array *out);
/** What it has as `record`: a number of the records of the parts, and of which parts they are. */
uint64_t mst_joined_record(const mst_dataset *source, mst_cursor *base, int64_t row);

/** A cursor of SIZE bytes (struct mst_joined_cursor first) with the cursors of all parts, not started. */
MST_CHECKED mst_status mst_joined_open(const mst_cursor_type *type, size_t size, const mst_dataset *dataset, void *out);
/** Starts part P. */
MST_CHECKED mst_status mst_joined_start_part(mst_joined_cursor *cursor, int p, int64_t epoch);
/** A row of the rows (WIDTH of them) of parts; *NUMBER is what it is called. */
MST_CHECKED mst_status mst_joined_give(mst_joined_cursor *cursor, const mst_part_row *rows, int64_t *number);
/** Adds up the damaged records of the parts. */
void mst_joined_count_corrupt(mst_joined_cursor *cursor);

/** What its type has, or calls. */
void mst_joined_cursor_destroy(mst_cursor *cursor);
void mst_joined_forget(mst_cursor *cursor, const int64_t *rows, int64_t n);
MST_CHECKED mst_status mst_joined_keep(mst_cursor *cursor, const int64_t *rows, int64_t n);
void mst_joined_save(const mst_cursor *cursor, mst_bookmark *bookmark);
MST_CHECKED mst_status mst_joined_restore(mst_cursor *cursor, mst_bookmark *bookmark);
void mst_joined_settle(mst_cursor *cursor);

#endif
