#include <stdlib.h>

#include "base/no_memory.h"
#include "format/image.h"

mst_status mst_image_check_header(const char *name, size_t size, int64_t height, int64_t width) {
    if ((uint64_t)(height * width) / MST_IMAGE_PIXELS_OF_BYTE <= size) return MST_OK;
    return MST_FAIL(MST_CORRUPT, "'%s': %zu bytes cannot hold the %lld x %lld pixels that its header names", name, size,
                    (long long)height, (long long)width);
}

mst_status mst_image_check(const char *name, size_t size, int64_t height, int64_t width, int channels) {
    if (height < 1 || width < 1 || height > MST_IMAGE_MOST_BYTES / width / channels)
        return MST_FAIL(MST_CORRUPT, "'%s': a picture of %lld x %lld pixels is larger than is possible (%lld bytes)",
                        name, (long long)height, (long long)width, (long long)MST_IMAGE_MOST_BYTES);
    return mst_image_check_header(name, size, height, width);
}

mst_status mst_image_alloc(const char *name, size_t size, int64_t height, int64_t width, mst_image *out) {
    MST_TRY(mst_image_check(name, size, height, width, out->channels));
    out->height = height;
    out->width = width;
    out->pixels = malloc((size_t)(height * width * out->channels));
    return out->pixels ? MST_OK : MST_NO_MEMORY("for the pixels of '%s'", name);
}
