/* clang -fsanitize=fuzzer,address,undefined: PNG, JPEG, GIF and BMP files. The first byte chooses the channels, the
 * size that is wanted, and planes. */
#include "format/image.h"
#include "memory.h"

#include <stdlib.h>
#include <string.h>

/* A plane has a sample for each pixel. */
static unsigned sum_of(const mst_image *image, const mst_image_plane *plane) {
    unsigned sum = 0;
    if (plane->x_step < 1 || plane->y_step < 1 || plane->width > plane->stride) __builtin_trap();
    if (plane->width * plane->x_step < image->width || plane->height * plane->y_step < image->height) __builtin_trap();
    for (int64_t y = 0; y < plane->height; y++)
        for (int64_t x = 0; x < plane->width; x++) sum += plane->pixels[y * plane->stride + x];
    return sum;
}

static void read_input(const uint8_t *data, size_t size) {
    mst_image image;
    if (size < 1) return;
    const char *format = mst_image_format(data + 1, size - 1);
    if (format && strcmp(format, "WebP") == 0) return; /* webp_fuzz reads them */
    const mst_image_want want = {.channels = data[0] & 1 ? 3 : 1,
                                 .least_height = data[0] & 2 ? 8 : 0,
                                 .least_width = data[0] & 2 ? 8 : 0,
                                 .planes = data[0] & 4};
    const mst_status status = mst_image_decode("input", data + 1, size - 1, &want, &image);
    if ((status == MST_OK) != (image.pixels != NULL)) __builtin_trap();
    if (!status && (image.height < 1 || image.width < 1 || image.channels != want.channels)) __builtin_trap();
    if (!status && (uint64_t)(image.height * image.width) / MST_IMAGE_PIXELS_OF_BYTE > size) __builtin_trap();
    unsigned sum = 0;
    const int num_planes = image.plane[0].pixels ? 3 : 0;
    for (int64_t i = 0; !status && !num_planes && i < image.height * image.width * image.channels; i++)
        sum += image.pixels[i];
    for (int p = 0; p < num_planes; p++) sum += sum_of(&image, &image.plane[p]);
    free(image.pixels);
    volatile unsigned seen = sum;
    (void)seen;
}

/* The most is of a progressive JPEG: for each pixel three bytes and the three coefficients, and blocks of 16 x 16
 * pixels also where a picture is narrower: at most 65500 x 16. */
FUZZ(read_input, 9 * MST_IMAGE_PIXELS_OF_BYTE, 12 << 20)
