/* Text files read line by line, plain and gzip: line ends, long lines, and damaged files. */
#include "format/lines.h"

#include "support/archive.h"
#include "support/folder.h"
#include "support/test.h"

/* The lines of TEXT, joined with '|'. */
static const char *joined(const void *data, size_t size) {
    static char text[1000];
    mst_lines_reader *reader;
    mst_record line;
    size_t used = 0;
    EXPECT_OK(mst_lines_reader_parse("text", data, size, &reader));
    for (;;) {
        EXPECT_OK(mst_lines_reader_next(reader, &line));
        if (!line.data) break;
        memcpy(text + used, line.data, line.size);
        used += line.size;
        text[used++] = '|';
    }
    mst_lines_reader_close(reader);
    text[used] = '\0';
    return text;
}

static void lines_end_with_lf_or_crlf_or_the_file(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"", ""},        {"a", "a|"},         {"a\n", "a|"},      {"a\r\n", "a|"},          {"a\nb", "a|b|"},
        {"\n", "|"},     {"\n\n", "||"},      {"a\n\n", "a||"},   {"\r\n\r\n", "||"},       {"a\rb\n", "a\rb|"},
        {"a\r", "a\r|"}, {"a\r\r\n", "a\r|"}, {"a\n\r", "a|\r|"}, {"\na\r\n\nb", "|a||b|"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        blob packed = {0};
        assert_string_equal(joined(cases[i][0], strlen(cases[i][0])), cases[i][1]);
        blob_gzip(&packed, cases[i][0], strlen(cases[i][0]));
        assert_string_equal(joined(packed.data, packed.size), cases[i][1]);
        blob_free(&packed);
    }
    assert_memory_equal(joined("a\0b\n", 4), "a\0b|", 5);
}

/* Line i has size_of(i) bytes: some are longer than what is read at once. */
static size_t size_of(int64_t i) {
    return (size_t)(i * i * 7 % 997 + (i % 50 == 49 ? 400000 : 0));
}

enum { LINES = 200 };

static void make_text(blob *text) {
    char *line = malloc(500000);
    for (int64_t i = 0; i < LINES; i++) {
        memset(line, 'a' + (int)(i % 26), size_of(i));
        blob_add(text, line, size_of(i));
        blob_add(text, "\r\n", i % 3 ? 2 : 0);
        blob_add(text, "\n", i % 3 ? 0 : 1);
    }
    free(line);
}

static void expect_line(const mst_record *line, int64_t i) {
    assert_non_null(line->data);
    assert_int_equal(line->size, size_of(i));
    for (size_t at = 0; at < line->size; at++)
        if (((const char *)line->data)[at] != 'a' + (int)(i % 26)) fail_msg("line %d, byte %zu", (int)i, at);
}

static void lines_of_any_length_are_read_plain_and_compressed(void **state) {
    (void)state;
    blob text = {0}, packed = {0};
    make_text(&text);
    blob_gzip(&packed, text.data, text.size);
    for (int compressed = 0; compressed < 2; compressed++) {
        const blob *b = compressed ? &packed : &text;
        const char *path = folder_write("a.txt", b->data, b->size);
        mst_lines_reader *reader;
        mst_record line;
        uint64_t offset = 0;
        EXPECT_OK(mst_lines_reader_open(path, &reader));
        assert_int_equal(mst_lines_reader_is_compressed(reader), compressed);
        for (int64_t i = 0; i < LINES; i++) {
            EXPECT_OK(mst_lines_reader_next(reader, &line));
            expect_line(&line, i);
            assert_int_equal(line.offset, offset);
            offset += size_of(i) + (i % 3 ? 2 : 1);
        }
        for (int again = 0; again < 2; again++) {
            EXPECT_OK(mst_lines_reader_next(reader, &line));
            assert_null(line.data);
        }
        mst_lines_reader_close(reader);
    }
    blob_free(&text);
    blob_free(&packed);
}

static void index_has_the_place_of_each_line(void **state) {
    (void)state;
    mst_record_index index;
    const char *path = folder_write("a.txt", "one\r\n\ntwo", 9);
    EXPECT_OK(mst_lines_index_open(path, &index));
    static const uint64_t expected[3][2] = {{0, 3}, {5, 0}, {6, 3}};
    assert_int_equal(index.count, 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(index.place[i].offset, expected[i][0]);
        assert_int_equal(index.place[i].size, expected[i][1]);
    }
    mst_record_index_close(&index);
    EXPECT_ERROR(mst_lines_index_open(folder_path("b.txt"), &index), MST_NOT_FOUND, "b.txt': no such file");
    mst_record_index_close(&index);
}

/* What can be decompressed comes first, then the error, as often as one asks. */
static void damaged_gzip_is_named_by_file_and_byte(void **state) {
    (void)state;
    blob text = {0}, packed = {0};
    make_text(&text);
    blob_gzip(&packed, text.data, text.size);
    mst_lines_reader *reader;
    mst_record line;
    mst_status status;
    int count = 0;
    EXPECT_OK(mst_lines_reader_parse("a.txt.gz", packed.data, packed.size * 3 / 4, &reader));
    while (!(status = mst_lines_reader_next(reader, &line)) && line.data) expect_line(&line, count++);
    assert_int_equal(status, MST_CORRUPT);
    assert_true(count > 0 && count < LINES);
    EXPECT_ERROR(mst_lines_reader_next(reader, &line), MST_CORRUPT,
                 "'a.txt.gz': the compressed data is cut off at byte");
    mst_lines_reader_close(reader);
    blob_free(&text);
    blob_free(&packed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_end_with_lf_or_crlf_or_the_file),
        TEST_IN_FOLDER(lines_of_any_length_are_read_plain_and_compressed),
        TEST_IN_FOLDER(index_has_the_place_of_each_line),
        cmocka_unit_test(damaged_gzip_is_named_by_file_and_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
