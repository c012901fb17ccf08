/** muster-bench cluster: two workers, each a process of `muster train`, with and without a parameter server, against
 *  one process; with --peers, against TensorFlow and PyTorch over as many processes. Network and batch are those of
 *  muster-bench mlp; the ways take turns, so that each ratio is of neighbouring measurements. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/all_reduce.h"
#include "bench/bench.h"
#include "bench/python.h"
#include "bench/table.h"
#include "muster/status.h"

enum { ROUNDS = 3, BATCH = 200, FEWEST_STEPS = 300, MANY = 64, ALL_REDUCES = 1000 };

enum { NUM_PEERS = 4 };
enum {
    ONE,
    MIRRORED,
    SHM,
    TCP,
    PS_ASYNC,
    PS_SYNC,
    PEER, /* the first of them */
    SHM_OF_MIRRORED = PEER + NUM_PEERS,
    TCP_OF_MIRRORED,
    ASYNC_OF_ONE,
    SYNC_OF_ONE,
    OF_PEER, /* the first of them */
    REDUCE_SHM = OF_PEER + NUM_PEERS,
    REDUCE_TCP,
    COPY,
    START,
    NUM_ROWS
};
static bench_row rows[NUM_ROWS] = {
    [ONE] = BENCH_RATE("one_device", "one process, one device"),
    [MIRRORED] = BENCH_RATE("mirrored", "one process, mirrored over two devices"),
    [SHM] = BENCH_RATE("workers_shm", "two workers of this machine, through shared memory"),
    [TCP] = BENCH_RATE("workers_tcp", "two workers of this machine, over TCP"),
    [PS_ASYNC] = BENCH_RATE("ps_asynchronous", "1 ps and 2 workers, asynchronous"),
    [PS_SYNC] = BENCH_RATE("ps_synchronous", "1 ps and 2 workers, synchronous"),
    [PEER] = BENCH_RATE("tensorflow_ps_asynchronous", "TensorFlow 1, 1 ps and 2 workers, asynchronous"),
    [PEER + 1] = BENCH_RATE("tensorflow_ps_synchronous", "TensorFlow 1, 1 ps and 2 workers, SyncReplicasOptimizer"),
    [PEER + 2] = BENCH_RATE("tensorflow_workers", "TensorFlow 2, two workers, MultiWorkerMirroredStrategy"),
    [PEER + 3] = BENCH_RATE("pytorch_workers", "PyTorch, two workers, DistributedDataParallel with Gloo"),
    [SHM_OF_MIRRORED] = BENCH_AT_LEAST("shm_of_mirrored", "two workers through shared memory: of mirrored", "", 0.9),
    [TCP_OF_MIRRORED] = BENCH_AT_LEAST("tcp_of_mirrored", "two workers over TCP: of mirrored", "", 0),
    [ASYNC_OF_ONE] = BENCH_AT_LEAST("ps_asynchronous_of_one", "1 ps and 2 workers, asynchronous: of one device", "", 0),
    [SYNC_OF_ONE] = BENCH_AT_LEAST("ps_synchronous_of_one", "1 ps and 2 workers, synchronous: of one device", "", 0),
    [OF_PEER] = BENCH_AT_LEAST("ps_asynchronous_of_peer", "1 ps and 2 workers, asynchronous: of TensorFlow 1", "", 0),
    [OF_PEER + 1] = BENCH_AT_LEAST("ps_synchronous_of_peer", "1 ps and 2 workers, synchronous: of TensorFlow 1", "", 0),
    [OF_PEER + 2] = BENCH_AT_LEAST("workers_of_tensorflow", "two workers: of MultiWorkerMirroredStrategy", "", 0),
    [OF_PEER + 3] = BENCH_AT_LEAST("workers_of_pytorch", "two workers: of DistributedDataParallel", "", 0),
    [REDUCE_SHM] = BENCH_AT_MOST("all_reduce_shm", "1.6 MB added up over two workers, through shared memory", "ms", 0),
    [REDUCE_TCP] = BENCH_AT_MOST("all_reduce_tcp", "1.6 MB added up over two workers, over TCP", "ms", 0),
    [COPY] = BENCH_AT_MOST("copy", "1.6 MB copied by one thread", "ms", 0),
    [START] =
        BENCH_AT_MOST("start_many", "64 workers of this machine, a tiny model: start to end of one step", "s", 10),
};

#define COMMAND "'" BENCH_COMMAND "'"
#define LAUNCH(tasks) COMMAND " launch " tasks " -- "
#define TRAIN                                                                                           \
    COMMAND                                                                                             \
    " train --hidden-units 500 --optimizer sgd --learning-rate 0.1 --batch-size 200 --shards 2 --json " \
    "--progress none --log-every 1000000 --steps "
#define TRAIN_TINY \
    COMMAND " train --hidden-units 16 --batch-size 640 --shards 64 --devices cpu:1/1 --json --progress none --steps 1"

/* Runs COMMAND_LINE, and reads NUMBER, such as "examples_per_sec", of the events `done` that it prints: the mean over
 * its workers. The rate of each is that of all as long as they keep step. */
static mst_status run(const char *command_line, const char *number, double *out) {
    char line[4096], key[64];
    double sum = 0;
    int count = 0;
    FILE *file = popen(command_line, "r");
    if (!file) return MST_FAIL(MST_IO, "cannot start a process: %s", command_line);
    snprintf(key, sizeof key, "\"%s\":", number);
    while (fgets(line, sizeof line, file)) {
        const char *at = strstr(line, "\"event\":\"done\"") ? strstr(line, key) : NULL;
        if (!at) continue;
        sum += strtod(at + strlen(key), NULL);
        count++;
    }
    *out = count ? sum / count : 0;
    if (pclose(file) == 0 && *out > 0) return MST_OK;
    return MST_FAIL(MST_IO, "this did not work, and its error is above: %s", command_line);
}

static mst_status measure(int row, int64_t steps) {
    static const struct {
        const char *launch, *options;
        int steps; /* for a batch: asynchronous workers make one each, of their part of it */
    } ways[] = {[ONE] = {"", "--devices cpu:1/1", 1},
                [MIRRORED] = {"", "--devices cpu:2/1", 1},
                [SHM] = {LAUNCH("--workers 2"), "--devices cpu:1/1", 1},
                [TCP] = {LAUNCH("--workers 2"), "--devices cpu:1/1 --transport zmq", 1},
                [PS_ASYNC] = {LAUNCH("--ps 1 --workers 2"), "--devices cpu:1/1 --issync 0", 2},
                [PS_SYNC] = {LAUNCH("--ps 1 --workers 2"), "--devices cpu:1/1 --issync 1", 1}};
    char text[2048];
    double rate;
    snprintf(text, sizeof text, "%s" TRAIN "%lld %s", ways[row].launch, (long long)steps * ways[row].steps,
             ways[row].options);
    MST_TRY(run(text, "examples_per_sec", &rate));
    bench_add(&rows[row], rate);
    return MST_OK;
}

/* A peer that cannot be measured has said why, and has no row. */
static void measure_peer(int number, double seconds) {
    static const struct {
        const char *config;
        int ours;
    } peers[NUM_PEERS] = {
        {"ps-asynchronous", PS_ASYNC}, {"ps-synchronous", PS_SYNC}, {"multi-worker", SHM}, {"ddp", SHM}};
    char command[256], line[256];
    const bench_row *ours = &rows[peers[number].ours];
    snprintf(command, sizeof command, "\"$MUSTER_SOURCE/bench/peers/cluster_peers.py\" --config %s --seconds %g",
             peers[number].config, seconds);
    FILE *file = bench_python_open(command, "r");
    if (!file) return;
    const char *at = fgets(line, sizeof line, file) ? strstr(line, "\"examples_per_sec\": ") : NULL;
    const double rate = at ? strtod(strchr(at, ':') + 1, NULL) : 0;
    pclose(file);
    if (rate <= 0) return;
    bench_add(&rows[PEER + number], rate);
    bench_add(&rows[OF_PEER + number], ours->value[ours->count - 1] / rate);
}

static mst_status measure_rates(double seconds, bool peers) {
    double rate;
    char text[2048];
    snprintf(text, sizeof text, TRAIN "%d --devices cpu:1/1", FEWEST_STEPS);
    MST_TRY(run(text, "examples_per_sec", &rate));
    const int64_t wanted = (int64_t)(seconds * rate / BATCH);
    const int64_t steps = wanted > FEWEST_STEPS ? wanted : FEWEST_STEPS;
    for (int round = 0; round < ROUNDS; round++) {
        for (int row = ONE; row <= PS_SYNC; row++) {
            bench_progress("%s, round %d of %d", rows[row].what, round + 1, ROUNDS);
            MST_TRY(measure(row, steps));
        }
        bench_add(&rows[SHM_OF_MIRRORED], rows[SHM].value[round] / rows[MIRRORED].value[round]);
        bench_add(&rows[TCP_OF_MIRRORED], rows[TCP].value[round] / rows[MIRRORED].value[round]);
        bench_add(&rows[ASYNC_OF_ONE], rows[PS_ASYNC].value[round] / rows[ONE].value[round]);
        bench_add(&rows[SYNC_OF_ONE], rows[PS_SYNC].value[round] / rows[ONE].value[round]);
        for (int number = 0; peers && number < NUM_PEERS; number++) {
            bench_progress("%s, round %d of %d", rows[PEER + number].what, round + 1, ROUNDS);
            measure_peer(number, seconds);
        }
    }
    return MST_OK;
}

static mst_status measure_sums(void) {
    double milliseconds;
    for (int round = 0; round < ROUNDS; round++) {
        bench_progress("sums over two workers, round %d of %d", round + 1, ROUNDS);
        MST_TRY(bench_all_reduce("shm", ALL_REDUCES, &milliseconds));
        bench_add(&rows[REDUCE_SHM], milliseconds);
        MST_TRY(bench_all_reduce("zmq", ALL_REDUCES, &milliseconds));
        bench_add(&rows[REDUCE_TCP], milliseconds);
        MST_TRY(bench_bare_copies(ALL_REDUCES, &milliseconds));
        bench_add(&rows[COPY], milliseconds);
    }
    return MST_OK;
}

static mst_status measure_start(void) {
    double steps;
    bench_progress("the start of %d workers", MANY);
    const double began = bench_now();
    MST_TRY(run(LAUNCH("--workers 64") TRAIN_TINY, "step", &steps));
    bench_add(&rows[START], bench_now() - began);
    return MST_OK;
}

static int cluster_run(const command_call *call) {
    const bench_options *o = call->options;
    if (o->peers && !bench_python_install("cluster", "tensorflow pytorch")) return EXIT_FAILED;
    mst_status status = measure_rates(o->seconds, o->peers);
    if (!status) status = measure_sums();
    if (!status) status = measure_start();
    bench_progress_end();
    if (status) return command_fail_library(EXIT_FAILED, "cluster");
    for (int i = 0; i < NUM_ROWS; i++) bench_print(&rows[i], o->json);
    return EXIT_DONE;
}

static const option cluster_options[] = {
    BENCH_COMMON_OPTIONS,
    BENCH_PEERS_OPTION("also TensorFlow and PyTorch over two workers, installed under build/ of the source tree"),
    {0}};
static const option_section cluster_sections[] = {{.title = "Options", .options = cluster_options}, {0}};

const command bench_cluster = {
    .name = "cluster",
    .summary = "several workers, each a process, against one process",
    .usage = "[options]",
    .sections = cluster_sections,
    .options_size = sizeof(bench_options),
    .run = cluster_run,
};
