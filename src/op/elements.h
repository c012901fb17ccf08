/** Sharing a kernel of element by element work over the threads of a device. */
#ifndef MUSTER_OP_ELEMENTS_H
#define MUSTER_OP_ELEMENTS_H

#include "muster/op.h"

/** Runs KERNEL on parts of the arrays, one part for each thread of the device. KERNEL computes each element of the one
 *  output from the elements of the sources that broadcast to its place. The result has the same bits as on the whole.
 *  KERNEL must not fail, because its errors would number elements within a part. On one thread, for little work and for
 *  more than MST_ELEMENTS_SRC sources it gets the whole arrays. */
MST_CHECKED mst_status mst_share_elements(const mst_kernel_args *a, mst_kernel_function kernel);

enum { MST_ELEMENTS_SRC = 64 };

#endif
