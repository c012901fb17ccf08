/** muster-bench cluster: two workers, each a process of `muster train`, with and without a parameter server, against
 *  one process; with --peers, against TensorFlow and PyTorch over as many processes. Network and batch are those of
 *  muster-bench mlp; the ways take turns, so that each ratio is of neighbouring measurements. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/all_reduce.h"
#include "bench/bare_network.h"
#include "bench/bench.h"
#include "bench/folder.h"
#include "bench/python.h"
#include "bench/table.h"
#include "bench/zmq_alone.h"
#include "muster/status.h"

enum { ROUNDS = 3, TWO_BATCHES = 2 * BATCH, FEWEST_STEPS = 300, MANY = 64, ALL_REDUCES = 1000 };

enum { NUM_PEERS = 4 };
enum {
    ONE,
    MIRRORED,
    SHM,
    TCP,
    TCP_KEY,
    LIMIT_SHM,
    LIMIT_TCP,
    PS_ASYNC,
    PS_SYNC,
    LIMIT_PS,
    PEER, /* the first of them */
    SHM_OF_MIRRORED = PEER + NUM_PEERS,
    SHM_OF_LIMIT,
    TCP_OF_MIRRORED,
    TCP_OF_LIMIT,
    KEY_OF_TCP,
    ASYNC_OF_ONE,
    SYNC_OF_ONE,
    ASYNC_OF_LIMIT,
    SYNC_OF_LIMIT,
    OF_PEER, /* the first of them */
    REDUCE_SHM = OF_PEER + NUM_PEERS,
    REDUCE_TCP,
    BARE_TCP,
    REDUCE_TCP_OF_BARE,
    COPY,
    LOST,
    START,
    START_LIMIT,
    START_DATA,
    NUM_ROWS
};
static bench_row rows[NUM_ROWS] = {
    [ONE] = BENCH_RATE("one_device", "one process, one device"),
    [MIRRORED] = BENCH_RATE("mirrored", "one process, mirrored over two devices"),
    [SHM] = BENCH_RATE("workers_shm", "two workers of this machine, through shared memory"),
    [TCP] = BENCH_RATE("workers_tcp", "two workers of this machine, over TCP"),
    [TCP_KEY] = BENCH_RATE("workers_tcp_key", "two workers of this machine, over TCP with a cluster key"),
    [LIMIT_SHM] = BENCH_RATE("limit_shm", "  limit: bare products of two threads, half a gradient copied each way"),
    [LIMIT_TCP] = BENCH_RATE("limit_tcp", "  limit: bare products, half a gradient each way by ZeroMQ alone"),
    [PS_ASYNC] = BENCH_RATE("ps_asynchronous", "1 ps and 2 workers, asynchronous"),
    [PS_SYNC] = BENCH_RATE("ps_synchronous", "1 ps and 2 workers, synchronous"),
    [LIMIT_PS] =
        BENCH_RATE("limit_ps", "  limit: bare products of two threads, gradients and variables copied, updates"),
    [PEER] = BENCH_RATE("tensorflow_ps_asynchronous", "TensorFlow 1, 1 ps and 2 workers, asynchronous"),
    [PEER + 1] = BENCH_RATE("tensorflow_ps_synchronous", "TensorFlow 1, 1 ps and 2 workers, SyncReplicasOptimizer"),
    [PEER + 2] = BENCH_RATE("tensorflow_workers", "TensorFlow 2, two workers, MultiWorkerMirroredStrategy"),
    [PEER + 3] = BENCH_RATE("pytorch_workers", "PyTorch, two workers, DistributedDataParallel with Gloo"),
    [SHM_OF_MIRRORED] = BENCH_AT_LEAST("shm_of_mirrored", "two workers through shared memory: of mirrored", "", 0.9),
    [SHM_OF_LIMIT] = BENCH_AT_LEAST("shm_of_limit", "two workers through shared memory: of their limit", "", 0.95),
    [TCP_OF_MIRRORED] = BENCH_AT_LEAST("tcp_of_mirrored", "two workers over TCP: of mirrored", "", 0),
    [TCP_OF_LIMIT] = BENCH_AT_LEAST("tcp_of_limit", "two workers over TCP: of their limit", "", 0.95),
    [KEY_OF_TCP] = BENCH_AT_LEAST("tcp_key_of_tcp", "two workers over TCP with a cluster key: of without", "", 0),
    [ASYNC_OF_ONE] = BENCH_AT_LEAST("ps_asynchronous_of_one", "1 ps and 2 workers, asynchronous: of one device", "", 0),
    [SYNC_OF_ONE] = BENCH_AT_LEAST("ps_synchronous_of_one", "1 ps and 2 workers, synchronous: of one device", "", 0),
    [ASYNC_OF_LIMIT] =
        BENCH_AT_LEAST("ps_asynchronous_of_limit", "1 ps and 2 workers, asynchronous: of their limit", "", 0),
    [SYNC_OF_LIMIT] =
        BENCH_AT_LEAST("ps_synchronous_of_limit", "1 ps and 2 workers, synchronous: of their limit", "", 0),
    [OF_PEER] = BENCH_AT_LEAST("ps_asynchronous_of_peer", "1 ps and 2 workers, asynchronous: of TensorFlow 1", "", 3),
    [OF_PEER + 1] = BENCH_AT_LEAST("ps_synchronous_of_peer", "1 ps and 2 workers, synchronous: of TensorFlow 1", "", 3),
    [OF_PEER + 2] = BENCH_AT_LEAST("workers_of_tensorflow", "two workers: of MultiWorkerMirroredStrategy", "", 3),
    [OF_PEER + 3] = BENCH_AT_LEAST("workers_of_pytorch", "two workers: of DistributedDataParallel", "", 3),
    [REDUCE_SHM] = BENCH_AT_MOST("all_reduce_shm", "1.6 MB added up over two workers, through shared memory", "ms", 0),
    [REDUCE_TCP] = BENCH_AT_MOST("all_reduce_tcp", "1.6 MB added up over two workers, over TCP", "ms", 0),
    [BARE_TCP] = BENCH_AT_MOST("exchange_tcp", "  limit: half of it each way, twice, by ZeroMQ alone", "ms", 0),
    [REDUCE_TCP_OF_BARE] = BENCH_AT_MOST("all_reduce_tcp_of_exchange", "1.6 MB added up over TCP: of that", "", 1.2),
    [COPY] = BENCH_AT_MOST("copy", "1.6 MB copied by one thread", "ms", 0),
    [LOST] = BENCH_AT_MOST("lost_worker", "one of two workers killed: to the next step, restart included", "s", 2),
    [START] =
        BENCH_AT_MOST("start_many", "64 workers, a tiny model and a small table: start to end of one step", "s", 10),
    [START_LIMIT] = BENCH_AT_MOST("start_limit", "  limit: as many processes without each other, one a core", "s", 0),
    [START_DATA] =
        BENCH_AT_MOST("start_many_data", "  the same with all of Fashion-MNIST, which each inflates", "s", 0),
};

#define COMMAND "'" BENCH_COMMAND "'"
#define LAUNCH(tasks) COMMAND " launch " tasks " -- "
#define TRAIN_LOG_EVERY(n)                                                                              \
    COMMAND                                                                                             \
    " train --hidden-units 500 --optimizer sgd --learning-rate 0.1 --batch-size 200 --shards 2 --json " \
    "--progress none --log-every " n " --steps "
#define TRAIN TRAIN_LOG_EVERY("1000000")
#define TRAIN_TINY                                                                                            \
    COMMAND                                                                                                   \
    " train --hidden-units 16 --batch-size 640 --shards 64 --devices cpu:1/1 --json --progress none --steps " \
    "1 "

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
    } ways[] = {
        [ONE] = {"", "--devices cpu:1/1", 1},
        [MIRRORED] = {"", "--devices cpu:2/1", 1},
        [SHM] = {LAUNCH("--workers 2"), "--devices cpu:1/1", 1},
        [TCP] = {LAUNCH("--workers 2"), "--devices cpu:1/1 --transport zmq", 1},
        [TCP_KEY] = {LAUNCH("--workers 2"), "--devices cpu:1/1 --transport zmq --cluster-key \"$MUSTER_BENCH_KEY\"", 1},
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

static mst_status measure_exchange(double *milliseconds) {
    bench_zmq zmq;
    mst_status status = bench_zmq_start(BENCH_ALL_REDUCE_COUNT / 2 * sizeof(float), true, &zmq);
    double began = bench_now();
    for (int i = -ALL_REDUCES / 5; i < 2 * ALL_REDUCES && !status; i++) {
        if (i == 0) began = bench_now();
        status = bench_zmq_exchange(&zmq);
    }
    *milliseconds = 1000 * (bench_now() - began) / ALL_REDUCES;
    bench_zmq_stop(&zmq);
    return status;
}

/* Measures the limits, after the ways of training that ROUND has measured: the ratios divide their rates. */
static mst_status measure_limits(double seconds, int round) {
    double exchange;
    const double shm = bare_two_workers(BARE_HALVES, seconds), products = bare_two_workers(BARE_NONE, seconds);
    const double ps = bare_two_workers(BARE_SERVED, seconds);
    if (shm <= 0 || products <= 0 || ps <= 0) return MST_FAIL(MST_INTERNAL, "cluster: the bare products have failed");
    MST_TRY(measure_exchange(&exchange));
    const double tcp = TWO_BATCHES / (TWO_BATCHES / products + exchange / 1000);
    bench_add(&rows[LIMIT_SHM], shm);
    bench_add(&rows[LIMIT_TCP], tcp);
    bench_add(&rows[LIMIT_PS], ps);
    bench_add(&rows[ASYNC_OF_LIMIT], rows[PS_ASYNC].value[round] / ps);
    bench_add(&rows[SYNC_OF_LIMIT], rows[PS_SYNC].value[round] / ps);
    bench_add(&rows[SHM_OF_LIMIT], rows[SHM].value[round] / shm);
    bench_add(&rows[TCP_OF_LIMIT], rows[TCP].value[round] / tcp);
    return MST_OK;
}

static mst_status measure_rates(double seconds, bool peers) {
    double rate;
    char text[2048];
    snprintf(text, sizeof text, TRAIN "%d --devices cpu:1/1", FEWEST_STEPS);
    MST_TRY(run(text, "examples_per_sec", &rate));
    const int64_t wanted = (int64_t)(seconds * rate / TWO_BATCHES);
    const int64_t steps = wanted > FEWEST_STEPS ? wanted : FEWEST_STEPS;
    for (int round = 0; round < ROUNDS; round++) {
        for (int row = ONE; row <= PS_SYNC; row++) {
            if (row == LIMIT_SHM || row == LIMIT_TCP) continue;
            bench_progress("%s, round %d of %d", rows[row].what, round + 1, ROUNDS);
            MST_TRY(measure(row, steps));
        }
        MST_TRY(measure_limits(seconds, round));
        bench_add(&rows[SHM_OF_MIRRORED], rows[SHM].value[round] / rows[MIRRORED].value[round]);
        bench_add(&rows[KEY_OF_TCP], rows[TCP_KEY].value[round] / rows[TCP].value[round]);
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

/* With a key in FOLDER for those connections that have one. */
static mst_status measure_rates_in(const char *folder, double seconds, bool peers) {
    char key[600];
    snprintf(key, sizeof key, "%s/cluster.key", folder);
    if (setenv("MUSTER_BENCH_KEY", key, 1) || system(COMMAND " keygen \"$MUSTER_BENCH_KEY\" > /dev/null") != 0)
        return MST_FAIL(MST_IO, "cluster: no key could be made, and the error is above");
    return measure_rates(seconds, peers);
}

static mst_status measure_sums(void) {
    double milliseconds, bare;
    for (int round = 0; round < ROUNDS; round++) {
        bench_progress("sums over two workers, round %d of %d", round + 1, ROUNDS);
        MST_TRY(bench_all_reduce("shm", ALL_REDUCES, &milliseconds));
        bench_add(&rows[REDUCE_SHM], milliseconds);
        MST_TRY(bench_all_reduce("zmq", ALL_REDUCES, &milliseconds));
        MST_TRY(measure_exchange(&bare));
        bench_add(&rows[REDUCE_TCP], milliseconds);
        bench_add(&rows[BARE_TCP], bare);
        bench_add(&rows[REDUCE_TCP_OF_BARE], milliseconds / bare);
        MST_TRY(bench_bare_copies(ALL_REDUCES, &milliseconds));
        bench_add(&rows[COPY], milliseconds);
    }
    return MST_OK;
}

/* ---- many workers ---- */

static mst_status write_small_table(const char *folder) {
    char path[512];
    snprintf(path, sizeof path, "%s/table.csv", folder);
    FILE *file = fopen(path, "w");
    if (!file) return MST_FAIL(MST_IO, "'%s' cannot be written", path);
    fputs("a,b,label\n", file);
    for (int i = 0; i < 1280; i++) fprintf(file, "%d,%d,%d\n", i % 37, i % 11, i % 2);
    return fclose(file) ? MST_FAIL(MST_IO, "'%s' cannot be written", path) : MST_OK;
}

/* Seconds of LAUNCH, nothing or a prefix, before the training with OPTIONS. */
static mst_status measure_start_of(const char *launch, const char *options, double *seconds) {
    char text[2048];
    double steps;
    snprintf(text, sizeof text, "%s" TRAIN_TINY "%s", launch, options);
    const double began = bench_now();
    MST_TRY(run(text, "step", &steps));
    *seconds = bench_now() - began;
    return MST_OK;
}

static mst_status measure_starts_in(const char *folder) {
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    char data[600];
    double many, one, all;
    MST_TRY(write_small_table(folder));
    snprintf(data, sizeof data, "--data 'csv:%s/table.csv' --label label", folder);
    for (int round = 0; round < ROUNDS; round++) {
        bench_progress("the start of %d workers, round %d of %d", MANY, round + 1, ROUNDS);
        MST_TRY(measure_start_of("", data, &one));
        MST_TRY(measure_start_of(LAUNCH("--workers 64"), data, &many));
        MST_TRY(measure_start_of(LAUNCH("--workers 64"), "", &all));
        bench_add(&rows[START], many);
        bench_add(&rows[START_LIMIT], one * MANY / (double)(cores < MANY ? cores : MANY));
        bench_add(&rows[START_DATA], all);
    }
    return MST_OK;
}

/* ---- a worker that is lost ---- */

/* Worker 1 says the number of its process, which is then that of the training. */
#define LOSE_A_WORKER                  \
    LAUNCH("--workers 2 --restarts 1") \
    "sh -c 'echo \"pid $$\"; exec \"$0\" \"$@\"' " TRAIN_LOG_EVERY("1") "2000 --devices cpu:1/1"

/* Kills worker 1 in the middle of the job, and waits for its first step in a process that has come in its place. */
static mst_status measure_lost(double *seconds) {
    static const char name[] = "worker:1 | ", step[] = "{\"event\":\"step\"";
    enum { BEFORE = 100 /* steps */ };
    char line[4096];
    int processes = 0, steps = 0;
    long process = 0;
    double killed = 0;
    FILE *file = popen(LOSE_A_WORKER, "r");
    if (!file) return MST_FAIL(MST_IO, "cannot start a process: %s", LOSE_A_WORKER);
    *seconds = 0;
    while (fgets(line, sizeof line, file)) {
        const char *at = line + sizeof name - 1;
        if (strncmp(line, name, sizeof name - 1) != 0) continue;
        if (strncmp(at, "pid ", 4) == 0) {
            process = strtol(at + 4, NULL, 10);
            processes++;
        }
        if (strncmp(at, step, sizeof step - 1) != 0) continue;
        if (processes == 1 && ++steps == BEFORE) {
            killed = bench_now();
            kill((pid_t)process, SIGKILL);
        }
        if (processes == 2 && *seconds == 0) *seconds = bench_now() - killed;
    }
    if (pclose(file) == 0 && *seconds > 0) return MST_OK;
    return MST_FAIL(MST_IO, "this did not work, and its error is above: %s", LOSE_A_WORKER);
}

static mst_status measure_losses(void) {
    for (int round = 0; round < ROUNDS; round++) {
        double seconds;
        bench_progress("a worker that is lost, round %d of %d", round + 1, ROUNDS);
        MST_TRY(measure_lost(&seconds));
        bench_add(&rows[LOST], seconds);
    }
    return MST_OK;
}

static int cluster_run(const command_call *call) {
    const bench_options *o = call->options;
    if (o->peers && !bench_python_install("cluster", "tensorflow pytorch")) return EXIT_FAILED;
    char *folder;
    mst_status status = bench_folder_make(NULL, &folder);
    if (!status) status = measure_rates_in(folder, bench_seconds(o), o->peers);
    bench_print(rows, NUM_ROWS, o->json);
    if (!status) status = measure_sums();
    bench_print(rows, NUM_ROWS, o->json);
    if (!status) status = measure_losses();
    bench_print(rows, NUM_ROWS, o->json);
    if (!status) status = measure_starts_in(folder);
    bench_folder_remove(folder);
    bench_progress_end();
    if (status) return command_fail_library(EXIT_FAILED, "cluster");
    bench_print(rows, NUM_ROWS, o->json);
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
