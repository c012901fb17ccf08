/** What div, floor_div and mod share. */
#ifndef MUSTER_OP_BINARY_DIVISION_H
#define MUSTER_OP_BINARY_DIVISION_H

#include "muster/op.h"

/** Runs KERNEL on the threads of the device. Fails if source 1 has integers and one of them is 0, unless the output is
 *  empty. */
MST_CHECKED mst_status mst_divide(const mst_kernel_args *a, mst_kernel_function kernel);

#endif
