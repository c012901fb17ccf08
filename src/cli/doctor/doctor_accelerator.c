/* What a process of the trial (doctor_trial.h) does: it loads the plugin, runs a program on each device and on a CPU,
 * and copies to each device and back. What fails ends it, since the next thing needs it.
 *
 * The program is y = tanh(x w) w, x and w of 64 x 64 elements from -1 to 1. The elements of y are sums of 64 products,
 * so rounding errors of f32 are below 1e-6 of the largest element. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/byte_count.h"
#include "base/byte_hash.h"
#include "base/clock.h"
#include "base/json_text.h"
#include "base/rng.h"
#include "cli/accelerators.h"
#include "cli/doctor/doctor_trial.h"
#include "cli/json_events.h"
#include "muster/compile_cache.h"
#include "muster/device.h"
#include "muster/ops.h"
#include "muster/session.h"

enum { WIDTH = 64, COPIED = 1 << 18 };
static const double TOLERANCE = 2e-5; /* of the largest element: TF32 and bf16 have errors above 1e-4 */

typedef struct work {
    const doctor_options *o;
    FILE *out;
    mst_device_info *device; /* [count] */
    int count;
    mst_tensor *x, *w;
} work;

/* ---- lines ---- */

static void write_line(const work *t, json_t *value) {
    char *text = mst_json_line(value, JSON_COMPACT);
    json_decref(value);
    if (text) fprintf(t->out, "%s\n", text);
    fflush(t->out);
    free(text);
}

static void write_text(const work *t, const char *key, const char *text) {
    json_t *object = json_object();
    json_add(&object, "", key, json_text(text));
    write_line(t, object);
}

#define WRITE_ROW(t, state, check, fix, ...)                         \
    do {                                                             \
        doctor_report one_ = {.row = NULL};                          \
        doctor_add(&one_, (state), (check), "", (fix), __VA_ARGS__); \
        write_line((t), doctor_report_pack(&one_));                  \
        doctor_report_free(&one_);                                   \
    } while (0)

/* ---- the devices ---- */

static mst_status find_devices(work *t) {
    int count;
    MST_TRY(mst_devices_describe(t->o->devices, t->o->visible_devices, NULL, 0, &count));
    t->device = calloc((size_t)count + 1, sizeof *t->device);
    if (!t->device) return MST_FAIL(MST_OUT_OF_MEMORY, "no memory for %d devices", count);
    MST_TRY(mst_devices_describe(t->o->devices, t->o->visible_devices, t->device, count, &t->count));
    for (int i = 0; i < t->count; i++)
        if (!t->device[i].compiles)
            return MST_FAIL(MST_INVALID, "devices '%s': %s is no accelerator: CPUs are looked at in any case",
                            t->o->devices, accelerators_short_name(&t->device[i]));
    return MST_OK;
}

static void tell_memory(const work *t) {
    const mst_device_info *first = &t->device[0];
    char memory[MST_BYTES_TEXT], other[MST_BYTES_TEXT];
    mst_bytes_print_two(first->memory, t->o->memory_limit, memory, other);
    if (first->memory <= 0)
        WRITE_ROW(t, DOCTOR_NOTE, "accelerator", NULL, "the plugin does not say how much memory there is");
    else if (t->o->memory_limit > first->memory)
        WRITE_ROW(t, DOCTOR_FINDING, "accelerator", "give a smaller --memory-limit",
                  "--memory-limit is %s, and the plugin takes at most %s of each device", other, memory);
    else
        WRITE_ROW(t, DOCTOR_OK, "accelerator", NULL, "memory: %s each, %s of the first in use",
                  mst_bytes_print(first->memory, memory, sizeof memory),
                  mst_bytes_print(first->memory_in_use, other, sizeof other));
}

static void tell_devices(const work *t) {
    const mst_device_info *first = &t->device[0];
    const char *kind = *first->kind ? first->kind : first->platform;
    int physical = 0; /* 0: the plugin does not number them */
    char text[400];
    for (int i = 0; i < t->count; i++) physical += accelerators_is_first(t->device, i);
    WRITE_ROW(t, DOCTOR_OK, "plugin", NULL, "%s: %s", first->platform, first->versions);
    if (physical && physical < t->count)
        WRITE_ROW(t, DOCTOR_OK, "accelerator", NULL, "%s: %d logical devices on %d of %d x %s", t->o->devices, t->count,
                  physical, first->num_here, kind);
    else
        WRITE_ROW(t, DOCTOR_OK, "accelerator", NULL, "%s: %d of %d x %s", t->o->devices, t->count, first->num_here,
                  kind);
    tell_memory(t);
    snprintf(text, sizeof text, "%s, %s: %s", kind, first->platform, first->versions);
    write_text(t, "accelerator", text);
}

/* ---- inputs ---- */

/* What the sequences of random numbers are for. */
enum { STREAM_X, STREAM_W, STREAM_COPIED };

static mst_status make_matrix(uint64_t stream, mst_tensor **out) {
    const mst_rng rng = mst_rng_make(0, stream, 0);
    MST_TRY(mst_tensor_create(MST_F32, MST_SHAPE(WIDTH, WIDTH), out));
    float *element = mst_tensor_data(*out);
    mst_rng_fill_uniform_f32(&rng, 0, WIDTH * WIDTH, element);
    for (int i = 0; i < WIDTH * WIDTH; i++) element[i] = 2 * element[i] - 1;
    return MST_OK;
}

/* ---- runs ---- */

/* What is run on COUNT devices: a graph that makes y of the values that are fed, once for each of them. */
typedef struct trial_graph {
    mst_graph *graph;
    mst_session *session;
    int count;
    mst_value *y;
    mst_tensor **result;
} trial_graph;

static void free_graph(trial_graph *x) {
    mst_session_destroy(x->session);
    mst_graph_destroy(x->graph);
    for (int i = 0; x->result && i < x->count; i++) mst_tensor_release(x->result[i]);
    free(x->y);
    free(x->result);
    *x = (trial_graph){.graph = NULL};
}

static mst_status make_graph(int count, trial_graph *x) {
    *x = (trial_graph){.count = count};
    x->y = calloc((size_t)count + 1, sizeof *x->y);
    x->result = calloc((size_t)count + 1, sizeof(mst_tensor *));
    if (!x->y || !x->result) return MST_FAIL(MST_OUT_OF_MEMORY, "no memory for %d values", count);
    return mst_graph_create(&x->graph);
}

static mst_status open_session(const work *t, bool on_cpu, trial_graph *x) {
    const mst_session_options options = {.devices = on_cpu ? "cpu:1" : t->o->devices,
                                         .visible_devices = on_cpu ? NULL : t->o->visible_devices,
                                         .timeout = t->o->device_timeout};
    return mst_session_create(x->graph, &options, &x->session);
}

static mst_status run_graph(trial_graph *x, const mst_feed *feeds, int num_feeds, double *seconds) {
    const double began = mst_clock_seconds();
    MST_TRY(mst_session_run(x->session, feeds, num_feeds, x->y, x->count, x->result));
    *seconds = mst_clock_seconds() - began;
    return MST_OK;
}

/* ---- the program ---- */

/* How long runs took, in seconds: the first one, which compiles, and the quickest of the others. */
typedef struct times {
    double first, again;
} times;

/* Checks that all results have the bits of the first, which BEFORE gets. */
static mst_status check_bits(const work *t, const trial_graph *x, mst_tensor **before) {
    if (!*before) MST_TRY(mst_tensor_copy(MST_F32, MST_SHAPE(WIDTH, WIDTH), mst_tensor_data(x->result[0]), before));
    for (int i = 0; i < x->count; i++)
        if (memcmp(mst_tensor_data(*before), mst_tensor_data(x->result[i]), mst_tensor_bytes(*before)) != 0)
            return MST_FAIL(MST_NUMERICS, "%s: a program gave other bits than in its first run, on %s",
                            accelerators_short_name(&t->device[i]), accelerators_short_name(&t->device[0]));
    return MST_OK;
}

/* Runs it NUM_RUNS times, on the devices of the trial or on one CPU. */
static mst_status run_program(const work *t, bool on_cpu, int num_runs, trial_graph *x, times *took) {
    mst_tensor *before = NULL;
    MST_TRY(make_graph(on_cpu ? 1 : t->count, x));
    const mst_feed feeds[] = {
        {.value = mst_placeholder(x->graph, MST_F32, MST_SHAPE(WIDTH, WIDTH), .name = "x"), .tensor = t->x},
        {.value = mst_placeholder(x->graph, MST_F32, MST_SHAPE(WIDTH, WIDTH), .name = "w"), .tensor = t->w}};
    for (int i = 0; i < x->count; i++)
        mst_with_device (x->graph, on_cpu ? "/device:CPU:0" : t->device[i].name)
            x->y[i] = mst_matmul(mst_tanh(mst_matmul(feeds[0].value, feeds[1].value)), feeds[1].value);
    mst_status status = open_session(t, on_cpu, x);
    for (int i = 0; i < num_runs && !status; i++) {
        double seconds = 0;
        status = run_graph(x, feeds, 2, &seconds);
        if (i == 0) took->first = seconds;
        if (i == 1 || seconds < took->again) took->again = seconds;
        if (!status) status = check_bits(t, x, &before);
    }
    mst_tensor_release(before);
    return status;
}

/* The largest absolute difference of A and B, divided by the largest absolute value in B. Infinite if an element is
 * infinite or NaN. */
static double find_difference(const mst_tensor *a, const mst_tensor *b) {
    double most = 0, largest = 0;
    for (int64_t i = 0; i < mst_tensor_count(b); i++) {
        const double one = mst_tensor_get(a, i), other = mst_tensor_get(b, i);
        if (!isfinite(one - other)) return INFINITY;
        if (fabs(one - other) > most) most = fabs(one - other);
        if (fabs(other) > largest) largest = fabs(other);
    }
    return most / largest;
}

/* Compares the results of the devices with that of the CPU. */
static mst_status compare_results(const work *t, mst_tensor *const *result, const mst_tensor *wanted, double *most) {
    for (int i = 0; i < t->count; i++) {
        const double difference = find_difference(result[i], wanted);
        if (!isfinite(difference))
            return MST_FAIL(MST_NUMERICS, "%s: a product has Inf or NaN, where CPUs give numbers",
                            accelerators_short_name(&t->device[i]));
        if (difference > TOLERANCE)
            return MST_FAIL(MST_NUMERICS, "%s: a product has other values than on CPUs, by %.2g of the largest",
                            accelerators_short_name(&t->device[i]), difference);
        if (difference > *most) *most = difference;
    }
    return MST_OK;
}

static void write_hash(const work *t, const mst_tensor *value) {
    char text[32];
    snprintf(text, sizeof text, "%016" PRIx64, mst_byte_hash(mst_tensor_data(value), mst_tensor_bytes(value)));
    write_text(t, "hash", text);
}

/* Runs the program. Of the SECOND process only the bits count. */
static mst_status try_program(work *t, bool second) {
    enum { RUNS = 6 };
    times took = {0}, of_cpu;
    trial_graph x = {.graph = NULL}, on_cpu = {.graph = NULL};
    double difference = 0;
    char first[DOCTOR_TIME], again[DOCTOR_TIME];
    MST_TRY(make_matrix(STREAM_X, &t->x));
    MST_TRY(make_matrix(STREAM_W, &t->w));
    mst_status status = run_program(t, false, second ? 1 : RUNS, &x, &took);
    if (!status && !second) status = run_program(t, true, 1, &on_cpu, &of_cpu);
    if (!status && !second) status = compare_results(t, x.result, on_cpu.result[0], &difference);
    if (!status && !second)
        WRITE_ROW(t, DOCTOR_OK, "program", NULL,
                  "compiled and run in %s, then run in %s; its values are within %.0e of those of CPUs",
                  doctor_time(took.first, first), doctor_time(took.again, again), difference);
    if (!status) write_hash(t, x.result[0]);
    free_graph(&x);
    free_graph(&on_cpu);
    return status;
}

/* ---- copies ---- */

/* Whether B has the numbers of A, each plus 1. */
static bool is_one_more(const mst_tensor *a, const mst_tensor *b) {
    const uint32_t *one = mst_tensor_data(a), *more = mst_tensor_data(b);
    for (int i = 0; i < COPIED; i++)
        if (more[i] != one[i] + 1) return false;
    return true;
}

/* Whether each device has added 1 to NUMBERS. */
static mst_status check_copies(const work *t, const trial_graph *x, const mst_tensor *numbers) {
    for (int i = 0; i < x->count; i++)
        if (!is_one_more(numbers, x->result[i]))
            return MST_FAIL(MST_CORRUPT, "%s: 1 MB was copied there and back, and is not the same",
                            accelerators_short_name(&t->device[i]));
    return MST_OK;
}

/* Copies whole numbers to each device, adds 1 there, and copies them back, twice: the first run compiles. */
static mst_status run_copies(const work *t, trial_graph *x, mst_tensor *numbers, double *seconds) {
    MST_TRY(make_graph(t->count, x));
    const mst_feed feed = {.value = mst_placeholder(x->graph, MST_I32, MST_SHAPE(COPIED)), .tensor = numbers};
    for (int i = 0; i < x->count; i++)
        mst_with_device (x->graph, t->device[i].name)
            x->y[i] = mst_add(feed.value, mst_fill(x->graph, MST_I32, MST_SHAPE(1), 1));
    MST_TRY(open_session(t, false, x));
    for (int run = 0; run < 2; run++) {
        MST_TRY(run_graph(x, &feed, 1, seconds));
        MST_TRY(check_copies(t, x, numbers));
    }
    return MST_OK;
}

static mst_status try_copies(const work *t) {
    trial_graph x = {.graph = NULL};
    const mst_rng rng = mst_rng_make(0, STREAM_COPIED, 0);
    mst_tensor *numbers;
    char text[DOCTOR_TIME];
    double seconds = 0;
    MST_TRY(mst_tensor_create(MST_I32, MST_SHAPE(COPIED), &numbers));
    mst_rng_blocks(&rng, 0, COPIED / 4, 0, mst_tensor_data(numbers));
    const mst_status status = run_copies(t, &x, numbers, &seconds);
    free_graph(&x);
    mst_tensor_release(numbers);
    if (status) return status;
    WRITE_ROW(t, DOCTOR_OK, "copies", NULL, "1 MB to %s and back is the same; %s",
              t->count > 1 ? "each device" : "the device", doctor_time(seconds, text));
    return MST_OK;
}

/* ---- all of it ---- */

static bool has_failed(const work *t, mst_status status, const char *check, const char *fix) {
    if (status) WRITE_ROW(t, DOCTOR_FINDING, check, fix, "%s", mst_error()->message);
    return status != MST_OK;
}

void doctor_trial_run(const doctor_options *o, bool second, FILE *out) {
    static const char install[] =
        "install a plugin, for NVIDIA's GPUs: pip install jax[cuda13] into a virtual environment "
        "(2.5 GB), then export MUSTER_PJRT_PLUGIN=ENVIRONMENT; docs/accelerators.md",
                      look[] = "muster devices lists what is here; docs/accelerators.md says what to do for each error",
                      leave[] = "do not train on this device: see to its driver, or try another version of the plugin";
    const char *plugin = secure_getenv("MUSTER_PJRT_PLUGIN");
    work t = {.o = o, .out = out};
    write_text(&t, "stage", "loading the plugin");
    mst_status status = mst_compile_cache_set("off", 0, NULL);
    if (!status) status = find_devices(&t);
    if (has_failed(&t, status, "plugin", plugin && *plugin ? look : install)) return;
    if (!second) tell_devices(&t);
    write_text(&t, "stage", "compiling and running a program");
    if (has_failed(&t, try_program(&t, second), "program", leave) || second) return;
    write_text(&t, "stage", "copying");
    has_failed(&t, try_copies(&t), "copies", leave);
}
