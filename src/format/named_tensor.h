/** A tensor with the name that it has in a file. */
#ifndef MUSTER_FORMAT_NAMED_TENSOR_H
#define MUSTER_FORMAT_NAMED_TENSOR_H

#include "muster/tensor.h"

typedef struct mst_named_tensor {
    const char *name;
    const mst_tensor *tensor;
} mst_named_tensor;

#endif
