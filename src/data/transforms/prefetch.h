/** The type of prefetch, whose thread prepares batches before they are asked for. data/dataset.c recognizes it: batches
 *  come out of it as values in memory. */
#ifndef MUSTER_DATA_TRANSFORMS_PREFETCH_H
#define MUSTER_DATA_TRANSFORMS_PREFETCH_H

#include "data/dataset.h"

extern const mst_dataset_type mst_prefetch_type;

#endif
