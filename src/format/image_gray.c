#include "format/image.h"

void mst_image_make_gray(mst_image *image) {
    enum { RED = 19595, GREEN = 38470, BLUE = 7471, HALF = 32768 };
    const uint8_t *rgb = image->pixels;
    for (int64_t i = 0; i < image->height * image->width; i++, rgb += 3)
        image->pixels[i] = (uint8_t)((RED * rgb[0] + GREEN * rgb[1] + BLUE * rgb[2] + HALF) >> 16);
    image->channels = 1;
}
