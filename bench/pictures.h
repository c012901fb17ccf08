/** JPEG files for `muster-bench data`, and direct calls of libjpeg-turbo that decode them. */
#ifndef MUSTER_BENCH_PICTURES_H
#define MUSTER_BENCH_PICTURES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "muster/status.h"

enum { BENCH_PICTURES = 16, BENCH_PICTURE_WIDTH = 500, BENCH_PICTURE_HEIGHT = 375, BENCH_PICTURE_QUALITY = 90 };

/** The same pictures in memory and as files FOLDER/class/00.jpg, ... */
typedef struct bench_pictures {
    uint8_t *data[BENCH_PICTURES]; /**< to be freed with free() */
    size_t size[BENCH_PICTURES];
    char folder[96]; /**< "": none were made */
} bench_pictures;

/** Makes the pictures and writes them to FOLDER, which must not exist yet. MST_UNIMPLEMENTED, and nothing is written,
 *  where libjpeg-turbo cannot be loaded. To be removed with bench_pictures_remove, also after a failure. */
MST_CHECKED mst_status bench_pictures_make(const char *folder, bench_pictures *out);
/** Removes the files and the folder, and frees the memory. */
void bench_pictures_remove(bench_pictures *pictures);
/** Decodes all pictures to planes of brightness and colors with libjpeg-turbo's fastest transform. Adds one pixel of
 *  each to *SUM, so that the work has a result. */
MST_CHECKED mst_status bench_pictures_decode(const bench_pictures *pictures, uint32_t *sum);

#endif
