/** Muster and its peers, TensorFlow, PyTorch and JAX, on the network of `muster-bench mlp`: bench/peers/alternate.py
 *  makes them take turns, this reads what it printed. */
#ifndef MUSTER_BENCH_PEERS_H
#define MUSTER_BENCH_PEERS_H

#include <stdbool.h>

/** How the peer's program is written: as its guide does (Keras' fit), a call a step, or many steps a compiled call. */
typedef enum bench_peer_way { BENCH_PEER_GUIDE, BENCH_PEER_STEP, BENCH_PEER_LOOP, BENCH_PEER_WAYS } bench_peer_way;

typedef enum bench_peer_name { BENCH_TENSORFLOW, BENCH_PYTORCH, BENCH_JAX, BENCH_NUM_PEERS } bench_peer_name;

/** Muster's rate over a peer's, in windows that alternate; 0 where not measured. */
typedef struct bench_ratio {
    double best;   /**< of the best windows of both */
    double median; /**< of the ratios of neighbouring windows */
} bench_ratio;

/** Examples a second in the best window of the fastest variant, and seconds; 0 where not measured. */
typedef struct bench_peer {
    double best[BENCH_PEER_WAYS];       /**< of all configurations */
    double replicated[BENCH_PEER_WAYS]; /**< of MirroredStrategy, or DistributedDataParallel, over two replicas */
    double first_step;                  /**< process start to first step done */
    double beside_busy;                 /**< all cores / one thread, a call a step, while every other core is busy */
} bench_peer;

typedef struct bench_peers {
    bench_peer peer[BENCH_NUM_PEERS];
    bench_ratio over_all[BENCH_PEER_WAYS];      /**< Muster over the strongest peer of each way */
    bench_ratio over_mirrored[BENCH_PEER_WAYS]; /**< over TensorFlow's MirroredStrategy */
    double muster;                              /**< Muster's best window, in examples a second */
} bench_peers;

/** Installs the peers under build/ where they are missing and measures them in windows of SECONDS, Muster by
 *  `muster ARGUMENTS`, which takes about as long. QUICK: fewer variants and windows. False, with a message on standard
 *  error, where none ran. */
bool bench_peers_measure(double seconds, bool quick, const char *arguments, bench_peers *out);

/** The same for configuration CONFIG of PEER alone ("jax"). */
bool bench_peers_measure_one(double seconds, bool quick, const char *peer, const char *config, const char *arguments,
                             bench_peers *out);

/** The smaller ratio, each of best and median by itself; a ratio that was not measured gives way to the other. */
bench_ratio bench_ratio_least(bench_ratio a, bench_ratio b);

#endif
