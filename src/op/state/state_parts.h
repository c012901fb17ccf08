/** Which part of the optimizer's slots each task keeps, if the tasks of a cluster divide the slots (sharded state).
 *
 *  The variables of an update, from the last to the first, are grouped into buckets of about MST_BUCKET_BYTES. The
 *  gradients of a bucket are sent together. Each bucket is cut between units (op/state/update.h) into one run of
 *  elements for each task. So all tasks have about equal parts of every bucket to add up, to update and to send.
 *
 *      bucket     variable 5       variable 4                  variable 3
 *      units      |    |    |    |    |    |    |    |    |    |    |    |
 *      task       |       0           |        1          |       2      |
 */
#ifndef MUSTER_OP_STATE_PARTS_H
#define MUSTER_OP_STATE_PARTS_H

#include <stdint.h>

#include "muster/tensor.h"

/** About how many bytes of gradients are in a bucket. */
enum { MST_BUCKET_BYTES = 4 << 20 };

/** Sets BEGIN [num_variables][num_parts + 1]: part p has elements BEGIN[v][p] to BEGIN[v][p + 1] - 1 of variable v,
 *  whose shape is SHAPE[v]. */
void mst_state_parts(const mst_shape *shape, int32_t num_variables, int64_t element_bytes, int32_t num_parts,
                     int64_t *begin);

#endif
