/* The file of mst_dataset_cache_file, byte by byte: its format, which damage is found, and lines of any length. */
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "data/dataset.h"
#include "format/tfrecord.h"
#include "support/folder.h"
#include "support/pipeline.h"
#include "support/test.h"

static const char *cache_path(void) {
    return folder_path("rows.cache");
}

/* Appends a record of DATA to the *SIZE bytes at FILE. */
static void add_record(uint8_t *file, size_t *size, const void *data, size_t length) {
    uint8_t *place = file + *size;
    memcpy(place + MST_TFRECORD_HEADER, data, length);
    mst_tfrecord_frame(data, length, place, place + MST_TFRECORD_HEADER + length);
    *size += length + MST_TFRECORD_FRAME;
}

/* The file of NUM_ROWS rows of the specs in TEXT, each a record of ROW. */
static void write_file(const char *text, const mst_string *row, int64_t num_rows) {
    uint8_t file[2048];
    const int64_t summary[] = {num_rows, 0};
    char title[128];
    size_t size = 0;
    snprintf(title, sizeof title, "muster cache of rows: %s", text);
    add_record(file, &size, title, strlen(title));
    for (int64_t i = 0; i < num_rows; i++) add_record(file, &size, row[i].data, row[i].length);
    add_record(file, &size, summary, sizeof summary);
    (void)folder_write("rows.cache", file, size);
}

/* The cache has the bytes that write_file writes. */
static void expect_file(const char *text, const mst_string *row, int64_t num_rows) {
    uint8_t bytes[2048], expected[2048];
    FILE *file = fopen(cache_path(), "rb");
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    write_file(text, row, num_rows);
    file = fopen(cache_path(), "rb");
    assert_int_equal(fread(expected, 1, sizeof expected, file), size);
    fclose(file);
    assert_memory_equal(bytes, expected, size);
}

static const mst_spec word_specs[] = {{MST_STRING, {0, {0}}}, {MST_U8, {1, {-1}}}, {MST_STRING, {1, {-1}}}};
#define WORD_SPECS "string[], u8[?], string[?]"

/* Row 5: "5", three times 7, a list of "5" and "". */
static mst_status make_words(const mst_array *in, mst_array *out, void *context) {
    const int64_t row = *(const int64_t *)in[0].data / 10;
    char *text = mst_map_alloc(1);
    (void)context;
    if (!text) return MST_OUT_OF_MEMORY;
    *text = (char)('0' + row);
    *(mst_string *)out[0].data = (mst_string){text, 1};
    out[1].count = out[1].shape.dim[0] = 3;
    out[2].count = out[2].shape.dim[0] = 2;
    if (!(out[1].data = mst_map_alloc(3)) || !(out[2].data = mst_map_alloc(2 * sizeof(mst_string))))
        return MST_OUT_OF_MEMORY;
    memset(out[1].data, 7, 3);
    *(mst_string *)out[2].data = (mst_string){text, 1};
    return MST_OK;
}

static mst_dataset *cached_words(int64_t rows) {
    mst_dataset *d = pipeline_numbers(rows);
    THEN(d, mst_dataset_map(d, make_words, NULL, word_specs, 3, &made));
    THEN(d, mst_dataset_cache_file(d, cache_path(), &made));
    return d;
}

/* Reads all components of all rows. */
static mst_status read_words(mst_dataset *d) {
    mst_iterator *it;
    const mst_batch *batch;
    MST_TRY(mst_iterator_create(d, 0, &it));
    mst_status status = MST_OK;
    while (!status && !(status = mst_iterator_next(it, &batch)) && batch)
        for (int i = 0; i < 3 && !status; i++) {
            mst_tensor *tensor;
            status = mst_batch_tensor(batch, i, &tensor);
            mst_tensor_release(tensor);
        }
    mst_iterator_destroy(it);
    return status;
}

#define LITERAL(text) \
    { (text), sizeof(text) - 1 }
#define LENGTH(n) n "\0\0\0\0\0\0\0"
#define WORDS(digit) LITERAL(LENGTH("\1") digit LENGTH("\3") "\7\7\7" LENGTH("\2") LENGTH("\1") digit LENGTH("\0"))

static void a_file_has_these_bytes(void **state) {
    (void)state;
    const char numbers[][17] = {{[8] = 1}, {10, [8] = 11, [16] = 1}};
    const mst_string even[] = {{numbers[0], 17}, {numbers[1], 17}}, words[] = {WORDS("0"), WORDS("1")};
    mst_dataset *d = pipeline_numbers(2);
    THEN(d, mst_dataset_cache_file(d, cache_path(), &made));
    int64_t rows[2];
    assert_int_equal(pipeline_rows(d, 0, rows, 2, NULL), 2);
    assert_true(rows[0] == 0 && rows[1] == 1);
    mst_dataset_release(d);
    expect_file("i64[2], u8[]", even, 2);
    unlink(cache_path());
    d = cached_words(2);
    EXPECT_OK(read_words(d));
    expect_file(WORD_SPECS, words, 2);
    EXPECT_OK(read_words(d));
    mst_dataset_release(d);
}

/* With check sums that are right. */
static void sizes_that_do_not_add_up_are_damage(void **state) {
    (void)state;
    static const char whole[] = LENGTH("\1") "0" LENGTH("\3") "\7\7\7" LENGTH("\2") LENGTH("\1") "0" LENGTH("\0");
    static const size_t sizes[] = {0, 9, 20, 28, 37}; /* where they are: of strings, and of dimensions */
    static const uint64_t wrong[] = {4, 5, 1000, UINT64_C(1) << 40, INT64_MAX / 16, INT64_MAX, UINT64_MAX};
    char bytes[sizeof whole];
    mst_dataset *d = cached_words(1);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            memcpy(bytes, whole, sizeof whole);
            memcpy(bytes + sizes[i], &wrong[k], sizeof *wrong);
            write_file(WORD_SPECS, &(mst_string){bytes, sizeof whole - 1}, 1);
            EXPECT_ERROR(read_words(d), MST_CORRUPT, "rows.cache': row 0: ");
            assert_non_null(strstr(mst_error()->message, "its parts do not add up: remove the file"));
        }
    for (size_t size = 0; size <= sizeof whole; size++) { /* the last has a byte too many */
        write_file(WORD_SPECS, &(mst_string){whole, size}, 1);
        if (size == sizeof whole - 1)
            EXPECT_OK(read_words(d));
        else
            EXPECT_ERROR(read_words(d), MST_CORRUPT, "its parts do not add up: remove the file");
    }
    mst_dataset_release(d);
}

/* The lengths of records, with check sums that are right. */
static void a_record_that_leaves_the_file_is_damage(void **state) {
    (void)state;
    static const uint64_t wrong[] = {0, 46, 48, 100, 1u << 20, UINT64_C(1) << 40, UINT64_MAX - 15, UINT64_MAX};
    const mst_string words[] = {WORDS("0"), WORDS("1")};
    const size_t first = strlen("muster cache of rows: " WORD_SPECS) + MST_TFRECORD_FRAME;
    mst_dataset *d = cached_words(2);
    for (size_t row = 0; row < 2; row++)
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            uint8_t header[MST_TFRECORD_HEADER], footer[MST_TFRECORD_FOOTER], crc[4];
            write_file(WORD_SPECS, words, 2);
            assert_int_equal(words[0].length, 45);
            mst_tfrecord_frame(&wrong[k], sizeof *wrong, header, footer); /* the check sum of the length */
            memcpy(crc, footer, sizeof crc);
            FILE *file = fopen(cache_path(), "r+b");
            fseek(file, (long)(first + row * (45 + MST_TFRECORD_FRAME)), SEEK_SET);
            fwrite(&wrong[k], sizeof *wrong, 1, file);
            fwrite(crc, sizeof crc, 1, file);
            fclose(file);
            EXPECT_ERROR(read_words(d), MST_CORRUPT, "rows.cache' is damaged at byte");
        }
    mst_dataset_release(d);
}

static void lines_of_any_length_are_kept(void **state) {
    (void)state;
    enum { LINES = 5 };
    static const size_t lengths[LINES] = {0, 3, 20 << 10, 300 << 10, 1}; /* more than what is read at a time, too */
    char *text = malloc(1 << 20);
    size_t size = 0;
    for (int i = 0; i < LINES; i++) {
        for (size_t k = 0; k < lengths[i]; k++) text[size++] = (char)(k % 7 ? 'a' + i : 0);
        text[size++] = '\n';
    }
    const char *const path = folder_write("lines", text, size);
    mst_dataset *d;
    EXPECT_OK(mst_dataset_from_lines(&path, 1, NULL, &d));
    THEN(d, mst_dataset_cache_file(d, cache_path(), &made));
    for (int pass = 0; pass < 3; pass++) {
        mst_iterator *it;
        const mst_batch *batch;
        const char *expected = text;
        if (pass == 2) THEN(d, mst_dataset_batch(d, LINES, false, &made));
        EXPECT_OK(mst_iterator_create(d, pass, &it));
        for (int i = 0; i < LINES; i += (int)mst_batch_size(batch)) {
            mst_string line[LINES];
            EXPECT_OK(mst_iterator_next(it, &batch));
            EXPECT_OK(mst_batch_copy(batch, 0, 0, mst_batch_size(batch), line));
            for (int64_t k = 0; k < mst_batch_size(batch); k++) {
                assert_true(mst_string_equal(line[k], (mst_string){expected, lengths[i + k]}));
                expected += lengths[i + k] + 1;
            }
        }
        mst_iterator_destroy(it);
    }
    free(text);
    mst_dataset_release(d);
}

/* To wait for the disk takes most of the time of these tests. */
static int without_sync(mst_file_call call, size_t *size) {
    (void)size;
    return call == MST_FILE_SYNC ? -1 : 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(a_file_has_these_bytes),
        TEST_IN_FOLDER(sizes_that_do_not_add_up_are_damage),
        TEST_IN_FOLDER(a_record_that_leaves_the_file_is_damage),
        TEST_IN_FOLDER(lines_of_any_length_are_kept),
    };
    mst_file_replace_fault(without_sync);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
