/** TensorFlow and PyTorch on the same job, by the scripts of bench/peers/. */
#ifndef MUSTER_CLI_BENCH_PEERS_H
#define MUSTER_CLI_BENCH_PEERS_H

#include <stdbool.h>

typedef struct bench_peer_rates {
    double tensorflow, pytorch;                       /**< examples/s, the best of all configurations */
    double tensorflow_mirrored;                       /**< examples/s of MirroredStrategy over two CPU devices */
    double tensorflow_first_step, pytorch_first_step; /**< s from process start, the least */
} bench_peer_rates;

/** Makes the virtual environment where it is missing and runs both peers; prints their lines. False, having said why,
 *  where there is nothing to measure. */
bool bench_peers_measure(double seconds, bench_peer_rates *out);

#endif
