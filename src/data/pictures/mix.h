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
    const float *own, *other; /**< the picture and that of its partner */
    int64_t height, width, channels;
    mst_rng rng;       /**< blocks 1 and above are free for the function; block 0 is that of mst_mix_beta */
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

/** Makes *OUT of TYPE over DATASET. MST_INVALID if DATASET is not of batches, or its components are not pictures of u8
 *  or f32 and labels of f32; if rows have no numbers any more, behind a prefetch for example; or unless STRENGTH,
 *  called WHAT, is above 0 and at most 1. */
MST_CHECKED mst_status mst_mix_derive(const mst_dataset_type *type, mst_dataset *dataset, const char *what,
                                      double strength, uint64_t seed, mst_mix_function function, mst_dataset **out);
/** The slots `open` and `settings` of such a type; it also has .gives_values. */
MST_CHECKED mst_status mst_mix_open(const mst_dataset *dataset, mst_cursor **out);
void mst_mix_settings(const mst_dataset *dataset, char *text, size_t size);

/** A number of the beta distribution with both parameters ALPHA, above 0 and at most 1 (Joehnk 1964). */
double mst_mix_beta(const mst_rng *rng, double alpha);

#endif
