/* Reading event files: whole, torn and damaged ones. */
#include "format/events.h"

#include "format/tfrecord.h"
#include "support/folder.h"
#include "support/test.h"

/* The first record of every file, at wall time 1700000000. */
static const uint8_t first_payload[] = {0x09, 0x00, 0x00, 0x00, 0x40, 0xfc, 0x54, 0xd9, 0x41, 0x1a, 0x0d, 'b',
                                        'r',  'a',  'i',  'n',  '.',  'E',  'v',  'e',  'n',  't',  ':',  '2'};

static size_t put_record(uint8_t *at, const void *payload, size_t size) {
    memcpy(at + MST_TFRECORD_HEADER, payload, size);
    mst_tfrecord_frame(payload, size, at, at + MST_TFRECORD_HEADER + size);
    return size + MST_TFRECORD_HEADER + MST_TFRECORD_FOOTER;
}

static mst_event_reader *reader_of(const void *data, size_t size) {
    mst_event_reader *reader;
    EXPECT_OK(mst_event_reader_parse("log", data, size, &reader));
    return reader;
}

/* Reading any prefix of a file gives the complete events in it. An incomplete event is not an error: it may still be
 * written. */
static void a_file_may_end_anywhere(void **state) {
    (void)state;
    uint8_t data[128];
    const Muster__Event *event;
    size_t one = put_record(data, first_payload, sizeof first_payload);
    size_t both = one + put_record(data + one, first_payload, sizeof first_payload);
    for (size_t size = 0; size <= both; size++) {
        mst_event_reader *reader = reader_of(data, size);
        size_t count = 0;
        for (;; count++) {
            EXPECT_OK(mst_event_reader_next(reader, &event));
            if (!event) break;
            assert_true(event->wall_time == 1700000000 && event->what_case == MUSTER__EVENT__WHAT_FILE_VERSION);
            assert_string_equal(event->file_version, "brain.Event:2");
        }
        assert_int_equal(count, size / one);
        assert_int_equal(mst_event_reader_is_torn(reader), size % one != 0);
        mst_event_reader_close(reader);
    }
}

static void damage_names_file_and_byte(void **state) {
    (void)state;
    uint8_t data[128];
    const Muster__Event *event;
    size_t one = put_record(data, first_payload, sizeof first_payload);
    size_t both = one + put_record(data + one, first_payload, sizeof first_payload);
    for (size_t i = one; i < both; i++) {
        data[i] ^= 0x10;
        mst_event_reader *reader = reader_of(data, both);
        EXPECT_OK(mst_event_reader_next(reader, &event));
        EXPECT_ERROR(mst_event_reader_next(reader, &event), MST_CORRUPT, "'log': the record at byte 40 is damaged");
        assert_null(event);
        mst_event_reader_close(reader);
        data[i] ^= 0x10;
    }
    both = put_record(data, "\xff\xff\xff", 3);
    mst_event_reader *reader = reader_of(data, both);
    EXPECT_ERROR(mst_event_reader_next(reader, &event), MST_CORRUPT, "it is no event");
    mst_event_reader_close(reader);
}

/* A length beyond the end of the file allocates no memory. */
static void a_length_beyond_the_file_is_its_end(void **state) {
    (void)state;
    uint8_t header[MST_TFRECORD_HEADER];
    const uint64_t length = UINT64_MAX - 8;
    const Muster__Event *event;
    memcpy(header, &length, sizeof length);
    const uint32_t crc = mst_masked_crc(header, sizeof length);
    memcpy(header + sizeof length, &crc, sizeof crc);
    mst_event_reader *reader = reader_of(header, sizeof header);
    EXPECT_OK(mst_event_reader_next(reader, &event));
    assert_true(!event && mst_event_reader_is_torn(reader));
    mst_event_reader_close(reader);
}

static void what_is_no_file_is_an_error(void **state) {
    (void)state;
    mst_event_reader *reader;
    char **files;
    EXPECT_ERROR(mst_event_reader_open(folder_path("none"), &reader), MST_NOT_FOUND, "none");
    assert_null(reader);
    EXPECT_ERROR(mst_event_reader_open(folder_path(""), &reader), MST_INVALID, "is a folder");
    EXPECT_OK(mst_event_files_list(folder_path("none"), &files));
    assert_null(files[0]);
    mst_event_files_free(files);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_may_end_anywhere),
        cmocka_unit_test(damage_names_file_and_byte),
        cmocka_unit_test(a_length_beyond_the_file_is_its_end),
        TEST_IN_FOLDER(what_is_no_file_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
