/** Sharing a kernel of element by element work over the threads of a device. */
#ifndef MUSTER_OP_ELEMENTS_H
#define MUSTER_OP_ELEMENTS_H

#include "muster/op.h"

/** Runs KERNEL on parts of the arrays, which the threads of the device share. KERNEL computes each element of its only
 *  output from the source elements that broadcast to the same place. So the result has the same bits as one call on the
 *  whole arrays. KERNEL must not fail, because its errors would number elements within a part. KERNEL is called once,
 *  on the whole arrays, if there is one thread, little work, or more than MST_ELEMENTS_SRC sources. */
MST_CHECKED mst_status mst_share_elements(const mst_kernel_args *a, mst_kernel_function kernel);

enum { MST_ELEMENTS_SRC = 64 };

#endif
