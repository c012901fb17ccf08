/* muster-bench device: steps of a network, or a product, on devices that compile, with data on the device or from
 * memory. For scripts/gpu-check, which puts it beside the same in JAX and PyTorch (peers/device_peers.py). */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/bench.h"
#include "bench/pjrt/recorder.h"
#include "bench/table.h"
#include "muster/muster.h"

typedef struct device_options {
    int network, from, precision; /* the last one is a mst_precision */
    const char *devices, *cache, *trace;
    int64_t batch, size;
    int shards, rounds;
    double seconds;
} device_options;

static const char *const networks[] = {"mobilenet_v2", "text_cnn", "mlp", "product", NULL};
static const char *const places[] = {"device", "memory", NULL};
enum { MOBILENET_V2, TEXT_CNN, MLP, PRODUCT };
enum { FROM_DEVICE, FROM_MEMORY };
enum { FIRST, LATER }; /* steps that are traced */
enum { WORDS = 30982, LENGTH = 300, MOST_CLASSES = 1000, INPUTS = 784, WARM_STEPS = 5, MOST_ROUNDS = 100, BATCHES = 2 };

/* ---- time ---- */

typedef struct clock_of_steps {
    const device_options *options;
    double first_step;               /* seconds since the process was started */
    double began, rate[MOST_ROUNDS]; /* the window; steps a second of windows */
    int64_t step;                    /* all, then of the window */
    double idle[MOST_ROUNDS];        /* us a step of windows */
    int rounds;
    recorder_idle_function *idle_now; /* NULL: the plugin is not the recorder */
    mst_trace *trace[2];              /* of the first step, and of one after the windows; NULL: none */
} clock_of_steps;

/* Since the process began, as who started it says: seconds since 1970. */
static double since_start(void) {
    const char *text = getenv("MUSTER_BENCH_BEGAN");
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return text ? (double)now.tv_sec + 1e-9 * (double)now.tv_nsec - strtod(text, NULL) : 0;
}

/* The plugin is loaded once there was a step. */
static void find_recorder(clock_of_steps *c) {
    const char *plugin = getenv("MUSTER_PJRT_PLUGIN");
    void *library = plugin ? dlopen(plugin, RTLD_NOW | RTLD_NOLOAD) : NULL;
    void *symbol = library ? dlsym(library, "recorder_idle") : NULL;
    memcpy(&c->idle_now, &symbol, sizeof symbol);
}

/* Ends the window that began with the step after the last one. */
static void end_window(clock_of_steps *c, double now) {
    if (c->idle_now) c->idle[c->rounds] = c->idle_now() / (double)c->step * 1e6;
    c->rate[c->rounds++] = (double)c->step / (now - c->began);
}

/* After each step of SESSION; true: that was the last one. The first window begins when all is warm. */
static bool note_step(clock_of_steps *c, mst_session *session) {
    const double now = bench_now();
    if (c->rounds == c->options->rounds) return true; /* the step was only traced */
    c->step++;
    if (c->first_step == 0) {
        c->first_step = since_start();
        find_recorder(c);
        mst_session_trace(session, NULL);
    }
    if (c->began == 0 && c->step < WARM_STEPS) return false;
    if (c->began != 0) {
        if (now - c->began < c->options->seconds) return false;
        end_window(c, now);
    } else if (c->idle_now) {
        c->idle_now();
    }
    c->step = 0;
    c->began = bench_now();
    if (c->rounds < c->options->rounds) return false;
    mst_session_trace(session, c->trace[LATER]);
    return !c->trace[LATER];
}

/* ---- data ---- */

static unsigned next_noise(unsigned *noise) {
    return (*noise = *noise * 1664525u + 1013904223u) >> 8;
}

static mst_status make_noise(mst_dtype dtype, mst_shape shape, mst_tensor **out) {
    unsigned noise = 1;
    MST_TRY(mst_tensor_create(dtype, shape, out));
    void *data = mst_tensor_data(*out);
    for (int64_t i = 0; i < mst_tensor_count(*out); i++) {
        const unsigned x = next_noise(&noise);
        if (dtype == MST_U8)
            ((uint8_t *)data)[i] = (uint8_t)x;
        else if (dtype == MST_I32)
            ((int32_t *)data)[i] = (int32_t)(x % WORDS);
        else
            ((float *)data)[i] = (float)x / (1 << 24) - 0.5F;
    }
    return MST_OK;
}

static mst_status make_examples(const device_options *o, int64_t rows, mst_tensor *out[2]) {
    switch (o->network) {
        case MOBILENET_V2: MST_TRY(make_noise(MST_U8, MST_SHAPE(rows, o->size, o->size, 3), &out[0])); break;
        case TEXT_CNN: MST_TRY(make_noise(MST_I32, MST_SHAPE(rows, LENGTH), &out[0])); break;
        default: MST_TRY(make_noise(MST_F32, MST_SHAPE(rows, INPUTS), &out[0])); break;
    }
    MST_TRY(mst_tensor_create(MST_I32, MST_SHAPE(rows), &out[1]));
    int32_t *label = mst_tensor_data(out[1]);
    for (int64_t i = 0; i < rows; i++) label[i] = (int32_t)(i * 7 % 10);
    return MST_OK;
}

/* ---- networks ---- */

static void build(const device_options *o, mst_model *model) {
    switch (o->network) {
        case MOBILENET_V2:
            mst_mobilenet_v2(model, .input_shape = MST_SHAPE(o->size, o->size, 3), .classes = MOST_CLASSES);
            break;
        case TEXT_CNN:
            mst_text_cnn(model, .input_shape = MST_SHAPE(LENGTH), .vocabulary_size = WORDS, .classes = 46);
            break;
        default:
            mst_dense(model, 500, .activation = MST_RELU);
            mst_dense(model, 10);
            break;
    }
}

static mst_optimizer optimizer_of(const device_options *o) {
    if (o->network == MOBILENET_V2) return mst_adam(.learning_rate = 0.001);
    return o->network == TEXT_CNN ? mst_nadam(.learning_rate = 0.001) : mst_sgd(.learning_rate = 0.01);
}

static mst_session_options session_of(const device_options *o) {
    return (mst_session_options){.devices = o->devices, .precision = (mst_precision)o->precision};
}

/* ---- data on the device ---- */

typedef struct replicas {
    const device_options *options;
    mst_model *model;
    mst_value data[2]; /* variables with the batch of all shards */
} replicas;

/* Those of COUNT rows of X, which has any shape, that are SHARD's. */
static mst_value rows_of_shard(mst_value x, int shard, int64_t count) {
    mst_shape begin = mst_value_spec(x).shape, size = begin;
    for (int i = 0; i < begin.ndim; i++) begin.dim[i] = 0;
    begin.dim[0] = shard * count;
    size.dim[0] = count;
    return mst_slice(x, begin, size);
}

static void build_replica(void *context, mst_graph *graph, int shard, mst_replica *out) {
    const replicas *r = context;
    (void)graph;
    const int64_t rows = r->options->batch / r->options->shards;
    mst_value x = rows_of_shard(r->data[0], shard, rows), y = rows_of_shard(r->data[1], shard, rows);
    if (r->options->network == MOBILENET_V2) x = mst_cast(x, MST_F32);
    const mst_value logits = mst_model_call(r->model, x, true);
    out->loss = mst_loss_per_example(MST_LOSS_SPARSE_CATEGORICAL_CROSSENTROPY, y, logits, true);
}

/* A variable that nobody trains. */
static mst_value hold(mst_graph *graph, const char *name, mst_tensor *tensor) {
    return mst_variable(graph, name, mst_constant(graph, tensor), .not_trainable = true);
}

/* Steps of FETCHES, the first of which is a number that is read. */
static mst_status run_steps(mst_session *session, const mst_value *fetches, int count, clock_of_steps *c) {
    bool last = false;
    mst_session_trace(session, c->trace[FIRST]);
    while (!last) {
        mst_tensor *out[2] = {NULL, NULL};
        MST_TRY(mst_session_run(session, NULL, 0, fetches, count, out));
        for (int i = 0; i < count; i++) mst_tensor_release(out[i]);
        last = note_step(c, session);
    }
    return MST_OK;
}

static mst_status run_graph(mst_graph *graph, const mst_value *fetches, int count, mst_session_options options,
                            clock_of_steps *c) {
    mst_session *session = NULL;
    mst_status status = mst_session_create(graph, &options, &session);
    if (!status) status = mst_session_init_variables(session);
    if (!status) status = run_steps(session, fetches, count, c);
    mst_session_destroy(session);
    return status;
}

static mst_status train_from_device(const device_options *o, mst_tensor *const tensor[2], clock_of_steps *c) {
    replicas r = {.options = o};
    mst_step_values step;
    mst_graph *graph = NULL;
    char name[32];
    const char *const names[] = {name};
    const mst_optimizer optimizer = optimizer_of(o);
    const mst_strategy strategy = {.kind = MST_STRATEGY_ONE, .num_shards = o->shards, .devices = names};
    snprintf(name, sizeof name, "/%.*s:0", (int)strcspn(o->devices, ":"), o->devices);
    mst_status status = mst_model_create(&r.model);
    if (!status) status = mst_graph_create(&graph);
    if (!status) {
        build(o, r.model);
        r.data[0] = hold(graph, "x", tensor[0]);
        r.data[1] = hold(graph, "y", tensor[1]);
        mst_strategy_build(graph, &strategy, &optimizer, build_replica, &r, &step);
        status = mst_model_check(r.model);
    }
    if (!status) {
        const mst_value fetches[] = {step.loss, step.train};
        status = run_graph(graph, fetches, 2, session_of(o), c);
    }
    mst_graph_destroy(graph);
    mst_model_destroy(r.model);
    return status;
}

/* The sum of a product of two matrices. */
static mst_status multiply(const device_options *o, clock_of_steps *c) {
    mst_tensor *tensor = NULL;
    mst_graph *graph = NULL;
    mst_status status = make_noise(MST_F32, MST_SHAPE(o->size, o->size), &tensor);
    if (!status) status = mst_graph_create(&graph);
    if (!status) {
        const mst_value sum = mst_reduce_sum(mst_matmul(hold(graph, "a", tensor), hold(graph, "b", tensor)));
        status = run_graph(graph, &sum, 1, session_of(o), c);
    }
    mst_graph_destroy(graph);
    mst_tensor_release(tensor);
    return status;
}

/* ---- data from memory ---- */

static mst_status begin_steps(void *context, mst_train_state *state) {
    const clock_of_steps *c = context;
    mst_session_trace(mst_model_session(state->model), c->trace[FIRST]);
    return MST_OK;
}

static mst_status end_step(void *context, mst_train_state *state) {
    state->stop = note_step(context, mst_model_session(state->model));
    return MST_OK;
}

static mst_status train_from_memory(const device_options *o, mst_tensor *tensor[2], clock_of_steps *c) {
    const mst_callback callback = {.context = c, .train_begin = begin_steps, .step_end = end_step};
    mst_model *model = NULL;
    mst_status status = mst_model_create(&model);
    if (!status) {
        mst_dataset *data = mst_data_repeat(mst_data_batch(mst_data_from_tensors(tensor, 2), o->batch, true), -1);
        build(o, model);
        status = mst_compile(model, .optimizer = optimizer_of(o), .session = session_of(o),
                             .strategy = {.kind = MST_STRATEGY_ONE, .num_shards = o->shards});
        if (!status)
            status = mst_fit(model, .data = data, .steps = INT64_C(1) << 40, .callbacks = &callback, .num_callbacks = 1,
                             .check_replicas = -1);
        mst_dataset_release(data);
    }
    mst_model_destroy(model);
    return status;
}

/* ---- the command ---- */

static mst_status write_traces(const device_options *o, const clock_of_steps *c) {
    char path[PATH_MAX];
    for (int i = FIRST; i <= LATER; i++) {
        if (snprintf(path, sizeof path, "%s-%s.json", o->trace, i == FIRST ? "first" : "later") >= PATH_MAX)
            return MST_FAIL(MST_INVALID, "--trace: the name is too long");
        MST_TRY(mst_trace_write(c->trace[i], path));
    }
    return MST_OK;
}

static mst_status measure(const device_options *o, clock_of_steps *c) {
    mst_tensor *tensor[2] = {NULL, NULL};
    MST_TRY(mst_compile_cache_set(o->cache, 0, stderr));
    if (o->network == PRODUCT) return multiply(o, c);
    mst_status status = make_examples(o, o->from == FROM_MEMORY ? BATCHES * o->batch : o->batch, tensor);
    if (!status) status = o->from == FROM_MEMORY ? train_from_memory(o, tensor, c) : train_from_device(o, tensor, c);
    for (int i = 0; i < 2; i++) mst_tensor_release(tensor[i]);
    return status;
}

/* What a step is worth: examples, or TFLOP. */
static double worth(const device_options *o) {
    const double size = (double)o->size;
    return o->network == PRODUCT ? 2 * size * size * size / 1e12 : (double)o->batch;
}

static int run(const command_call *call) {
    const device_options *o = call->options;
    clock_of_steps c = {.options = o};
    if (o->network != PRODUCT && o->batch % o->shards)
        return command_fail(EXIT_USAGE, "device: --batch-size must be a multiple of --shards");
    mst_status status = MST_OK;
    for (int i = FIRST; i <= LATER && o->trace && !status; i++) status = mst_trace_create(&c.trace[i]);
    if (!status) status = measure(o, &c);
    if (!status && o->trace) status = write_traces(o, &c);
    for (int i = FIRST; i <= LATER; i++) mst_trace_destroy(c.trace[i]);
    if (status) return command_fail(EXIT_FAILED, "device: %s", mst_error()->message);
    printf("{\"unit\":\"%s\",\"windows\":[", o->network == PRODUCT ? "TFLOP/s" : "examples/s");
    for (int i = 0; i < c.rounds; i++) printf("%s%.6g", i ? "," : "", c.rate[i] * worth(o));
    printf("],\"median\":%.6g,\"first_step\":%.3f", bench_median_of(c.rate, c.rounds) * worth(o), c.first_step);
    if (c.idle_now) printf(",\"idle_us\":%.2f", bench_median_of(c.idle, c.rounds));
    puts("}");
    return EXIT_DONE;
}

#define AT(member) offsetof(device_options, member)
static const option options[] = {
    {"network", OPTION_CHOICE, AT(network), .initial = "mlp", .choices = networks, .help = "what is computed"},
    {"from", OPTION_CHOICE, AT(from), .initial = "device", .choices = places,
     .help = "where the data are: variables on the device, or memory, from which mst_fit feeds them"},
    {"devices", OPTION_TEXT, AT(devices), "SPEC", "gpu:1", .help = "as of muster train"},
    {"batch-size", OPTION_INTEGER, AT(batch), "N", "100", 1, 1e6, .help = "examples of a step"},
    {"size", OPTION_INTEGER, AT(size), "N", "224", 1, 1e5, .help = "sides of pictures, or of the matrices"},
    {"precision", OPTION_CHOICE, AT(precision), .initial = "float32", .choices = mst_precision_names,
     .help = "of products"},
    {"shards", OPTION_INT, AT(shards), "N", "1", 1, 1024, .help = "parts of a batch"},
    {"rounds", OPTION_INT, AT(rounds), "N", "5", 1, MOST_ROUNDS, .help = "windows, whose median counts"},
    {"seconds", OPTION_NUMBER, AT(seconds), "X", "1", 0, 3600, .help = "length of a window"},
    {"compile-cache", OPTION_TEXT, AT(cache), "DIR", "off", .help = "as of muster train"},
    {"trace", OPTION_TEXT, AT(trace), "NAME",
     .help = "writes Chrome traces: NAME-first.json of the first step, NAME-later.json of one after the windows"},
    {0},
};
static const option_section sections[] = {{.title = "Options", .options = options}, {0}};

const command bench_device = {
    .name = "device",
    .summary = "steps on devices that compile, with data on the device or from memory",
    .usage = "[options]",
    .notes =
        "Prints a JSON object. The first step is that since MUSTER_BENCH_BEGAN, in seconds since 1970. With the "
        "plugin muster-bench-recorder.so it says how long the device was idle in a step.",
    .sections = sections,
    .options_size = sizeof(device_options),
    .run = run,
};
