/** What div, floor_div and mod share. */
#ifndef MUSTER_OP_BINARY_DIVISION_H
#define MUSTER_OP_BINARY_DIVISION_H

#include "muster/hlo.h"

/** Runs KERNEL on the threads of the device. Fails if source 1 has integers and one of them is 0, unless the output is
 *  empty. */
MST_CHECKED mst_status mst_divide(const mst_kernel_args *a, mst_kernel_function kernel);

/** The divisor of integers, in which 0, where the run fails, and -1 have become 1. -1 is treated apart, because the
 *  smallest integer / -1 is undefined. */
mst_hlo mst_divisor_lower(mst_lower *l);

#endif
