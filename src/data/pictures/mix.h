/** What mix_up and cut_mix share: batches whose rows are mixed, each with another row of its batch. Component 0 is the
 *  pictures, component 1 their labels, rows of f32.
 *
 *      batch      a b c d          own rows
 *      partners   c a b d          a permutation of the batch
 *      result     w a + (1-w) c ...
 *
 *  The permutation depends on the seed, the pass over the source and the record of the batch's first row; what is drawn
 *  for a row depends on its own record. So the values depend neither on threads, workers, nor restarts. A worker makes
 *  its own rows and their partners alone. */
#ifndef MUSTER_DATA_PICTURES_MIX_H
#define MUSTER_DATA_PICTURES_MIX_H

#include "base/rng.h"
#include "data/dataset.h"

/** What the mixture of one row is made of. */
typedef struct mst_mix_row {
    const float *own, *other; /**< the row's picture and its partner's */
    int64_t height, width, channels;
    mst_rng rng;       /**< the function may use blocks 1 and above; mst_mix_beta uses block 0 */
    double batch_draw; /**< uniform in [0, 1), the same for all rows of a batch */
} mst_mix_row;

/** Writes the mixed picture to DST, and returns the weight of the row's own label. */
typedef float (*mst_mix_function)(const mst_dataset *dataset, const mst_mix_row *row, float *dst);

typedef struct mst_mix_dataset {
    mst_dataset base;
    mst_mix_function function;
    uint64_t seed;
    double strength; /**< alpha, or factor */
} mst_mix_dataset;

/** Makes *OUT of TYPE over DATASET. Fails with MST_INVALID if
 *    - the elements of DATASET are not batches
 *    - its components are not pictures of u8 or f32, and labels of f32
 *    - rows no longer have their numbers, for example after a prefetch
 *    - STRENGTH, called WHAT in messages, is not above 0 and at most 1. */
MST_CHECKED mst_status mst_mix_derive(const mst_dataset_type *type, mst_dataset *dataset, const char *what,
                                      double strength, uint64_t seed, mst_mix_function function, mst_dataset **out);
/** The slots `open` and `settings` of such a type; it also has .gives_values. */
MST_CHECKED mst_status mst_mix_open(const mst_dataset *dataset, mst_cursor **out);
void mst_mix_settings(const mst_dataset *dataset, char *text, size_t size);

/** Draws a number from the beta distribution with both parameters ALPHA, above 0 and at most 1 (Joehnk 1964). */
double mst_mix_beta(const mst_rng *rng, double alpha);

#endif
