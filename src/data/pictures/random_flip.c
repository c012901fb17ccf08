/** Mirrors half of the pictures of component COMPONENT, [height, width, channels] or [height, width], at random: left
 *  and right, top and bottom, or both, each drawn independently. Which ones depends on SEED, the pass over the source
 *  (its epoch) and the row, not on the order, the shards or the threads. See tf.image.stateless_random_flip_left_right
 *  and keras.layers.RandomFlip. Must come before mst_dataset_padded_batch and mst_dataset_prefetch. Fails with
 *  MST_INVALID if COMPONENT is not a picture. */
#ifdef MST_DATASET_HEADER
typedef enum mst_flip { MST_FLIP_LEFT_RIGHT = 0, MST_FLIP_UP_DOWN, MST_FLIP_BOTH } mst_flip;
MST_API MST_CHECKED mst_status mst_dataset_random_flip(mst_dataset *dataset, int component, mst_flip flip,
                                                       uint64_t seed, mst_dataset **out);
#endif
#include "base/argument.h"
#include "data/nested.h"
#include "data/pictures/picture.h"

typedef struct random_flip {
    mst_picture_dataset base;
    mst_flip flip;
} random_flip;

static void random_flip_change(const mst_dataset *dataset, const mst_row_key *key, const mst_array *in,
                               mst_array *out) {
    const mst_flip flip = ((const random_flip *)dataset)->flip;
    uint32_t word[4];
    mst_picture_draw(dataset, key, word);
    mst_picture_flip(in->data, mst_picture_size_of(in), flip != MST_FLIP_UP_DOWN && mst_rng_unit_f32(word[0]) < 0.5f,
                     flip != MST_FLIP_LEFT_RIGHT && mst_rng_unit_f32(word[1]) < 0.5f, out->data);
}

static void random_flip_settings(const mst_dataset *dataset, char *text, size_t size) {
    static const char *const flips[] = {"left_right", "up_down", "both"};
    mst_picture_settings(dataset, text, size, "%s", flips[((const random_flip *)dataset)->flip]);
}

static const mst_dataset_type type = {.name = "random_flip", .settings = random_flip_settings};

mst_status mst_dataset_random_flip(mst_dataset *dataset, int component, mst_flip flip, uint64_t seed,
                                   mst_dataset **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(out)) return MST_INVALID;
    random_flip *d;
    *out = NULL;
    if (flip < MST_FLIP_LEFT_RIGHT || flip > MST_FLIP_BOTH)
        return MST_FAIL(MST_INVALID, "random_flip: flip is %d: use MST_FLIP_LEFT_RIGHT, ...", (int)flip);
    MST_TRY(mst_picture_derive_random(&type, sizeof *d, dataset, component, seed, random_flip_change, &d));
    d->flip = flip;
    *out = &d->base.base;
    return MST_OK;
}

mst_dataset *mst_data_random_flip(mst_dataset *dataset, int component, mst_flip flip, uint64_t seed) {
    MST_DATASET_NEST(dataset, mst_dataset_random_flip(dataset, component, flip, seed, &out));
}
