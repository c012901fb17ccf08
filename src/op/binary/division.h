/** Functions that div, floor_div and mod share. */
#ifndef MUSTER_OP_BINARY_DIVISION_H
#define MUSTER_OP_BINARY_DIVISION_H

#include "muster/hlo.h"

/** Runs KERNEL on the threads of the device. Fails if source 1 has integers and one of them is 0, unless the output is
 *  empty. */
MST_CHECKED mst_status mst_divide(const mst_kernel_args *a, mst_kernel_function kernel);

/** Source 1, of integers, with 0 and -1 replaced by 1. A 0 makes the run fail. The caller handles -1 separately,
 *  because the smallest integer / -1 is undefined. */
mst_hlo mst_divisor_lower(mst_lower *l);
/** Source 0 / source 1 of integers, rounded towards 0. DIVISOR is the result of mst_divisor_lower. */
mst_hlo mst_quotient_lower(mst_lower *l, mst_hlo divisor);
/** Where REST is not 0 and its sign differs from the sign of DIVISOR: there a quotient rounded towards 0 is above the
 *  floor. REST is the remainder by DIVISOR, with the sign of source 0. */
mst_hlo mst_rest_is_off(mst_lower *l, mst_hlo rest, mst_hlo divisor);

#endif
