/** Small datasets, and what comes out of them. */
#ifndef MUSTER_TEST_SUPPORT_PIPELINE_H
#define MUSTER_TEST_SUPPORT_PIPELINE_H

#include "muster/dataset.h"

/** NUM_ROWS rows; component 0 is i64 [2] with 10 * row and 10 * row + 1, component 1 is u8 with row mod 251. */
mst_dataset *pipeline_numbers(int64_t num_rows);

/** Gives up the reference to *DATASET for the one to *MADE: for chains of transforms. Returns STATUS, which is of the
 *  call that made it. */
mst_status pipeline_replace(mst_dataset **dataset, mst_status status, mst_dataset *const *made);
/** Makes DATASET, which is given up, the dataset that CALL makes with the argument &made. */
#define THEN(dataset, call)                                     \
    do {                                                        \
        mst_dataset *made;                                      \
        EXPECT_OK(pipeline_replace(&(dataset), (call), &made)); \
    } while (0)

/** The row numbers of one epoch (from component 0, which must be as made), in order, at most MAX. Returns their number;
 *  *NUM_ELEMENTS (may be NULL) takes the number of elements. -1 on failure. */
int64_t pipeline_rows(mst_dataset *dataset, int64_t epoch, int64_t *rows, int64_t max, int64_t *num_elements);
/** The same of the next elements of IT, at most STOP. */
int64_t pipeline_read(mst_iterator *it, int64_t stop, int64_t *rows, int64_t max);
/** The row numbers of one epoch after skipping N elements. */
int64_t pipeline_rows_after(mst_dataset *dataset, int64_t epoch, int64_t n, int64_t *rows, int64_t max);

/** Numbers in the position of IT, which grow with the rows that it holds; -1 on failure. */
int64_t pipeline_position_size(const mst_iterator *it);

/** Component I of the first rows of DATASET, in order, at most 1000: its caller releases it; NULL on failure. */
mst_tensor *pipeline_column(mst_dataset *dataset, int i);

#endif
