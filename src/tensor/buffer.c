#include "tensor/buffer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bytes.h"

enum { HUGE_PAGE = 2 * 1024 * 1024 };

size_t mst_align(size_t size) {
    return (size + MST_ALIGNMENT - 1) / MST_ALIGNMENT * MST_ALIGNMENT;
}

static mst_status no_memory(size_t size) {
    char text[MST_BYTES_TEXT];
    return MST_FAIL(MST_OUT_OF_MEMORY, "cannot get %s of memory: take a smaller batch or model, or end other programs",
                    mst_bytes_print(size < INT64_MAX ? (int64_t)size : INT64_MAX, text, sizeof text));
}

mst_status mst_buffer_alloc(size_t size, void **out) {
    *out = NULL;
    size_t rounded = mst_align(size ? size : 1);
    if (rounded < size) return no_memory(size);
    /* Large blocks on large pages: a training step walks megabytes, and misses of the page table cost. */
    size_t alignment = rounded >= HUGE_PAGE ? HUGE_PAGE : MST_ALIGNMENT;
    if (alignment == HUGE_PAGE) rounded = (rounded + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    if (rounded < size || !(*out = aligned_alloc(alignment, rounded))) return no_memory(size);
    if (alignment == HUGE_PAGE) (void)madvise(*out, rounded, MADV_HUGEPAGE);
    memset(*out, 0, size);
    return MST_OK;
}

void mst_buffer_free(void *buffer) {
    free(buffer);
}
