/** Options of the ops that only plans have. */
#ifndef MUSTER_PLAN_OPS_H
#define MUSTER_PLAN_OPS_H

#include "muster/op.h"

/** piece: the elements from OFFSET on, as many as the output has; a view. The output is a vector on CPUs. */
typedef struct mst_piece_options {
    int zero_;
    int64_t offset;
} mst_piece_options;

#endif
