/** Memory for tensors, state and arenas: zeroed, aligned to a cache line. */
#ifndef MUSTER_TENSOR_BUFFER_H
#define MUSTER_TENSOR_BUFFER_H

#include <stddef.h>

#include "muster/status.h"

enum { MST_ALIGNMENT = 64 };

/** SIZE rounded up to the alignment. */
size_t mst_align(size_t size);
MST_CHECKED mst_status mst_buffer_alloc(size_t size, void **out);
void mst_buffer_free(void *buffer);

/** Allocates SIZE bytes of zeros, aligned to a cache line. From 256 KiB on, these are pages that no thread has touched
 *  yet: a page lies on the NUMA node of the thread that first writes to it. Large blocks have huge pages. */
MST_CHECKED mst_status mst_pages_alloc(size_t size, void **out);
/** MST_OUT_OF_MEMORY if SIZE bytes are not available now. Call it before a library that ends the process, or crashes,
 *  if it gets no memory. */
MST_CHECKED mst_status mst_memory_probe(size_t size);
/** Frees memory of mst_pages_alloc; SIZE is the size allocated. DATA may be NULL. */
void mst_pages_free(void *data, size_t size);

#endif
