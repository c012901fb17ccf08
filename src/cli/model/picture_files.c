#include "cli/model/picture_files.h"

#include <string.h>

/* The whole number S with S * S * CHANNELS = COUNT; 0: there is none. */
static int64_t side_of(int64_t count, int64_t channels) {
    int64_t side = 0;
    while (side * side * channels < count) side++;
    return side * side * channels == count ? side : 0;
}

enum { LEAST_SIDE = 4 }; /* smaller rows are taken for rows of a table */

/* Finds the size and channels of pictures that become rows of COUNT numbers: with side SIZE if that is known, else a
 * square of one channel, else a square of three. */
static bool fill_flat(int64_t count, int64_t size, mst_images_options *o) {
    for (int channels = 1; channels <= 3; channels += 2) {
        const int64_t side = side_of(count, channels);
        if (side < LEAST_SIDE || (size && side != size)) continue;
        o->height = o->width = side;
        o->channels = channels;
        return true;
    }
    return false;
}

/* *OUT becomes SIDE if that is known, else SIZE. Returns whether the two do not contradict each other. */
static bool fill_side(int64_t side, int64_t size, int64_t *out) {
    *out = side > 0 ? side : size;
    return side <= 0 || !size || side == size;
}

static bool fill(mst_shape input, int64_t size, mst_images_options *o) {
    if (input.ndim == 1) return fill_flat(input.dim[0], size, o);
    if (input.ndim != 2 && input.ndim != 3) return false;
    const int64_t channels = input.ndim == 3 ? input.dim[2] : 1;
    o->channels = channels == 1 ? 1 : 3;
    return (channels == 1 || channels == 3 || channels < 0) && fill_side(input.dim[0], size, &o->height) &&
           fill_side(input.dim[1], size, &o->width);
}

static mst_status copy_picture(const mst_array *in, mst_array *out, void *context) {
    (void)context;
    memcpy(out->data, in->data, (size_t)in->count);
    return MST_OK;
}

mst_status picture_files_open(const picture_files *pictures, mst_shape input, mst_dataset **rows,
                              const mst_dataset **files) {
    mst_images_options options = {.dtype = MST_U8, .skip_corrupt = pictures->skip_corrupt};
    const int64_t size = pictures->size;
    mst_dataset *opened;
    char text[MST_SHAPE_TEXT];
    if (!fill(input, size, &options))
        return MST_FAIL(MST_INVALID, "'%s': the model takes inputs of shape %s, which are no pictures%s",
                        pictures->paths[0], mst_shape_print(input, text, sizeof text),
                        size ? " of that size: leave --image-size out" : "");
    MST_TRY(mst_dataset_from_image_files(pictures->paths, pictures->count, &options, &opened));
    *files = *rows = opened;
    if (input.ndim == 3) return MST_OK;
    const mst_spec row = {MST_U8, input.ndim == 2 ? MST_SHAPE(options.height, options.width) : input};
    const mst_status status = mst_dataset_map(opened, copy_picture, NULL, &row, 1, rows);
    mst_dataset_release(opened);
    if (status) *rows = NULL;
    return status;
}
