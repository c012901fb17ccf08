/** The form of a source or transform that nests (muster/data.h): its value is the dataset that it makes, which keeps
 *  the first mistake.
 *
 *      mst_dataset *mst_data_take(mst_dataset *dataset, int64_t n) {
 *          MST_DATASET_NEST(dataset, mst_dataset_take(dataset, n, &out));
 *      }
 */
#ifndef MUSTER_DATA_NESTED_H
#define MUSTER_DATA_NESTED_H

#include "muster/data.h"

/** The dataset that was made of SOURCE (NULL: of nothing), which is released: *OUT. If STATUS is an error, a dataset
 *  that keeps it; NULL if there is no memory for that. */
mst_dataset *mst_dataset_made(mst_dataset *source, mst_status status, mst_dataset **out);

/** The body of such a transform: CALL sets `out`, and is made if SOURCE has no mistake. */
#define MST_DATASET_NEST(source, call)                   \
    mst_dataset *out = NULL;                             \
    const mst_status status = mst_dataset_check(source); \
    return mst_dataset_made((source), status ? status : (call), &out)

#endif
