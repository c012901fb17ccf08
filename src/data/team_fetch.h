/** Copying many rows of an element by several threads, if a row takes long: slow maps, pictures that are decoded.
 *  Each row has its place, so the order does not depend on the threads. Nor do the values: denormal numbers are 0 on
 *  all of them, as in a step. */
#ifndef MUSTER_DATA_TEAM_FETCH_H
#define MUSTER_DATA_TEAM_FETCH_H

#include "data/row_fetch.h"

typedef struct mst_team_fetch mst_team_fetch;

/** As mst_row_fetch_create. THREADS work together, that of the caller among them; 0: one for each core. */
MST_CHECKED mst_status mst_team_fetch_create(const mst_dataset *dataset, mst_cursor *cursor, int threads,
                                             mst_team_fetch **out);
/** NULL is allowed. */
void mst_team_fetch_destroy(mst_team_fetch *fetch);

/** Writes rows FIRST to FIRST + COUNT - 1 of ELEMENT, each component with DST[i] not NULL to DST[i]. By one thread at a
 *  time. If the flag that the caller watches is set (data/cancel.h), it ends after the rows that are being made. */
MST_CHECKED mst_status mst_team_fetch_copy_all(mst_team_fetch *fetch, const mst_element *element, int64_t first,
                                               int64_t count, void *const *dst);
/** As mst_row_fetch_forget_strings. */
void mst_team_fetch_forget_strings(mst_team_fetch *fetch);

#endif
