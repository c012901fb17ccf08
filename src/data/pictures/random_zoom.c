/** Zooms component COMPONENT, pictures of u8 or f32 [height, width, channels] or [height, width], at their middle,
 *  by LOWER to UPPER, uniform: 0.2 shows a fifth more of height and width, -0.2 a fifth less. The size stays.
 *  Without .width_lower and .width_upper the width is zoomed by the number drawn for the height, else by one of its
 *  own. The numbers depend on SEED, the pass over the source (its epoch) and the row, not on the order, the shards
 *  or the threads. With the same numbers drawn it gives the pixels of keras.layers.RandomZoom. OPTIONS, dtypes and
 *  place as for mst_dataset_random_rotation. Fails with MST_INVALID if COMPONENT is not a picture, or unless -1 <
 *  LOWER <= UPPER <= 1. */
#ifdef MST_DATASET_HEADER
MST_API MST_CHECKED mst_status mst_dataset_random_zoom(mst_dataset *dataset, int component, double lower, double upper,
                                                       uint64_t seed, const mst_affine_options *options,
                                                       mst_dataset **out);
#endif
#include "base/argument.h"
#include "data/nested.h"
#include "data/pictures/affine.h"

static const double LEAST = -0.999; /* at -1 all pixels would be the one in the middle */

typedef struct random_zoom {
    mst_picture_dataset base;
    double lower, upper;
    mst_affine_options options;
} random_zoom;

static bool has_width(const mst_affine_options *o) {
    return o->width_lower != 0 || o->width_upper != 0;
}

static void random_zoom_change(const mst_dataset *dataset, const mst_row_key *key, const mst_array *in,
                               mst_array *out) {
    const random_zoom *d = (const random_zoom *)dataset;
    const mst_affine_options *o = &d->options;
    uint32_t word[4];
    mst_picture_draw(dataset, key, word);
    const float height = mst_affine_draw(word[0], 1 + d->lower, 1 + d->upper);
    const float width = has_width(o) ? mst_affine_draw(word[1], 1 + o->width_lower, 1 + o->width_upper) : height;
    const mst_affine_map map = mst_affine_zoom(in->shape.dim[0], in->shape.dim[1], height, width);
    mst_picture_affine(in, &map, o, out);
}

static void random_zoom_settings(const mst_dataset *dataset, char *text, size_t size) {
    const random_zoom *d = (const random_zoom *)dataset;
    mst_affine_settings(dataset, d->lower, d->upper, &d->options, text, size);
}

static const mst_dataset_type type = {.name = "random_zoom", .settings = random_zoom_settings};

mst_status mst_dataset_random_zoom(mst_dataset *dataset, int component, double lower, double upper, uint64_t seed,
                                   const mst_affine_options *options, mst_dataset **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(out)) return MST_INVALID;
    const mst_affine_options o = options ? *options : (mst_affine_options){.zero_ = 0};
    random_zoom *d;
    *out = NULL;
    MST_TRY(mst_affine_check(dataset, type.name, component, &o));
    MST_TRY(mst_picture_want_range(type.name, "upper", upper, LEAST, 1));
    MST_TRY(mst_picture_want_range(type.name, "lower", lower, LEAST, upper));
    MST_TRY(mst_picture_want_range(type.name, "width_upper", o.width_upper, LEAST, 1));
    MST_TRY(mst_picture_want_range(type.name, "width_lower", o.width_lower, LEAST, o.width_upper));
    MST_TRY(mst_picture_derive_random(&type, sizeof *d, dataset, component, seed, random_zoom_change, &d));
    d->lower = lower;
    d->upper = upper;
    d->options = o;
    *out = &d->base.base;
    return MST_OK;
}

mst_dataset *mst_data_random_zoom(mst_dataset *dataset, int component, double lower, double upper, uint64_t seed,
                                  const mst_affine_options *options) {
    MST_DATASET_NEST(dataset, mst_dataset_random_zoom(dataset, component, lower, upper, seed, options, &out));
}
