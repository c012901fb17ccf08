/** muster-bench events: what a log for TensorBoard costs a training: the processor time of writing scalars and
 *  histograms, against that of the steps that they describe. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bench/bench.h"
#include "bench/folder.h"
#include "bench/table.h"
#include "muster/muster.h"

enum { ROUNDS = 3, BATCH = 100, PIXELS = 784, UNITS = 500, CLASSES = 10, ROWS = 2000 };
enum { SCALARS = 4, HISTOGRAM_STEPS = 100, NUM_STEPS = 1000, NUM_CALLS = 100000 };

enum { STEP, CALL, VALUE, WRITING, NUM_ROWS };
static bench_row rows[NUM_ROWS] = {
    [STEP] = BENCH_AT_MOST("step", "a step of 784-500-10, batch 100, one thread: processor time", "ms", 0),
    [CALL] = BENCH_AT_MOST("scalar_call", "a call of mst_summary_scalar", "us", 0),
    [VALUE] = BENCH_AT_MOST("histogram_value", "a value of a histogram, counted and written", "ns", 0),
    [WRITING] = BENCH_AT_MOST("writing", "4 scalars a step, 8 histograms each 100: of the step", "%", 1),
};

/* Processor time of all threads: what the log takes from the training where every core is busy. */
static double processor_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- a step ---- */

static mst_status make_data(mst_dataset **out) {
    mst_tensor *tensor[2] = {NULL};
    mst_status status = mst_tensor_create(MST_F32, MST_SHAPE(ROWS, PIXELS), &tensor[0]);
    if (!status) status = mst_tensor_create(MST_I32, MST_SHAPE(ROWS), &tensor[1]);
    for (int64_t i = 0; !status && i < (int64_t)ROWS * PIXELS; i++)
        mst_tensor_set(tensor[0], i, (double)(i * 7919 % 256) / 255);
    for (int64_t i = 0; !status && i < ROWS; i++) mst_tensor_set(tensor[1], i, (double)(i % CLASSES));
    if (!status) status = mst_dataset_from_tensors(tensor, 2, out);
    mst_tensor_release(tensor[0]);
    mst_tensor_release(tensor[1]);
    return status;
}

static mst_status fit(const mst_dataset *data, mst_model *model, double seconds, double *step) {
    const int64_t units[] = {UNITS};
    mst_result result;
    mst_model_mlp(model, units, 1, CLASSES, 1e-4f);
    MST_TRY(mst_compile(model, .session = {.devices = "cpu:1/1"}, .strategy = {.num_shards = 1}));
    mst_fit_options options = {.data = data, .batch_size = BATCH, .epochs = 2};
    MST_TRY(mst_fit_with(model, &options, &result));
    options.epochs = (int64_t)(seconds * result.examples_per_sec / ROWS) + 1;
    const double before = processor_time();
    MST_TRY(mst_fit_with(model, &options, &result));
    const int64_t steps = options.epochs * (ROWS / BATCH);
    *step = (processor_time() - before) / (double)steps;
    return MST_OK;
}

static mst_status measure_step(double seconds, double *step) {
    mst_dataset *data;
    mst_model *model = NULL;
    MST_TRY(make_data(&data));
    mst_status status = mst_model_create(&model);
    if (!status) status = fit(data, model, seconds, step);
    mst_model_destroy(model);
    mst_dataset_release(data);
    return status;
}

/* ---- a log ---- */

static const struct {
    const char *name;
    int64_t count;
} weights[] = {{"layer1/weights", PIXELS *UNITS},
               {"layer1/biases", UNITS},
               {"layer2/weights", UNITS *CLASSES},
               {"layer2/biases", CLASSES}};
enum { NUM_WEIGHTS = sizeof weights / sizeof *weights };

static mst_status make_weights(mst_tensor **weight) {
    for (int w = 0; w < NUM_WEIGHTS; w++) {
        MST_TRY(mst_tensor_create(MST_F32, MST_SHAPE(weights[w].count), &weight[w]));
        for (int64_t i = 0; i < weights[w].count; i++)
            mst_tensor_set(weight[w], i, (double)((i * 2654435761u) % 20011 - 10005) / 100000.0);
    }
    return MST_OK;
}

static void write_histograms(mst_summary_writer *writer, mst_tensor *const *weight, int64_t step) {
    for (int w = 0; w < NUM_WEIGHTS; w++) {
        char tag[64];
        snprintf(tag, sizeof tag, "gradients_on_average/%s", weights[w].name);
        mst_summary_histogram(writer, weights[w].name, weight[w], step);
        mst_summary_histogram(writer, tag, weight[w], step);
    }
}

static mst_status write_log(mst_summary_writer *writer, mst_tensor *const *weight, double *seconds) {
    static const char *const tags[SCALARS] = {"total_loss", "total_loss (raw)", "learning_rate", "examples_per_sec"};
    const double before = processor_time();
    for (int64_t step = 0; step < NUM_STEPS; step++) {
        for (int i = 0; i < SCALARS; i++) mst_summary_scalar(writer, tags[i], (double)step, step);
        if (step % HISTOGRAM_STEPS == 0) write_histograms(writer, weight, step);
    }
    MST_TRY(mst_summary_flush(writer));
    *seconds = (processor_time() - before) / NUM_STEPS;
    return MST_OK;
}

static mst_status measure_log(mst_summary_writer *writer, mst_tensor *const *weight, double step) {
    double seconds, began = bench_now();
    for (int i = 0; i < NUM_CALLS; i++) mst_summary_scalar(writer, "x", i, i);
    bench_add(&rows[CALL], (bench_now() - began) / NUM_CALLS * 1e6);
    MST_TRY(mst_summary_flush(writer));
    began = processor_time();
    mst_summary_histogram(writer, "h", weight[0], 0);
    MST_TRY(mst_summary_flush(writer));
    bench_add(&rows[VALUE], (processor_time() - began) / (double)weights[0].count * 1e9);
    MST_TRY(write_log(writer, weight, &seconds));
    bench_add(&rows[WRITING], seconds / step * 100);
    return MST_OK;
}

static mst_status measure(double seconds) {
    char *folder;
    mst_tensor *weight[NUM_WEIGHTS] = {NULL};
    mst_summary_writer *writer = NULL;
    double step;
    MST_TRY(measure_step(seconds, &step));
    bench_add(&rows[STEP], step * 1e3);
    MST_TRY(bench_folder_make(NULL, &folder));
    mst_status status = make_weights(weight);
    if (!status) status = mst_summary_writer_create(folder, NULL, &writer);
    if (!status) status = measure_log(writer, weight, step);
    if (writer && mst_summary_writer_close(writer) && !status) status = MST_IO;
    for (int w = 0; w < NUM_WEIGHTS; w++) mst_tensor_release(weight[w]);
    bench_folder_remove(folder);
    return status;
}

static int run(const command_call *call) {
    const bench_options *options = call->options;
    if (!options->json) printf("What a log for TensorBoard costs; medians of %d rounds\n", ROUNDS);
    const double began = bench_now();
    for (int round = 0; round < ROUNDS; round++) {
        bench_progress_round(round, ROUNDS, began);
        if (measure(bench_seconds(options) / 4)) return command_fail_library(EXIT_FAILED, NULL);
    }
    bench_progress_end();
    bench_print(rows, NUM_ROWS, options->json);
    return EXIT_DONE;
}

static const option options[] = {
    BENCH_COMMON_OPTIONS,
    {0},
};
static const option_section sections[] = {{.title = "Options", .options = options}, {0}};

const command bench_events = {
    .name = "events",
    .summary = "what a log for TensorBoard costs a step",
    .usage = "[options]",
    .sections = sections,
    .options_size = sizeof(bench_options),
    .run = run,
};
