/** From numbers of rows to values: gather, cast, scale, map. */
#ifndef MUSTER_DATA_ROW_FETCH_H
#define MUSTER_DATA_ROW_FETCH_H

#include "data/dataset.h"

typedef struct mst_row_fetch mst_row_fetch;

/** For the elements that the cursor of DATASET yields. Retains nothing: DATASET must outlive it. */
MST_CHECKED mst_status mst_row_fetch_create(const mst_dataset *dataset, mst_row_fetch **out);
/** NULL is allowed. */
void mst_row_fetch_destroy(mst_row_fetch *fetch);

/** The grain of mst_parallel over ROWS rows of component COMPONENT. */
int64_t mst_row_fetch_grain(const mst_row_fetch *fetch, int component, int64_t rows);

/** Writes rows FIRST to FIRST + COUNT - 1 of ELEMENT: component COMPONENT to DST. Several threads may call at once. */
MST_CHECKED mst_status mst_row_fetch_copy(mst_row_fetch *fetch, const mst_element *element, int component,
                                          int64_t first, int64_t count, void *dst);
/** The same for all components with DST[i] not NULL. */
MST_CHECKED mst_status mst_row_fetch_copy_all(mst_row_fetch *fetch, const mst_element *element, int64_t first,
                                              int64_t count, void *const *dst);

#endif
