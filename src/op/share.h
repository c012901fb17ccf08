/** How much work a kernel gives to a thread at a time, for mst_parallel. */
#ifndef MUSTER_OP_SHARE_H
#define MUSTER_OP_SHARE_H

#include "muster/op.h"

/** Simple elements (one read, a few operations) and bytes to copy that take a core one or two microseconds: some times
 *  what it costs to hand them to a thread that is awake, half a microsecond. */
enum { MST_RUN_ELEMENTS = 8192, MST_RUN_BYTES = 1 << 15 };

/** Items for a run where each takes as long as ELEMENTS simple elements. */
static inline int64_t mst_grain(int64_t elements) {
    return elements < 1 ? MST_RUN_ELEMENTS : elements < MST_RUN_ELEMENTS ? MST_RUN_ELEMENTS / elements : 1;
}

/** Items for a run where each moves BYTES. */
static inline int64_t mst_grain_bytes(int64_t bytes) {
    return bytes < 1 ? MST_RUN_BYTES : bytes < MST_RUN_BYTES ? MST_RUN_BYTES / bytes : 1;
}

/** A kernel's arguments as the context of a body that only reads them. */
static inline void *mst_context_of(const mst_kernel_args *a) {
    return (void *)(uintptr_t)a;
}

#endif
