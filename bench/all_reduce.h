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

/** One of SIZE processes that add up as many bytes. */
typedef struct bench_member bench_member;

enum { BENCH_ALL_REDUCE_COUNT = 400000 /* f32 */ };

/** "127.0.0.1:port" of a port that is free now. */
void bench_find_address(char address[32]);
/** Opens this process's member, number SELF of the SIZE at ADDRESS. */
MST_CHECKED mst_status bench_member_open(const char *transport, int32_t self, int32_t size, char (*address)[32],
                                         bench_member **out);
/** NUM_RUNS all-reduces one after the other; *SECONDS: of each, but for the first ones. All processes make them. */
MST_CHECKED mst_status bench_member_exchange(bench_member *member, int64_t num_runs, double *seconds);
/** NULL is allowed. */
void bench_member_close(bench_member *member);

/** The calling thread, and those that it starts, keep to core NUMBER of those that the process may use, as the workers
 *  of a launcher do; where there are not so many, to all. */
void bench_take_core(int number);
/** The calling thread may use all of them again. */
void bench_leave_core(void);

#endif
