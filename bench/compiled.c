/* muster-bench compiled: what Muster adds to a compiler of PJRT, measured with the plugin for CPUs. The plugin that
 * Muster loads is bench/pjrt/recorder.c, which hands on to that: it makes the calls of a step again without Muster, and
 * counts the bytes of buffers. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/no_memory.h"
#include "bench/bench.h"
#include "bench/folder.h"
#include "bench/mlp.h"
#include "bench/network_process.h"
#include "bench/peers.h"
#include "bench/pjrt/recorder.h"
#include "bench/table.h"
#include "muster/muster.h"

enum { INPUTS = 784, HIDDEN = 64, CLASSES = 10, BATCH = 32, WARM_STEPS = 50, WINDOW = 100, MOST_WINDOWS = 4096 };
enum { PICTURE = 224, PICTURES = 16, STARTS = 3 };
static const double PEER_WINDOW = 1; /* seconds */

enum {
    STEP,
    BARE,
    BEYOND,
    BYTES,
    START,
    FIRST_START,
    FIT,
    FIT_BARE,
    FIT_BEYOND,
    FIT_TO_BARE,
    MLP,
    JAX,
    TO_JAX,
    TO_JAX_MEDIAN,
    NUM_ROWS
};
static bench_row rows[NUM_ROWS] = {
    [STEP] = BENCH_AT_MOST("step", "a step of the MLP, its loss read", "us", 0),
    [BARE] = BENCH_AT_MOST("bare", "  the same calls of the plugin, without Muster", "us", 0),
    [BEYOND] = BENCH_AT_MOST("beyond_bare", "  the difference", "us", 30),
    [BYTES] = BENCH_AT_MOST("bytes", "most bytes on the device beyond twice the state, and the batch", "kB", 1000),
    [START] =
        BENCH_AT_MOST("start", "MobileNetV2: start to first program, programs cached, without the plugin's", "s", 2),
    [FIRST_START] = BENCH_AT_MOST("first_start", "  the same, nothing cached", "s", 0),
    [FIT] = BENCH_AT_MOST("fit", "a step of mst_fit, of the network of muster-bench mlp", "us", 0),
    [FIT_BARE] = BENCH_AT_MOST("fit_bare", "  the same calls of the plugin, without Muster", "us", 0),
    [FIT_BEYOND] = BENCH_AT_MOST("fit_beyond_bare", "  the difference", "us", 0),
    [FIT_TO_BARE] = BENCH_AT_LEAST("fit_to_bare", "  the speed of mst_fit / that of the calls", "x", 0.95),
    [MLP] = BENCH_RATE("mlp", "the command trains that network"),
    [JAX] = BENCH_RATE("jax", "  the same in JAX, its loss read each step"),
    [TO_JAX] = BENCH_AT_LEAST("to_jax", "  Muster / JAX, best windows", "x", 0.95),
    [TO_JAX_MEDIAN] = BENCH_AT_LEAST("to_jax_median", "  Muster / JAX, median of neighbouring windows", "x", 0),
};

/* ---- the recorder ---- */

static struct recorder {
    recorder_begin_function *begin;
    recorder_end_function *end;
    recorder_replay_function *replay;
    recorder_drop_function *drop;
    recorder_bytes_function *bytes;
} recorder;

static mst_status find(void *library, const char *name, void *out) {
    void *symbol = dlsym(library, name);
    memcpy(out, &symbol, sizeof symbol);
    return symbol ? MST_OK : MST_FAIL(MST_INTERNAL, "%s", dlerror());
}

/* Makes the recorder the plugin of this process and those that it starts. */
static mst_status use_recorder(void) {
    if (!*BENCH_RECORDER)
        return MST_FAIL(MST_UNAVAILABLE,
                        "this build has no devices of PJRT: run scripts/pjrt-plugin, then build it again");
    if (setenv("MUSTER_BENCH_PLUGIN", BENCH_PLUGIN, 1) || setenv("MUSTER_PJRT_PLUGIN", BENCH_RECORDER, 1))
        return MST_NO_MEMORY("for a variable of the environment");
    void *library = dlopen(BENCH_RECORDER, RTLD_NOW | RTLD_LOCAL);
    if (!library) return MST_FAIL(MST_UNAVAILABLE, "%s", dlerror());
    MST_TRY(find(library, "recorder_begin", &recorder.begin));
    MST_TRY(find(library, "recorder_end", &recorder.end));
    MST_TRY(find(library, "recorder_replay", &recorder.replay));
    MST_TRY(find(library, "recorder_drop", &recorder.drop));
    return find(library, "recorder_bytes", &recorder.bytes);
}

/* ---- a small step ---- */

typedef struct job {
    mst_graph *graph;
    mst_session *session;
    mst_value fetch[2];
    mst_feed feed[2];
    mst_tensor *tensor[2];
} job;

/* ROWS of zeros with the label 0. */
static mst_status make_tensors(mst_shape rows, mst_tensor *out[2]) {
    MST_TRY(mst_tensor_create(MST_F32, rows, &out[0]));
    return mst_tensor_create(MST_I32, MST_SHAPE(rows.dim[0]), &out[1]);
}

static mst_status begin_job(job *j) {
    *j = (job){.graph = NULL};
    MST_TRY(make_tensors(MST_SHAPE(BATCH, INPUTS), j->tensor));
    MST_TRY(mst_graph_create(&j->graph));
    mst_value x = mst_placeholder(j->graph, MST_F32, MST_SHAPE(BATCH, INPUTS), "x"),
              y = mst_placeholder(j->graph, MST_I32, MST_SHAPE(BATCH), "y");
    mst_value h = mst_dense(x, HIDDEN, .activation = MST_RELU, .name = "hidden"),
              logits = mst_dense(h, CLASSES, .name = "logits");
    mst_value losses = mst_loss_per_example(MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY, y, logits, true);
    const mst_optimizer sgd = mst_sgd(.learning_rate = 0.01);
    j->fetch[0] = mst_loss_reduce(losses, MST_NONE, MST_REDUCTION_MEAN);
    j->fetch[1] = mst_minimize(&sgd, j->fetch[0], NULL, 0, MST_NONE);
    j->feed[0] = (mst_feed){.value = x, .tensor = j->tensor[0]};
    j->feed[1] = (mst_feed){.value = y, .tensor = j->tensor[1]};
    MST_TRY(mst_session_create(j->graph, &(mst_session_options){.devices = "xla:1"}, &j->session));
    return mst_session_init_variables(j->session);
}

static void end_job(job *j) {
    mst_session_destroy(j->session);
    mst_graph_destroy(j->graph);
    for (int i = 0; i < 2; i++) mst_tensor_release(j->tensor[i]);
}

static mst_status step(job *j) {
    mst_tensor *loss[2] = {NULL, NULL};
    MST_TRY(mst_session_run(j->session, j->feed, 2, j->fetch, 2, loss));
    for (int i = 0; i < 2; i++) mst_tensor_release(loss[i]);
    return MST_OK;
}

static mst_status step_bare(job *j) {
    (void)j;
    return recorder.replay() ? MST_OK : MST_FAIL(MST_INTERNAL, "the plugin failed when a step was made again");
}

static mst_status record_step(job *j) {
    recorder.begin();
    const mst_status status = step(j);
    if (!recorder.end() && !status) return MST_FAIL(MST_INTERNAL, "the calls of a step could not be recorded");
    return status;
}

static mst_status time_window(job *j, mst_status (*make)(job *j), double *out) {
    const double began = bench_now();
    for (int i = 0; i < WINDOW; i++) MST_TRY(make(j));
    *out = (bench_now() - began) / WINDOW * 1e6;
    return MST_OK;
}

/* Windows of both in turns, who is first too; medians of them, and of the differences of neighbours. */
static mst_status measure_steps(job *j, double seconds) {
    static double window[3][MOST_WINDOWS];
    int count = 0;
    for (const double began = bench_now(); count < MOST_WINDOWS && (bench_now() - began < seconds || !count); count++) {
        double *own = &window[0][count], *bare = &window[1][count];
        if (count % 2) MST_TRY(time_window(j, step_bare, bare));
        MST_TRY(time_window(j, step, own));
        if (count % 2 == 0) MST_TRY(time_window(j, step_bare, bare));
        window[2][count] = *own - *bare;
    }
    for (int i = 0; i < 3; i++) bench_add(&rows[STEP + i], bench_median_of(window[i], count));
    return MST_OK;
}

static mst_status measure_overhead(int rounds, double seconds) {
    job j;
    mst_status status = begin_job(&j);
    for (int i = 0; i < WARM_STEPS && !status; i++) status = step(&j);
    if (!status) status = record_step(&j);
    const double began = bench_now();
    for (int round = 0; round < rounds && !status; round++) {
        bench_progress_round(round, rounds, began);
        status = measure_steps(&j, seconds);
    }
    recorder.drop();
    end_job(&j);
    return status;
}

/* ---- a training ---- */

/* Steps of a training, and the same calls without Muster, in turns. */
typedef struct turns {
    int step; /* since the training began, then since its window began */
    bool is_recorded;
    double began, window, seconds; /* of all turns, of this window, and that all may take */
    double us[3][MOST_WINDOWS];
    int count;
} turns;

static mst_status bare_turn(turns *t) {
    t->us[0][t->count] = (bench_now() - t->window) / WINDOW * 1e6;
    MST_TRY(time_window(NULL, step_bare, &t->us[1][t->count]));
    t->us[2][t->count] = t->us[0][t->count] - t->us[1][t->count];
    t->count++;
    return MST_OK;
}

static mst_status take_turn(void *context, mst_train_state *state) {
    turns *t = context;
    t->step++;
    if (!t->is_recorded && t->step == WARM_STEPS) recorder.begin();
    if (!t->is_recorded && t->step == WARM_STEPS + 1) {
        if (!recorder.end()) return MST_FAIL(MST_INTERNAL, "the calls of a step could not be recorded");
        t->is_recorded = true;
        t->began = bench_now();
    } else if (!t->is_recorded || t->step < WINDOW) {
        return MST_OK;
    } else {
        MST_TRY(bare_turn(t));
        state->stop = bench_now() - t->began > t->seconds || t->count == MOST_WINDOWS;
    }
    t->step = 0;
    t->window = bench_now();
    return MST_OK;
}

static mst_status fit_in_turns(turns *t) {
    enum { ROWS = 60 * BENCH_MLP_BATCH, UNITS = 500 };
    const mst_callback callback = {.context = t, .step_end = take_turn};
    const mst_optimizer sgd =
        mst_sgd(.schedule = mst_exponential_decay(.rate = 0.01, .decay_rate = 0.99, .decay_steps = 600),
                .ema_decay = 0.99, .ema_num_updates = true);
    mst_tensor *tensor[2] = {NULL, NULL};
    mst_model *model = NULL;
    mst_status status = make_tensors(MST_SHAPE(ROWS, INPUTS), tensor);
    if (!status) status = mst_model_create(&model);
    if (!status) {
        mst_dataset *data =
            mst_data_repeat(mst_data_batch(mst_data_from_tensors(tensor, 2), BENCH_MLP_BATCH, true), -1);
        mst_dense(model, UNITS, .activation = MST_RELU, .l2 = 1e-4F);
        mst_dense(model, CLASSES, .l2 = 1e-4F);
        status = mst_compile(model, .optimizer = sgd, .session = {.devices = "xla:1"});
        if (!status)
            status = mst_fit(model, .data = data, .steps = INT64_C(1) << 40, .callbacks = &callback, .num_callbacks = 1,
                             .check_replicas = -1);
        mst_dataset_release(data);
    }
    recorder.drop();
    mst_model_destroy(model);
    for (int i = 0; i < 2; i++) mst_tensor_release(tensor[i]);
    return status;
}

static mst_status measure_fit(double seconds) {
    static turns t;
    t.seconds = seconds;
    bench_progress("steps of a training");
    MST_TRY(fit_in_turns(&t));
    for (int i = 0; i < 3; i++) bench_add(&rows[FIT + i], bench_median_of(t.us[i], t.count));
    bench_add(&rows[FIT_TO_BARE], bench_median(&rows[FIT_BARE]) / bench_median(&rows[FIT]));
    return MST_OK;
}

/* What a step has on the device: its state before and after it, and its batch, are the user's. */
static mst_status measure_bytes(void) {
    const double state = (INPUTS * HIDDEN + HIDDEN + HIDDEN * CLASSES + CLASSES) * sizeof(float),
                 batch = (BATCH * INPUTS + BATCH) * sizeof(float);
    job j;
    recorder.bytes();
    mst_status status = begin_job(&j);
    for (int i = 0; i < WARM_STEPS && !status; i++) status = step(&j);
    recorder.bytes();
    for (int i = 0; i < WARM_STEPS && !status; i++) status = step(&j);
    if (!status) bench_add(&rows[BYTES], ((double)recorder.bytes() - 2 * state - batch) / 1000);
    end_job(&j);
    return status;
}

/* ---- a start ---- */

static mst_status fit_once(void) {
    mst_model *model = NULL;
    mst_tensor *tensor[2] = {NULL, NULL};
    mst_status status = mst_compile_cache_set(getenv("MUSTER_BENCH_CACHE"), 0, stderr);
    if (!status) status = make_tensors(MST_SHAPE(PICTURES, PICTURE, PICTURE, 3), tensor);
    if (!status) status = mst_model_create(&model);
    if (!status) {
        mst_dataset *data = mst_data_repeat(mst_data_batch(mst_data_from_tensors(tensor, 2), PICTURES, true), -1);
        mst_mobilenet_v2(model, .classes = 1000);
        status = mst_compile(model, .optimizer = mst_adam(.learning_rate = 0.001), .session = {.devices = "xla:1"});
        if (!status) status = mst_fit(model, .data = data, .steps = 1, .check_replicas = -1);
        mst_dataset_release(data);
    }
    mst_model_destroy(model);
    for (int i = 0; i < 2; i++) mst_tensor_release(tensor[i]);
    return status;
}

/* Seconds of a process until its first program begins, less those in which the plugin loads and makes its client. */
static mst_status measure_start(const char *times, bench_row *row) {
    double began, load, made, first;
    FILE *file = NULL;
    if (remove(times) && access(times, F_OK) == 0) return MST_FAIL(MST_IO, "'%s' cannot be removed", times);
    began = bench_now();
    if (bench_first_step_seconds("compiled") < 0 || !(file = fopen(times, "r")))
        return MST_FAIL(MST_INTERNAL, "a process of one step failed");
    const bool good = fscanf(file, "%lf %lf %lf", &load, &made, &first) == 3;
    fclose(file);
    if (!good) return MST_FAIL(MST_INTERNAL, "a process of one step did not say when it began");
    bench_add(row, first - began - (made - load));
    return MST_OK;
}

static mst_status measure_starts(int count) {
    char *folder, times[256], cache[256];
    MST_TRY(bench_folder_make(NULL, &folder));
    snprintf(times, sizeof times, "%s/times", folder);
    snprintf(cache, sizeof cache, "%s/cache", folder);
    mst_status status = MST_OK;
    if (setenv("MUSTER_BENCH_START", times, 1) || setenv("MUSTER_BENCH_CACHE", cache, 1))
        status = MST_NO_MEMORY("for a variable of the environment");
    bench_progress("starts of MobileNetV2");
    for (int i = 0; i <= count && !status; i++) status = measure_start(times, &rows[i ? START : FIRST_START]);
    unsetenv("MUSTER_BENCH_START");
    bench_folder_remove(folder);
    return status;
}

/* ---- beside JAX ---- */

static void measure_jax(const bench_options *options) {
    enum { STEPS = 500 }; /* about a window */
    char text[BENCH_MLP_TEXTS][BENCH_MLP_TEXT], command[1024] = "";
    const char *arguments[BENCH_MLP_ARGUMENTS];
    bench_peers peers;
    bench_mlp_arguments("xla:1", "one", BENCH_MLP_BATCH, STEPS, text, arguments);
    for (size_t i = 0, used = 0; arguments[i] && used < sizeof command; i++)
        used += (size_t)snprintf(command + used, sizeof command - used, " %s", arguments[i]);
    if (setenv("MUSTER_PJRT_PLUGIN", BENCH_PLUGIN, 1)) return;
    if (!bench_peers_measure_one(PEER_WINDOW, options->quick, "jax", "reading", command, &peers)) return;
    bench_add(&rows[MLP], peers.muster);
    bench_add(&rows[JAX], peers.peer[BENCH_JAX].best[BENCH_PEER_STEP]);
    bench_add(&rows[TO_JAX], peers.over_all[BENCH_PEER_STEP].best);
    bench_add(&rows[TO_JAX_MEDIAN], peers.over_all[BENCH_PEER_STEP].median);
}

static int run(const command_call *call) {
    const bench_options *o = call->options;
    mst_machine machine;
    mst_status status = use_recorder();
    if (!status && o->first_step) {
        status = fit_once();
        if (!status) puts("first step");
        fflush(stdout);
        return status ? command_fail(EXIT_FAILED, "compiled: %s", mst_error()->message) : EXIT_DONE;
    }
    mst_machine_read(&machine);
    if (!status && !o->json)
        printf("784-64-10, batch 32, SGD, on xla:1; medians of %d rounds\n%s, %d cores, %s\n",
               bench_rounds(o, BENCH_ROUNDS), machine.cpu, machine.num_cores, machine.isa);
    fflush(stdout);
    if (!status) status = measure_overhead(bench_rounds(o, BENCH_ROUNDS), bench_seconds(o));
    if (!status) status = measure_bytes();
    bench_print(rows, NUM_ROWS, o->json);
    if (!status) status = measure_starts(o->quick ? 1 : STARTS);
    if (!status) status = measure_fit(2 * bench_seconds(o));
    if (status) return command_fail(EXIT_FAILED, "compiled: %s", mst_error()->message);
    bench_print(rows, NUM_ROWS, o->json);
    if (o->peers) measure_jax(o);
    bench_print(rows, NUM_ROWS, o->json);
    return EXIT_DONE;
}

static const option options[] = {
    BENCH_COMMON_OPTIONS,
    BENCH_PEERS_OPTION("also JAX, in a virtual environment made under build/ of the source tree"),
    {"first-step", OPTION_FLAG, offsetof(bench_options, first_step),
     .help = "only makes the first step of MobileNetV2, whose start is measured"},
    {0},
};
static const option_section sections[] = {{.title = "Options", .options = options}, {0}};

const command bench_compiled = {
    .name = "compiled",
    .summary = "steps and starts on a device that compiles, against the bare plugin and JAX",
    .usage = "[options]",
    .notes =
        "Needs the plugin for CPUs that scripts/pjrt-plugin fetches. The plugin and JAX are different builds of XLA: "
        "where the calls of the plugin are slower than JAX, only the speed beside these calls is Muster's.",
    .sections = sections,
    .options_size = sizeof(bench_options),
    .run = run,
};
