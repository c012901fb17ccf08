/** The op sort, which orders rows, as sort and argsort use it. */
#ifndef MUSTER_OP_SORT_H
#define MUSTER_OP_SORT_H

#include "muster/op.h"
#include "muster/ops.h"

enum { MST_SORT_VALUES, MST_SORT_INDICES };

/** Output OUTPUT of the op, along the axis that the options say. */
mst_value mst_sort_output(const mst_sort_options *o, int output);

#endif
