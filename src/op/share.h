/** How much work a kernel gives to a thread at a time, for mst_parallel. The unit of work is a simple element: one read
 *  and a few operations. A core does some thousand of them in a microsecond. */
#ifndef MUSTER_OP_SHARE_H
#define MUSTER_OP_SHARE_H

#include "muster/op.h"

enum {
    MST_SHARED_ELEMENTS = 8192, /**< the least work worth sharing: starting the threads takes half a microsecond */
    MST_GRAIN_ELEMENTS = 512,   /**< elements of a grain: few, so that all threads get about the same work */
    MST_ELEMENT_BYTES = sizeof(float), /**< bytes that are copied in the time of one simple element */
};

/** The argument `grain` for mst_parallel over N items, each of which takes as long as ELEMENTS simple elements. It is N
 *  if there is too little work to share. */
static inline int64_t mst_grain(int64_t n, int64_t elements) {
    if (elements < 1) elements = 1;
    if (n <= MST_SHARED_ELEMENTS / elements) return n > 0 ? n : 1;
    return elements < MST_GRAIN_ELEMENTS ? MST_GRAIN_ELEMENTS / elements : 1;
}

/** The same for items that each copy BYTES bytes. */
static inline int64_t mst_grain_bytes(int64_t n, int64_t bytes) {
    if (bytes >= MST_ELEMENT_BYTES) return mst_grain(n, bytes / MST_ELEMENT_BYTES);
    const int64_t items = MST_ELEMENT_BYTES / (bytes > 0 ? bytes : 1); /* copied in the time of one simple element */
    return mst_grain((n + items - 1) / items, 1) * items;
}

/** GRAIN rounded up to a multiple of ALIGN. */
static inline int64_t mst_grain_aligned(int64_t grain, int64_t align) {
    return (grain + align - 1) / align * align;
}

/** A kernel's arguments as the `context` of mst_parallel. The body must only read them: the cast drops `const`. */
static inline void *mst_context_of(const mst_kernel_args *a) {
    return (void *)(uintptr_t)a;
}

#endif
