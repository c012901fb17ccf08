/** Memory for tensors, variables and plans: zeroed, aligned to a cache line. */
#ifndef MUSTER_TENSOR_BUFFER_H
#define MUSTER_TENSOR_BUFFER_H

#include <stddef.h>

#include "muster/status.h"

enum { MST_ALIGNMENT = 64 };

/** SIZE rounded up to the alignment. */
size_t mst_align(size_t size);
MST_CHECKED mst_status mst_buffer_alloc(size_t size, void **out);
void mst_buffer_free(void *buffer);

#endif
