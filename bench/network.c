#include "bench/network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "bench/folder.h"
#include "bench/network_bound.h"
#include "bench/network_process.h"
#include "bench/table.h"
#include "bench/tensorflow.h"

enum { ROUNDS = BENCH_ROUNDS, WARM_STEPS = 3, BATCHES = 4 };

/* ---- the table ---- */

enum {
    BOUND,
    BOUND_FROM_MEMORY,
    PRODUCTS,
    PRODUCTS_FROM_MEMORY,
    MEMORY_SPEED,
    ONE,
    ONE_TO_BOUND,
    ONE_TO_BOUND_FROM_MEMORY,
    ONE_TO_PRODUCTS,
    ONE_TO_PRODUCTS_FROM_MEMORY,
    ALL,
    MIRRORED,
    PROCESSES,
    MIRRORED_TO_PROCESSES,
    BF16,
    BF16_TO_ALL,
    BF16_BOUND,
    BF16_BOUND_TO_BOUND,
    BF16_PRODUCTS,
    BF16_PRODUCTS_TO_PRODUCTS,
    BF16_ONE,
    BF16_ONE_TO_ONE,
    BF16_ONE_TO_BOUND,
    FIRST_STEP,
    PEAK,
    BESIDE_PEERS,
    TENSORFLOW,
    PYTORCH,
    TO_TENSORFLOW,
    TO_PYTORCH,
    TO_PEERS,
    BF16_BESIDE_PEERS,
    BF16_TENSORFLOW,
    BF16_PYTORCH,
    BF16_TO_TENSORFLOW,
    BF16_TO_PYTORCH,
    BF16_TO_PEERS,
    NUM_ROWS
};

typedef struct table {
    bench_row row[NUM_ROWS];
} table;

static void make_table(const bench_network *network, table *out) {
    const bench_row rows[NUM_ROWS] = {
        [BOUND] = BENCH_RATE("bound", "bound: bare oneDNN primitives of all layers and one pass"),
        [BOUND_FROM_MEMORY] =
            BENCH_RATE("bound_from_memory", "bound from memory: the same, arrays where a step has them"),
        [PRODUCTS] = BENCH_RATE("bound_of_convolutions", "bound of convolutions alone and one pass"),
        [PRODUCTS_FROM_MEMORY] =
            BENCH_RATE("bound_of_convolutions_from_memory", "bound of convolutions alone, from memory"),
        [MEMORY_SPEED] = BENCH_AT_LEAST("memory_speed", "speed of that memory, a bare a = b + 2 c", "GB/s", 0),
        [ONE] = BENCH_RATE("one", "one device of one thread, by processor time"),
        [ONE_TO_BOUND] = BENCH_AT_LEAST("one_to_bound", "  the same / bound", "x", network->reach_bound),
        [ONE_TO_BOUND_FROM_MEMORY] =
            BENCH_AT_LEAST("one_to_bound_from_memory", "  the same / bound from memory", "x", 0),
        [ONE_TO_PRODUCTS] =
            BENCH_AT_LEAST("one_to_bound_of_convolutions", "  the same / bound of convolutions alone", "x", 0),
        [ONE_TO_PRODUCTS_FROM_MEMORY] = BENCH_AT_LEAST("one_to_bound_of_convolutions_from_memory",
                                                       "  the same / bound of convolutions alone, from memory", "x", 0),
        [ALL] = BENCH_RATE("all", "one device of all cores"),
        [MIRRORED] = BENCH_RATE("mirrored", "a device for each core, mirrored, the same batch"),
        [PROCESSES] = BENCH_RATE("processes", "a process of one thread for each core, that batch for each"),
        [MIRRORED_TO_PROCESSES] =
            BENCH_AT_LEAST("mirrored_to_processes", "  mirrored / these processes", "x", network->reach_processes),
        [BF16] = BENCH_RATE("bf16", "one device of all cores, products in bf16"),
        [BF16_TO_ALL] = BENCH_AT_LEAST("bf16_to_all", "  the same / in f32", "x", network->reach_bf16),
        [BF16_BOUND] = BENCH_RATE("bf16_bound", "bound in bf16: of all layers, each in the faster of bf16 and f32"),
        [BF16_BOUND_TO_BOUND] = BENCH_AT_LEAST("bf16_bound_to_bound", "  the same / bound", "x", 0),
        [BF16_PRODUCTS] = BENCH_RATE("bf16_bound_of_convolutions", "bound in bf16 of convolutions alone and one pass"),
        [BF16_PRODUCTS_TO_PRODUCTS] =
            BENCH_AT_LEAST("bf16_bound_of_convolutions_to_f32", "  the same / bound of convolutions alone", "x", 0),
        [BF16_ONE] = BENCH_RATE("bf16_one", "one device of one thread, products in bf16, by processor time"),
        [BF16_ONE_TO_ONE] = BENCH_AT_LEAST("bf16_one_to_one", "  the same / in f32", "x", 0),
        [BF16_ONE_TO_BOUND] = BENCH_AT_LEAST("bf16_one_to_bound", "  the same / bound in bf16", "x", 0),
        [FIRST_STEP] = BENCH_AT_MOST("first_step", "process start to first step done", "s", 0.5),
        [PEAK] = BENCH_AT_MOST("peak", "peak memory, one device of one thread", "MB", 0),
        [BESIDE_PEERS] = BENCH_RATE("beside_peers", "the faster of the two, beside peers"),
        [TENSORFLOW] = BENCH_RATE("tensorflow", "TensorFlow, its fastest way"),
        [PYTORCH] = BENCH_RATE("pytorch", "PyTorch, its fastest way"),
        [TO_TENSORFLOW] = BENCH_AT_LEAST("to_tensorflow", "  beside peers / TensorFlow", "x", 0),
        [TO_PYTORCH] = BENCH_AT_LEAST("to_pytorch", "  beside peers / PyTorch", "x", 0),
        [TO_PEERS] = BENCH_AT_LEAST("to_peers", "  beside peers / the faster of both", "x", network->reach_peers),
        [BF16_BESIDE_PEERS] = BENCH_RATE("bf16_beside_peers", "the same in bf16, beside peers in bf16"),
        [BF16_TENSORFLOW] = BENCH_RATE("bf16_tensorflow", "TensorFlow in bf16, its fastest way"),
        [BF16_PYTORCH] = BENCH_RATE("bf16_pytorch", "PyTorch in bf16, its fastest way"),
        [BF16_TO_TENSORFLOW] = BENCH_AT_LEAST("bf16_to_tensorflow", "  beside peers / TensorFlow, in bf16", "x", 0),
        [BF16_TO_PYTORCH] = BENCH_AT_LEAST("bf16_to_pytorch", "  beside peers / PyTorch, in bf16", "x", 0),
        [BF16_TO_PEERS] = BENCH_AT_LEAST("bf16_to_peers", "  beside peers / the faster of both, in bf16", "x",
                                         network->reach_bf16_peers),
    };
    memcpy(out->row, rows, sizeof rows);
}

/* ---- training ---- */

/* Of a process, all of its threads. */
static double processor_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* What is done between two windows of training. */
typedef struct training {
    const bench_network *network;
    int cores;
    double seconds; /* of a window */
    double (*clock)(void);
    double window;          /* the clock when it began */
    int64_t step;           /* since then */
    int rounds, num_rounds; /* made, and to be made */
    double rate, peak_mb;
    bool (*between)(struct training *training);
    void *context;
    table *table;
    bool json, quick;
} training;

static double peak_mb(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

static mst_status step_end(void *context, mst_train_state *state) {
    training *t = context;
    if (t->step < 0) { /* still warming up */
        if (++t->step == 0) {
            t->peak_mb = peak_mb();
            t->window = t->clock();
        }
        return MST_OK;
    }
    t->step++;
    const double now = t->clock();
    if (now - t->window < t->seconds) return MST_OK;
    t->rate = (double)(t->step * t->network->batch) / (now - t->window);
    if (!t->between(t)) return MST_FAIL(MST_INTERNAL, "a measurement failed");
    state->stop = ++t->rounds == t->num_rounds;
    t->step = 0;
    t->window = t->clock();
    return MST_OK;
}

/* So many batches of anything. */
static mst_status make_data(const bench_network *network, int batches, mst_dataset **out) {
    const int64_t rows = batches * network->batch;
    mst_shape shape = network->input.shape;
    mst_tensor *tensor[2] = {NULL, NULL};
    for (int i = shape.ndim++; i > 0; i--) shape.dim[i] = shape.dim[i - 1];
    shape.dim[0] = rows;
    mst_status status = mst_tensor_create(network->input.dtype, shape, &tensor[0]);
    if (!status) status = mst_tensor_create(MST_I32, MST_SHAPE(rows), &tensor[1]);
    unsigned noise = 1;
    for (int64_t i = 0; !status && i < mst_tensor_count(tensor[0]); i++) {
        noise = noise * 1664525u + 1013904223u;
        mst_tensor_set(tensor[0], i, floor((double)(noise >> 8) / (1 << 24) * 256 * network->largest) / 256);
    }
    for (int64_t i = 0; !status && i < rows; i++) mst_tensor_set(tensor[1], i, (double)(i * 7 % network->classes));
    if (!status) {
        *out = mst_data_repeat(mst_data_batch(mst_data_from_tensors(tensor, 2), network->batch, true), -1);
        status = mst_dataset_check(*out);
    }
    for (int i = 0; i < 2; i++) mst_tensor_release(tensor[i]);
    return status;
}

/* Trains until a callback stops it. */
static mst_status fit(const bench_network *network, int batches, mst_session_options session,
                      mst_strategy_kind strategy, const mst_callback *callback) {
    mst_model *model = NULL;
    mst_dataset *data = NULL;
    mst_status status = make_data(network, batches, &data);
    if (!status) status = mst_model_create(&model);
    if (!status) {
        network->build(model);
        status =
            mst_compile(model, .optimizer = network->optimizer(), .strategy = {.kind = strategy}, .session = session);
    }
    if (!status)
        status = mst_fit(model, .data = data, .steps = INT64_C(1) << 40, .callbacks = callback, .num_callbacks = 1,
                         .check_replicas = -1);
    mst_model_destroy(model);
    mst_dataset_release(data);
    return status;
}

static mst_status train(training *t, mst_session_options session, mst_strategy_kind strategy) {
    const mst_callback callback = {.context = t, .step_end = step_end};
    t->step = -WARM_STEPS;
    t->rounds = 0;
    return fit(t->network, BATCHES, session, strategy, &callback);
}

/* ---- the first step ---- */

static mst_status say_first_step(void *context, mst_train_state *state) {
    (void)context;
    puts("first step");
    fflush(stdout);
    state->stop = true;
    return MST_OK;
}

static int make_first_step(const bench_network *network) {
    const mst_callback callback = {.step_end = say_first_step};
    if (!fit(network, 1, (mst_session_options){.devices = NULL}, MST_STRATEGY_ONE, &callback)) return EXIT_DONE;
    return command_fail(EXIT_FAILED, "%s: %s", network->name, mst_error()->message);
}

static mst_status measure_first_step(const bench_network *network, int rounds, bench_row *row) {
    for (int i = 0; i < rounds; i++) {
        const double took = bench_first_step_seconds(network->name);
        if (took < 0) return MST_FAIL(MST_INTERNAL, "a process of one step failed");
        bench_add(row, took);
    }
    return MST_OK;
}

/* ---- a process of one thread ---- */

static bool say_rate(training *t) {
    printf("%.17g\n", t->rate);
    t->rounds = t->num_rounds - 1; /* the last */
    return true;
}

static int train_on_one_thread(training *t) {
    t->clock = bench_now;
    t->between = say_rate;
    if (!train(t, (mst_session_options){.devices = "cpu:1/1"}, MST_STRATEGY_ONE)) return EXIT_DONE;
    return command_fail(EXIT_FAILED, "%s: %s", t->network->name, mst_error()->message);
}

/* ---- between the windows ---- */

typedef struct bound_try {
    double seconds; /* of each primitive */
    size_t cache;   /* bytes of the largest */
} bound_try;

/* A bound of SECONDS a step, and what was reached of it. */
static void add_bound(training *t, int bound, int ratio, double seconds) {
    const double rate = (double)t->network->batch / seconds;
    bench_add(&t->table->row[bound], rate);
    bench_add(&t->table->row[ratio], t->rate / rate);
}

static bool measure_bound(training *t) {
    const bound_try *each = t->context;
    bench_network_bound least;
    if (!bench_network_bound_find(t->network, false, each->seconds, each->cache, &least)) return false;
    add_bound(t, BOUND, ONE_TO_BOUND, least.from_cache.all_layers);
    add_bound(t, BOUND_FROM_MEMORY, ONE_TO_BOUND_FROM_MEMORY, least.from_memory.all_layers);
    add_bound(t, PRODUCTS, ONE_TO_PRODUCTS, least.from_cache.products);
    add_bound(t, PRODUCTS_FROM_MEMORY, ONE_TO_PRODUCTS_FROM_MEMORY, least.from_memory.products);
    bench_add(&t->table->row[MEMORY_SPEED], least.memory_speed / 1e9);
    bench_add(&t->table->row[ONE], t->rate);
    return true;
}

static bool measure_all(training *t) {
    bench_add(&t->table->row[ALL], t->rate);
    return true;
}

static bool measure_mirrored(training *t) {
    const double processes = bench_processes_rate(t->network->name, t->cores, t->seconds);
    if (processes <= 0) return false;
    bench_add(&t->table->row[MIRRORED], t->rate);
    bench_add(&t->table->row[PROCESSES], processes);
    bench_add(&t->table->row[MIRRORED_TO_PROCESSES], t->rate / processes);
    return true;
}

static bool measure_bf16(training *t) {
    bench_add(&t->table->row[BF16], t->rate);
    bench_add(&t->table->row[BF16_TO_ALL], t->rate / t->table->row[ALL].value[t->rounds]);
    return true;
}

/* Its bounds, beside those in f32 of the same round. */
static bool measure_bf16_bound(training *t) {
    const bound_try *each = t->context;
    const double batch = (double)t->network->batch;
    bench_row *row = t->table->row;
    bench_network_bound least;
    if (!bench_network_bound_find(t->network, true, each->seconds, each->cache, &least)) return false;
    bench_add(&row[BF16_BOUND], batch / least.from_cache.all_layers);
    bench_add(&row[BF16_BOUND_TO_BOUND], batch / least.from_cache.all_layers / row[BOUND].value[t->rounds]);
    bench_add(&row[BF16_PRODUCTS], batch / least.from_cache.products);
    bench_add(&row[BF16_PRODUCTS_TO_PRODUCTS], batch / least.from_cache.products / row[PRODUCTS].value[t->rounds]);
    bench_add(&row[BF16_ONE], t->rate);
    bench_add(&row[BF16_ONE_TO_ONE], t->rate / row[ONE].value[t->rounds]);
    bench_add(&row[BF16_ONE_TO_BOUND], t->rate * least.from_cache.all_layers / batch);
    return true;
}

/* Both peers in one precision, and the rows of what they give. */
enum { NUM_PEERS = 2 };
typedef struct asked {
    const bench_tensorflow *peer;
    const char *name[NUM_PEERS];
    int beside, rate[NUM_PEERS], ratio[NUM_PEERS], to_both;
} asked;

static bool measure_peers(training *t) {
    const asked *a = t->context;
    bench_row *row = t->table->row;
    double most = 0;
    bench_add(&row[a->beside], t->rate);
    for (int i = 0; i < NUM_PEERS; i++) {
        const double rate = bench_tensorflow_ask(a->peer, a->name[i], t->seconds);
        if (rate <= 0) continue;
        bench_add(&row[a->rate[i]], rate);
        bench_add(&row[a->ratio[i]], t->rate / rate);
        if (rate > most) most = rate;
    }
    if (most > 0) bench_add(&row[a->to_both], t->rate / most);
    return most > 0;
}

/* Of the largest cache; of a usual one where that is not known. At most so many that the copies fit into memory. */
static size_t cache_bytes(const mst_machine *machine) {
    const int64_t usual = INT64_C(32) << 20, most = INT64_C(128) << 20;
    const int64_t known = machine->l3_cache > machine->l2_cache ? machine->l3_cache : machine->l2_cache;
    return (size_t)(known <= 0 ? usual : known > most ? most : known);
}

/* With the bounds; CONTEXT is a bound_try. */
static mst_status measure_one_thread(training *t, bool has_bf16) {
    mst_session_options session = {.devices = "cpu:1/1"};
    bench_progress("one device of one thread, and the bounds");
    t->clock = processor_seconds;
    t->between = measure_bound;
    MST_TRY(train(t, session, MST_STRATEGY_ONE));
    bench_add(&t->table->row[PEAK], t->peak_mb);
    if (!has_bf16) return MST_OK;
    bench_progress("the same in bf16");
    session.precision = MST_MIXED_BFLOAT16;
    t->between = measure_bf16_bound;
    return train(t, session, MST_STRATEGY_ONE);
}

static void print_known(training *t) {
    bench_print(t->table->row, NUM_ROWS, t->json);
}

/* A peer that is asked for the first time tries its ways: before training begins. */
static void try_ways(const asked *a) {
    for (int i = 0; i < NUM_PEERS; i++) (void)bench_tensorflow_ask(a->peer, a->name[i], 1);
}

/* On DEVICES in f32, and in bf16 where the processor HAS_BF16. */
static mst_status measure_beside_peers(training *t, const bench_tensorflow *peer, const char *devices,
                                       mst_strategy_kind strategy, bool has_bf16) {
    asked a[] = {{.peer = peer,
                  .name = {"tensorflow", "pytorch"},
                  .beside = BESIDE_PEERS,
                  .rate = {TENSORFLOW, PYTORCH},
                  .ratio = {TO_TENSORFLOW, TO_PYTORCH},
                  .to_both = TO_PEERS},
                 {.peer = peer,
                  .name = {"tensorflow_bf16", "pytorch_bf16"},
                  .beside = BF16_BESIDE_PEERS,
                  .rate = {BF16_TENSORFLOW, BF16_PYTORCH},
                  .ratio = {BF16_TO_TENSORFLOW, BF16_TO_PYTORCH},
                  .to_both = BF16_TO_PEERS}};
    mst_session_options session = {.devices = devices, .precision = MST_FLOAT32};
    mst_status status = MST_OK;
    t->between = measure_peers;
    for (int i = 0; i < 1 + (has_bf16 && !t->quick) && !status; i++) {
        const char *precision = i ? "bf16" : "f32";
        bench_progress("the ways of TensorFlow and PyTorch in %s: some minutes", precision);
        try_ways(&a[i]);
        bench_progress("all cores, beside peers in %s", precision);
        if (i) session.precision = MST_MIXED_BFLOAT16;
        t->context = &a[i];
        status = train(t, session, strategy);
        print_known(t);
    }
    t->context = NULL;
    return status;
}

/* Seconds: a window of training is followed by as much again for bounds or processes beside it. */
static double estimate(const training *t, bool has_bf16) {
    const int trainings = 3 + 2 * has_bf16;
    return t->num_rounds * (trainings * 2 * t->seconds + 1);
}

static mst_status measure(training *t, const mst_machine *machine, bench_tensorflow *peer, double seconds) {
    const int cores = machine->num_cores;
    bound_try each = {.seconds = seconds, .cache = cache_bytes(machine)};
    char whole_text[32], apart_text[32];
    snprintf(whole_text, sizeof whole_text, "cpu:1/%d", cores);
    snprintf(apart_text, sizeof apart_text, "cpu:%d/1", cores);
    const bool has_bf16 = mst_precision_here(MST_MIXED_BFLOAT16) == MST_MIXED_BFLOAT16;
    const mst_session_options whole = {.devices = whole_text}, apart = {.devices = apart_text},
                              bf16 = {.devices = whole_text, .precision = MST_MIXED_BFLOAT16};
    bench_progress_time("all but peers", estimate(t, has_bf16));
    MST_TRY(measure_first_step(t->network, t->num_rounds, &t->table->row[FIRST_STEP]));
    t->context = &each;
    print_known(t);
    const mst_status status = measure_one_thread(t, has_bf16);
    t->context = NULL;
    MST_TRY(status);
    print_known(t);
    bench_progress("all cores");
    t->clock = bench_now;
    t->between = measure_all;
    MST_TRY(train(t, whole, MST_STRATEGY_ONE));
    if (has_bf16) {
        t->between = measure_bf16;
        MST_TRY(train(t, bf16, MST_STRATEGY_ONE));
    }
    t->between = measure_mirrored;
    t->cores = cores;
    print_known(t);
    if (cores > 1) MST_TRY(train(t, apart, MST_STRATEGY_MIRRORED));
    print_known(t);
    if (!peer->questions) return MST_OK;
    const bool mirrored = bench_median(&t->table->row[MIRRORED]) > bench_median(&t->table->row[ALL]);
    return measure_beside_peers(t, peer, mirrored ? apart_text : whole_text,
                                mirrored ? MST_STRATEGY_MIRRORED : MST_STRATEGY_ONE, has_bf16);
}

int bench_network_run(const bench_network *network, const bench_options *options) {
    static table rows;
    if (options->first_step) return make_first_step(network);
    mst_machine machine;
    bench_tensorflow peer = {.questions = NULL};
    training t = {.network = network,
                  .seconds = bench_seconds(options),
                  .num_rounds = bench_rounds(options, ROUNDS),
                  .json = options->json,
                  .quick = options->quick,
                  .table = &rows};
    if (options->one_thread) return train_on_one_thread(&t);
    mst_machine_read(&machine);
    make_table(network, &rows);
    if (!options->json)
        printf("%s; medians of %d rounds\n%s, %d cores, %s\n", network->title, t.num_rounds, machine.cpu,
               machine.num_cores, machine.isa);
    fflush(stdout);
    char *folder = NULL, arguments[64];
    snprintf(arguments, sizeof arguments, "%s%s", network->name, options->quick ? " quick" : "");
    mst_status status = options->peers ? bench_folder_make(NULL, &folder) : MST_OK;
    bool good = true;
    if (folder)
        good = bench_tensorflow_open(network->name, "tensorflow pytorch", folder, "networks.py", arguments, &peer);
    if (!status) status = measure(&t, &machine, &peer, bench_seconds(options) / 500);
    if (peer.questions) good = bench_tensorflow_close(&peer) && good;
    bench_folder_remove(folder);
    bench_progress_end();
    if (status) return command_fail(EXIT_FAILED, "%s: %s", network->name, mst_error()->message);
    bench_print(rows.row, NUM_ROWS, options->json);
    return good ? EXIT_DONE : EXIT_FAILED;
}

static const option options[] = {
    BENCH_COMMON_OPTIONS,
    BENCH_PEERS_OPTION("also TensorFlow and PyTorch, in a virtual environment made under build/ of the source tree"),
    {"first-step", OPTION_FLAG, offsetof(bench_options, first_step),
     .help = "makes one step on all cores, says so, and ends: what the row of that name measures"},
    {"one-thread", OPTION_FLAG, offsetof(bench_options, one_thread),
     .help =
         "trains on one thread, prints the examples a second, and ends: one of the processes that mirrored replicas "
         "are measured beside"},
    {0},
};
const option_section bench_network_sections[] = {{.title = "Options", .options = options}, {0}};
