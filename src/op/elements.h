/** Sharing a kernel of element by element work over the threads of a device. */
#ifndef MUSTER_OP_ELEMENTS_H
#define MUSTER_OP_ELEMENTS_H

#include "muster/op.h"

/** Runs KERNEL, which computes each element of the one output from the elements of the sources that broadcast to its
 *  place, on as many parts of the work as the threads of A's device share. KERNEL gets parts of the arrays, with the
 *  bits that it gives on the whole, and errors that count elements count those of the part: it must not fail. On one
 *  thread, for little work and for more than MST_ELEMENTS_SRC sources it gets the whole. */
MST_CHECKED mst_status mst_share_elements(const mst_kernel_args *a, mst_kernel_function kernel);

enum { MST_ELEMENTS_SRC = 64 };

#endif
