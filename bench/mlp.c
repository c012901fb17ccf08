/* muster-bench mlp: the network 784-500-10 with batch 100 a replica, SGD with decay, L2 and a moving average, against
 * the bare calls that it cannot do without, against itself on more devices, and against TensorFlow, PyTorch and JAX.
 *
 * Every configuration of Muster is a process of its own, `muster train` as users run it; every round measures all of
 * them once, and the ratios are those of each round, so that a change of the machine's speed between rounds cancels. */
#include <dnnl.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <omp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/bare_network.h"
#include "bench/bench.h"
#include "bench/mlp.h"
#include "bench/peers.h"
#include "bench/table.h"
#include "muster/muster.h"

#define WINDOW 50 /* steps */
#define STRING(x) STRING_OF(x)
#define STRING_OF(x) #x
enum { MAX_WINDOWS = 100000 };
static const double PEER_WINDOW = 1; /* seconds */
/* What a round takes: so many times the seconds of a measurement, and seconds for the starts of its processes. */
static const double ROUND_OF = 7.5, ROUND_STARTS = 5;
enum { ROUNDS = BENCH_ROUNDS, PLAN_NODES = 100000 };

/* ---- windows ---- */

/* Rates of windows of WINDOW steps. What else the machine does slows some of them: the best tenth shows what the code
 * can do. */
typedef struct windows {
    double rate[MAX_WINDOWS];
    int count;
} windows;

static void add_window(windows *w, double rate) {
    if (w->count < MAX_WINDOWS) w->rate[w->count++] = rate;
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The rate that a tenth of the windows reach. */
static double best_tenth(windows *w) {
    qsort(w->rate, (size_t)w->count, sizeof *w->rate, by_value);
    return w->count ? w->rate[w->count * 9 / 10] : 0;
}

/* Examples a second: of a whole measurement, and of its best windows. */
typedef struct rate {
    double mean, best;
} rate;

/* On one thread; 0 where it failed. */
static rate measure_bare(bool (*step)(bare_network *), double seconds) {
    static windows w;
    bare_network b;
    rate out = {0, 0};
    omp_set_num_threads(1);
    w.count = 0;
    if (bare_make(&b)) {
        bool good = true;
        for (int i = 0; i < 100; i++) good &= step(&b);
        int64_t steps = 0;
        const double start = bench_now();
        double last = start, now = start;
        for (; now - start < seconds && good; last = now) {
            for (int i = 0; i < WINDOW; i++, steps++) good &= step(&b);
            now = bench_now();
            add_window(&w, WINDOW * BATCH / (now - last));
        }
        if (good) out = (rate){(double)(steps * BATCH) / (now - start), best_tenth(&w)};
    }
    bare_free(&b);
    return out;
}

/* ---- the limit of two threads: each makes half of the rows of the gradient, from what both have, and writes the new
 * weights of these rows for both; so they meet twice a step ---- */

typedef struct pair {
    bare_network bare[2];
    _Atomic uint64_t arrived;
    atomic_bool stop;
} pair;

static void bench_pause(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void meet(pair *p, uint64_t *meetings) {
    atomic_fetch_add(&p->arrived, 1);
    for (++*meetings; atomic_load(&p->arrived) < 2 * *meetings;) bench_pause();
}

static bool meeting_step(pair *p, int self, uint64_t *meetings) {
    enum { HALF = INPUTS / 2 };
    bare_network *own = &p->bare[self], *other = &p->bare[1 - self];
    bool good = bare_most_products(own);
    meet(p, meetings);
    const int64_t first = (int64_t)self * HALF, at = first * HIDDEN;
    for (int s = 0; s < 2; s++)
        good &= dnnl_sgemm('T', 'N', HALF, HIDDEN, BATCH, 1, p->bare[s].x + first, INPUTS, p->bare[s].dh, HIDDEN,
                           s ? 1.0F : 0.0F, own->dw1 + at, HIDDEN) == dnnl_success;
    bare_pass(own->w1 + at, own->average + at, own->dw1 + at, HALF * HIDDEN);
    memcpy(other->w1 + at, own->w1 + at, (size_t)HALF * HIDDEN * sizeof *own->w1);
    meet(p, meetings);
    return good;
}

static void *second_of_pair(void *context) {
    pair *p = context;
    uint64_t meetings = 0;
    omp_set_num_threads(1);
    while (!atomic_load(&p->stop))
        if (!meeting_step(p, 1, &meetings)) break;
    atomic_store(&p->arrived, UINT64_MAX / 2); /* nobody waits for this thread any more */
    return NULL;
}

static void run_pair(pair *p, double seconds, windows *w) {
    pthread_t thread;
    uint64_t meetings = 0;
    if (pthread_create(&thread, NULL, second_of_pair, p)) return;
    bool good = true;
    const double start = bench_now();
    for (double last = start, now = start; now - start < seconds && good; last = now) {
        for (int i = 0; i < WINDOW; i++) good &= meeting_step(p, 0, &meetings);
        now = bench_now();
        add_window(w, 2 * WINDOW * BATCH / (now - last));
    }
    atomic_store(&p->stop, true);
    atomic_store(&p->arrived, UINT64_MAX / 2);
    pthread_join(thread, NULL);
    if (!good) w->count = 0;
}

/* Best windows of two threads together; 0 where it failed. */
static double measure_meeting(double seconds) {
    static windows w;
    pair p = {.arrived = 0};
    w.count = 0;
    const bool first = bare_make(&p.bare[0]), second = bare_make(&p.bare[1]);
    if (first && second) run_pair(&p, seconds, &w);
    bare_free(&p.bare[0]);
    bare_free(&p.bare[1]);
    return best_tenth(&w);
}

/* ---- one training process ---- */

typedef struct child {
    pid_t pid;
    int batch; /* global */
    int pipe;
    double started;
} child;

typedef struct measured {
    double examples_per_sec, best, wall, peak_mb;
} measured;

void bench_mlp_arguments(const char *devices, const char *strategy, int batch, int64_t steps,
                         char text[BENCH_MLP_TEXTS][BENCH_MLP_TEXT], const char *arguments[BENCH_MLP_ARGUMENTS]) {
    snprintf(text[0], sizeof text[0], "%" PRId64, steps);
    snprintf(text[1], sizeof text[1], "%d", batch);
    snprintf(text[2], sizeof text[2], "%d", batch / BATCH);
    const char *const all[] = {"train",          "--data",       "fashion-mnist", "--model",      "mlp",
                               "--hidden-units", "500",          "--devices",     devices,        "--strategy",
                               strategy,         "--batch-size", text[1],         "--shards",     text[2],
                               "--steps",        text[0],        "--optimizer",   "sgd",          "--learning-rate",
                               "0.01",           "--schedule",   "exponential",   "--decay-rate", "0.99",
                               "--decay-steps",  "600",          "--l2",          "1e-4",         "--ema",
                               "0.99",           "--json",       "--log-every",   STRING(WINDOW), NULL};
    memcpy(arguments, all, sizeof all);
}

static bool start_training(child *c, const char *devices, const char *strategy, mst_precision precision, int batch,
                           int64_t steps) {
    char text[BENCH_MLP_TEXTS][BENCH_MLP_TEXT];
    const char *arguments[BENCH_MLP_ARGUMENTS + 3] = {"muster"}; /* and --precision */
    bench_mlp_arguments(devices, strategy, batch, steps, text, arguments + 1);
    int count = 0;
    while (arguments[count]) count++;
    arguments[count++] = "--precision";
    arguments[count] = mst_precision_names[precision];
    int ends[2];
    if (pipe2(ends, O_CLOEXEC)) return false;
    c->started = bench_now();
    c->batch = batch;
    c->pid = fork();
    if (c->pid == 0) {
        if (dup2(ends[1], STDOUT_FILENO) >= 0) execv(BENCH_COMMAND, (char *const *)(uintptr_t)arguments);
        _exit(127);
    }
    close(ends[1]);
    c->pipe = ends[0];
    return c->pid > 0;
}

/* Step events: the windows between them, but for those over the end of an epoch. */
static void read_step(const json_t *event, int batch, windows *w, json_int_t *epoch, double *last) {
    const json_int_t in = json_integer_value(json_object_get(event, "epoch"));
    const double now = json_number_value(json_object_get(event, "seconds"));
    if (*last > 0 && in == *epoch && now > *last) add_window(w, WINDOW * batch / (now - *last));
    *epoch = in;
    *last = now;
}

static bool finish_training(child *c, measured *out) {
    static windows w;
    FILE *file = fdopen(c->pipe, "r");
    char line[4096];
    json_int_t epoch = 0;
    double last = 0;
    *out = (measured){0};
    w.count = 0;
    while (file && fgets(line, sizeof line, file)) {
        json_t *event = json_loads(line, 0, NULL);
        const char *name = json_string_value(json_object_get(event, "event"));
        if (name && strcmp(name, "step") == 0) read_step(event, c->batch, &w, &epoch, &last);
        if (name && strcmp(name, "done") == 0)
            out->examples_per_sec = json_number_value(json_object_get(event, "examples_per_sec"));
        json_decref(event);
    }
    if (file) fclose(file);
    int status;
    struct rusage usage;
    if (wait4(c->pid, &status, 0, &usage) != c->pid) return false;
    out->best = best_tenth(&w);
    out->wall = bench_now() - c->started;
    out->peak_mb = (double)usage.ru_maxrss / 1024;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool train(const char *devices, const char *strategy, int batch, int64_t steps, measured *out) {
    child c;
    return start_training(&c, devices, strategy, MST_FLOAT32, batch, steps) && finish_training(&c, out);
}

/* Two devices in bf16, where the processor has it, against MIRRORED in f32. */
static bool measure_bf16(double mirrored, int64_t steps, bench_row *r) {
    child c;
    measured low;
    if (mst_precision_here(MST_MIXED_BFLOAT16) != MST_MIXED_BFLOAT16) return true;
    if (!start_training(&c, "cpu:2/1", "mirrored", MST_MIXED_BFLOAT16, 2 * BATCH, steps) || !finish_training(&c, &low))
        return false;
    bench_add(&r[0], low.examples_per_sec);
    bench_add(&r[1], low.examples_per_sec / mirrored);
    return true;
}

/* ---- beside others ---- */

static int machine_cores(void) {
    mst_machine machine;
    mst_machine_read(&machine);
    return machine.num_cores;
}

static pid_t start_busy(void) {
    const pid_t pid = fork();
    if (pid == 0)
        for (volatile unsigned turns = 0;; turns++) {
        }
    return pid;
}

/* One device of all cores against one of one thread, while every other core is busy with something else. */
static double beside_busy(int64_t steps) {
    enum { MOST_BUSY = 255 };
    pid_t busy[MOST_BUSY];
    const int cores = machine_cores();
    int num_busy = 0;
    while (num_busy < cores - 1 && num_busy < MOST_BUSY && (busy[num_busy] = start_busy()) > 0) num_busy++;
    char all[32];
    snprintf(all, sizeof all, "cpu:1/%d", cores);
    measured many = {0}, one = {0};
    const bool good = train(all, "one", BATCH, steps, &many) && train("cpu:1/1", "one", BATCH, steps, &one);
    for (int i = 0; i < num_busy; i++) {
        kill(busy[i], SIGKILL);
        waitpid(busy[i], NULL, 0);
    }
    return good && one.examples_per_sec > 0 ? many.examples_per_sec / one.examples_per_sec : 0;
}

/* The sums of the rates of two processes that run at the same time. */
static bool train_pair(int64_t steps, rate *out) {
    child first, second;
    measured a, b;
    if (!start_training(&first, "cpu:1/1", "one", MST_FLOAT32, BATCH, steps)) return false;
    bool both = start_training(&second, "cpu:1/1", "one", MST_FLOAT32, BATCH, steps);
    bool good = finish_training(&first, &a);
    if (both) good &= finish_training(&second, &b);
    *out = both ? (rate){a.examples_per_sec + b.examples_per_sec, a.best + b.best} : (rate){0, 0};
    return good && both;
}

/* ---- plan and size ---- */

/* Seconds to make the plan of a graph of so many nodes. */
static double measure_plan(int64_t nodes) {
    mst_graph *graph = NULL;
    mst_session *session = NULL;
    mst_tensor *tensor = NULL, *output = NULL;
    double seconds = -1;
    if (mst_graph_create(&graph) || mst_tensor_create(MST_F32, MST_SHAPE(4), &tensor)) goto done;
    mst_value x = mst_placeholder(graph, MST_F32, MST_SHAPE(-1), "x"), y = x;
    for (int64_t i = 1; i < nodes; i++) y = i % 2 ? mst_add(y, x) : mst_tanh(y);
    if (mst_session_create(graph, NULL, &session)) goto done;
    double start = bench_now();
    mst_feed feed = {.value = x, .tensor = tensor};
    if (mst_session_run(session, &feed, 1, &y, 1, &output) == MST_OK) seconds = bench_now() - start;
done:
    mst_tensor_release(tensor);
    mst_tensor_release(output);
    mst_session_destroy(session);
    mst_graph_destroy(graph);
    return seconds;
}

static int64_t file_size(const char *path) {
    struct stat info;
    return stat(path, &info) ? 0 : info.st_size;
}

/* Bytes of the command and the library, as they are; stripped is smaller. */
static int64_t installed_size(void) {
    return file_size(BENCH_COMMAND) + file_size(BENCH_LIBRARY);
}

/* ---- the table ---- */

enum {
    BARE,
    PRODUCTS,
    ONE,
    MIRRORED,
    PAIR,
    ONE_TO_BARE,
    ONE_TO_BARE_BEST,
    MIRRORED_TO_PAIR,
    MIRRORED_TO_PAIR_BEST,
    MEETING_TO_PAIR,
    MIRRORED_TO_PRODUCTS,
    BF16, /* and against f32 */
    BF16_TO_MIRRORED,
    BESIDE_BUSY,
    FIRST_STEP,
    PEAK,
    PLAN,
    PLAN_GROWTH,
    SIZE,
    PEER_RATES, /* by peer and way; then MirroredStrategy's */
    TF_GUIDE = PEER_RATES,
    TF_STEP,
    TF_LOOP,
    TORCH_GUIDE,
    TORCH_STEP,
    TORCH_LOOP,
    JAX_GUIDE,
    JAX_STEP,
    JAX_LOOP,
    TF_MIRRORED_GUIDE,
    TF_MIRRORED_STEP,
    TF_MIRRORED_LOOP,
    TO_PEERS_GUIDE,
    TO_PEERS_GUIDE_MEDIAN,
    TO_PEERS_BY_STEP,
    TO_PEERS_BY_STEP_MEDIAN,
    TO_PEERS,
    TO_PEERS_MEDIAN,
    TO_TF_MIRRORED_GUIDE,
    TO_TF_MIRRORED_GUIDE_MEDIAN,
    TO_TF_MIRRORED_BY_STEP,
    TO_TF_MIRRORED_BY_STEP_MEDIAN,
    TO_TF_MIRRORED,
    TO_TF_MIRRORED_MEDIAN,
    PEER_FIRST, /* by peer */
    PEER_BESIDE_BUSY = PEER_FIRST + BENCH_NUM_PEERS,
    NUM_ROWS = PEER_BESIDE_BUSY + BENCH_NUM_PEERS
};

static bench_row rows[NUM_ROWS] = {
    [BARE] = BENCH_RATE("bare", "limit: bare sgemm calls and one pass, one thread"),
    [PRODUCTS] = BENCH_RATE("products", "bare sgemm calls and nothing else, twice one thread"),
    [ONE] = BENCH_RATE("one", "one device, one thread"),
    [MIRRORED] = BENCH_RATE("mirrored", "two logical CPU devices, mirrored"),
    [PAIR] = BENCH_RATE("pair", "two independent one-device processes"),
    [ONE_TO_BARE] = BENCH_AT_LEAST("one_to_bare", "one device / limit", "x", 0),
    [ONE_TO_BARE_BEST] = BENCH_AT_LEAST("one_to_bare_best", "  the same, best tenth of windows of 50 steps", "x", 0.95),
    [MIRRORED_TO_PAIR] = BENCH_AT_LEAST("mirrored_to_pair", "mirrored / two independent processes", "x", 0),
    [MIRRORED_TO_PAIR_BEST] =
        BENCH_AT_LEAST("mirrored_to_pair_best", "  the same, best tenth of windows of 50 steps", "x", 1),
    [MEETING_TO_PAIR] =
        BENCH_AT_LEAST("meeting_to_pair", "  limit: bare calls on two threads, mirrored / the same", "x", 0),
    [MIRRORED_TO_PRODUCTS] =
        BENCH_AT_LEAST("mirrored_to_products", "mirrored / bare sgemm calls and nothing else", "x", 0),
    [BF16] = BENCH_RATE("bf16", "two logical CPU devices, mirrored, products in bf16"),
    [BF16_TO_MIRRORED] = BENCH_AT_LEAST("bf16_to_mirrored", "  the same / in f32", "x", 0),
    [BESIDE_BUSY] = BENCH_AT_LEAST("beside_busy", "one device of all cores / one thread, other cores busy", "x", 0.9),
    [FIRST_STEP] = BENCH_AT_MOST("first_step", "process start to end, one step, data read from gzip", "s", 0.3),
    [PEAK] = BENCH_AT_MOST("peak", "peak memory beyond the data as stored", "MB", 60),
    [PLAN] = BENCH_AT_MOST("plan", "plan of a graph of 100,000 nodes, and its first run", "s", 2),
    [PLAN_GROWTH] = BENCH_AT_MOST("plan_growth", "time a node, 100,000 nodes / 25,000 nodes", "x", 0),
    [SIZE] = BENCH_AT_MOST("size", "library and command", "MB", 5),
    [TF_GUIDE] = BENCH_RATE("tensorflow_guide", "TensorFlow, Keras' fit"),
    [TF_STEP] = BENCH_RATE("tensorflow_step", "TensorFlow, own loop, a call a step"),
    [TF_LOOP] = BENCH_RATE("tensorflow_loop", "TensorFlow, many steps in one compiled call"),
    [TORCH_GUIDE] = BENCH_RATE("pytorch_guide", "PyTorch, the loop of its guide"),
    [TORCH_STEP] = BENCH_RATE("pytorch_step", "PyTorch, the least code a step"),
    [TORCH_LOOP] = BENCH_RATE("pytorch_loop", "PyTorch, many steps in one compiled call"),
    [JAX_GUIDE] = BENCH_RATE("jax_guide", "JAX, as its guide does it"),
    [JAX_STEP] = BENCH_RATE("jax_step", "JAX, a jitted step a call"),
    [JAX_LOOP] = BENCH_RATE("jax_loop", "JAX, many steps in one call by scan"),
    [TF_MIRRORED_GUIDE] = BENCH_RATE("tensorflow_mirrored_guide", "MirroredStrategy over two CPU devices, Keras' fit"),
    [TF_MIRRORED_STEP] = BENCH_RATE("tensorflow_mirrored_step", "MirroredStrategy, own loop, a call a step"),
    [TF_MIRRORED_LOOP] = BENCH_RATE("tensorflow_mirrored_loop", "MirroredStrategy, many steps in one compiled call"),
    [TO_PEERS_GUIDE] =
        BENCH_AT_LEAST("to_peers_guide", "Muster mirrored / best peer, as their guides do it, best windows", "x", 4),
    [TO_PEERS_GUIDE_MEDIAN] = BENCH_AT_LEAST("to_peers_guide_median", "  the same, median of the windows", "x", 0),
    [TO_PEERS_BY_STEP] =
        BENCH_AT_LEAST("to_peers_by_step", "Muster mirrored / best peer, a call a step, best windows", "x", 1.5),
    [TO_PEERS_BY_STEP_MEDIAN] = BENCH_AT_LEAST("to_peers_by_step_median", "  the same, median of the windows", "x", 0),
    [TO_PEERS] = BENCH_AT_LEAST("to_peers", "Muster mirrored / best peer, any way, best windows", "x", 1.2),
    [TO_PEERS_MEDIAN] = BENCH_AT_LEAST("to_peers_median", "  the same, median of the windows", "x", 0),
    [TO_TF_MIRRORED_GUIDE] = BENCH_AT_LEAST("to_tensorflow_mirrored_guide",
                                            "Muster mirrored / MirroredStrategy, Keras' fit, best windows", "x", 4),
    [TO_TF_MIRRORED_GUIDE_MEDIAN] =
        BENCH_AT_LEAST("to_tensorflow_mirrored_guide_median", "  the same, median of the windows", "x", 0),
    [TO_TF_MIRRORED_BY_STEP] = BENCH_AT_LEAST(
        "to_tensorflow_mirrored_by_step", "Muster mirrored / MirroredStrategy, a call a step, best windows", "x", 1.5),
    [TO_TF_MIRRORED_BY_STEP_MEDIAN] =
        BENCH_AT_LEAST("to_tensorflow_mirrored_by_step_median", "  the same, median of the windows", "x", 0),
    [TO_TF_MIRRORED] =
        BENCH_AT_LEAST("to_tensorflow_mirrored", "Muster mirrored / MirroredStrategy, any way, best windows", "x", 1.2),
    [TO_TF_MIRRORED_MEDIAN] =
        BENCH_AT_LEAST("to_tensorflow_mirrored_median", "  the same, median of the windows", "x", 0),
    [PEER_FIRST] = BENCH_AT_MOST("tensorflow_first_step", "TensorFlow: process start to first step done", "s", 0),
    BENCH_AT_MOST("pytorch_first_step", "PyTorch: process start to first step done", "s", 0),
    BENCH_AT_MOST("jax_first_step", "JAX: process start to first step done", "s", 0),
    [PEER_BESIDE_BUSY] =
        BENCH_AT_LEAST("tensorflow_beside_busy", "TensorFlow: all cores / one thread, other cores busy", "x", 0),
    BENCH_AT_LEAST("pytorch_beside_busy", "PyTorch: all cores / one thread, other cores busy", "x", 0),
    BENCH_AT_LEAST("jax_beside_busy", "JAX: all cores / one thread, other cores busy", "x", 0),
};

static rate mean_of(rate a, rate b) {
    return (rate){(a.mean + b.mean) / 2, (a.best + b.best) / 2};
}

static bool measure_round(double seconds, int64_t steps) {
    measured one, mirrored, again, first;
    rate pair, limit = measure_bare(bare_step, seconds);
    const double products = 2 * measure_bare(bare_products, seconds).mean;
    if (products <= 0 || limit.mean <= 0 || !train("cpu:1/1", "one", BATCH, steps, &one)) return false;
    limit = mean_of(limit, measure_bare(bare_step, seconds)); /* before and after: the machine drifts */
    if (!train("cpu:2/1", "mirrored", 2 * BATCH, steps, &mirrored) || !train_pair(steps, &pair)) return false;
    if (!train("cpu:2/1", "mirrored", 2 * BATCH, steps, &again)) return false;
    mirrored.examples_per_sec = (mirrored.examples_per_sec + again.examples_per_sec) / 2;
    mirrored.best = (mirrored.best + again.best) / 2;
    if (!measure_bf16(mirrored.examples_per_sec, steps, &rows[BF16])) return false;
    const double meeting = measure_meeting(seconds);
    if (!train("cpu:1/1", "one", BATCH, 1, &first)) return false;
    const double beside = beside_busy(steps / 4);
    if (beside > 0) bench_add(&rows[BESIDE_BUSY], beside);
    const double data_mb = 60000.0 * (28 * 28 + 1) / 1e6;
    bench_add(&rows[BARE], limit.mean);
    bench_add(&rows[PRODUCTS], products);
    bench_add(&rows[ONE], one.examples_per_sec);
    bench_add(&rows[MIRRORED], mirrored.examples_per_sec);
    bench_add(&rows[PAIR], pair.mean);
    bench_add(&rows[ONE_TO_BARE], one.examples_per_sec / limit.mean);
    bench_add(&rows[ONE_TO_BARE_BEST], one.best / limit.best);
    bench_add(&rows[MIRRORED_TO_PAIR], mirrored.examples_per_sec / pair.mean);
    bench_add(&rows[MIRRORED_TO_PAIR_BEST], mirrored.best / pair.best);
    if (meeting > 0) bench_add(&rows[MEETING_TO_PAIR], meeting / pair.best);
    bench_add(&rows[MIRRORED_TO_PRODUCTS], mirrored.examples_per_sec / products);
    bench_add(&rows[FIRST_STEP], first.wall);
    bench_add(&rows[PEAK], one.peak_mb * 1.048576 - data_mb);
    return true;
}

static void measure_rest(void) {
    double small = measure_plan(PLAN_NODES / 4), large = measure_plan(PLAN_NODES);
    if (small > 0 && large > 0) {
        bench_add(&rows[PLAN], large);
        bench_add(&rows[PLAN_GROWTH], large / (4 * small));
    }
    bench_add(&rows[SIZE], (double)installed_size() / 1e6);
}

static void add_measured(bench_row *r, double value) {
    if (value > 0) bench_add(r, value);
}

/* To two rows in a row. */
static void add_ratio(bench_row *r, bench_ratio ratio) {
    add_measured(&r[0], ratio.best);
    add_measured(&r[1], ratio.median);
}

/* By the guide, by a call a step (the guide's among them), and by any way. */
static void add_ratios(bench_row *r, const bench_ratio ratio[BENCH_PEER_WAYS]) {
    const bench_ratio by_step = bench_ratio_least(ratio[BENCH_PEER_GUIDE], ratio[BENCH_PEER_STEP]);
    add_ratio(&r[0], ratio[BENCH_PEER_GUIDE]);
    add_ratio(&r[2], by_step);
    add_ratio(&r[4], bench_ratio_least(by_step, ratio[BENCH_PEER_LOOP]));
}

/* STEPS: about as many as a window has, two replicas. */
static void measure_peers(double seconds, int64_t steps, bool quick) {
    char text[BENCH_MLP_TEXTS][BENCH_MLP_TEXT], command[1024] = "";
    const char *arguments[BENCH_MLP_ARGUMENTS];
    bench_peers peers;
    bench_mlp_arguments("cpu:2/1", "mirrored", 2 * BATCH, steps, text, arguments);
    for (size_t i = 0, used = 0; arguments[i] && used < sizeof command; i++)
        used += (size_t)snprintf(command + used, sizeof command - used, " %s", arguments[i]);
    if (!bench_peers_measure(seconds, quick, command, &peers)) return;
    for (int p = 0; p < BENCH_NUM_PEERS; p++) {
        for (int way = 0; way < BENCH_PEER_WAYS; way++)
            add_measured(&rows[PEER_RATES + p * BENCH_PEER_WAYS + way], peers.peer[p].best[way]);
        add_measured(&rows[PEER_FIRST + p], peers.peer[p].first_step);
        add_measured(&rows[PEER_BESIDE_BUSY + p], peers.peer[p].beside_busy);
    }
    for (int way = 0; way < BENCH_PEER_WAYS; way++)
        add_measured(&rows[TF_MIRRORED_GUIDE + way], peers.peer[BENCH_TENSORFLOW].replicated[way]);
    add_ratios(&rows[TO_PEERS_GUIDE], peers.over_all);
    add_ratios(&rows[TO_TF_MIRRORED_GUIDE], peers.over_mirrored);
}

static int run(const command_call *call) {
    const bench_options *options = call->options;
    const int rounds = bench_rounds(options, ROUNDS);
    const double seconds = bench_seconds(options);
    mst_machine machine;
    mst_machine_read(&machine);
    if (!options->json)
        printf(
            "784-500-10, batch %d a replica, SGD with decay, L2, moving average; medians of %d rounds\n%s, %d cores, "
            "%s\n",
            BATCH, rounds, machine.cpu, machine.num_cores, machine.isa);
    fflush(stdout);
    /* so many steps that a measurement takes about its time */
    measured probe;
    if (!train("cpu:1/1", "one", BATCH, 500, &probe))
        return command_fail(EXIT_FAILED,
                            "mlp: a training process failed; run muster train --data fashion-mnist to see why");
    const int64_t steps = (int64_t)(probe.examples_per_sec * seconds / BATCH) + 1;
    bench_progress_time("all rounds", rounds * (ROUND_OF * seconds + ROUND_STARTS));
    const double began = bench_now();
    for (int round = 0; round < rounds; round++) {
        if (round > 0) bench_progress_round(round, rounds, began);
        if (!measure_round(seconds / 4, steps))
            return command_fail(EXIT_FAILED, "mlp: a measurement failed in round %d", round + 1);
    }
    bench_print(rows, NUM_ROWS, options->json);
    bench_progress("plans of large graphs");
    measure_rest();
    bench_print(rows, NUM_ROWS, options->json);
    if (options->peers)
        measure_peers(PEER_WINDOW, (int64_t)((double)steps * PEER_WINDOW / seconds) + 1, options->quick);
    bench_print(rows, NUM_ROWS, options->json);
    return EXIT_DONE;
}

static const option options[] = {
    BENCH_COMMON_OPTIONS,
    BENCH_PEERS_OPTION(
        "also TensorFlow, PyTorch and JAX, in a virtual environment made under build/ of the source tree"),
    {0},
};
static const option_section sections[] = {{.title = "Options", .options = options}, {0}};

const command bench_mlp = {
    .name = "mlp",
    .summary = "the network 784-500-10 against what the machine could do, and against peers",
    .usage = "[options]",
    .notes = "The network has batch 100 a replica and is trained by processes of the command muster, as users run it.",
    .sections = sections,
    .options_size = sizeof(bench_options),
    .run = run,
};
