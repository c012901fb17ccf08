/** Options of the ops that only plans have. */
#ifndef MUSTER_PLAN_OPS_H
#define MUSTER_PLAN_OPS_H

#include "muster/op.h"

/** piece: a view of the source, which begins at its element OFFSET and has as many elements as the output. On CPUs the
 *  output is a vector. */
typedef struct mst_piece_options {
    int zero_;
    int64_t offset;
} mst_piece_options;

#endif
