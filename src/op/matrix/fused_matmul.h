/** Options of the op fused_matmul, which the plan makes out of matmul, add and an activation. */
#ifndef MUSTER_OP_FUSED_MATMUL_H
#define MUSTER_OP_FUSED_MATMUL_H

#include "muster/op.h"

typedef enum mst_fused_activation { MST_FUSED_NONE = 0, MST_FUSED_RELU, MST_FUSED_RELU6 } mst_fused_activation;
extern const char *const mst_fused_activations[];

typedef struct mst_fused_matmul_options {
    int zero_;
    bool transpose_a, transpose_b;
    int activation; /**< mst_fused_activation */
} mst_fused_matmul_options;

#endif
