/* clang -fsanitize=fuzzer,address,undefined: WebP files, still and of several frames. The first byte chooses the
 * channels. */
#include "format/image.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

static void read_input(const uint8_t *data, size_t size) {
    mst_image image;
    if (size < 1) return;
    const mst_image_want want = {.channels = data[0] & 1 ? 3 : 1};
    const char *format = mst_image_format(data + 1, size - 1);
    if (!format || strcmp(format, "WebP") != 0) return; /* image_fuzz reads the others */
    const mst_status status = mst_image_decode("input", data + 1, size - 1, &want, &image);
    if ((status == MST_OK) != (image.pixels != NULL)) __builtin_trap();
    if (!status && (image.height < 1 || image.width < 1 || image.channels != want.channels)) __builtin_trap();
    unsigned sum = 0;
    for (int64_t i = 0; !status && i < image.height * image.width * image.channels; i++) sum += image.pixels[i];
    free(image.pixels);
    volatile unsigned seen = sum;
    (void)seen;
}

/* A picture of one color takes no bits for its pixels, so 2^24 pixels are allowed for any file (format/webp.c): with 3
 * bytes for each, and 5 or so while libwebp decodes them. */
FUZZ(read_input, 9 * MST_IMAGE_PIXELS_OF_BYTE, 9LL << 24)
