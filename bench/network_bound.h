/** What a training step of a network cannot do without: its bare primitives, and a pass over its parameters. */
#ifndef MUSTER_BENCH_NETWORK_BOUND_H
#define MUSTER_BENCH_NETWORK_BOUND_H

#include "bench/network.h"

/** Seconds of a step. */
typedef struct bench_network_seconds {
    double all_layers;
    double products; /**< convolutions and dense layers alone */
} bench_network_seconds;

typedef struct bench_network_bound {
    bench_network_seconds from_cache, from_memory;
    double memory_speed; /**< bytes a second */
} bench_network_bound;

/** Times each primitive for SECONDS in f32; with IS_BF16 also in bf16, and the faster of the two counts. The largest
 *  cache has CACHE bytes. False where a primitive failed or memory is short. */
bool bench_network_bound_find(const bench_network *network, bool is_bf16, double seconds, size_t cache,
                              bench_network_bound *out);

#endif
