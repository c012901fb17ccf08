/** From row numbers to values: gathers, casts, scales and maps rows. */
#ifndef MUSTER_DATA_ROW_FETCH_H
#define MUSTER_DATA_ROW_FETCH_H

#include "data/dataset.h"

typedef struct mst_row_fetch mst_row_fetch;

/** Makes an mst_row_fetch for the elements of CURSOR, a cursor of DATASET. Retains nothing: both must outlive it. */
MST_CHECKED mst_status mst_row_fetch_create(const mst_dataset *dataset, mst_cursor *cursor, mst_row_fetch **out);
/** NULL is allowed. */
void mst_row_fetch_destroy(mst_row_fetch *fetch);

/** What random changes of ROW depend on. ROW has its pass (data/cursors/row.h). The cursor has given it out and still
 *  holds it. */
mst_row_key mst_row_fetch_key(const mst_row_fetch *fetch, int64_t row);

/** The grain for an mst_parallel over all rows of ELEMENT that copies component COMPONENT. */
int64_t mst_row_fetch_grain(const mst_row_fetch *fetch, const mst_element *element, int component);

/** Writes component COMPONENT of rows FIRST to FIRST + COUNT - 1 of ELEMENT to DST. Several threads may call at the
 *  same time. The bytes of strings belong to the source, or last until mst_row_fetch_forget_strings. */
MST_CHECKED mst_status mst_row_fetch_copy(mst_row_fetch *fetch, const mst_element *element, int component,
                                          int64_t first, int64_t count, void *dst);
/** The same for all components i whose DST[i] is not NULL. */
MST_CHECKED mst_status mst_row_fetch_copy_all(mst_row_fetch *fetch, const mst_element *element, int64_t first,
                                              int64_t count, void *const *dst);

/** Frees the bytes of copied strings. Call it while no thread copies. */
void mst_row_fetch_forget_strings(mst_row_fetch *fetch);

/** Calls LOOK with the components of row I of ELEMENT, and returns its status. WHAT names LOOK in messages. The
 *  components are valid until LOOK returns. */
MST_CHECKED mst_status mst_row_fetch_look(mst_row_fetch *fetch, const char *what, const mst_element *element, int64_t i,
                                          mst_status (*look)(const mst_array *in, void *context), void *context);
/** The record of row I of ELEMENT as it is in the source, valid until the next call. MST_INVALID if the source has no
 *  records. */
MST_CHECKED mst_status mst_row_fetch_record(mst_row_fetch *fetch, const mst_element *element, int64_t i,
                                            mst_record *record);

#endif
