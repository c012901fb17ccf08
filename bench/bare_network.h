/** The network 784-500-10 with a batch of 100, as the calls of oneDNN alone that its training needs. muster-bench mlp
 *  and cluster measure how fast it trains. */
#ifndef MUSTER_BENCH_BARE_NETWORK_H
#define MUSTER_BENCH_BARE_NETWORK_H

#include <stdbool.h>

enum {
    BATCH = 100,
    INPUTS = 784,
    HIDDEN = 500,
    CLASSES = 10,
    PARAMETERS = INPUTS * HIDDEN + HIDDEN + HIDDEN * CLASSES + CLASSES
};

typedef struct bare_network {
    float *x, *w1, *h, *w2, *y, *dw1, *dw2, *dh, *average;
} bare_network;

/** False where there is no memory; bare_free all the same. */
bool bare_make(bare_network *network);
void bare_free(bare_network *network);
/** The products of a step, forward and backward; false where oneDNN has failed. */
bool bare_products(bare_network *network);
/** All but the gradient of the first weights. */
bool bare_most_products(bare_network *network);
/** An update: reads COUNT of the gradient, the weights and the average, writes the weights and the average. */
void bare_pass(float *restrict w, float *restrict average, const float *restrict gradient, int count);
/** The products, and one pass over the parameters. */
bool bare_step(bare_network *network);

/** What a worker does in a step beside the products of its batch. */
typedef enum bare_exchange {
    BARE_NONE,
    BARE_HALVES, /**< copies half of the gradients once each way */
    BARE_SERVED  /**< copies all gradients, makes an update with them, and copies all variables */
} bare_exchange;

/** The limit of two workers, each on a thread: examples a second of both. 0 where that has failed. */
double bare_two_workers(bare_exchange exchange, double seconds);

#endif
