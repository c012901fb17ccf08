/* What augment_test.py asks of Muster:
 *
 *      parity_augment DTYPE HEIGHT WIDTH CHANNELS CHANGE NUMBER...
 *
 *  reads a picture of DTYPE, u8 or f32, from standard input and writes what CHANGE makes of it to standard output: flip
 *  LEFT_RIGHT UP_DOWN, crop TOP LEFT HEIGHT WIDTH, brightness DELTA, contrast FACTOR, rotation FILL INTERPOLATION
 *  FILL_VALUE DEGREES, zoom FILL INTERPOLATION FILL_VALUE HEIGHT WIDTH, translation FILL INTERPOLATION FILL_VALUE DOWN
 *  RIGHT. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/pictures/affine.h"

static const char *const changes[] = {"flip", "crop", "brightness", "contrast", "rotation", "zoom", "translation"};
static const int num_numbers[] = {2, 4, 1, 1, 4, 5, 5};

static mst_array make(mst_dtype dtype, mst_shape shape) {
    mst_array array = {.count = mst_shape_count(shape), .dtype = dtype, .shape = shape};
    array.data = calloc((size_t)array.count, mst_dtype_size(dtype));
    return array;
}

static void run_affine(int change, char **number, const mst_array *src, mst_array *dst) {
    const mst_affine_options options = {.fill_mode = (mst_fill_mode)atoi(number[0]),
                                        .interpolation = atoi(number[1]) ? MST_RESIZE_NEAREST : MST_RESIZE_BILINEAR,
                                        .fill_value = strtod(number[2], NULL)};
    const int64_t height = src->shape.dim[0], width = src->shape.dim[1];
    const float first = strtof(number[3], NULL), second = change > 4 ? strtof(number[4], NULL) : 0;
    const mst_affine_map map = change == 4   ? mst_affine_rotation(height, width, first)
                               : change == 5 ? mst_affine_zoom(height, width, first, second)
                                             : mst_affine_translation(first, second);
    mst_picture_affine(src, &map, &options, dst);
}

static void run(int change, char **number, const mst_array *src, mst_array *dst) {
    const mst_picture_size size = mst_picture_size_of(src);
    switch (change) {
        case 0: mst_picture_flip(src->data, size, atoi(number[0]), atoi(number[1]), dst->data); break;
        case 1:
            mst_picture_crop(src->data, size, atoi(number[0]), atoi(number[1]), dst->shape.dim[0], dst->shape.dim[1],
                             dst->data);
            break;
        case 2: mst_picture_brighten(src, strtof(number[0], NULL), dst); break;
        case 3: mst_picture_contrast(src, strtof(number[0], NULL), dst); break;
        default: run_affine(change, number, src, dst);
    }
}

int main(int argc, char **argv) {
    int change = 0;
    if (argc < 6) return 2;
    const mst_dtype dtype = strcmp(argv[1], "u8") == 0 ? MST_U8 : MST_F32;
    while (change < 6 && strcmp(argv[5], changes[change]) != 0) change++;
    if (argc != 6 + num_numbers[change]) return 2;
    mst_shape shape = MST_SHAPE(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
    mst_array src = make(dtype, shape);
    if (change == 1) {
        shape.dim[0] = atoi(argv[8]);
        shape.dim[1] = atoi(argv[9]);
    }
    mst_array dst = make(dtype, shape);
    const bool is_read =
        src.data && dst.data && fread(src.data, mst_dtype_size(dtype), (size_t)src.count, stdin) == (size_t)src.count;
    if (is_read) {
        run(change, argv + 6, &src, &dst);
        fwrite(dst.data, mst_dtype_size(dtype), (size_t)dst.count, stdout);
    }
    free(src.data);
    free(dst.data);
    return is_read ? 0 : 1;
}
