/* Text files as a source with one row per line: their order, with and without the index; every line once over
 * epochs, shards and restarts; and errors that name file and line. Each line begins with its number, which shows the
 * test which rows came. */
#include <stdio.h>

#include "muster/dataset.h"
#include "support/archive.h"
#include "support/folder.h"
#include "support/ledger.h"
#include "support/pipeline.h"
#include "support/test.h"

enum { MOST = 4096, TEXT = 32 };

static const int64_t counts[] = {23, 0, 40, 1, 17};
enum { FILES = 5, ROWS = 23 + 40 + 1 + 17 };

/* Line ID: its number, and dots, so that lines have different lengths. */
static size_t line_of(int64_t id, char text[TEXT]) {
    return (size_t)snprintf(text, TEXT, "%d%.*s", (int)id, (int)(id % 7), ".......");
}

/* Files a-00, a-01, ... with COUNT[i] lines in file i; ids go on from file to file. The last line of every other file
 * has no end. */
static void write_files(int num_files, const int64_t *count, bool compress) {
    int64_t id = 0;
    for (int i = 0; i < num_files; i++) {
        blob text = {0}, packed = {0};
        char name[16], line[TEXT];
        for (int64_t n = 0; n < count[i]; n++) {
            blob_add(&text, line, line_of(id++, line));
            if (n + 1 < count[i] || i % 2 == 0) blob_add(&text, id % 3 ? "\n" : "\r\n", id % 3 ? 1 : 2);
        }
        if (compress) blob_gzip(&packed, text.data ? (const void *)text.data : "", text.size);
        snprintf(name, sizeof name, "a-%02d", i);
        const blob *b = compress ? &packed : &text;
        folder_write(name, b->data ? (const void *)b->data : "", b->size);
        blob_free(&text);
        blob_free(&packed);
    }
}

static mst_dataset *open_lines(const mst_lines_options *options) {
    const char *pattern = folder_path("a-*");
    mst_dataset *dataset;
    EXPECT_OK(mst_dataset_from_lines(&pattern, 1, options, &dataset));
    return dataset;
}

/* The id at the beginning of a line; -1 if the line is not the one that was written. */
static int64_t id_of(const void *data, size_t size) {
    char text[TEXT], expected[TEXT];
    if (size >= TEXT) return -1;
    memcpy(text, data, size);
    text[size] = '\0';
    const int64_t id = atoi(text);
    return line_of(id, expected) == size && memcmp(text, expected, size) == 0 ? id : -1;
}

/* The ids of the next lines of IT, of at most STOP elements; their number, -1 on failure. */
static int64_t take_ids(mst_iterator *it, int64_t stop, int64_t *ids, int64_t max) {
    const mst_batch *batch;
    int64_t count = 0;
    for (int64_t n = 0; n < stop; n++) {
        if (mst_iterator_next(it, &batch)) return -1;
        if (!batch) break;
        mst_string line[MOST];
        const int64_t size = mst_batch_size(batch);
        if (count + size > max || mst_batch_copy(batch, 0, 0, size, line)) return -1;
        for (int64_t i = 0; i < size; i++) ids[count++] = id_of(line[i].data, line[i].length);
    }
    return count;
}

static int64_t ids_of(mst_dataset *dataset, int64_t epoch, int64_t *ids) {
    mst_iterator *it;
    EXPECT_OK(mst_iterator_create(dataset, epoch, &it));
    const int64_t count = take_ids(it, INT64_MAX, ids, MOST);
    mst_iterator_destroy(it);
    return count;
}

static void lines_come_file_by_file(void **state) {
    (void)state;
    for (int compress = 0; compress < 2; compress++) {
        int64_t ids[MOST];
        write_files(FILES, counts, compress);
        mst_dataset *dataset = open_lines(NULL);
        assert_int_equal(mst_dataset_num_rows(dataset), compress ? MST_UNKNOWN_CARDINALITY : ROWS);
        assert_int_equal(ids_of(dataset, 0, ids), ROWS);
        for (int64_t i = 0; i < ROWS; i++) assert_int_equal(ids[i], i);
        mst_dataset_release(dataset);
    }
}

static void forward_reading_gives_what_the_index_gives(void **state) {
    (void)state;
    int64_t indexed[MOST], forward[MOST];
    write_files(FILES, counts, false);
    for (int64_t cycle = 1; cycle <= 6; cycle++) {
        mst_dataset *a = open_lines(&(mst_lines_options){.cycle = cycle, .block = 3}), *mixed_a, *mixed_b;
        mst_dataset *b = open_lines(&(mst_lines_options){.cycle = cycle, .block = 3, .forward = true});
        const mst_shuffle_options options = {.buffer_size = 10, .seed = 3};
        EXPECT_OK(mst_dataset_shuffle(a, &options, &mixed_a));
        EXPECT_OK(mst_dataset_shuffle(b, &options, &mixed_b));
        assert_int_equal(ids_of(mixed_a, 2, indexed), ROWS);
        assert_int_equal(ids_of(mixed_b, 2, forward), ROWS);
        assert_memory_equal(indexed, forward, ROWS * sizeof *indexed);
        mst_dataset_release(a);
        mst_dataset_release(b);
        mst_dataset_release(mixed_a);
        mst_dataset_release(mixed_b);
    }
}

/* ---- the ledger: every line once ---- */

typedef struct pipeline_options {
    bool forward;
    int64_t cycle, buffer, batch, shards, prefetch;
    bool repeat_first; /* before the shuffle, else after the batches */
    bool padded;       /* the batches, with the characters of lines as a second component */
} pipeline_options;

static mst_status with_characters(const mst_array *in, mst_array *out, void *context) {
    const mst_string line = *(const mst_string *)in[0].data;
    (void)context;
    *(mst_string *)out[0].data = line;
    out[1].data = mst_map_alloc(line.length);
    out[1].count = out[1].shape.dim[0] = (int64_t)line.length;
    if (!out[1].data) return mst_error()->code;
    memcpy(out[1].data, line.data, line.length);
    return MST_OK;
}

static const pipeline_options pipelines[] = {
    {false, 1, -1, 0, 1, 0, false, false}, {false, 3, 0, 7, 1, 0, false, false}, {false, 2, 9, 7, 3, 0, false, true},
    {true, 1, -1, 5, 2, 0, false, false},  {true, 3, 9, 7, 1, 0, false, true},   {true, 2, 1000, 4, 3, 0, true, false},
    {true, 1, 20, 7, 2, 2, false, false},  {false, 1, 0, 7, 4, 3, false, true},  {true, 4, 13, 0, 5, 0, true, false},
    {true, 2, 9, 6, 2, 2, true, true},
};
enum { PIPELINES = sizeof pipelines / sizeof *pipelines, EPOCHS = 3 };

static mst_dataset *build(const void *context, int64_t shard) {
    const pipeline_options *o = context;
    mst_dataset *d = open_lines(&(mst_lines_options){.cycle = o->cycle, .block = 4, .forward = o->forward});
    const mst_spec specs[] = {{MST_STRING, MST_SCALAR}, {MST_U8, MST_SHAPE(-1)}};
    if (o->shards > 1) THEN(d, mst_dataset_shard(d, o->shards, shard, &made));
    if (o->repeat_first) THEN(d, mst_dataset_repeat(d, EPOCHS, &made));
    if (o->buffer >= 0)
        THEN(d, mst_dataset_shuffle(d, &(mst_shuffle_options){.buffer_size = o->buffer, .seed = 5}, &made));
    if (o->padded) {
        THEN(d, mst_dataset_map(d, with_characters, NULL, specs, 2, &made));
        THEN(d, mst_dataset_padded_batch(d, o->batch, false, NULL, &made));
    } else if (o->batch) {
        THEN(d, mst_dataset_batch(d, o->batch, false, &made));
    }
    if (o->prefetch) THEN(d, mst_dataset_prefetch(d, o->prefetch, &made));
    if (!o->repeat_first) THEN(d, mst_dataset_repeat(d, EPOCHS, &made));
    return d;
}

static void check_pipelines(void (*check)(const ledger *l)) {
    for (int compress = 0; compress < 2; compress++) {
        write_files(FILES, counts, compress);
        for (const pipeline_options *o = pipelines; o < pipelines + PIPELINES; o++)
            if (!compress || o->buffer) /* files that are read forward have no permutation */
                check(&(const ledger){.build = build,
                                      .context = o,
                                      .read = take_ids,
                                      .num_rows = ROWS,
                                      .num_shards = o->shards,
                                      .num_epochs = EPOCHS});
    }
}

static void every_line_comes_once_over_epochs_shards_and_restarts(void **state) {
    (void)state;
    check_pipelines(ledger_expect_each_row_once);
}

static void restored_or_skipped_to_it_gives_what_would_have_followed(void **state) {
    (void)state;
    check_pipelines(ledger_expect_same_after_restore);
}

/* ---- errors ---- */

static mst_status refuse_17(const mst_array *in, mst_array *out, void *context) {
    (void)context;
    const mst_string line = *(const mst_string *)in[0].data;
    *(int64_t *)out[0].data = id_of(line.data, line.length);
    return *(int64_t *)out[0].data == 17 ? MST_FAIL(MST_INVALID, "17 is refused") : MST_OK;
}

static void failing_map_names_file_and_line(void **state) {
    (void)state;
    static const int64_t two[] = {10, 10};
    for (int forward = 0; forward < 2; forward++) {
        write_files(2, two, false);
        mst_dataset *d = open_lines(&(mst_lines_options){.forward = forward});
        const mst_batch *batch;
        mst_iterator *it;
        int64_t ids[20];
        THEN(d, mst_dataset_map(d, refuse_17, NULL, &(mst_spec){MST_I64, MST_SCALAR}, 1, &made));
        THEN(d, mst_dataset_batch(d, 20, false, &made));
        EXPECT_OK(mst_iterator_create(d, 0, &it));
        EXPECT_OK(mst_iterator_next(it, &batch));
        EXPECT_ERROR(mst_batch_copy(batch, 0, 0, 20, ids), MST_INVALID,
                     forward ? "a-01': line at byte 44: 17 is refused" : "a-01': line 8: 17 is refused");
        mst_iterator_destroy(it);
        mst_dataset_release(d);
    }
}

static void damaged_gzip_ends_the_pass_with_its_file(void **state) {
    (void)state;
    static const int64_t one = 40;
    write_files(1, &one, true);
    blob cut = {0};
    FILE *file = fopen(folder_path("a-00"), "rb");
    uint8_t bytes[40];
    assert_int_equal(fread(bytes, 1, sizeof bytes, file), sizeof bytes);
    fclose(file);
    blob_add(&cut, bytes, sizeof bytes);
    folder_write("a-00", cut.data, cut.size);
    blob_free(&cut);
    mst_dataset *d = open_lines(NULL);
    mst_iterator *it;
    const mst_batch *batch;
    mst_status status;
    EXPECT_OK(mst_iterator_create(d, 0, &it));
    while (!(status = mst_iterator_next(it, &batch)) && batch) continue;
    assert_int_equal(status, MST_CORRUPT);
    assert_non_null(strstr(mst_error()->message, "a-00': the compressed data is cut off"));
    mst_iterator_destroy(it);
    mst_dataset_release(d);
}

static void files_that_cannot_be_read_are_named(void **state) {
    (void)state;
    mst_dataset *d;
    const char *nothing = folder_path("b-*"), *absent = folder_path("b"), *folder = folder_path("");
    EXPECT_ERROR(mst_dataset_from_lines(&nothing, 1, NULL, &d), MST_NOT_FOUND, "no file matches");
    EXPECT_ERROR(mst_dataset_from_lines(&absent, 1, NULL, &d), MST_NOT_FOUND, "no such file");
    EXPECT_ERROR(mst_dataset_from_lines(&folder, 1, NULL, &d), MST_INVALID, "is a folder");
    EXPECT_ERROR(mst_dataset_from_lines(&folder, 0, NULL, &d), MST_INVALID, "from_lines: 0 paths");
    EXPECT_ERROR(mst_dataset_from_lines(&folder, 1, &(mst_lines_options){.cycle = -1}, &d), MST_INVALID,
                 "from_lines: cycle is -1");
    assert_null(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(lines_come_file_by_file),
        TEST_IN_FOLDER(forward_reading_gives_what_the_index_gives),
        TEST_IN_FOLDER(every_line_comes_once_over_epochs_shards_and_restarts),
        TEST_IN_FOLDER(restored_or_skipped_to_it_gives_what_would_have_followed),
        TEST_IN_FOLDER(failing_map_names_file_and_line),
        TEST_IN_FOLDER(damaged_gzip_ends_the_pass_with_its_file),
        TEST_IN_FOLDER(files_that_cannot_be_read_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
