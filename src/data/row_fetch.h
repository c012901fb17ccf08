/** From numbers of rows to values: gather, cast, scale, map. */
#ifndef MUSTER_DATA_ROW_FETCH_H
#define MUSTER_DATA_ROW_FETCH_H

#include "data/dataset.h"

typedef struct mst_row_fetch mst_row_fetch;

/** For the elements that CURSOR, of DATASET, yields. Retains nothing: both must outlive it. */
MST_CHECKED mst_status mst_row_fetch_create(const mst_dataset *dataset, mst_cursor *cursor, mst_row_fetch **out);
/** NULL is allowed. */
void mst_row_fetch_destroy(mst_row_fetch *fetch);

/** What a random change of ROW, which the cursor has given out, depends on. */
mst_row_key mst_row_fetch_key(const mst_row_fetch *fetch, int64_t row);

/** The grain of mst_parallel over all rows of component COMPONENT of ELEMENT. */
int64_t mst_row_fetch_grain(const mst_row_fetch *fetch, const mst_element *element, int component);

/** Writes rows FIRST to FIRST + COUNT - 1 of ELEMENT: component COMPONENT to DST. Several threads may call at once. The
 *  bytes of strings are the source's, or last until mst_row_fetch_forget_strings. */
MST_CHECKED mst_status mst_row_fetch_copy(mst_row_fetch *fetch, const mst_element *element, int component,
                                          int64_t first, int64_t count, void *dst);
/** The same for all components with DST[i] not NULL. */
MST_CHECKED mst_status mst_row_fetch_copy_all(mst_row_fetch *fetch, const mst_element *element, int64_t first,
                                              int64_t count, void *const *dst);

/** The copied strings are not needed any more. Call it while no thread copies. */
void mst_row_fetch_forget_strings(mst_row_fetch *fetch);

/** Gives the components of row I of ELEMENT to LOOK and returns its status. Messages call LOOK by the name WHAT. What
 *  LOOK sees is valid until it returns. */
MST_CHECKED mst_status mst_row_fetch_look(mst_row_fetch *fetch, const char *what, const mst_element *element, int64_t i,
                                          mst_status (*look)(const mst_array *in, void *context), void *context);
/** Record I of ELEMENT as the source has it, valid until the next call. MST_INVALID if the source has no records. */
MST_CHECKED mst_status mst_row_fetch_record(mst_row_fetch *fetch, const mst_element *element, int64_t i,
                                            mst_record *record);

#endif
