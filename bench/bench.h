/** The benchmarks of `muster-bench`: each is a command, in a file of its name. */
#ifndef MUSTER_BENCH_H
#define MUSTER_BENCH_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/command.h"

/** Of every benchmark, which has some of them. */
typedef struct bench_options {
    double seconds;  /**< that each measurement takes; bench_seconds */
    bool quick;      /**< fewer and shorter measurements */
    bool json;       /**< one JSON object a line */
    bool peers;      /**< also other programs: BENCH_PEERS_OPTION of each benchmark says which */
    bool first_step; /**< networks: makes one step, says so and ends */
    bool one_thread; /**< networks: trains on one thread, says how fast and ends */
    const char *op;  /**< ops: only this one; NULL: all */
} bench_options;

/** What of --quick is the same in every benchmark: of as many rounds as it has otherwise at most three, and a fifth of
 *  the time for each measurement. */
static inline int bench_rounds(const bench_options *options, int usual) {
    return options->quick && usual > 3 ? 3 : usual;
}
static inline double bench_seconds(const bench_options *options) {
    return options->quick ? options->seconds / 5 : options->seconds;
}

/** Rows of a table of options: those that every benchmark has, and --peers. TEXT says who the peers are. */
#define BENCH_COMMON_OPTIONS                                                                  \
    {"seconds", OPTION_NUMBER,     offsetof(bench_options, seconds),  "X", "5", 0,            \
     3600,      .above_low = true, .help = "time of each measurement"},                       \
        {"quick", OPTION_FLAG, offsetof(bench_options, quick),                                \
         .help = "fewer rounds, a fifth of that time: some minutes in all, rougher figures"}, \
    {                                                                                         \
        "json", OPTION_FLAG, offsetof(bench_options, json), .help = "one JSON object a line"  \
    }
#define BENCH_PEERS_OPTION(text) \
    { "peers", OPTION_FLAG, offsetof(bench_options, peers), .help = (text) }

extern const command bench_mlp, bench_text_cnn, bench_mobilenet_v2, bench_inference, bench_gpt, bench_ops, bench_plan,
    bench_data, bench_checkpoint, bench_events, bench_cluster, bench_remote, bench_compiled, bench_device;

#endif
