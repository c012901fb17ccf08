#include "tensor/buffer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/byte_count.h"

enum { HUGE_PAGE = 2 * 1024 * 1024 };

size_t mst_align(size_t size) {
    return (size + MST_ALIGNMENT - 1) / MST_ALIGNMENT * MST_ALIGNMENT;
}

static mst_status no_memory(size_t size) {
    char text[MST_BYTES_TEXT];
    return MST_FAIL(MST_OUT_OF_MEMORY,
                    "cannot get %s of memory: take a smaller batch, model or data set, or end other programs",
                    mst_bytes_print(size < INT64_MAX ? (int64_t)size : INT64_MAX, text, sizeof text));
}

mst_status mst_buffer_alloc(size_t size, void **out) {
    *out = NULL;
    size_t rounded = mst_align(size ? size : 1);
    if (rounded < size) return no_memory(size);
    /* Large blocks get huge pages: a training step reads megabytes, and TLB misses take time. */
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

/* From this size on, mst_pages_alloc maps new pages. Smaller blocks come from mst_buffer_alloc. */
enum { OWN_PAGES = 256 * 1024 };

static size_t pages_size(size_t size) {
    const size_t unit = size >= HUGE_PAGE ? HUGE_PAGE : 4096;
    return (size + unit - 1) / unit * unit;
}

mst_status mst_pages_alloc(size_t size, void **out) {
    if (size < OWN_PAGES) return mst_buffer_alloc(size, out);
    *out = NULL;
    const size_t bytes = pages_size(size), spare = size >= HUGE_PAGE ? HUGE_PAGE : 0;
    if (bytes < size || bytes + spare < bytes) return no_memory(size);
    char *data = mmap(NULL, bytes + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) return no_memory(size);
    if (spare) { /* frees the pages before and after the aligned part */
        const size_t before = (HUGE_PAGE - (uintptr_t)data % HUGE_PAGE) % HUGE_PAGE;
        if (before) munmap(data, before);
        if (spare > before) munmap(data + before + bytes, spare - before);
        data += before;
        (void)madvise(data, bytes, MADV_HUGEPAGE);
    }
    *out = data;
    return MST_OK;
}

mst_status mst_memory_probe(size_t size) {
    void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (data == MAP_FAILED) return no_memory(size);
    munmap(data, size);
    return MST_OK;
}

void mst_pages_free(void *data, size_t size) {
    if (!data) return;
    if (size < OWN_PAGES)
        mst_buffer_free(data);
    else
        munmap(data, pages_size(size));
}
