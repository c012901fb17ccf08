/** Sources and transforms in the form that can be nested (muster/data.h): they return the dataset that they make, which
 *  keeps the first mistake.
 *
 *      mst_dataset *mst_data_take(mst_dataset *dataset, int64_t n) {
 *          MST_DATASET_NEST(dataset, mst_dataset_take(dataset, n, &out));
 *      }
 */
#ifndef MUSTER_DATA_NESTED_H
#define MUSTER_DATA_NESTED_H

#include "muster/data.h"

/** Returns *OUT, the dataset that was made from SOURCE, and releases SOURCE (NULL: there is none). If STATUS is an
 *  error, returns a dataset that keeps it; NULL if there is no memory for that. */
mst_dataset *mst_dataset_made(mst_dataset *source, mst_status status, mst_dataset **out);
/** The same for a dataset made from N SOURCES, which are all released. */
mst_dataset *mst_dataset_made_of_all(mst_dataset *const *sources, int n, mst_status status, mst_dataset **out);
/** The first mistake among the N SOURCES. */
MST_CHECKED mst_status mst_dataset_check_all(mst_dataset *const *sources, int n);

/** The body of such a source. CALL sets `out`. */
#define MST_DATASET_OPEN(call) \
    mst_dataset *out = NULL;   \
    return mst_dataset_made(NULL, (call), &out)

/** The body of such a transform. CALL sets `out`, and is evaluated only if SOURCE has no mistake. */
#define MST_DATASET_NEST(source, call)                   \
    mst_dataset *out = NULL;                             \
    const mst_status status = mst_dataset_check(source); \
    return mst_dataset_made((source), status ? status : (call), &out)

/** The same for a transform of N SOURCES. */
#define MST_DATASET_NEST_ALL(sources, n, call)                       \
    mst_dataset *out = NULL;                                         \
    const mst_status status = mst_dataset_check_all((sources), (n)); \
    return mst_dataset_made_of_all((sources), (n), status ? status : (call), &out)

#endif
