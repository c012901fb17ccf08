/** Rows with strings or of any length, each packed into bytes of its own: what caches keep of them.
 *
 *      of each component, in their order
 *      8 bytes        of each dimension that its shape does not tell (-1): how long it is
 *      elements       numbers as in memory; of each string 8 bytes, its length, and then its bytes
 *
 *  All is little-endian. So a row of numbers of fixed shape is its elements and nothing else. */
#ifndef MUSTER_DATA_TRANSFORMS_PACKED_ROW_H
#define MUSTER_DATA_TRANSFORMS_PACKED_ROW_H

#include "data/dataset.h"

/** Whether all rows of DATASET are packed into the same number of bytes: no strings, and all lengths known. */
bool mst_packed_rows_have_one_size(const mst_dataset *dataset);

/** The rows of DATASET packed: one component, string []. */
MST_CHECKED mst_status mst_dataset_pack(mst_dataset *dataset, mst_dataset **out);
/** Takes the rows of PACKED, which has one component, string [] or u8 [-1], apart: they are as those of LIKE. TYPE is
 *  the caller's. A row whose parts do not add up to its bytes is MST_CORRUPT when it is copied. */
MST_CHECKED mst_status mst_dataset_unpack(const mst_dataset_type *type, mst_dataset *packed, const mst_dataset *like,
                                          mst_dataset **out);

#endif
