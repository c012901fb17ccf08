/** What learning anew needs from other transforms. */
#ifndef MUSTER_DATA_TRANSFORMS_RELEARN_H
#define MUSTER_DATA_TRANSFORMS_RELEARN_H

#include "data/dataset.h"

/** The texts of DATASET, which mst_dataset_vectorize_text made with .keep_texts, and *O, its options; NULL: it is other
 *  data. The texts belong to DATASET. */
mst_dataset *mst_vectorize_texts(const mst_dataset *dataset, const mst_text_options **o);
/** If DATASET is a part of mst_dataset_split, the same rows of OTHER, which has as many rows as what was split; else
 *  *OUT is OTHER, retained. */
MST_CHECKED mst_status mst_split_again(const mst_dataset *dataset, mst_dataset *other, mst_dataset **out);
/** What DATASET is a part of, if mst_dataset_split made it; else DATASET. */
const mst_dataset *mst_split_whole(const mst_dataset *dataset);

#endif
