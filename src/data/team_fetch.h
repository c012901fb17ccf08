/** Copies many rows of an element with several threads if a row takes long, because of slow maps or pictures that are
 *  decoded. Each row has its place, so the order does not depend on the threads. Nor do the values: all threads treat
 *  denormal numbers as 0, as in a step. */
#ifndef MUSTER_DATA_TEAM_FETCH_H
#define MUSTER_DATA_TEAM_FETCH_H

#include "data/row_fetch.h"

typedef struct mst_team_fetch mst_team_fetch;

/** As mst_row_fetch_create. THREADS threads work together, one of them the caller's; 0: one per core. */
MST_CHECKED mst_status mst_team_fetch_create(const mst_dataset *dataset, mst_cursor *cursor, int threads,
                                             mst_team_fetch **out);
/** NULL is allowed. */
void mst_team_fetch_destroy(mst_team_fetch *fetch);

/** Writes rows FIRST to FIRST + COUNT - 1 of ELEMENT: each component i to DST[i], unless that is NULL. Only one thread
 *  may call at a time. If the flag that the caller watches is set (data/cancel.h), it stops after the rows in
 *  progress. */
MST_CHECKED mst_status mst_team_fetch_copy_all(mst_team_fetch *fetch, const mst_element *element, int64_t first,
                                               int64_t count, void *const *dst);
/** As mst_row_fetch_forget_strings. */
void mst_team_fetch_forget_strings(mst_team_fetch *fetch);

#endif
