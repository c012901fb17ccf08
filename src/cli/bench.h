/** The benchmarks behind `muster bench`. */
#ifndef MUSTER_CLI_BENCH_H
#define MUSTER_CLI_BENCH_H

#include <stdbool.h>

typedef struct bench_options {
    bool peers;     /**< mlp, data: also TensorFlow and PyTorch, from build/peers */
    double seconds; /**< that each measurement takes */
    bool json;      /**< one JSON object a line */
    const char *op; /**< ops: only this one; NULL: all */
} bench_options;

/** The network 784-500-10, as ratios. Each returns the exit status, having said what was wrong. */
int bench_mlp(const bench_options *options);
/** Each op's kernel against its limit of bytes or flops, and what two threads gain. */
int bench_ops(const bench_options *options);
/** Plans, calls and snapshots: how they grow with variables, nodes, devices and feeds. */
int bench_plan(const bench_options *options);
/** What a log for TensorBoard costs a step. */
int bench_events(const bench_options *options);
/** Records read, decompressed and parsed, and pictures decoded, against bare calls. */
int bench_data(const bench_options *options);
/** A checkpoint of 1 GB: how long training stands still, how fast it is written and read. */
int bench_checkpoint(const bench_options *options);

#endif
