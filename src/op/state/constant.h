/** Options of the op constant. The plan reads them. It also creates them when it replaces nodes by their constant
 *  values. */
#ifndef MUSTER_OP_CONSTANT_H
#define MUSTER_OP_CONSTANT_H

#include "muster/op.h"

typedef struct mst_constant_options {
    int zero_;
    mst_tensor *value;
} mst_constant_options;

#endif
