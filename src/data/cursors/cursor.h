/** The order of rows, as chains of cursors.
 *
 *      source <- map <- shuffle <- batch            datasets: each retains its upstream
 *      cursor          <- cursor  <- cursor         cursors: one for each dataset that changes the order
 *
 *  Rows flow from the source downstream. Calls that save or restore a position, or that forget or keep rows, go from
 *  cursor to cursor towards the source. */
#ifndef MUSTER_DATA_CURSORS_CURSOR_H
#define MUSTER_DATA_CURSORS_CURSOR_H

#include "data/cursors/bookmark.h"
#include "data/dataset.h"

/** The functions of a cursor. A slot may be NULL only if its comment says so. For the cursor of a source, a row is its
 *  number in the source. For all other cursors, a row also contains its pass (data/cursors/row.h); cursor.c adds and
 *  removes the pass. */
typedef struct mst_cursor_type {
    /** Moves to the first element of EPOCH. Called before anything else, and again to start over. */
    mst_status (*start)(mst_cursor *cursor, int64_t epoch);
    /** Gives the next rows, at most MAX; *GOT is less than MAX only at the end. NULL if the elements of such datasets
     *  are never rows. */
    mst_status (*rows)(mst_cursor *cursor, int64_t *rows, int64_t max, int64_t *got);
    /** Gives the next batch, valid until the next call. NULL if the elements of such datasets are never batches. */
    mst_status (*batch)(mst_cursor *cursor, mst_element *element);
    /** Skips N elements; *SKIPPED is less only at the end. */
    mst_status (*skip)(mst_cursor *cursor, int64_t n, int64_t *skipped);
    /** Frees what the type's own struct holds; may be NULL. */
    void (*destroy)(mst_cursor *cursor);
    /** Adds the position of this cursor to BOOKMARK, and its upstream's position by mst_cursor_save. NULL: only
     *  upstream's position is saved. */
    void (*save)(const mst_cursor *cursor, mst_bookmark *bookmark);
    /** Restores both positions, in a cursor that is open but not started. NULL: only upstream's is restored. */
    mst_status (*restore)(mst_cursor *cursor, mst_bookmark *bookmark);
    /** For a source that keeps records in memory: the N ROWS, numbers without passes, are no longer needed. May be
     *  NULL. */
    void (*forget)(mst_cursor *cursor, const int64_t *rows, int64_t n);
    /** For such a source, after a restore: reads again N ROWS, numbers without passes, that were given out before the
     *  position was saved. May be NULL. */
    mst_status (*keep)(mst_cursor *cursor, const int64_t *rows, int64_t n);
    /** Called when all cursors are restored: drops the rows that no cursor downstream keeps. May be NULL. */
    void (*settle)(mst_cursor *cursor);
    /** For a cursor with a thread: makes the thread end its work soon, so that nobody waits for it any longer. The
     *  cursor is destroyed afterwards. May be NULL. */
    void (*stop)(mst_cursor *cursor);
} mst_cursor_type;

struct mst_cursor {
    const mst_cursor_type *type;
    const mst_dataset *dataset;
    mst_cursor *upstream;
    mst_shard_window window; /**< shards whose rows are wanted of each batch; others may be left out */
    int64_t num_corrupt;     /**< for a source: damaged records that this pass has skipped */
};

/** Opens a cursor for DATASET; it is not started. */
MST_CHECKED mst_status mst_cursor_open(const mst_dataset *dataset, mst_cursor **out);
/** Allocates SIZE zero bytes, which begin with a struct mst_cursor, as a cursor for DATASET. If DATASET has an
 *  upstream, opens the upstream's cursor too. */
MST_CHECKED mst_status mst_cursor_alloc(const mst_cursor_type *type, size_t size, const mst_dataset *dataset,
                                        void *out);
/** Makes the threads of CURSOR and of all cursors upstream of it end their work soon. Any thread may call it.
 *  Afterwards CURSOR can only be destroyed. */
void mst_cursor_stop(mst_cursor *cursor);
/** Ends the threads of CURSOR and of all cursors upstream of it, and frees them all; NULL is allowed. */
void mst_cursor_destroy(mst_cursor *cursor);

/** Says that only the rows of WINDOW are wanted of each batch of CURSOR and of the cursors upstream of it. Call it
 *  before CURSOR starts. */
void mst_cursor_want(mst_cursor *cursor, mst_shard_window window);

/** The cursor of the source at the end of the chain. */
mst_cursor *mst_cursor_base(mst_cursor *cursor);
void mst_cursor_save(const mst_cursor *cursor, mst_bookmark *bookmark);
MST_CHECKED mst_status mst_cursor_restore(mst_cursor *cursor, mst_bookmark *bookmark);
/** The N ROWS, which came from CURSOR, are no longer needed. */
void mst_cursor_forget(mst_cursor *cursor, const int64_t *rows, int64_t n);
/** The opposite of mst_cursor_forget, after a restore: tells CURSOR that the N ROWS are still needed downstream of
 *  it. */
MST_CHECKED mst_status mst_cursor_keep(mst_cursor *cursor, const int64_t *rows, int64_t n);

/** Call it after a restore, before CURSOR moves. CURSOR and the cursors upstream of it drop the rows that they restored
 *  and that nothing downstream keeps. */
void mst_cursor_settle(mst_cursor *cursor);

/** Reads a row from BOOKMARK. MST_CORRUPT if DATASET cannot have such a row. */
MST_CHECKED mst_status mst_dataset_read_saved_row(const mst_dataset *dataset, mst_bookmark *bookmark, int64_t *row);

#endif
