/** The op sort, for the functions mst_sort and mst_argsort. */
#ifndef MUSTER_OP_SORT_H
#define MUSTER_OP_SORT_H

#include "muster/op.h"
#include "muster/ops.h"

enum { MST_SORT_VALUES, MST_SORT_INDICES };

/** Adds a node of the op that sorts along the axis of the options. Returns its output OUTPUT: MST_SORT_VALUES or
 *  MST_SORT_INDICES. */
mst_value mst_sort_output(const mst_sort_options *o, int output);

#endif
