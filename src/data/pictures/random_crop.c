/** Crops component COMPONENT, pictures [height, width, channels] or [height, width], to HEIGHT x WIDTH at a random
 *  position, all positions equally likely, after padding each side with PADDING zeros. The usual CIFAR-10 augmentation
 *  is PADDING 4 and the picture's own size. The position depends on SEED, the pass over the source (its epoch) and the
 *  row, not on the order, the shards or the threads. Without padding it crops as tf.image.stateless_random_crop and
 *  keras.layers.RandomCrop do. Must come before mst_dataset_padded_batch and mst_dataset_prefetch. Fails with
 *  MST_INVALID if COMPONENT is not a picture, or the padded picture is smaller than HEIGHT x WIDTH. */
#ifdef MST_DATASET_HEADER
MST_API MST_CHECKED mst_status mst_dataset_random_crop(mst_dataset *dataset, int component, int64_t height,
                                                       int64_t width, int64_t padding, uint64_t seed,
                                                       mst_dataset **out);
#endif
#include "base/argument.h"
#include "data/nested.h"
#include "data/pictures/picture.h"

enum { MOST_PADDING = 1 << 14 };

typedef struct random_crop {
    mst_picture_dataset base;
    int64_t padding;
} random_crop;

static void random_crop_change(const mst_dataset *dataset, const mst_row_key *key, const mst_array *in,
                               mst_array *out) {
    const random_crop *d = (const random_crop *)dataset;
    const mst_picture_size size = mst_picture_size_of(in);
    const int64_t height = out->shape.dim[0], width = out->shape.dim[1];
    const mst_rng rng = mst_picture_rng(dataset, key);
    const uint64_t rows = (uint64_t)(size.height + 2 * d->padding - height + 1);
    const uint64_t columns = (uint64_t)(size.width + 2 * d->padding - width + 1);
    mst_picture_crop(in->data, size, (int64_t)mst_rng_integer(&rng, 0, rows) - d->padding,
                     (int64_t)mst_rng_integer(&rng, 1, columns) - d->padding, height, width, out->data);
}

static void random_crop_settings(const mst_dataset *dataset, char *text, size_t size) {
    mst_picture_settings(dataset, text, size, "padding %lld", (long long)((const random_crop *)dataset)->padding);
}

static const mst_dataset_type type = {.name = "random_crop", .settings = random_crop_settings};

mst_status mst_dataset_random_crop(mst_dataset *dataset, int component, int64_t height, int64_t width, int64_t padding,
                                   uint64_t seed, mst_dataset **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(out)) return MST_INVALID;
    random_crop *d;
    *out = NULL;
    MST_TRY(mst_picture_want_range("random_crop", "padding", (double)padding, 0, MOST_PADDING));
    MST_TRY(mst_picture_want_box(dataset, type.name, component, padding, -padding, -padding, height, width));
    MST_TRY(mst_picture_derive_random(&type, sizeof *d, dataset, component, seed, random_crop_change, &d));
    d->padding = padding;
    mst_picture_resize(&d->base.base, component, height, width);
    *out = &d->base.base;
    return MST_OK;
}

mst_dataset *mst_data_random_crop(mst_dataset *dataset, int component, int64_t height, int64_t width, int64_t padding,
                                  uint64_t seed) {
    MST_DATASET_NEST(dataset, mst_dataset_random_crop(dataset, component, height, width, padding, seed, &out));
}
