/** Rows packed into bytes, one string per row: the form in which caches keep rows that have strings, or dimensions of
 *  any length.
 *
 *      for each component, in order:
 *      8 bytes        for each dimension that is -1 in the shape of the dataset: its length
 *      elements       numbers as in memory; for each string 8 bytes with its length, then its bytes
 *
 *  Everything is little-endian. A row of numbers of fixed shape has only its elements. */
#ifndef MUSTER_DATA_TRANSFORMS_PACKED_ROW_H
#define MUSTER_DATA_TRANSFORMS_PACKED_ROW_H

#include "data/dataset.h"

/** Whether all packed rows of DATASET have the same size: there are no strings, and all lengths are known. */
bool mst_packed_rows_have_one_size(const mst_dataset *dataset);

/** Packs the rows of DATASET: the result has one component, string []. */
MST_CHECKED mst_status mst_dataset_pack(mst_dataset *dataset, mst_dataset **out);
/** Unpacks the rows of PACKED, which has one component, string [] or u8 [-1], to rows like those of LIKE. TYPE is the
 *  type of the new dataset. A row whose components do not add up to its bytes is MST_CORRUPT when it is copied. */
MST_CHECKED mst_status mst_dataset_unpack(const mst_dataset_type *type, mst_dataset *packed, const mst_dataset *like,
                                          mst_dataset **out);

#endif
