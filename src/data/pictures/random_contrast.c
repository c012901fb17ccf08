/** Changes the contrast of component COMPONENT, pictures of u8 or f32 [height, width, channels] or [height, width]:
 *  each channel becomes (src - mean) * factor + mean. Each picture has one factor, uniform from LOWER to UPPER. u8 is
 *  changed as src / 255 and cut off at 0 and 1. The factor depends on SEED, the pass over the source (its epoch) and
 *  the row, not on the order, the shards or the threads. Formula: tf.image.stateless_random_contrast, adjust_contrast.
 *  Must come before mst_dataset_padded_batch and mst_dataset_prefetch. Fails with MST_INVALID if COMPONENT is no
 *  picture, or unless 0 <= LOWER <= UPPER. */
#ifdef MST_DATASET_HEADER
MST_API MST_CHECKED mst_status mst_dataset_random_contrast(mst_dataset *dataset, int component, double lower,
                                                           double upper, uint64_t seed, mst_dataset **out);
#endif
#include "base/argument.h"
#include "data/nested.h"
#include "data/pictures/picture.h"

typedef struct random_contrast {
    mst_picture_dataset base;
    double lower, upper;
} random_contrast;

static void random_contrast_change(const mst_dataset *dataset, const mst_row_key *key, const mst_array *in,
                                   mst_array *out) {
    const random_contrast *d = (const random_contrast *)dataset;
    uint32_t word[4];
    mst_picture_draw(dataset, key, word);
    mst_picture_contrast(in, (float)(d->lower + (d->upper - d->lower) * (double)mst_rng_unit_f32(word[0])), out);
}

static void random_contrast_settings(const mst_dataset *dataset, char *text, size_t size) {
    const random_contrast *d = (const random_contrast *)dataset;
    mst_picture_settings(dataset, text, size, "%.9g to %.9g", d->lower, d->upper);
}

static const mst_dataset_type type = {.name = "random_contrast", .settings = random_contrast_settings};

mst_status mst_dataset_random_contrast(mst_dataset *dataset, int component, double lower, double upper, uint64_t seed,
                                       mst_dataset **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(out)) return MST_INVALID;
    random_contrast *d;
    *out = NULL;
    MST_TRY(mst_picture_want_values(dataset, type.name, component));
    MST_TRY(mst_picture_want_range(type.name, "upper", upper, 0, 1e6));
    MST_TRY(mst_picture_want_range(type.name, "lower", lower, 0, upper));
    MST_TRY(mst_picture_derive_random(&type, sizeof *d, dataset, component, seed, random_contrast_change, &d));
    d->lower = lower;
    d->upper = upper;
    *out = &d->base.base;
    return MST_OK;
}

mst_dataset *mst_data_random_contrast(mst_dataset *dataset, int component, double lower, double upper, uint64_t seed) {
    MST_DATASET_NEST(dataset, mst_dataset_random_contrast(dataset, component, lower, upper, seed, &out));
}
