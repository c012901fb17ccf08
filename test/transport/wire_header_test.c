/* Headers of messages on the wire: they are read back, and wrong ones are refused. */
#include "transport/wire_header.h"

#include "support/test.h"

static const mst_wire_header sample = {.kind = MST_WIRE_DATA,
                                       .from = 3,
                                       .to = 0x01020304,
                                       .instance = 0x1122334455667788,
                                       .key = {.generation = 5, .stream = 6, .run = 7, .hash = 0xfedcba9876543210},
                                       .total = 1000,
                                       .offset = 400};

static void header_is_as_documented(void **state) {
    (void)state;
    static const unsigned char wanted[MST_WIRE_HEADER_SIZE] =
        "MSTR\x03\0\x07\0\x03\0\0\0\x04\x03\x02\x01\x88\x77\x66\x55\x44\x33\x22\x11\x05\0\0\0\x06\0\0\0\x07\0\0\0\0\0\0"
        "\0"
        "\x10\x32\x54\x76\x98\xba\xdc\xfe\xe8\x03\0\0\0\0\0\0\x90\x01\0\0\0\0\0";
    unsigned char header[MST_WIRE_HEADER_SIZE];
    mst_wire_header read;
    mst_wire_header_encode(&sample, header);
    assert_memory_equal(header, wanted, sizeof header);
    assert_null(mst_wire_header_decode(header, sizeof header, 600, &read));
    assert_true(read.kind == sample.kind && read.from == 3 && read.to == sample.to && read.total == 1000);
    assert_true(read.instance == sample.instance && read.offset == 400 && read.key.hash == sample.key.hash);
    assert_true(read.key.generation == 5 && read.key.stream == 6 && read.key.run == 7);
}

/* The header of M with PAYLOAD bytes behind it is refused, and says why with TEXT in it. */
static void refuse(mst_wire_header m, size_t payload, const char *text) {
    unsigned char header[MST_WIRE_HEADER_SIZE];
    mst_wire_header read;
    mst_wire_header_encode(&m, header);
    const char *why = mst_wire_header_decode(header, sizeof header, payload, &read);
    assert_non_null(why);
    assert_non_null(strstr(why, text));
}

static void lengths_that_do_not_fit_are_refused(void **state) {
    (void)state;
    mst_wire_header m = sample, read;
    refuse(m, 601, "lengths");
    refuse(m, 0, "lengths"); /* a part is never empty */
    m.offset = 1001;
    refuse(m, 1, "lengths");
    m = sample;
    m.total = m.offset = UINT64_MAX;
    refuse(m, 1, "lengths");
    m.offset = 0;
    refuse(m, 100, "lengths");
    m = (mst_wire_header){.kind = MST_WIRE_CONTROL, .total = 10};
    refuse(m, 9, "lengths");
    refuse(m, 11, "lengths");
    m.offset = 10;
    refuse(m, 0, "lengths");
    m = (mst_wire_header){.kind = MST_WIRE_DATA};
    unsigned char header[MST_WIRE_HEADER_SIZE];
    mst_wire_header_encode(&m, header);
    assert_null(mst_wire_header_decode(header, sizeof header, 0, &read)); /* a message may be empty */
}

static void what_is_no_message_is_refused(void **state) {
    (void)state;
    unsigned char header[MST_WIRE_HEADER_SIZE];
    mst_wire_header read, m = sample;
    mst_wire_header_encode(&m, header);
    for (size_t size = 0; size < sizeof header; size++)
        assert_non_null(mst_wire_header_decode(header, size, 600, &read));
    header[0] = 'm';
    assert_non_null(strstr(mst_wire_header_decode(header, sizeof header, 600, &read), "no message of Muster"));
    header[0] = 'M';
    header[4] = MST_WIRE_VERSION + 1;
    assert_non_null(strstr(mst_wire_header_decode(header, sizeof header, 600, &read), "version"));
    m.kind = MST_WIRE_KINDS;
    refuse(m, 600, "unknown kind");
    m.kind = 0;
    refuse(m, 600, "unknown kind");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_is_as_documented),
        cmocka_unit_test(lengths_that_do_not_fit_are_refused),
        cmocka_unit_test(what_is_no_message_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
