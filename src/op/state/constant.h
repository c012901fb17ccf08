/** Options of the op constant: the plan reads and makes them when it folds. */
#ifndef MUSTER_OP_CONSTANT_H
#define MUSTER_OP_CONSTANT_H

#include "muster/op.h"

typedef struct mst_constant_options {
    int zero_;
    mst_tensor *value;
} mst_constant_options;

#endif
