/** JPEG files for `muster-bench data`, and the bare calls of libjpeg-turbo that decode them. */
#ifndef MUSTER_BENCH_PICTURES_H
#define MUSTER_BENCH_PICTURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "muster/status.h"

enum { BENCH_PICTURES = 16, BENCH_PICTURE_WIDTH = 500, BENCH_PICTURE_HEIGHT = 375, BENCH_PICTURE_QUALITY = 90 };

/** In memory and as files FOLDER/class/00.jpg, .... */
typedef struct bench_pictures {
    uint8_t *data[BENCH_PICTURES]; /**< to be freed with free() */
    size_t size[BENCH_PICTURES];
    char folder[96];
} bench_pictures;

/** Makes and writes them; FOLDER is new. They have the noise of photographs: each octave of it is weaker than the one
 *  before. MST_UNIMPLEMENTED, and nothing is written, where libjpeg-turbo is not there. */
MST_CHECKED mst_status bench_pictures_make(const char *folder, bench_pictures *out);
/** Removes the files and frees the memory. */
void bench_pictures_remove(bench_pictures *pictures);
/** Decodes all of them to brightness and colors, with the fast transform and nothing else, a few lines at a time.
 *  Adds a pixel of each to *SUM. */
MST_CHECKED mst_status bench_pictures_decode(const bench_pictures *pictures, uint32_t *sum);

#endif
