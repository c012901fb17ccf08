/** What transforms of pictures share. One component of their rows is a picture, [height, width, channels] or [height,
 *  width].
 *
 *  A new transform is one file with its struct (an mst_picture_dataset first), the function that is called with each
 *  row, and its public function. Its random numbers are drawn from (seed, pass, record). So they depend neither on the
 *  order, nor on which thread, shard or run copies the row. */
#ifndef MUSTER_DATA_PICTURES_PICTURE_H
#define MUSTER_DATA_PICTURES_PICTURE_H

#include "base/rng.h"
#include "data/dataset.h"

typedef struct mst_picture_size {
    int64_t height, width;
    int64_t pixel; /**< size of a pixel in bytes */
} mst_picture_size;

/** The function of an mst_picture_dataset: makes the picture OUT, of dtype OUT->dtype, from IN. */
typedef void (*mst_picture_function)(const mst_dataset *dataset, const mst_row_key *key, const mst_array *in,
                                     mst_array *out);

typedef struct mst_picture_dataset {
    mst_dataset base;
    mst_row_stage stage;
    uint64_t seed; /**< seed of this dataset's random numbers */
} mst_picture_dataset;

/** Makes a dataset of SIZE bytes, named after TYPE, whose component COMPONENT is FUNCTION of the same component of
 *  UPSTREAM. Fails with MST_INVALID if that is not a picture. */
MST_CHECKED mst_status mst_picture_derive(const mst_dataset_type *type, size_t size, mst_dataset *upstream,
                                          int component, mst_picture_function function, void *out);
/** The same for a FUNCTION that draws random numbers. Transforms of different types draw different numbers also with
 *  the same SEED. Also fails if a dataset before it gives values without the numbers of their rows. */
MST_CHECKED mst_status mst_picture_derive_random(const mst_dataset_type *type, size_t size, mst_dataset *upstream,
                                                 int component, uint64_t seed, mst_picture_function function,
                                                 void *out);
/** MST_INVALID, naming TRANSFORM, unless component COMPONENT of DATASET is pictures of u8 or f32. */
MST_CHECKED mst_status mst_picture_want_values(const mst_dataset *dataset, const char *transform, int component);
/** MST_INVALID, naming TRANSFORM, unless component COMPONENT of DATASET is pictures that contain a box. The box has
 *  HEIGHT x WIDTH pixels, the first at [TOP, LEFT]. PADDING pixels on each side count as part of the pictures. */
MST_CHECKED mst_status mst_picture_want_box(const mst_dataset *dataset, const char *transform, int component,
                                            int64_t padding, int64_t top, int64_t left, int64_t height, int64_t width);
/** MST_INVALID, naming TRANSFORM, if X is not from LEAST to MOST. */
MST_CHECKED mst_status mst_picture_want_range(const char *transform, const char *what, double x, double least,
                                              double most);

/** Writes the text of a slot `settings`: the component, then FORMAT, then the seed if the transform is random. */
void mst_picture_settings(const mst_dataset *dataset, char *text, size_t size, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/** The random numbers of the row with KEY. */
mst_rng mst_picture_rng(const mst_dataset *dataset, const mst_row_key *key);
/** The first four words of these random numbers. */
void mst_picture_draw(const mst_dataset *dataset, const mst_row_key *key, uint32_t word[4]);

mst_picture_size mst_picture_size_of(const mst_array *picture);
/** The number of channels of PICTURE. */
int64_t mst_picture_channels(const mst_array *picture);
/** Sets height and width in the shape of component COMPONENT. */
void mst_picture_resize(mst_dataset *dataset, int component, int64_t height, int64_t width);

/* In the functions that follow, SRC and DST must not overlap. */

/** With LEFT_RIGHT, columns come in reverse order, and with UP_DOWN, rows do (tf.image.flip_left_right,
 *  flip_up_down). */
void mst_picture_flip(const void *src, mst_picture_size size, bool left_right, bool up_down, void *dst);
/** Element [y, x] of DST is element [top + y, left + x] of SRC, or 0 outside of SRC. */
void mst_picture_crop(const void *src, mst_picture_size size, int64_t top, int64_t left, int64_t height, int64_t width,
                      void *dst);
/** f32: dst = src + delta. u8: dst = floor(255.5 * clip(src / 255 + delta, 0, 1)), at most 255
 *  (tf.image.adjust_brightness). */
void mst_picture_brighten(const mst_array *src, float delta, mst_array *dst);
/** dst = (src - mean) * factor + mean, with the mean of each channel; u8 is converted to f32 and back as above
 *  (tf.image.adjust_contrast). */
void mst_picture_contrast(const mst_array *src, float factor, mst_array *dst);

#endif
