#include "tensor/buffer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_PAGE = 2 * 1024 * 1024 };

size_t mst_align(size_t size) {
    return (size + MST_ALIGNMENT - 1) / MST_ALIGNMENT * MST_ALIGNMENT;
}

mst_status mst_buffer_alloc(size_t size, void **out) {
    *out = NULL;
    size_t rounded = mst_align(size ? size : 1);
    if (rounded < size) return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get %zu bytes of memory", size);
    /* Large blocks on large pages: a training step walks megabytes, and misses of the page table cost. */
    size_t alignment = rounded >= HUGE_PAGE ? HUGE_PAGE : MST_ALIGNMENT;
    if (alignment == HUGE_PAGE) rounded = (rounded + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    if (rounded < size || !(*out = aligned_alloc(alignment, rounded)))
        return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get %zu bytes of memory", size);
    if (alignment == HUGE_PAGE) (void)madvise(*out, rounded, MADV_HUGEPAGE);
    memset(*out, 0, size);
    return MST_OK;
}

void mst_buffer_free(void *buffer) {
    free(buffer);
}
