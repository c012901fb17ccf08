/** Affine maps of pictures, as random_rotation, random_zoom and random_translation use them. Pixel [y, x] of the result
 *  is the value of the source at
 *
 *      x' = a0 x + a1 y + a2
 *      y' = b0 x + b1 y + b2
 *
 *  Source of formulas and roundings: TensorFlow's ImageProjectiveTransformV3, which keras.ops.image.affine_transform
 *  calls (tensorflow/core/kernels/image/image_ops.h). All arithmetic is f32, as there. */
#ifndef MUSTER_DATA_PICTURES_AFFINE_H
#define MUSTER_DATA_PICTURES_AFFINE_H

#include "data/pictures/picture.h"

typedef struct mst_affine_map {
    float a0, a1, a2, b0, b1, b2;
} mst_affine_map;

/** Rotates around the middle by DEGREES, counterclockwise (keras.layers.RandomRotation). */
mst_affine_map mst_affine_rotation(int64_t height, int64_t width, float degrees);
/** Zooms around the middle. A zoom of 1 keeps the size; a zoom below 1 makes the picture larger. The factor that
 *  keras.layers.RandomZoom draws is this zoom minus 1. */
mst_affine_map mst_affine_zoom(int64_t height, int64_t width, float height_zoom, float width_zoom);
/** Moves down by DOWN pixels and to the right by RIGHT (keras.layers.RandomTranslation). */
mst_affine_map mst_affine_translation(float down, float right);

/** Maps SRC to DST, pictures of one shape and dtype, which must not overlap. Dtypes other than u8 and f32 are possible
 *  with MST_RESIZE_NEAREST and the fill value 0. u8 is rounded to the nearest level. */
void mst_picture_affine(const mst_array *src, const mst_affine_map *map, const mst_affine_options *options,
                        mst_array *dst);

/** MST_INVALID, naming TRANSFORM, if OPTIONS are not possible for component COMPONENT of DATASET. */
MST_CHECKED mst_status mst_affine_check(const mst_dataset *dataset, const char *transform, int component,
                                        const mst_affine_options *options);
/** Writes the slot `settings` of a transform that draws from LOWER to UPPER. */
void mst_affine_settings(const mst_dataset *dataset, double lower, double upper, const mst_affine_options *options,
                         char *text, size_t size);
/** Maps the random WORD to a number from LOWER to UPPER. */
float mst_affine_draw(uint32_t word, double lower, double upper);

#endif
