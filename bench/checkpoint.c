/* muster-bench checkpoint: how long training stands still for a checkpoint of 1 GB, how fast it is written and read.
 * The files go to a new folder in the current one, so that its disk is measured, 5 GB in all, and are removed at the
 * end. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/no_memory.h"
#include "bench/bench.h"
#include "bench/folder.h"
#include "bench/python.h"
#include "bench/table.h"
#include "muster/muster.h"

enum { TENSORS = 64, ROUNDS = 3, RESTORES = BENCH_ROUNDS, BLOCK = 1 << 20 };
enum { STANDS, WRITTEN, PLAIN, OF_PLAIN, READ, TENSORFLOW, OF_TENSORFLOW, NUM_ROWS };
static const int64_t tensor_floats = 4 << 20; /* 16 MB each, 1 GB in all */
static const double gigabyte = (double)TENSORS * (4 << 20) * 4;

static bench_row rows[NUM_ROWS] = {
    [STANDS] = BENCH_AT_MOST("stands_still", "training stands still for a save, in copies of the parameters", "x", 1),
    [WRITTEN] = BENCH_AT_LEAST("written", "checkpoint written, synced and renamed", "MB/s", 0),
    [PLAIN] = BENCH_AT_LEAST("plain", "the same bytes written and synced, as dd conv=fsync does", "MB/s", 0),
    [OF_PLAIN] = BENCH_AT_LEAST("of_plain", "written, of that", "x", 0.9),
    [READ] = BENCH_AT_LEAST("read", "checkpoint read and checked, into a store", "MB/s", 0),
    [TENSORFLOW] = BENCH_AT_LEAST("tensorflow", "the same by tf.train.load_checkpoint", "MB/s", 0),
    [OF_TENSORFLOW] = BENCH_AT_LEAST("of_tensorflow", "read, of that", "x", 1.5)};

static mst_status fill_store(mst_store *store) {
    mst_tensor *value;
    char name[32];
    MST_TRY(mst_tensor_create(MST_F32, MST_SHAPE(tensor_floats), &value));
    float *data = mst_tensor_data(value);
    mst_status status = MST_OK;
    for (int i = 0; i < TENSORS && !status; i++) {
        for (int64_t k = 0; k < tensor_floats; k++) data[k] = (float)(k * 7 + i);
        snprintf(name, sizeof name, "layer%d/weights", i + 1);
        status = mst_store_set(store, NULL, name, MST_STATE_WEIGHT, value);
    }
    mst_tensor_release(value);
    return status;
}

/* Seconds of one copy of as many bytes, tensor by tensor, between memory that has been touched. */
static mst_status time_of_copy(double *out) {
    const size_t size = (size_t)gigabyte;
    char *from = malloc(size), *to = malloc(size);
    if (from && to) {
        memset(from, 1, size);
        memset(to, 2, size);
        const double began = bench_now();
        for (size_t piece = size / TENSORS, at = 0; at < size; at += piece) memcpy(to + at, from + at, piece);
        __asm__ volatile("" : : "r"(to) : "memory"); /* the copy is used */
        *out = bench_now() - began;
    }
    const mst_status status = from && to ? MST_OK : MST_NO_MEMORY("for a benchmark");
    free(from);
    free(to);
    return status;
}

/* Seconds of writing and syncing as many bytes. */
static mst_status time_of_plain(const char *folder, double *out) {
    char *path, *block = malloc(BLOCK);
    if (asprintf(&path, "%s/plain", folder) < 0) path = NULL;
    const int file = path ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
    bool good = file >= 0 && block;
    uint64_t random = 1; /* a disk may know how to store equal bytes */
    for (int i = 0; good && i < BLOCK; i++) block[i] = (char)((random = random * 6364136223846793005u + 1) >> 56);
    const double began = bench_now();
    for (int64_t done = 0; good && done < (int64_t)gigabyte; done += BLOCK) good = write(file, block, BLOCK) == BLOCK;
    if (good) good = fsync(file) == 0;
    *out = bench_now() - began;
    const int code = errno;
    if (file >= 0) close(file);
    if (file >= 0) unlink(path);
    free(path);
    free(block);
    return good ? MST_OK : MST_FAIL(MST_IO, "'%s/plain' cannot be written: %s", folder, strerror(code));
}

static mst_status save(const char *folder, mst_checkpoint_manager *manager, mst_store *store) {
    double copy = 0, plain = 0;
    MST_TRY(time_of_copy(&copy));
    const double began = bench_now();
    MST_TRY(mst_checkpoint_manager_save(manager, store));
    const double stood = bench_now() - began;
    MST_TRY(mst_checkpoint_manager_wait(manager));
    const double written = bench_now() - began;
    MST_TRY(time_of_plain(folder, &plain));
    bench_add(&rows[STANDS], stood / copy);
    bench_add(&rows[WRITTEN], gigabyte / 1e6 / written);
    bench_add(&rows[PLAIN], gigabyte / 1e6 / plain);
    bench_add(&rows[OF_PLAIN], plain / written);
    return MST_OK;
}

static mst_status restore(const char *folder, mst_store *store) {
    const double began = bench_now();
    MST_TRY(mst_checkpoint_restore(folder, store, NULL, NULL));
    bench_add(&rows[READ], gigabyte / 1e6 / (bench_now() - began));
    return MST_OK;
}

/* What TensorFlow takes for all tensors, as often as Muster. */
static void measure_tensorflow(const char *folder) {
    static const char program[] =
        "-c \"import time, tensorflow as tf\n"
        "def read():\n"
        "    t = time.perf_counter()\n"
        "    r = tf.train.load_checkpoint('%s')\n"
        "    n = sum(r.get_tensor(k).nbytes for k in r.get_variable_to_shape_map() if k.startswith('layer'))\n"
        "    return n / 1e6 / (time.perf_counter() - t)\n"
        "for _ in range(%d): print('rate', read(), flush=True)\" 2> /dev/null";
    char line[256], *arguments;
    double rate;
    if (asprintf(&arguments, program, folder, RESTORES) < 0) return;
    FILE *file = bench_python_open(arguments, "r");
    free(arguments);
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "rate %lf", &rate) == 1) bench_add(&rows[TENSORFLOW], rate);
    if (file) pclose(file);
    if (rows[TENSORFLOW].count)
        bench_add(&rows[OF_TENSORFLOW], bench_median(&rows[READ]) / bench_median(&rows[TENSORFLOW]));
}

static mst_status measure(const char *folder, mst_store *store, mst_checkpoint_manager *manager) {
    bench_progress("making 1 GB of parameters");
    MST_TRY(fill_store(store));
    MST_TRY(mst_checkpoint_manager_save(manager, store)); /* gets the memory of the copy, as the begin of a fit does */
    MST_TRY(mst_checkpoint_manager_wait(manager));
    for (int i = 0; i < ROUNDS; i++) {
        bench_progress("saving, %d of %d", i + 1, ROUNDS);
        MST_TRY(save(folder, manager, store));
    }
    for (int i = 0; i < RESTORES; i++) {
        bench_progress("restoring, %d of %d", i + 1, RESTORES);
        MST_TRY(restore(folder, store));
    }
    return MST_OK;
}

static int run(const command_call *call) {
    const bench_options *options = call->options;
    mst_store *store = NULL;
    mst_checkpoint_manager *manager = NULL;
    char *folder;
    mst_status status = bench_folder_make(".", &folder);
    if (!status) status = mst_store_create(&store);
    if (!status)
        status = mst_checkpoint_manager_open(&(mst_checkpoint_options){.directory = folder, .keep = -1}, &manager);
    if (!status) status = measure(folder, store, manager);
    if (!status && options->peers) measure_tensorflow(folder);
    bench_progress_end();
    const int code = status ? command_fail_library(EXIT_FAILED, NULL) : EXIT_DONE;
    if (!status) bench_print(rows, NUM_ROWS, options->json);
    (void)!mst_checkpoint_manager_close(manager);
    mst_store_release(store);
    bench_folder_remove(folder);
    return code;
}

static const option options[] = {
    BENCH_COMMON_OPTIONS,
    BENCH_PEERS_OPTION("also TensorFlow, where build/peers of the source tree has it"),
    {0},
};
static const option_section sections[] = {{.title = "Options", .options = options}, {0}};

const command bench_checkpoint = {
    .name = "checkpoint",
    .summary = "a save of 1 GB against a copy and against the disk",
    .usage = "[options]",
    .notes = "The files are in a new folder in the current one.",
    .sections = sections,
    .options_size = sizeof(bench_options),
    .run = run,
};
