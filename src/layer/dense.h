/** The dense layer with names of the caller's choice for its variables. */
#ifndef MUSTER_LAYER_DENSE_H
#define MUSTER_LAYER_DENSE_H

#include "muster/layer.h"

mst_value mst_dense_build(const mst_layer_dense_options *options, const char *kernel_name, const char *bias_name);
/** [n, ...] as [n, product]. */
mst_value mst_flat(mst_value x);

#endif
