/** Positions of batches in the data of a worker, as increasing numbers. The upper 32 bits of a position are the epoch,
 *  the lower 32 bits the number of the batch in that epoch; both count from 0. */
#ifndef MUSTER_PARAMETER_SERVER_BATCH_POSITION_H
#define MUSTER_PARAMETER_SERVER_BATCH_POSITION_H

#include <stdint.h>

enum { MST_BATCH_BITS = 32 };

static inline int64_t mst_batch_position(int64_t epoch, int64_t batch) {
    return epoch << MST_BATCH_BITS | batch;
}
static inline int64_t mst_epoch_of_position(int64_t position) {
    return position >> MST_BATCH_BITS;
}
static inline int64_t mst_batch_of_position(int64_t position) {
    return position & ((INT64_C(1) << MST_BATCH_BITS) - 1);
}

#endif
