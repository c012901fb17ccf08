/** Adds a random number to component COMPONENT, pictures of u8 or f32 [height, width, channels] or [height, width]. All
 *  of a picture gets the same number, uniform from -MAX_DELTA to MAX_DELTA. u8 is changed as src / 255 and cut off at 0
 *  and 1, so that MAX_DELTA for u8 is from 0 to 1. The number depends on SEED, the pass over the source (its epoch)
 *  and the row, not on the order, the shards or the threads. Formula: tf.image.stateless_random_brightness,
 *  adjust_brightness. Must come before mst_dataset_padded_batch and mst_dataset_prefetch. Fails with MST_INVALID if
 *  COMPONENT is not a picture, or MAX_DELTA is negative. */
#ifdef MST_DATASET_HEADER
MST_API MST_CHECKED mst_status mst_dataset_random_brightness(mst_dataset *dataset, int component, double max_delta,
                                                             uint64_t seed, mst_dataset **out);
#endif
#include "base/argument.h"
#include "data/nested.h"
#include "data/pictures/picture.h"

typedef struct random_brightness {
    mst_picture_dataset base;
    double max_delta;
} random_brightness;

static void random_brightness_change(const mst_dataset *dataset, const mst_row_key *key, const mst_array *in,
                                     mst_array *out) {
    const double max_delta = ((const random_brightness *)dataset)->max_delta;
    uint32_t word[4];
    mst_picture_draw(dataset, key, word);
    mst_picture_brighten(in, (float)(max_delta * (2 * (double)mst_rng_unit_f32(word[0]) - 1)), out);
}

static void random_brightness_settings(const mst_dataset *dataset, char *text, size_t size) {
    mst_picture_settings(dataset, text, size, "%.9g", ((const random_brightness *)dataset)->max_delta);
}

static const mst_dataset_type type = {.name = "random_brightness", .settings = random_brightness_settings};

mst_status mst_dataset_random_brightness(mst_dataset *dataset, int component, double max_delta, uint64_t seed,
                                         mst_dataset **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(out)) return MST_INVALID;
    random_brightness *d;
    *out = NULL;
    MST_TRY(mst_picture_want_values(dataset, type.name, component));
    MST_TRY(mst_picture_want_range(type.name, "max_delta", max_delta, 0, 1e6));
    MST_TRY(mst_picture_derive_random(&type, sizeof *d, dataset, component, seed, random_brightness_change, &d));
    d->max_delta = max_delta;
    *out = &d->base.base;
    return MST_OK;
}

mst_dataset *mst_data_random_brightness(mst_dataset *dataset, int component, double max_delta, uint64_t seed) {
    MST_DATASET_NEST(dataset, mst_dataset_random_brightness(dataset, component, max_delta, seed, &out));
}
