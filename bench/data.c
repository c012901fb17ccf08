/* muster-bench data: TFRecord files read, checked, decompressed and parsed, and JPEG files decoded and resized, against
 * the bare calls that this cannot do without, and with --peers against tf.data. Files are made in the folder for
 * temporary files and are in the page cache when they are read; everything runs on one thread, and processor time is
 * measured, so that what else the machine does counts little. */
#include <inttypes.h>
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "bench/bench.h"
#include "bench/pictures.h"
#include "bench/table.h"
#include "bench/tensorflow.h"
#include "muster/muster.h"

enum { ROUNDS = BENCH_ROUNDS, RECORD = 1000, NUM_RECORDS = 60000, IMAGE = 784, BATCH = 100, BUFFER = 256 * 1024 };
enum { LONG_RUN = 100000 /* batches */, FRAME = 16, SIDE = 224 };

/* Of a file of records. */
#define MEGABYTES ((double)NUM_RECORDS * (RECORD + FRAME) / 1e6)

enum {
    READ,
    READ_BARE,
    READ_TO_BARE,
    GZIP,
    GZIP_BARE,
    GZIP_TO_BARE,
    PARSE,
    PARSE_MIXED,
    JPEG,
    JPEG_BARE,
    JPEG_TO_BARE,
    GROWTH,
    TF_READ,
    READ_TO_TF,
    TF_GZIP,
    GZIP_TO_TF,
    TF_PARSE,
    PARSE_TO_TF,
    TF_JPEG,
    JPEG_TO_TF,
    TF_JPEG_HALF,
    JPEG_TO_TF_HALF,
    NUM_ROWS
};

static bench_row rows[NUM_ROWS] = {
    [READ] = BENCH_AT_LEAST("read", "TFRecord, records of 1 kB, both check sums", "MB/s", 0),
    [READ_BARE] = BENCH_AT_LEAST("read_bare", "memcpy and bare CRC calls", "MB/s", 0),
    [READ_TO_BARE] = BENCH_AT_LEAST("read_to_bare", "TFRecord / memcpy and bare CRC calls", "x", 0.5),
    [GZIP] = BENCH_AT_LEAST("gzip", "the same from gzip, decompressed size", "MB/s", 0),
    [GZIP_BARE] = BENCH_AT_LEAST("gzip_bare", "bare inflate", "MB/s", 0),
    [GZIP_TO_BARE] = BENCH_AT_LEAST("gzip_to_bare", "TFRecord from gzip / bare inflate", "x", 0.9),
    [PARSE] = BENCH_RATE("parse", "Example of 784 bytes and a label, parsed, in batches of 100"),
    [PARSE_MIXED] = BENCH_RATE("parse_shuffled", "the same in random order over all records"),
    [JPEG] = BENCH_AT_LEAST("jpeg", "JPEG 500x375, decoded and resized to 224x224, f32", "pictures/s", 0),
    [JPEG_BARE] = BENCH_AT_LEAST("jpeg_bare", "bare libjpeg-turbo, decoded to planes, not resized", "pictures/s", 0),
    [JPEG_TO_BARE] = BENCH_AT_LEAST("jpeg_to_bare", "JPEG / bare libjpeg-turbo", "x", 0),
    [GROWTH] = BENCH_AT_MOST("growth", "memory gained over 100,000 batches", "MB", 1),
    [TF_READ] = BENCH_AT_LEAST("tensorflow_read", "tf.data, TFRecordDataset, one thread", "MB/s", 0),
    [READ_TO_TF] = BENCH_AT_LEAST("read_to_tensorflow", "TFRecord / tf.data", "x", 2),
    [TF_GZIP] = BENCH_AT_LEAST("tensorflow_gzip", "tf.data, TFRecordDataset, GZIP", "MB/s", 0),
    [GZIP_TO_TF] = BENCH_AT_LEAST("gzip_to_tensorflow", "TFRecord from gzip / tf.data", "x", 0),
    [TF_PARSE] = BENCH_RATE("tensorflow_parse", "tf.data, batch(100) and parse_example"),
    [PARSE_TO_TF] = BENCH_AT_LEAST("parse_to_tensorflow", "parsed and batched / tf.data", "x", 5),
    [TF_JPEG] = BENCH_AT_LEAST("tensorflow_jpeg", "tf.io.decode_jpeg and tf.image.resize", "pictures/s", 0),
    [JPEG_TO_TF] = BENCH_AT_LEAST("jpeg_to_tensorflow", "JPEG / decode_jpeg and resize", "x", 1.5),
    [TF_JPEG_HALF] =
        BENCH_AT_LEAST("tensorflow_jpeg_half", "the same with ratio=2, 250x188 made larger again", "pictures/s", 0),
    [JPEG_TO_TF_HALF] = BENCH_AT_LEAST("jpeg_to_tensorflow_half", "JPEG / decode_jpeg with ratio=2", "x", 0),
};

/* ---- the files ---- */

typedef struct files {
    char folder[64], plain[80], gzip[80], examples[80];
    bench_pictures pictures;
    bool has_pictures; /* libjpeg-turbo is there */
} files;

/* Bytes that compress about as pictures do: runs of 0, and noise of some bits. */
static void fill(uint8_t *data, size_t size, uint64_t *state) {
    for (size_t i = 0; i < size; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        const bool dark = (*state >> 40) % 97 < 5 ? 0 : (i / 28) % 4 == 0;
        data[i] = dark ? 0 : (uint8_t)(*state >> 58);
    }
}

static mst_status write_records(const char *path, mst_tfrecord_compression compression, bool examples) {
    mst_tfrecord_writer *writer;
    uint8_t data[RECORD], example[RECORD + 100];
    uint64_t random = 1;
    MST_TRY(mst_tfrecord_writer_open(path, compression, &writer));
    mst_status status = MST_OK;
    for (int64_t i = 0; i < NUM_RECORDS && !status; i++) {
        const int64_t label = i % 10;
        const mst_feature_data features[] = {{"image_raw", MST_U8, data, IMAGE}, {"label", MST_I64, &label, 1}};
        fill(data, RECORD, &random);
        if (examples) mst_example_encode(features, 2, example);
        status = examples ? mst_tfrecord_writer_add(writer, example, mst_example_size(features, 2))
                          : mst_tfrecord_writer_add(writer, data, RECORD);
    }
    if (!status) status = mst_tfrecord_writer_commit(writer);
    mst_tfrecord_writer_close(writer);
    return status;
}

static mst_status make_files(files *f) {
    const char *folder = getenv("TMPDIR");
    snprintf(f->folder, sizeof f->folder, "%.40s/muster-XXXXXX", folder && *folder ? folder : "/tmp");
    if (!mkdtemp(f->folder)) return MST_FAIL(MST_IO, "'%s' cannot be made", f->folder);
    snprintf(f->plain, sizeof f->plain, "%s/plain", f->folder);
    snprintf(f->gzip, sizeof f->gzip, "%s/gzip", f->folder);
    snprintf(f->examples, sizeof f->examples, "%s/examples", f->folder);
    MST_TRY(write_records(f->plain, MST_TFRECORD_PLAIN, false));
    MST_TRY(write_records(f->gzip, MST_TFRECORD_GZIP, false));
    MST_TRY(write_records(f->examples, MST_TFRECORD_PLAIN, true));
    char pictures[80];
    snprintf(pictures, sizeof pictures, "%s/pictures", f->folder);
    const mst_status status = bench_pictures_make(pictures, &f->pictures);
    f->has_pictures = !status;
    return status == MST_UNIMPLEMENTED ? MST_OK : status;
}

static void remove_files(files *f) {
    bench_pictures_remove(&f->pictures);
    unlink(f->plain);
    unlink(f->gzip);
    unlink(f->examples);
    rmdir(f->folder);
}

/* ---- measuring: how often a second WORK can be done, by doing it again and again ---- */

typedef struct work {
    mst_status (*once)(struct work *w);
    const files *files;
    const char *path;
    const uint8_t *data; /* of the file */
    size_t size;
    uint8_t *buffer; /* of BUFFER bytes */
    mst_dataset *dataset;
    float *picture; /* of SIDE x SIDE pixels */
    uint32_t sum;   /* of what was read, so that it is */
} work;

static double processor_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Passes a second, 0 where one failed. */
static double rate(work *w, double seconds) {
    const double start = processor_time();
    double now = start;
    int passes = 0;
    for (; now - start < seconds; now = processor_time(), passes++)
        if (w->once(w)) return 0;
    return passes / (now - start);
}

static mst_status read_once(work *w) {
    mst_tfrecord_reader *reader;
    mst_record record;
    MST_TRY(mst_tfrecord_reader_open(w->path, &reader));
    mst_status status;
    while (!(status = mst_tfrecord_reader_next(reader, &record)) && record.data)
        w->sum += *(const uint8_t *)record.data;
    mst_tfrecord_reader_close(reader);
    return status;
}

/* The file is in memory: copied by pieces, and the calls of the check sums made, with nothing around them. */
static mst_status bare_read(work *w) {
    const size_t frame = RECORD + FRAME;
    for (size_t at = 0; at + frame <= w->size;) {
        size_t n = BUFFER / frame * frame;
        if (n > w->size - at) n = w->size - at;
        memcpy(w->buffer, w->data + at, n);
        for (size_t i = 0; i < n; i += frame)
            w->sum += crc32_iscsi(w->buffer + i, 8, UINT32_MAX) + crc32_iscsi(w->buffer + i + 12, RECORD, UINT32_MAX);
        at += n;
    }
    return MST_OK;
}

static mst_status bare_inflate(work *w) {
    struct inflate_state *state = malloc(sizeof *state);
    if (!state) return MST_FAIL(MST_OUT_OF_MEMORY, "data: cannot get memory");
    isal_inflate_init(state);
    state->crc_flag = ISAL_GZIP;
    state->next_in = (uint8_t *)(uintptr_t)w->data;
    state->avail_in = (uint32_t)w->size;
    int code = ISAL_DECOMP_OK;
    while (code == ISAL_DECOMP_OK && state->block_state != ISAL_BLOCK_FINISH) {
        state->next_out = w->buffer;
        state->avail_out = BUFFER;
        code = isal_inflate(state);
        w->sum += *w->buffer;
    }
    free(state);
    return code == ISAL_DECOMP_OK ? MST_OK : MST_FAIL(MST_CORRUPT, "data: inflate failed");
}

static mst_status parse_once(work *w) {
    mst_iterator *it;
    const mst_batch *batch;
    int64_t label[BATCH];
    MST_TRY(mst_iterator_create(w->dataset, 0, &it));
    mst_status status = mst_iterator_next(it, &batch);
    while (!status && batch) {
        status = mst_batch_copy_all(batch, 0, mst_batch_size(batch), (void *[]){w->buffer, label});
        w->sum += (uint32_t)label[0];
        if (!status) status = mst_iterator_next(it, &batch);
    }
    mst_iterator_destroy(it);
    return status;
}

/* One picture after the other, as a thread that fills a batch does it. */
static mst_status jpeg_once(work *w) {
    mst_iterator *it;
    const mst_batch *batch;
    MST_TRY(mst_iterator_create(w->dataset, 0, &it));
    mst_status status = mst_iterator_next(it, &batch);
    while (!status && batch) {
        status = mst_batch_copy(batch, 0, 0, 1, w->picture);
        w->sum += (uint32_t)w->picture[0];
        if (!status) status = mst_iterator_next(it, &batch);
    }
    mst_iterator_destroy(it);
    return status;
}

static mst_status bare_jpeg(work *w) {
    return bench_pictures_decode(&w->files->pictures, &w->sum);
}

/* ---- rounds ---- */

static mst_status open_examples(const files *f, bool mixed, int64_t repeat, mst_dataset **out) {
    const mst_feature features[] = {{.name = "image_raw", .dtype = MST_U8, .shape = MST_SHAPE(IMAGE)},
                                    {.name = "label", .dtype = MST_I64}};
    const char *path = f->examples;
    mst_dataset *made[5] = {NULL};
    int n = 0;
    mst_status status = mst_dataset_from_tfrecord(&path, 1, NULL, &made[n]);
    if (!status) status = mst_dataset_parse_example(made[n], features, 2, &made[n + 1]), n++;
    if (!status && mixed) status = mst_dataset_shuffle(made[n], NULL, &made[n + 1]), n++;
    if (!status && repeat > 1) status = mst_dataset_repeat(made[n], repeat, &made[n + 1]), n++;
    if (!status) status = mst_dataset_batch(made[n], BATCH, false, &made[n + 1]), n++;
    for (int i = 0; i < n; i++) mst_dataset_release(made[i]);
    *out = made[n];
    return status;
}

static double megabytes(void) {
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
    if (file) fclose(file);
    return (double)resident * (double)sysconf(_SC_PAGESIZE) / 1e6;
}

static mst_status measure_growth(work *w) {
    MST_TRY(open_examples(w->files, true, (int64_t)LONG_RUN * BATCH / NUM_RECORDS + 1, &w->dataset));
    mst_iterator *it;
    const mst_batch *batch;
    int64_t label[BATCH];
    double before = 0;
    mst_status status = mst_iterator_create(w->dataset, 0, &it);
    for (int64_t i = 0; i < LONG_RUN && !status; i++) {
        if (i == 1000) before = megabytes();
        status = mst_iterator_next(it, &batch);
        if (!status) status = mst_batch_copy_all(batch, 0, mst_batch_size(batch), (void *[]){w->buffer, label});
    }
    if (!status) bench_add(&rows[GROWTH], megabytes() - before > 0 ? megabytes() - before : 0);
    mst_iterator_destroy(it);
    mst_dataset_release(w->dataset);
    return status;
}

static mst_status measure_parse(work *w, bool mixed, double seconds, bench_row *row) {
    MST_TRY(open_examples(w->files, mixed, 1, &w->dataset));
    w->once = parse_once;
    const double passes = rate(w, seconds);
    if (passes > 0) bench_add(row, passes * NUM_RECORDS);
    mst_dataset_release(w->dataset);
    return passes > 0 ? MST_OK : mst_error()->code;
}

/* The rate of the reader and of the bare calls, in MB of records a second, and their ratio. */
static mst_status measure_read(work *w, const char *path, mst_status (*bare)(work *), double seconds, bench_row *row) {
    void *data;
    MST_TRY(mst_file_read(path, SIZE_MAX, &data, &w->size));
    w->data = data;
    w->path = path;
    w->once = bare;
    const double before = rate(w, seconds / 2);
    w->once = read_once;
    const double reader = rate(w, seconds);
    w->once = bare;
    const double limit = (before + rate(w, seconds / 2)) / 2;
    free(data);
    if (reader <= 0 || limit <= 0) return mst_error()->code;
    bench_add(&row[0], reader * MEGABYTES);
    bench_add(&row[1], limit * MEGABYTES);
    bench_add(&row[2], reader / limit);
    return MST_OK;
}

static mst_status measure_jpeg(work *w, double seconds) {
    const mst_images_options options = {.height = SIDE, .dtype = MST_F32};
    MST_TRY(mst_dataset_from_images(w->files->pictures.folder, &options, &w->dataset));
    w->once = bare_jpeg;
    const double before = rate(w, seconds / 2);
    w->once = jpeg_once;
    const double own = rate(w, seconds);
    w->once = bare_jpeg;
    const double bare = (before + rate(w, seconds / 2)) / 2;
    mst_dataset_release(w->dataset);
    if (own <= 0 || bare <= 0) return mst_error()->code;
    bench_add(&rows[JPEG], own * BENCH_PICTURES);
    bench_add(&rows[JPEG_BARE], bare * BENCH_PICTURES);
    bench_add(&rows[JPEG_TO_BARE], own / bare);
    return MST_OK;
}

static mst_status measure_round(work *w, double seconds) {
    if (w->files->has_pictures) MST_TRY(measure_jpeg(w, seconds));
    MST_TRY(measure_read(w, w->files->plain, bare_read, seconds, &rows[READ]));
    MST_TRY(measure_read(w, w->files->gzip, bare_inflate, seconds, &rows[GZIP]));
    MST_TRY(measure_parse(w, false, seconds, &rows[PARSE]));
    return measure_parse(w, true, seconds, &rows[PARSE_MIXED]);
}

/* What TensorFlow does beside a row of Muster's; its own row is followed by that of the ratio. */
static const struct {
    const char *what;
    int row, own;
    double size;
} beside[] = {{"read", TF_READ, READ, MEGABYTES},
              {"gzip", TF_GZIP, GZIP, MEGABYTES},
              {"parse", TF_PARSE, PARSE, NUM_RECORDS},
              {"jpeg", TF_JPEG, JPEG, BENCH_PICTURES},
              {"jpeg_half", TF_JPEG_HALF, JPEG, BENCH_PICTURES}};

static bool measure_peer(const files *f, const bench_tensorflow *peer, double seconds) {
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        if (beside[i].own == JPEG && !f->has_pictures) continue;
        const double passes = bench_tensorflow_ask(peer, beside[i].what, seconds);
        if (passes <= 0) return false;
        bench_add(&rows[beside[i].row], passes * beside[i].size);
    }
    return true;
}

static void compare_with_peer(void) {
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
        const double own = bench_median(&rows[beside[i].own]), other = bench_median(&rows[beside[i].row]);
        if (other > 0) bench_add(&rows[beside[i].row + 1], own / other);
    }
}

/* ---- */

/* PEER may be NULL. *GOOD: whether it answered. */
static mst_status measure_all(work *w, const bench_tensorflow *peer, double seconds, int rounds, bool *good) {
    const double began = bench_now();
    for (int round = 0; round < rounds; round++) {
        bench_progress_round(round, rounds, began);
        MST_TRY(measure_round(w, seconds));
        if (peer && *good) *good = measure_peer(w->files, peer, seconds);
    }
    if (peer) compare_with_peer();
    bench_progress("100,000 batches");
    return measure_growth(w);
}

static bool open_peer(const char *folder, bench_tensorflow *out) {
    char *arguments;
    if (asprintf(&arguments, "--folder %s", folder) < 0) return false;
    const bool good = bench_tensorflow_open("data", "tensorflow", folder, "tensorflow_data.py", arguments, out);
    free(arguments);
    return good;
}

static int run(const command_call *call) {
    const bench_options *options = call->options;
    files f = {.has_pictures = false};
    bench_tensorflow peer = {.questions = NULL};
    uint8_t *buffer = malloc(BUFFER);
    work w = {.files = &f, .buffer = buffer, .picture = malloc(SIDE * SIDE * 3 * sizeof(float))};
    bool good = true;
    const int rounds = bench_rounds(options, ROUNDS);
    if (!options->json)
        printf(
            "%d records of %d bytes, as many Examples, and %d pictures (4:2:0, quality %d), page cache warm, one "
            "thread, processor time; medians of %d rounds\n",
            NUM_RECORDS, RECORD, BENCH_PICTURES, BENCH_PICTURE_QUALITY, rounds);
    fflush(stdout);
    bench_progress("writing files");
    mst_status status = buffer && w.picture ? make_files(&f) : MST_FAIL(MST_OUT_OF_MEMORY, "data: cannot get memory");
    if (!status && options->peers) good = open_peer(f.folder, &peer);
    if (!status)
        status = measure_all(&w, options->peers && good ? &peer : NULL, bench_seconds(options) / 8, rounds, &good);
    if (options->peers) good = bench_tensorflow_close(&peer) && good;
    bench_progress_end();
    remove_files(&f);
    free(buffer);
    free(w.picture);
    if (status) return command_fail_library(EXIT_FAILED, NULL);
    bench_print(rows, NUM_ROWS, options->json);
    return good ? EXIT_DONE : EXIT_FAILED;
}

static const option options[] = {
    BENCH_COMMON_OPTIONS,
    BENCH_PEERS_OPTION("also TensorFlow, in a virtual environment made under build/ of the source tree"),
    {0},
};
static const option_section sections[] = {{.title = "Options", .options = options}, {0}};

const command bench_data = {
    .name = "data",
    .summary = "how fast TFRecord files are read and parsed and JPEG files decoded",
    .usage = "[options]",
    .sections = sections,
    .options_size = sizeof(bench_options),
    .run = run,
};
