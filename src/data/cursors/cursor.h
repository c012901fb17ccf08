/** The order of rows, as chains of cursors.
 *
 *      source <- map <- shuffle <- batch            datasets: each retains its upstream
 *      cursor          <- cursor  <- cursor         cursors: one for each dataset that changes the order
 *
 *  Rows go from the source downstream. Saving and restoring a position, dropping and keeping rows go from cursor to
 *  cursor towards the source. */
#ifndef MUSTER_DATA_CURSORS_CURSOR_H
#define MUSTER_DATA_CURSORS_CURSOR_H

#include "data/cursors/bookmark.h"
#include "data/dataset.h"

/** What a cursor can do. All but `destroy` and one of `rows` and `batch` are needed. A source's cursor gives numbers of
 *  rows; the pass is added to them. */
typedef struct mst_cursor_type {
    /** Moves to the first element of EPOCH. Called before anything else, and again to start over. */
    mst_status (*start)(mst_cursor *cursor, int64_t epoch);
    /** The next rows, at most MAX; *GOT is less than MAX only at the end. NULL if no dataset of the type is one of
     *  rows. */
    mst_status (*rows)(mst_cursor *cursor, int64_t *rows, int64_t max, int64_t *got);
    /** The next batch, valid until the next call. NULL if no dataset of the type is one of batches. */
    mst_status (*batch)(mst_cursor *cursor, mst_element *element);
    /** Skips N elements; *SKIPPED is less only at the end. */
    mst_status (*skip)(mst_cursor *cursor, int64_t n, int64_t *skipped);
    /** Frees what the type's own struct holds; may be NULL. */
    void (*destroy)(mst_cursor *cursor);
    /** Adds this position, and upstream's with mst_cursor_save, to BOOKMARK; NULL: only upstream's. */
    void (*save)(const mst_cursor *cursor, mst_bookmark *bookmark);
    /** Restores both, in a cursor that was opened and not started. */
    mst_status (*restore)(mst_cursor *cursor, mst_bookmark *bookmark);
    /** Of a source that keeps records: N rows, by their numbers, are not needed any more. May be NULL. */
    void (*forget)(mst_cursor *cursor, const int64_t *rows, int64_t n);
    /** Of such a source, after a restore: reads N rows that were given out before. May be NULL. */
    mst_status (*keep)(mst_cursor *cursor, const int64_t *rows, int64_t n);
    /** When all cursors are restored: drops the rows that no cursor downstream has kept. May be NULL. */
    void (*settle)(mst_cursor *cursor);
    /** Of a cursor with a thread: makes the work of that thread end soon, and also the waits of others for it. The
     *  cursor will be destroyed. May be NULL. */
    void (*stop)(mst_cursor *cursor);
} mst_cursor_type;

struct mst_cursor {
    const mst_cursor_type *type;
    const mst_dataset *dataset;
    mst_cursor *upstream;
    mst_shard_window window; /**< whose rows of each batch are wanted; the values of others need not be made */
    int64_t num_corrupt;     /**< of a source: records that this pass has left out */
};

/** The cursor of DATASET, not started. */
MST_CHECKED mst_status mst_cursor_open(const mst_dataset *dataset, mst_cursor **out);
/** A zeroed cursor of SIZE bytes (struct mst_cursor first) for DATASET, over a cursor of its upstream if it has one. */
MST_CHECKED mst_status mst_cursor_alloc(const mst_cursor_type *type, size_t size, const mst_dataset *dataset,
                                        void *out);
/** Ends the threads of CURSOR and of all cursors upstream of it, and frees these; NULL is allowed. */
void mst_cursor_destroy(mst_cursor *cursor);

/** Of each batch, CURSOR and those upstream of it need to make only the rows of WINDOW. Before CURSOR starts. */
void mst_cursor_want(mst_cursor *cursor, mst_shard_window window);

/** The cursor of the source. */
mst_cursor *mst_cursor_base(mst_cursor *cursor);
void mst_cursor_save(const mst_cursor *cursor, mst_bookmark *bookmark);
MST_CHECKED mst_status mst_cursor_restore(mst_cursor *cursor, mst_bookmark *bookmark);
/** Rows that came from CURSOR are dropped. */
void mst_cursor_forget(mst_cursor *cursor, const int64_t *rows, int64_t n);
/** The other way round: rows that are held downstream of CURSOR after a restore. */
MST_CHECKED mst_status mst_cursor_keep(mst_cursor *cursor, const int64_t *rows, int64_t n);

/** After a restore, and before CURSOR moves: rows that were restored and not kept are dropped, of CURSOR and those
 *  upstream of it. */
void mst_cursor_settle(mst_cursor *cursor);

/** Reads a row from BOOKMARK, and checks that DATASET can have it. */
MST_CHECKED mst_status mst_dataset_read_saved_row(const mst_dataset *dataset, mst_bookmark *bookmark, int64_t *row);

#endif
