/** Functions of mst_dataset_vectorize_text and mst_dataset_split that mst_dataset_relearn calls. */
#ifndef MUSTER_DATA_TRANSFORMS_RELEARN_H
#define MUSTER_DATA_TRANSFORMS_RELEARN_H

#include "data/dataset.h"

/** Returns the texts of which mst_dataset_vectorize_text made DATASET with .keep_texts, and sets *O to its options.
 *  Both belong to DATASET. Returns NULL for other data. */
mst_dataset *mst_vectorize_texts(const mst_dataset *dataset, const mst_text_options **o);
/** If mst_dataset_split made DATASET, sets *OUT to the same rows of OTHER, which has as many rows as the dataset that
 *  was split. Otherwise *OUT is OTHER, retained. */
MST_CHECKED mst_status mst_split_again(const mst_dataset *dataset, mst_dataset *other, mst_dataset **out);
/** The dataset that was split if mst_dataset_split made DATASET; else DATASET. */
const mst_dataset *mst_split_whole(const mst_dataset *dataset);

#endif
