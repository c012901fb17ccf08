/** Rotates component COMPONENT, pictures of u8 or f32 [height, width, channels] or [height, width], around their
 *  middle, counterclockwise, by LOWER to UPPER turns, uniform: 0.1 is 36 degrees. The size stays. The number depends
 *  on SEED, the pass over the source (its epoch) and the row, not on the order, the shards or the threads. With the
 *  same number drawn it gives the pixels of keras.layers.RandomRotation. OPTIONS may be NULL. With
 *  MST_RESIZE_NEAREST and the fill value 0 pictures of any dtype are possible. Must come before
 *  mst_dataset_padded_batch and mst_dataset_prefetch. Fails with MST_INVALID if COMPONENT is not a picture, or
 *  unless -1 <= LOWER <= UPPER <= 1. */
#ifdef MST_DATASET_HEADER
/** What is outside of a picture a b c d: its reflection (d c b a | a b c d | d c b a), one value, the nearest pixel
 *  (a a a a | a b c d | d d d d), or the picture again (a b c d | a b c d | a b c d). */
typedef enum mst_fill_mode { MST_FILL_REFLECT = 0, MST_FILL_CONSTANT, MST_FILL_NEAREST, MST_FILL_WRAP } mst_fill_mode;
/** Options of random_rotation, random_zoom and random_translation. */
typedef struct mst_affine_options {
    int zero_;
    mst_fill_mode fill_mode;
    mst_resize_method interpolation; /**< MST_RESIZE_BILINEAR or MST_RESIZE_NEAREST */
    double fill_value;               /**< for MST_FILL_CONSTANT */
    double width_lower, width_upper; /**< of random_zoom and random_translation: a range for the width; both 0: as for
                                          the height */
} mst_affine_options;
MST_API MST_CHECKED mst_status mst_dataset_random_rotation(mst_dataset *dataset, int component, double lower,
                                                           double upper, uint64_t seed,
                                                           const mst_affine_options *options, mst_dataset **out);
#endif
#include "base/argument.h"
#include "data/nested.h"
#include "data/pictures/affine.h"

typedef struct random_rotation {
    mst_picture_dataset base;
    double lower, upper;
    mst_affine_options options;
} random_rotation;

static void random_rotation_change(const mst_dataset *dataset, const mst_row_key *key, const mst_array *in,
                                   mst_array *out) {
    const random_rotation *d = (const random_rotation *)dataset;
    const mst_affine_options *o = &d->options;
    uint32_t word[4];
    mst_picture_draw(dataset, key, word);
    const float turns = mst_affine_draw(word[0], d->lower, d->upper);
    const mst_affine_map map = mst_affine_rotation(in->shape.dim[0], in->shape.dim[1], 360 * turns);
    mst_picture_affine(in, &map, o, out);
}

static void random_rotation_settings(const mst_dataset *dataset, char *text, size_t size) {
    const random_rotation *d = (const random_rotation *)dataset;
    mst_affine_settings(dataset, d->lower, d->upper, &d->options, text, size);
}

static const mst_dataset_type type = {.name = "random_rotation", .settings = random_rotation_settings};

mst_status mst_dataset_random_rotation(mst_dataset *dataset, int component, double lower, double upper, uint64_t seed,
                                       const mst_affine_options *options, mst_dataset **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(out)) return MST_INVALID;
    const mst_affine_options o = options ? *options : (mst_affine_options){.zero_ = 0};
    random_rotation *d;
    *out = NULL;
    MST_TRY(mst_affine_check(dataset, type.name, component, &o));
    MST_TRY(mst_picture_want_range(type.name, "upper", upper, -1, 1));
    MST_TRY(mst_picture_want_range(type.name, "lower", lower, -1, upper));
    MST_TRY(mst_picture_derive_random(&type, sizeof *d, dataset, component, seed, random_rotation_change, &d));
    d->lower = lower;
    d->upper = upper;
    d->options = o;
    *out = &d->base.base;
    return MST_OK;
}

mst_dataset *mst_data_random_rotation(mst_dataset *dataset, int component, double lower, double upper, uint64_t seed,
                                      const mst_affine_options *options) {
    MST_DATASET_NEST(dataset, mst_dataset_random_rotation(dataset, component, lower, upper, seed, options, &out));
}
