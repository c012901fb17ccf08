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
/** Source 0 / DIVISOR, rounded towards 0; integers, of which DIVISOR is that of mst_divisor_lower. */
mst_hlo mst_quotient_lower(mst_lower *l, mst_hlo divisor);
/** Whether REST, the remainder by DIVISOR with the sign of source 0, is not 0 and has the other sign than DIVISOR. */
mst_hlo mst_rest_is_off(mst_lower *l, mst_hlo rest, mst_hlo divisor);

#endif
