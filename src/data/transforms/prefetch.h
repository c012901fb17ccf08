/** Batches prepared ahead of their use: the end of a chain of stages, and the base of the next. */
#ifndef MUSTER_DATA_TRANSFORMS_PREFETCH_H
#define MUSTER_DATA_TRANSFORMS_PREFETCH_H

#include "data/dataset.h"

extern const mst_dataset_type mst_prefetch_type;

#endif
