/** Mixes each picture of a batch with another one of the batch, and their labels in the same way:
 *
 *      picture = w * picture + (1 - w) * partner,  label = w * label + (1 - w) * partner's label
 *
 *  w is drawn for each row from the beta distribution with both parameters ALPHA, above 0 and at most 1 (0.2 is usual);
 *  the partners are a permutation of the batch. DATASET gives batches of two components: pictures, u8 or f32, [height,
 *  width, channels] or [height, width], and labels of f32, such as those of mst_dataset_one_hot. Pictures become f32.
 *
 *      mst_dataset *rows = mst_data_shuffle(mst_data_one_hot(train, 1, 10), .seed = 1);
 *      mst_dataset *mixed = mst_data_mix_up(mst_data_batch(rows, 32, false), 0.2, 1);
 *
 *  What is drawn depends on SEED, the pass over the source and the rows of the batch, not on threads, workers or
 *  restarts. Needs memory for two batches. A prefetch behind it makes batches ahead. Formula: H. Zhang et al., "mixup:
 *  beyond empirical risk minimization", ICLR 2018; keras.layers.MixUp. Fails with MST_INVALID if DATASET is not such
 *  batches, or behind a transform that makes values ahead, such as a prefetch. */
#ifdef MST_DATASET_HEADER
MST_API MST_CHECKED mst_status mst_dataset_mix_up(mst_dataset *dataset, double alpha, uint64_t seed, mst_dataset **out);
#endif
#include "base/argument.h"
#include "data/nested.h"
#include "data/pictures/mix.h"

static float mix_up(const mst_dataset *dataset, const mst_mix_row *row, float *dst) {
    const float weight = (float)mst_mix_beta(&row->rng, ((const mst_mix_dataset *)dataset)->strength);
    const int64_t count = row->height * row->width * row->channels;
    for (int64_t i = 0; i < count; i++) dst[i] = weight * row->own[i] + (1 - weight) * row->other[i];
    return weight;
}

static const mst_dataset_type type = {
    .name = "mix_up", .open = mst_mix_open, .settings = mst_mix_settings, .gives_values = true};

mst_status mst_dataset_mix_up(mst_dataset *dataset, double alpha, uint64_t seed, mst_dataset **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(out)) return MST_INVALID;
    return mst_mix_derive(&type, dataset, "alpha", alpha, seed, mix_up, out);
}

mst_dataset *mst_data_mix_up(mst_dataset *dataset, double alpha, uint64_t seed) {
    MST_DATASET_NEST(dataset, mst_dataset_mix_up(dataset, alpha, seed, &out));
}
