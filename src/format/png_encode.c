#include "format/png_encode.h"

#include "format/image.h"
#include "module/module.h"

mst_status mst_png_encode(const void *pixels, int64_t height, int64_t width, int64_t channels, void **data,
                          size_t *size) {
    const void *interface;
    *data = NULL;
    if (channels < 1 || channels > 4 || height < 1 || width < 1 || height > INT32_MAX || width > INT32_MAX)
        return MST_FAIL(MST_INVALID, "an image of %lld x %lld pixels and %lld channels cannot be written as PNG",
                        (long long)height, (long long)width, (long long)channels);
    MST_TRY(mst_module_interface("png", &interface));
    const mst_codec *codec = interface;
    return codec->encode(pixels, height, width, channels, data, size);
}
