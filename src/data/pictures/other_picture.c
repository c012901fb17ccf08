#include "data/pictures/other_picture.h"

#include <string.h>

const char *mst_other_picture(const void *data, size_t size, uint64_t whole) {
    static const struct {
        const char *name, *begin;
        size_t length;
    } kinds[] = {{"GIF", "GIF87a", 6}, {"GIF", "GIF89a", 6}, {"TIFF", "II*\0", 4}, {"TIFF", "MM\0*", 4}};
    const uint8_t *u = data;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (size > kinds[i].length && memcmp(u, kinds[i].begin, kinds[i].length) == 0) return kinds[i].name;
    if (size > 12 && memcmp(u, "RIFF", 4) == 0 && memcmp(u + 8, "WEBP", 4) == 0) return "WebP";
    if (size < 26 || memcmp(u, "BM", 2) != 0) return NULL;
    /* "BM" may occur by chance: the size of the file, which follows it, must be right */
    const size_t told = u[2] | (size_t)u[3] << 8 | (size_t)u[4] << 16 | (size_t)u[5] << 24;
    return told == whole ? "BMP" : NULL;
}
