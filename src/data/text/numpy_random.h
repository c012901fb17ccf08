/** The order that numpy.random.RandomState(seed).shuffle produces, from MT19937 and the draws of NumPy's legacy
 *  generator.
 *
 *  Source: numpy/random/src/mt19937/mt19937.c, numpy/random/src/distributions/distributions.c (random_interval),
 *  mtrand.pyx (shuffle).
 */
#ifndef MUSTER_DATA_TEXT_NUMPY_RANDOM_H
#define MUSTER_DATA_TEXT_NUMPY_RANDOM_H

#include <stdint.h>

enum { MST_MT19937_WORDS = 624 };

typedef struct mst_numpy_random {
    uint32_t word[MST_MT19937_WORDS];
    int next; /**< index of the word that is used next */
} mst_numpy_random;

void mst_numpy_random_seed(mst_numpy_random *random, uint32_t seed);
/** Shuffles the N numbers at ITEMS; N must be below 2^32. */
void mst_numpy_random_shuffle(mst_numpy_random *random, int64_t *items, int64_t n);

#endif
