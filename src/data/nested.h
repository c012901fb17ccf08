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
/** The same of all N SOURCES, which are released. */
mst_dataset *mst_dataset_made_of_all(mst_dataset *const *sources, int n, mst_status status, mst_dataset **out);
/** The first mistake among N SOURCES. */
MST_CHECKED mst_status mst_dataset_check_all(mst_dataset *const *sources, int n);

/** The body of such a source: CALL sets `out`. */
#define MST_DATASET_OPEN(call) \
    mst_dataset *out = NULL;   \
    return mst_dataset_made(NULL, (call), &out)

/** The body of such a transform: CALL sets `out`, and is made if SOURCE has no mistake. */
#define MST_DATASET_NEST(source, call)                   \
    mst_dataset *out = NULL;                             \
    const mst_status status = mst_dataset_check(source); \
    return mst_dataset_made((source), status ? status : (call), &out)

/** The same of a transform of N SOURCES. */
#define MST_DATASET_NEST_ALL(sources, n, call)                       \
    mst_dataset *out = NULL;                                         \
    const mst_status status = mst_dataset_check_all((sources), (n)); \
    return mst_dataset_made_of_all((sources), (n), status ? status : (call), &out)

#endif
