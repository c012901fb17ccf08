/* clang -fsanitize=fuzzer,address,undefined: PNG and JPEG files. The first byte chooses the channels and the size that is
 * wanted. */
#include "format/image.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    mst_image image;
    if (size < 1) return 0;
    const mst_image_want want = {data[0] & 1 ? 3 : 1, data[0] & 2 ? 8 : 0, data[0] & 2 ? 8 : 0};
    const mst_status status = mst_image_decode("input", data + 1, size - 1, &want, &image);
    if ((status == MST_OK) != (image.pixels != NULL)) __builtin_trap();
    if (!status && (image.height < 1 || image.width < 1 || image.channels != want.channels)) __builtin_trap();
    if (!status && (uint64_t)(image.height * image.width) / MST_IMAGE_PIXELS_OF_BYTE > size) __builtin_trap();
    unsigned sum = 0;
    for (int64_t i = 0; !status && i < image.height * image.width * image.channels; i++) sum += image.pixels[i];
    free(image.pixels);
    volatile unsigned seen = sum;
    (void)seen;
    return 0;
}
