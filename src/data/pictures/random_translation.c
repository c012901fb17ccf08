/** Moves component COMPONENT, pictures of u8 or f32 [height, width, channels] or [height, width], by LOWER to UPPER
 *  of their height downwards, uniform, and in the same way to the right, by .width_lower to .width_upper of their
 *  width, or if both are 0 by LOWER to UPPER. The two numbers are drawn independently. They depend on SEED, the pass
 *  over the source (its epoch) and the row, not on the order, the shards or the threads. With the same numbers drawn
 *  it gives the pixels of keras.layers.RandomTranslation. OPTIONS, dtypes and place as for
 *  mst_dataset_random_rotation. Fails with MST_INVALID if COMPONENT is not a picture, or unless -1 <= LOWER <= UPPER
 *  <= 1. */
#ifdef MST_DATASET_HEADER
MST_API MST_CHECKED mst_status mst_dataset_random_translation(mst_dataset *dataset, int component, double lower,
                                                              double upper, uint64_t seed,
                                                              const mst_affine_options *options, mst_dataset **out);
#endif
#include "base/argument.h"
#include "data/nested.h"
#include "data/pictures/affine.h"

typedef struct random_translation {
    mst_picture_dataset base;
    double lower, upper;
    mst_affine_options options;
} random_translation;

static bool has_width(const mst_affine_options *o) {
    return o->width_lower != 0 || o->width_upper != 0;
}

static void random_translation_change(const mst_dataset *dataset, const mst_row_key *key, const mst_array *in,
                                      mst_array *out) {
    const random_translation *d = (const random_translation *)dataset;
    const mst_affine_options *o = &d->options;
    uint32_t word[4];
    mst_picture_draw(dataset, key, word);
    const bool own = has_width(o);
    const float down = mst_affine_draw(word[0], d->lower, d->upper);
    const float right = mst_affine_draw(word[1], own ? o->width_lower : d->lower, own ? o->width_upper : d->upper);
    const mst_affine_map map = mst_affine_translation(down * (float)in->shape.dim[0], right * (float)in->shape.dim[1]);
    mst_picture_affine(in, &map, o, out);
}

static void random_translation_settings(const mst_dataset *dataset, char *text, size_t size) {
    const random_translation *d = (const random_translation *)dataset;
    mst_affine_settings(dataset, d->lower, d->upper, &d->options, text, size);
}

static const mst_dataset_type type = {.name = "random_translation", .settings = random_translation_settings};

mst_status mst_dataset_random_translation(mst_dataset *dataset, int component, double lower, double upper,
                                          uint64_t seed, const mst_affine_options *options, mst_dataset **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(out)) return MST_INVALID;
    const mst_affine_options o = options ? *options : (mst_affine_options){.zero_ = 0};
    random_translation *d;
    *out = NULL;
    MST_TRY(mst_affine_check(dataset, type.name, component, &o));
    MST_TRY(mst_picture_want_range(type.name, "upper", upper, -1, 1));
    MST_TRY(mst_picture_want_range(type.name, "lower", lower, -1, upper));
    MST_TRY(mst_picture_want_range(type.name, "width_upper", o.width_upper, -1, 1));
    MST_TRY(mst_picture_want_range(type.name, "width_lower", o.width_lower, -1, o.width_upper));
    MST_TRY(mst_picture_derive_random(&type, sizeof *d, dataset, component, seed, random_translation_change, &d));
    d->lower = lower;
    d->upper = upper;
    d->options = o;
    *out = &d->base.base;
    return MST_OK;
}

mst_dataset *mst_data_random_translation(mst_dataset *dataset, int component, double lower, double upper, uint64_t seed,
                                         const mst_affine_options *options) {
    MST_DATASET_NEST(dataset, mst_dataset_random_translation(dataset, component, lower, upper, seed, options, &out));
}
