/** The training of `muster-bench mlp`, as arguments of the command. */
#ifndef MUSTER_BENCH_MLP_H
#define MUSTER_BENCH_MLP_H

#include <stdint.h>

enum { BENCH_MLP_ARGUMENTS = 48, BENCH_MLP_TEXTS = 3, BENCH_MLP_TEXT = 24, BENCH_MLP_BATCH = 100 /* a replica */ };

/** Writes the arguments of `muster`, ended by NULL; BATCH is that of all replicas. They point into TEXT. */
void bench_mlp_arguments(const char *devices, const char *strategy, int batch, int64_t steps,
                         char text[BENCH_MLP_TEXTS][BENCH_MLP_TEXT], const char *arguments[BENCH_MLP_ARGUMENTS]);

#endif
