/** The type of mst_dataset_padded_batch: row_fetch takes its batches as memory with shapes of their own. */
#ifndef MUSTER_DATA_TRANSFORMS_PADDED_BATCH_H
#define MUSTER_DATA_TRANSFORMS_PADDED_BATCH_H

#include "data/dataset.h"

extern const mst_dataset_type mst_padded_batch_type;

#endif
