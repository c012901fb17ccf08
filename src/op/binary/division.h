/** What div, floor_div and mod share. */
#ifndef MUSTER_OP_BINARY_DIVISION_H
#define MUSTER_OP_BINARY_DIVISION_H

#include "muster/op.h"

/** KERNEL on the threads of the device; an error if an element of the integer source 1 is 0 and something is divided
 *  by it. */
MST_CHECKED mst_status mst_divide(const mst_kernel_args *a, mst_kernel_function kernel);

#endif
