#include <stdio.h>

#include "muster/dataset.h"
#include "support/archive.h"
#include "support/folder.h"
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
        folder_write(name, compress ? packed.data : text.data, compress ? packed.size : text.size);
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

/* The id that a line tells; -1 where it is not what was written. */
static int64_t id_of(const void *data, size_t size) {
    char text[TEXT], expected[TEXT];
    if (size >= TEXT) return -1;
    memcpy(text, data, size);
    text[size] = '\0';
    const int64_t id = atoi(text);
    return line_of(id, expected) == size && memcmp(text, expected, size) == 0 ? id : -1;
}

/* The ids of the next lines of IT, of at most STOP elements; their number. */
static int64_t take_ids(mst_iterator *it, int64_t stop, int64_t *ids) {
    const mst_batch *batch;
    int64_t count = 0;
    for (int64_t n = 0; n < stop; n++) {
        EXPECT_OK(mst_iterator_next(it, &batch));
        if (!batch) break;
        for (int64_t i = 0; i < mst_batch_size(batch); i++) {
            mst_record line;
            EXPECT_OK(mst_batch_record(batch, i, &line));
            assert_true(count < MOST);
            ids[count++] = id_of(line.data, line.size);
        }
    }
    return count;
}

static int64_t ids_of(mst_dataset *dataset, int64_t epoch, int64_t *ids) {
    mst_iterator *it;
    EXPECT_OK(mst_iterator_create(dataset, epoch, &it));
    const int64_t count = take_ids(it, INT64_MAX, ids);
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
        TEST_IN_FOLDER(files_that_cannot_be_read_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
