/** Small networks with data, one for each kind of training: what most tests of devices that compile train. */
#ifndef MUSTER_TEST_SUPPORT_NETWORKS_H
#define MUSTER_TEST_SUPPORT_NETWORKS_H

#include "muster/muster.h"

typedef struct network {
    const char *name;
    mst_model *(*build)(void);
    mst_dataset *(*data)(int64_t rows); /**< labels are classes */
} network;

/** Dense layers with dropout and l2. */
extern const network network_mlp;
/** Two embeddings, one of which is looked up twice: their gradients are sparse; and a convolution over words. */
extern const network network_text;
/** Convolutions with batch norm, and an inverted residual block as in MobileNetV2. */
extern const network network_pictures;
/** The same with batch norms whose statistics are those of all shards. */
extern const network network_synchronized;
/** An LSTM, a GRU and a simple recurrent layer. */
extern const network network_recurrent;
/** All of them; ends with NULL. */
extern const network *const networks[];

/** What is trained, and how. */
typedef struct network_run {
    const network *network;
    mst_optimizer optimizer;
    mst_strategy_kind kind;
    const char *devices;
    int shards;                       /**< 0: as many as devices */
    int first_shard, num_shards_here; /**< of a task; all zeros: all shards */
    mst_precision precision;
    bool recompute, check_numerics;
    bool in_place;       /**< updates are made in place, as if the limit of memory asked for it */
    int64_t rows, batch; /**< 0: 36 rows in batches of 24: the last one has fewer */
    int epochs;          /**< 0: 1 */
} network_run;

/** The model of RUN, compiled, with the metric accuracy. */
mst_model *network_compiled(const network_run *run);
/** Trains MODEL. LOSS, unless NULL, gets the loss of each step. */
void network_fit(mst_model *model, const network_run *run, double *loss);
/** Makes a model, trains it, and sets HEX to the SHA-256 of its weights. */
void network_train(const network_run *run, double *loss, char hex[65]);

#endif
