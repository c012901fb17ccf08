/** What mst_dataset_zip and mst_dataset_interleave share: a source whose rows are made of rows of other datasets, its
 *  parts.
 *
 *  The parts number their rows independently. So the joined source numbers its own rows from 0, in the order in which
 *  it gives them out. Its cursor remembers which rows of the parts make up each row, until the row is forgotten. */
#ifndef MUSTER_DATA_TRANSFORMS_JOINED_H
#define MUSTER_DATA_TRANSFORMS_JOINED_H

#include "data/cursors/cursor.h"
#include "data/row_fetch.h"
#include "data/sources/record_pool.h"

typedef struct mst_joined {
    mst_dataset base;
    mst_dataset **part;
    int num_parts;
    int width; /**< the number of parts that a row is made of: all (zip) or 1 (interleave) */
} mst_joined;

typedef struct mst_joined_part {
    mst_cursor *cursor;
    mst_row_fetch *fetch;
    bool begun; /**< its cursor was started or restored */
} mst_joined_part;

/** A row of one of the parts. */
typedef struct mst_joined_row {
    int64_t part, row;
} mst_joined_row;

typedef struct mst_joined_cursor {
    mst_cursor base;
    mst_joined_part *part;
    mst_joined_row *row;  /**< [width] scratch space for one row that is being made */
    int64_t number;       /**< number of the next row */
    mst_record_pool pool; /**< by number of a row: the rows of the parts that it is made of, until it is forgotten */
    /* After a restore: */
    int64_t *restored; /**< numbers of the rows in the pool, until mst_joined_settle */
    int64_t num_restored;
    int64_t first_new; /**< number of the first row given out since the restore. The parts hold the rows that make up an
                            earlier row only if they were told to keep them */
} mst_joined_cursor;

/** MST_INVALID, naming TRANSFORM, unless N is at least 1 and the elements of all DATASETS are rows. */
MST_CHECKED mst_status mst_joined_check(const char *transform, mst_dataset *const *datasets, int n);
/** Makes a dataset of SIZE bytes (struct mst_joined first) over N datasets, which are retained. The caller sets row and
 *  cardinality. */
MST_CHECKED mst_status mst_joined_alloc(const mst_dataset_type *type, size_t size, int num_components,
                                        mst_dataset *const *datasets, int n, int width, void *out);
/** The slots `destroy` and `values` of the dataset's type. A row has the components of its first part, then those of
 *  its second, and so on. */
void mst_joined_destroy(mst_dataset *dataset);
MST_CHECKED mst_status mst_joined_values(const mst_dataset *source, mst_cursor *base, int64_t row, void *const *dst,
                                         mst_array *out);
/** The slot `parts` of the dataset's type. */
mst_dataset *const *mst_joined_parts(const mst_dataset *dataset, int *n);
/** The slot `record` of the dataset's type: a hash of the parts of a row and of their records. */
uint64_t mst_joined_record(const mst_dataset *source, mst_cursor *base, int64_t row);

/** Makes a cursor of SIZE bytes (struct mst_joined_cursor first) with the cursors of all parts, not started. */
MST_CHECKED mst_status mst_joined_open(const mst_cursor_type *type, size_t size, const mst_dataset *dataset, void *out);
/** Starts part P. */
MST_CHECKED mst_status mst_joined_start_part(mst_joined_cursor *cursor, int p, int64_t epoch);
/** Gives out a row that is made of ROWS, [width]. *NUMBER is its number. */
MST_CHECKED mst_status mst_joined_give(mst_joined_cursor *cursor, const mst_joined_row *rows, int64_t *number);
/** Sets the cursor's count of damaged records to the sum of the parts'. */
void mst_joined_count_corrupt(mst_joined_cursor *cursor);

/** The slots of the cursor's type, or functions for them to call. */
void mst_joined_cursor_destroy(mst_cursor *cursor);
void mst_joined_forget(mst_cursor *cursor, const int64_t *rows, int64_t n);
MST_CHECKED mst_status mst_joined_keep(mst_cursor *cursor, const int64_t *rows, int64_t n);
void mst_joined_save(const mst_cursor *cursor, mst_bookmark *bookmark);
MST_CHECKED mst_status mst_joined_restore(mst_cursor *cursor, mst_bookmark *bookmark);
void mst_joined_settle(mst_cursor *cursor);

#endif
