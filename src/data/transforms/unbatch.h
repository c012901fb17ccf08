/** Splits a dataset of batches into its rows, and puts rows back into such batches. Caches keep batches in this way. */
#ifndef MUSTER_DATA_TRANSFORMS_UNBATCH_H
#define MUSTER_DATA_TRANSFORMS_UNBATCH_H

#include "data/dataset.h"

/** The rows of BATCHES in order, with the names of its classes and its schema. They can only be read forward in one
 *  pass, and a position cannot be saved. Rows of padded batches keep the length to which they were padded. Iterating
 *  fails with MST_INVALID if a batch before the last has fewer rows than the others. */
MST_CHECKED mst_status mst_dataset_unbatch(mst_dataset *batches, mst_dataset **out);
/** Puts ROWS, which came from mst_dataset_unbatch of BATCHES, back into the same batches. */
MST_CHECKED mst_status mst_dataset_rebatch(mst_dataset *rows, const mst_dataset *batches, mst_dataset **out);

#endif
