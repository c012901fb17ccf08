/** What a training step of a network cannot do without: its bare primitives, and a pass over its parameters. */
#ifndef MUSTER_BENCH_NETWORK_BOUND_H
#define MUSTER_BENCH_NETWORK_BOUND_H

#include "bench/network.h"

typedef struct bench_network_bound {
    double from_cache, from_memory; /**< seconds of a step */
    double memory_speed;            /**< bytes a second */
} bench_network_bound;

/** Tries each primitive for SECONDS; the largest cache has CACHE bytes. False where a primitive failed or memory is
 *  short. */
bool bench_network_bound_find(const bench_network *network, double seconds, size_t cache, bench_network_bound *out);

#endif
