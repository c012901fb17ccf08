/** TensorFlow and PyTorch on the network of `muster bench mlp`: bench/peers measures them, this reads what it
 *  printed. */
#ifndef MUSTER_CLI_BENCH_PEERS_H
#define MUSTER_CLI_BENCH_PEERS_H

#include <stdbool.h>

/** How the peer's program is written: as its guide does (Keras' fit), a call a step, or many steps a compiled call. */
typedef enum bench_peer_way { BENCH_PEER_GUIDE, BENCH_PEER_STEP, BENCH_PEER_LOOP, BENCH_PEER_WAYS } bench_peer_way;

/** Examples a second at the peer's best, over its variants and numbers of threads, and seconds; 0 where not
 *  measured. */
typedef struct bench_peer {
    double best[BENCH_PEER_WAYS];       /**< of all configurations */
    double replicated[BENCH_PEER_WAYS]; /**< of MirroredStrategy, or DistributedDataParallel, over two replicas */
    double first_step;                  /**< process start to first step done */
    double beside_busy;                 /**< all cores / one thread, a call a step, while every other core is busy */
} bench_peer;

typedef struct bench_peers {
    bench_peer tensorflow, pytorch;
} bench_peers;

/** Installs the peers under build/ where they are missing and measures each variant for SECONDS. False, with a message
 *  on standard error, where neither ran. Must be called in the root of the source tree. */
bool bench_peers_measure(double seconds, bench_peers *out);

/** The best of BEST by a call a step, the guide's among them, or by any way. */
double bench_peers_by_step(const double *best);
double bench_peers_by_any(const double *best);

#endif
