/** src kernel + bias along the last axis, which is the first step of dense layers, recurrent layers and attention. */
#ifndef MUSTER_LAYER_AFFINE_H
#define MUSTER_LAYER_AFFINE_H

#include "muster/graph.h"

/** SRC [n, ..., features] times KERNEL [features, units], plus BIAS [units], which may be MST_NONE. */
mst_value mst_affine(mst_value src, mst_value kernel, mst_value bias, mst_precision precision);

#endif
