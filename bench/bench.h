/** The benchmarks of `muster-bench`: each is a command, in a file of its name. */
#ifndef MUSTER_BENCH_H
#define MUSTER_BENCH_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/command.h"

/** Of every benchmark, which has some of them. */
typedef struct bench_options {
    double seconds;  /**< that each measurement takes */
    bool json;       /**< one JSON object a line */
    bool peers;      /**< also other programs: BENCH_PEERS_OPTION of each benchmark says which */
    bool first_step; /**< networks: makes one step, says so and ends */
    bool one_thread; /**< networks: trains on one thread, says how fast and ends */
    const char *op;  /**< ops: only this one; NULL: all */
} bench_options;

/** The options that every benchmark has, and --peers, of which TEXT says who they are: rows of a table of options. */
#define BENCH_COMMON_OPTIONS                                                                 \
    {"seconds", OPTION_NUMBER,     offsetof(bench_options, seconds),  "X", "5", 0,           \
     3600,      .above_low = true, .help = "time of each measurement"},                      \
    {                                                                                        \
        "json", OPTION_FLAG, offsetof(bench_options, json), .help = "one JSON object a line" \
    }
#define BENCH_PEERS_OPTION(text) \
    { "peers", OPTION_FLAG, offsetof(bench_options, peers), .help = (text) }

extern const command bench_mlp, bench_text_cnn, bench_mobilenet_v2, bench_inference, bench_ops, bench_plan, bench_data,
    bench_checkpoint, bench_events, bench_cluster, bench_remote;

#endif
