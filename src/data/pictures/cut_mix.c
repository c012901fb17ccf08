/** Copies a box of pixels into each picture of a batch from its partner, a picture of the same batch. The labels are
 *  mixed by the areas:
 *
 *      a = 1e-6 + a random number from 0 to FACTOR, the same for the whole batch
 *      w is drawn for each picture from the beta distribution with both parameters a
 *      the box has height sqrt(1 - w) * height and width sqrt(1 - w) * width, at a random place in the picture
 *      label = (1 - area) * label + area * partner's label,  area = area of the box / (height * width)
 *
 *  The pixels [y, x] with y0 <= y < y1 and x0 <= x < x1 are replaced. FACTOR is above 0 and at most 1. DATASET, SEED
 *  and the errors are as for mst_dataset_mix_up. Formula: S. Yun et al., "CutMix: regularization strategy to train
 *  strong classifiers with localizable features", ICCV 2019; keras.layers.CutMix. */
#ifdef MST_DATASET_HEADER
MST_API MST_CHECKED mst_status mst_dataset_cut_mix(mst_dataset *dataset, double factor, uint64_t seed,
                                                   mst_dataset **out);
#endif
#include <math.h>
#include <string.h>

#include "base/argument.h"
#include "data/nested.h"
#include "data/pictures/mix.h"

/* The part of a side of SIZE pixels that lies in the box: RATIO of it, from *BEGIN to *END. U is uniform in [0, 1). */
static void cut_side(int64_t size, float ratio, float u, float *begin, float *end) {
    const float length = ratio * (float)size;
    *begin = u * ((float)size - length);
    *end = *begin + length;
}

static float cut_mix(const mst_dataset *dataset, const mst_mix_row *row, float *dst) {
    const double alpha = row->batch_draw * ((const mst_mix_dataset *)dataset)->strength + 1e-6;
    const float ratio = sqrtf(1 - (float)mst_mix_beta(&row->rng, alpha));
    float x0, x1, y0, y1;
    uint32_t word[4];
    mst_rng_blocks(&row->rng, 1, 1, 0, word);
    cut_side(row->width, ratio, mst_rng_unit_f32(word[0]), &x0, &x1);
    cut_side(row->height, ratio, mst_rng_unit_f32(word[1]), &y0, &y1);
    const int64_t left = (int64_t)ceilf(x0), right = (int64_t)ceilf(x1), line = row->width * row->channels;
    memcpy(dst, row->own, (size_t)(row->height * line) * sizeof *dst);
    for (int64_t y = (int64_t)ceilf(y0); y < (int64_t)ceilf(y1) && y < row->height; y++) {
        const int64_t at = y * line + left * row->channels;
        const int64_t columns = (right < row->width ? right : row->width) - left;
        if (columns > 0) memcpy(dst + at, row->other + at, (size_t)(columns * row->channels) * sizeof *dst);
    }
    return 1 - (x1 - x0) * (y1 - y0) / (float)(row->width * row->height);
}

static const mst_dataset_type type = {
    .name = "cut_mix", .open = mst_mix_open, .settings = mst_mix_settings, .gives_values = true};

mst_status mst_dataset_cut_mix(mst_dataset *dataset, double factor, uint64_t seed, mst_dataset **out) {
    if (MST_IS_NULL(dataset) || MST_IS_NULL(out)) return MST_INVALID;
    return mst_mix_derive(&type, dataset, "factor", factor, seed, cut_mix, out);
}

mst_dataset *mst_data_cut_mix(mst_dataset *dataset, double factor, uint64_t seed) {
    MST_DATASET_NEST(dataset, mst_dataset_cut_mix(dataset, factor, seed, &out));
}
