/** Sums over two processes of this machine: 1.6 MB of gradients, as the network of muster-bench mlp has. */
#ifndef MUSTER_BENCH_ALL_REDUCE_H
#define MUSTER_BENCH_ALL_REDUCE_H

#include <stdint.h>

#include "muster/status.h"

/** Milliseconds of one all-reduce by TRANSPORT (shm, zmq), the mean of NUM_RUNS. */
MST_CHECKED mst_status bench_all_reduce(const char *transport, int64_t num_runs, double *milliseconds);
/** Milliseconds in which one thread copies as many bytes: each task must get half of them, and then the other half of
 *  the sum. */
MST_CHECKED mst_status bench_bare_copies(int64_t num_runs, double *milliseconds);

#endif
