/** The rows of a dataset of batches one by one, and rows put back into such batches: how caches keep batches. */
#ifndef MUSTER_DATA_TRANSFORMS_UNBATCH_H
#define MUSTER_DATA_TRANSFORMS_UNBATCH_H

#include "data/dataset.h"

/** The rows of BATCHES in their order, with the names of its classes and its schema. For one pass that reads forward:
 *  a position in it cannot be saved. Rows of padded batches have the length to which their batch was padded. Iterating
 *  fails with MST_INVALID if a batch before the last has fewer rows than the others. */
MST_CHECKED mst_status mst_dataset_unbatch(mst_dataset *batches, mst_dataset **out);
/** ROWS, which came from mst_dataset_unbatch of BATCHES, in the same batches. */
MST_CHECKED mst_status mst_dataset_rebatch(mst_dataset *rows, const mst_dataset *batches, mst_dataset **out);

#endif
