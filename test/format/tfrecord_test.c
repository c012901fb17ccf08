/* TFRecord files, plain and compressed. The framing has TensorFlow's bytes. Every truncation and every changed byte is
 * found, is reported with its place, and costs at most one record. The index finds every record, and a file exists only
 * after its commit. */
#include "format/tfrecord.h"

#include "support/archive.h"
#include "support/folder.h"
#include "support/test.h"

static const uint8_t abc[] = {3, 0, 0, 0, 0, 0, 0, 0, 0xb0, 0x99, 0x49, 0xe, 'a', 'b', 'c', 0x6e, 0x57, 0xf1, 0x21};

static size_t size_of(int64_t i) {
    return (size_t)(i * i * 7 % 997 + (i % 50 == 49 ? 400000 : 0));
}

static uint8_t byte_of(int64_t i, size_t at) {
    return (uint8_t)((at * 31 + at / 700 + (size_t)i * 17) % 251);
}

/* Writes COUNT records, whose sizes and bytes follow from their numbers. */
static void write_records(const char *path, mst_tfrecord_compression compression, int64_t count) {
    mst_tfrecord_writer *writer;
    uint8_t *data = malloc(500000);
    EXPECT_OK(mst_tfrecord_writer_open(path, compression, &writer));
    for (int64_t i = 0; i < count; i++) {
        for (size_t at = 0; at < size_of(i); at++) data[at] = byte_of(i, at);
        EXPECT_OK(mst_tfrecord_writer_add(writer, data, size_of(i)));
    }
    EXPECT_OK(mst_tfrecord_writer_commit(writer));
    mst_tfrecord_writer_close(writer);
    free(data);
}

static void expect_record(const mst_record *record, int64_t i) {
    assert_non_null(record->data);
    assert_int_equal(record->size, size_of(i));
    for (size_t at = 0; at < record->size; at++) assert_int_equal(((const uint8_t *)record->data)[at], byte_of(i, at));
}

static void framing_has_the_bytes_of_tensorflow(void **state) {
    (void)state;
    uint8_t header[MST_TFRECORD_HEADER], footer[MST_TFRECORD_FOOTER];
    static const uint8_t zeros[32];
    mst_tfrecord_frame("abc", 3, header, footer);
    assert_memory_equal(header, abc, sizeof header);
    assert_memory_equal(footer, abc + 15, sizeof footer);
    assert_int_equal(mst_masked_crc("123456789", 9), 0xc78ab0e5);
    assert_int_equal(mst_masked_crc("", 0), 0xa282ead8);
    const uint32_t crc = 0x8a9136aa;
    assert_int_equal(mst_masked_crc(zeros, 32), (crc >> 15 | crc << 17) + 0xa282ead8);
}

static void what_is_written_is_read_in_each_compression(void **state) {
    (void)state;
    for (int compression = 0; compression < 3; compression++) {
        mst_tfrecord_reader *reader;
        mst_record record;
        const char *path = folder_path("a.tfrecord");
        write_records(path, (mst_tfrecord_compression)compression, 200);
        EXPECT_OK(mst_tfrecord_reader_open(path, &reader));
        assert_int_equal(mst_tfrecord_reader_compression(reader), compression);
        for (int64_t i = 0; i < 200; i++) {
            EXPECT_OK(mst_tfrecord_reader_next(reader, &record));
            expect_record(&record, i);
        }
        EXPECT_OK(mst_tfrecord_reader_next(reader, &record));
        assert_null(record.data);
        mst_tfrecord_reader_close(reader);
    }
}

static void skipping_passes_over_records_as_reading_does(void **state) {
    (void)state;
    for (int compression = 0; compression < 3; compression++) {
        mst_tfrecord_reader *reader;
        mst_record record;
        int64_t skipped;
        const char *path = folder_path("a.tfrecord");
        write_records(path, (mst_tfrecord_compression)compression, 120);
        EXPECT_OK(mst_tfrecord_reader_open(path, &reader));
        for (int64_t i = 0; i < 120; i += 10) {
            EXPECT_OK(mst_tfrecord_reader_next(reader, &record));
            expect_record(&record, i);
            EXPECT_OK(mst_tfrecord_reader_skip(reader, 9, &skipped));
            assert_int_equal(skipped, 9);
        }
        EXPECT_OK(mst_tfrecord_reader_skip(reader, 5, &skipped));
        assert_int_equal(skipped, 0);
        mst_tfrecord_reader_close(reader);
    }
}

static void concatenated_gzip_files_are_one_file(void **state) {
    (void)state;
    blob z = {0};
    mst_tfrecord_reader *reader;
    mst_record record;
    for (int i = 0; i < 3; i++) blob_gzip(&z, abc, sizeof abc);
    EXPECT_OK(mst_tfrecord_reader_parse("a.gz", z.data, z.size, &reader));
    for (int i = 0; i < 3; i++) {
        EXPECT_OK(mst_tfrecord_reader_next(reader, &record));
        assert_int_equal(record.size, 3);
        assert_memory_equal(record.data, "abc", 3);
        assert_int_equal(record.offset, i * (int)sizeof abc);
    }
    EXPECT_OK(mst_tfrecord_reader_next(reader, &record));
    assert_null(record.data);
    mst_tfrecord_reader_close(reader);
    blob_free(&z);
}

static void plain_file_that_begins_like_gzip_is_plain(void **state) {
    (void)state;
    static const size_t sizes[] = {0x8b1f, 0x9c78, 0x0178};
    for (size_t i = 0; i < 3; i++) {
        uint8_t *data = calloc(1, sizes[i]);
        const char *path = folder_path("a.tfrecord");
        mst_tfrecord_writer *writer;
        mst_tfrecord_reader *reader;
        mst_record record;
        EXPECT_OK(mst_tfrecord_writer_open(path, MST_TFRECORD_PLAIN, &writer));
        EXPECT_OK(mst_tfrecord_writer_add(writer, data, sizes[i]));
        EXPECT_OK(mst_tfrecord_writer_commit(writer));
        mst_tfrecord_writer_close(writer);
        EXPECT_OK(mst_tfrecord_reader_open(path, &reader));
        EXPECT_OK(mst_tfrecord_reader_next(reader, &record));
        assert_int_equal(record.size, sizes[i]);
        mst_tfrecord_reader_close(reader);
        free(data);
    }
}

/* Three records of 3, 0 and 3 bytes. */
static void three(blob *b) {
    uint8_t header[MST_TFRECORD_HEADER], footer[MST_TFRECORD_FOOTER];
    blob_add(b, abc, sizeof abc);
    mst_tfrecord_frame("", 0, header, footer);
    blob_add(b, header, sizeof header);
    blob_add(b, footer, sizeof footer);
    blob_add(b, abc, sizeof abc);
}

/* Reads to the end, and recovers after each error; counts records and errors. */
static void count(const uint8_t *data, size_t size, int *records, int *errors) {
    mst_tfrecord_reader *reader;
    mst_record record;
    *records = *errors = 0;
    EXPECT_OK(mst_tfrecord_reader_parse("dir/a.tfrecord", data, size, &reader));
    for (;;) {
        if (mst_tfrecord_reader_next(reader, &record)) {
            assert_int_equal(mst_error()->code, MST_CORRUPT);
            assert_non_null(strstr(mst_error()->message, "dir/a.tfrecord"));
            assert_non_null(strstr(mst_error()->message, "byte"));
            ++*errors;
            EXPECT_OK(mst_tfrecord_reader_recover(reader));
            continue;
        }
        if (!record.data) break;
        ++*records;
    }
    mst_tfrecord_reader_close(reader);
}

static void every_truncation_is_one_error_but_at_a_record(void **state) {
    (void)state;
    blob b = {0}, z = {0};
    int records, errors;
    three(&b);
    for (size_t size = 0; size <= b.size; size++) {
        const int whole = (size >= 19) + (size >= 35) + (size >= 54);
        count(b.data, size, &records, &errors);
        assert_int_equal(records, whole);
        assert_int_equal(errors, size != 0 && size != 19 && size != 35 && size != 54);
    }
    blob_gzip(&z, b.data, b.size);
    for (size_t size = 2; size < z.size; size++) {
        count(z.data, size, &records, &errors);
        assert_int_equal(errors, 1);
    }
    blob_free(&b);
    blob_free(&z);
}

static void every_changed_byte_is_found_and_costs_one_record(void **state) {
    (void)state;
    blob b = {0};
    int records, errors;
    three(&b);
    for (size_t i = 0; i < b.size; i++) {
        b.data[i] ^= 0x20;
        count(b.data, b.size, &records, &errors);
        assert_int_equal(records, 2);
        assert_int_equal(errors, 1);
        b.data[i] ^= 0x20;
    }
    blob_free(&b);
}

static void damage_is_named_with_its_byte(void **state) {
    (void)state;
    blob b = {0}, z = {0};
    mst_tfrecord_reader *reader;
    mst_record record;
    int64_t skipped;
    three(&b);
    b.data[35 + 13] ^= 1;
    for (int compressed = 0; compressed < 2; compressed++) {
        if (compressed) blob_gzip(&z, b.data, b.size);
        const blob *data = compressed ? &z : &b;
        EXPECT_OK(mst_tfrecord_reader_parse("a.tfrecord", data->data, data->size, &reader));
        EXPECT_OK(mst_tfrecord_reader_skip(reader, 2, &skipped));
        for (int again = 0; again < 2; again++) {
            EXPECT_ERROR(mst_tfrecord_reader_next(reader, &record), MST_CORRUPT, "'a.tfrecord': record at byte 35");
            assert_non_null(strstr(mst_error()->message, "the check sum of its data is wrong"));
            assert_int_equal(compressed, strstr(mst_error()->message, "of the decompressed data") != NULL);
        }
        mst_tfrecord_reader_close(reader);
    }
    b.data[35] ^= 1;
    EXPECT_OK(mst_tfrecord_reader_parse("a.tfrecord", b.data, b.size, &reader));
    EXPECT_OK(mst_tfrecord_reader_skip(reader, 2, &skipped));
    EXPECT_ERROR(mst_tfrecord_reader_next(reader, &record), MST_CORRUPT, "the check sum of its length is wrong");
    mst_tfrecord_reader_close(reader);
    blob_free(&b);
    blob_free(&z);
}

static void records_before_damage_of_the_compressed_data_come_out(void **state) {
    (void)state;
    blob z = {0};
    mst_tfrecord_reader *reader;
    mst_record record;
    blob_gzip(&z, abc, sizeof abc);
    z.data[z.size - 1] ^= 1;
    EXPECT_OK(mst_tfrecord_reader_parse("a.gz", z.data, z.size, &reader));
    EXPECT_OK(mst_tfrecord_reader_next(reader, &record));
    assert_int_equal(record.size, 3);
    EXPECT_ERROR(mst_tfrecord_reader_next(reader, &record), MST_CORRUPT, "gzip check sum or length");
    EXPECT_OK(mst_tfrecord_reader_recover(reader));
    EXPECT_OK(mst_tfrecord_reader_next(reader, &record));
    assert_null(record.data);
    mst_tfrecord_reader_close(reader);
    blob_free(&z);
}

static void false_length_takes_no_memory(void **state) {
    (void)state;
    static const uint64_t claims[] = {1 << 20, (uint64_t)1 << 40, (uint64_t)1 << 62, UINT64_MAX, UINT64_MAX - 15};
    for (size_t i = 0; i < sizeof claims / sizeof *claims; i++) {
        blob b = {0}, z = {0};
        int records, errors;
        blob_little(&b, claims[i], 8);
        blob_little(&b, mst_masked_crc(b.data, 8), 4);
        blob_add(&b, "abc", 3);
        count(b.data, b.size, &records, &errors);
        assert_int_equal(errors, 1);
        blob_gzip(&z, b.data, b.size);
        count(z.data, z.size, &records, &errors);
        assert_int_equal(errors, 1);
        blob_free(&b);
        blob_free(&z);
    }
}

static void index_holds_the_place_of_every_record(void **state) {
    (void)state;
    mst_record_index index;
    mst_tfrecord_reader *reader;
    mst_record record;
    const char *path = folder_path("a.tfrecord");
    write_records(path, MST_TFRECORD_PLAIN, 120);
    EXPECT_OK(mst_tfrecord_index_open(path, false, 0, &index));
    assert_int_equal(index.count, 120);
    EXPECT_OK(mst_tfrecord_reader_open(path, &reader));
    for (int64_t i = 0; i < index.count; i++) {
        EXPECT_OK(mst_tfrecord_reader_next(reader, &record));
        assert_int_equal(index.place[i].offset, record.offset);
        assert_int_equal(index.place[i].size, record.size);
    }
    mst_tfrecord_reader_close(reader);
    mst_record_index_close(&index);
    write_records(path, MST_TFRECORD_GZIP, 3);
    EXPECT_ERROR(mst_tfrecord_index_open(path, false, 0, &index), MST_INVALID, "is compressed");
    mst_record_index_close(&index);
}

static void index_leaves_out_damaged_records_up_to_a_number(void **state) {
    (void)state;
    blob b = {0};
    mst_record_index index;
    for (int i = 0; i < 5; i++) blob_add(&b, abc, sizeof abc);
    b.data[19 + 12] ^= 1;
    b.data[3 * 19] ^= 1;
    const char *path = folder_write("a.tfrecord", b.data, b.size);
    EXPECT_OK(mst_tfrecord_index_open(path, true, 2, &index));
    assert_int_equal(index.count, 3);
    assert_int_equal(index.num_corrupt, 2);
    assert_int_equal(index.place[1].offset, 2 * 19);
    assert_int_equal(index.place[2].offset, 4 * 19);
    mst_record_index_close(&index);
    EXPECT_ERROR(mst_tfrecord_index_open(path, true, 1, &index), MST_CORRUPT, "byte 57");
    mst_record_index_close(&index);
    blob_free(&b);
}

static void file_appears_only_with_the_commit(void **state) {
    (void)state;
    mst_tfrecord_writer *writer;
    mst_tfrecord_reader *reader;
    const char *path = folder_path("a.tfrecord");
    EXPECT_OK(mst_tfrecord_writer_open(path, MST_TFRECORD_PLAIN, &writer));
    EXPECT_OK(mst_tfrecord_writer_add(writer, "abc", 3));
    mst_tfrecord_writer_close(writer);
    EXPECT_ERROR(mst_tfrecord_reader_open(path, &reader), MST_NOT_FOUND, "no such file");
    EXPECT_OK(mst_tfrecord_writer_open(path, MST_TFRECORD_PLAIN, &writer));
    EXPECT_OK(mst_tfrecord_writer_commit(writer));
    EXPECT_ERROR(mst_tfrecord_writer_add(writer, "abc", 3), MST_INVALID, "is committed");
    mst_tfrecord_writer_close(writer);
    EXPECT_OK(mst_tfrecord_reader_open(path, &reader));
    mst_tfrecord_reader_close(reader);
    EXPECT_ERROR(mst_tfrecord_reader_open(folder_path(""), &reader), MST_INVALID, "is a folder");
    EXPECT_ERROR(mst_tfrecord_writer_open(folder_path("no/a"), MST_TFRECORD_PLAIN, &writer), MST_IO, "no/a");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(framing_has_the_bytes_of_tensorflow),
        TEST_IN_FOLDER(what_is_written_is_read_in_each_compression),
        TEST_IN_FOLDER(skipping_passes_over_records_as_reading_does),
        cmocka_unit_test(concatenated_gzip_files_are_one_file),
        TEST_IN_FOLDER(plain_file_that_begins_like_gzip_is_plain),
        cmocka_unit_test(every_truncation_is_one_error_but_at_a_record),
        cmocka_unit_test(every_changed_byte_is_found_and_costs_one_record),
        cmocka_unit_test(damage_is_named_with_its_byte),
        cmocka_unit_test(records_before_damage_of_the_compressed_data_come_out),
        cmocka_unit_test(false_length_takes_no_memory),
        TEST_IN_FOLDER(index_holds_the_place_of_every_record),
        TEST_IN_FOLDER(index_leaves_out_damaged_records_up_to_a_number),
        TEST_IN_FOLDER(file_appears_only_with_the_commit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
