/* IDX files, plain and gzip: element types, and truncated, changed or contradictory files, which must be errors. */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "format/idx.h"
#include "support/archive.h"
#include "support/expect.h"
#include "support/folder.h"

static const uint32_t images_dim[3] = {50, 7, 11};

enum { IMAGES = 50 * 7 * 11, CHUNK = 256 * 1024 };

static void check_images(const mst_tensor *tensor) {
    mst_shape shape = mst_tensor_shape(tensor);
    const uint8_t *data = mst_tensor_data(tensor);
    assert_int_equal(mst_tensor_dtype(tensor), MST_U8);
    assert_true(mst_shape_equal(shape, MST_SHAPE(50, 7, 11)));
    for (size_t i = 0; i < IMAGES; i++) assert_int_equal(data[i], i * 7 % 251);
}

static void plain_file_is_read_as_stored(void **state) {
    (void)state;
    blob b = {0};
    mst_tensor *tensor;
    blob_idx_u8(&b, 3, images_dim, 7);
    EXPECT_OK(mst_idx_read(folder_write("images", b.data, b.size), &tensor));
    check_images(tensor);
    mst_tensor_release(tensor);
    blob_free(&b);
}

static void gzip_file_is_read_as_stored(void **state) {
    (void)state;
    blob b = {0}, z = {0};
    mst_tensor *tensor;
    blob_idx_u8(&b, 3, images_dim, 7);
    blob_gzip(&z, b.data, b.size);
    EXPECT_OK(mst_idx_read(folder_write("images.gz", z.data, z.size), &tensor));
    check_images(tensor);
    mst_tensor_release(tensor);
    blob_free(&b);
    blob_free(&z);
}

static void concatenated_gzip_members_are_one_file(void **state) {
    (void)state;
    for (size_t cut = 0; cut < 60; cut++) {
        blob b = {0}, z = {0};
        mst_tensor *tensor;
        blob_idx_u8(&b, 3, images_dim, 7);
        blob_gzip(&z, b.data, cut);
        blob_gzip(&z, b.data + cut, 100);
        blob_gzip(&z, b.data + cut + 100, b.size - cut - 100);
        EXPECT_OK(mst_idx_parse("images.gz", z.data, z.size, &tensor));
        check_images(tensor);
        mst_tensor_release(tensor);
        blob_free(&b);
        blob_free(&z);
    }
}

/* A gzip member with one stored block after another, so that its size is known to the byte. */
static void stored_member(blob *z, const uint8_t *data, size_t size) {
    blob whole = {0};
    blob_gzip(&whole, data, size); /* for the trailer */
    blob_add(z, "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
    for (size_t i = 0; i < size || i == 0; i += 65535) {
        size_t n = size - i < 65535 ? size - i : 65535;
        blob_little(z, i + n == size, 1);
        blob_little(z, n, 2);
        blob_little(z, ~n & 0xffff, 2);
        blob_add(z, data + i, n);
    }
    blob_add(z, whole.data + whole.size - 8, 8);
    blob_free(&whole);
}

static void members_may_end_anywhere_around_a_chunk_of_the_reader(void **state) {
    (void)state;
    uint32_t dim = 2 * CHUNK;
    blob b = {0};
    blob_idx_u8(&b, 1, &dim, 13);
    for (int delta = -24; delta <= 24; delta++) {
        blob z = {0};
        mst_tensor *tensor;
        size_t first = (size_t)(CHUNK - 18 - 5 * 5 + delta);
        stored_member(&z, b.data, first);
        stored_member(&z, b.data + first, b.size - first);
        EXPECT_OK(mst_idx_parse("a.gz", z.data, z.size, &tensor));
        assert_memory_equal(mst_tensor_data(tensor), b.data + 8, dim);
        mst_tensor_release(tensor);
        blob_free(&z);
    }
    blob_free(&b);
}

static void other_element_types_come_in_the_order_of_this_machine(void **state) {
    (void)state;
    static const struct {
        int code;
        mst_dtype dtype;
        uint64_t bits[2];
        double value[2];
    } cases[] = {{0x0c, MST_I32, {0x12345678, 0xfffffffe}, {305419896, -2}},
                 {0x0d, MST_F32, {0x3fc00000, 0xc0000000}, {1.5, -2}},
                 {0x0e, MST_F64, {0x3ff8000000000000, 0xc000000000000000}, {1.5, -2}}};
    for (size_t i = 0; i < 3; i++) {
        blob b = {0};
        mst_tensor *tensor;
        uint32_t dim = 2;
        blob_idx(&b, cases[i].code, 1, &dim);
        for (int j = 0; j < 2; j++) blob_big(&b, cases[i].bits[j], (int)mst_dtype_size(cases[i].dtype));
        EXPECT_OK(mst_idx_parse("a", b.data, b.size, &tensor));
        assert_int_equal(mst_tensor_dtype(tensor), cases[i].dtype);
        for (int j = 0; j < 2; j++) assert_true(mst_tensor_get(tensor, j) == cases[i].value[j]);
        mst_tensor_release(tensor);
        blob_free(&b);
    }
}

static void expect(const void *data, size_t size, mst_status code, const char *text) {
    mst_tensor *tensor;
    EXPECT_ERROR(mst_idx_parse("dir/a.idx", data, size, &tensor), code, text);
    assert_null(tensor);
    assert_non_null(strstr(mst_error()->message, "dir/a.idx"));
}

static void every_truncation_is_an_error(void **state) {
    (void)state;
    blob b = {0}, z = {0};
    uint32_t dim[2] = {5, 4};
    blob_idx_u8(&b, 2, dim, 7);
    blob_gzip(&z, b.data, b.size);
    for (size_t i = 0; i < b.size; i++) expect(b.data, i, MST_CORRUPT, i == 0 ? "empty" : "get it again");
    for (size_t i = 2; i < z.size; i++) expect(z.data, i, MST_CORRUPT, "get it again");
    expect(b.data, 10, MST_CORRUPT, "byte 10");
    expect(b.data, 20, MST_CORRUPT, "the header says u8[5, 4], 20 bytes");
    blob_free(&b);
    blob_free(&z);
}

static void truncation_within_gzip_names_the_byte_of_the_decompressed_data(void **state) {
    (void)state;
    blob b = {0}, z = {0};
    uint32_t dim[2] = {5, 4};
    blob_idx_u8(&b, 2, dim, 7);
    blob_gzip(&z, b.data, b.size - 6);
    expect(z.data, z.size, MST_CORRUPT, "truncated at byte 26 of the decompressed data");
    blob_free(&b);
    blob_free(&z);
}

static void trailing_bytes_are_an_error(void **state) {
    (void)state;
    blob b = {0}, z = {0};
    uint32_t dim[2] = {5, 4};
    blob_idx_u8(&b, 2, dim, 7);
    blob_gzip(&z, b.data, b.size);
    blob_add(&z, "xy", 2);
    expect(z.data, z.size, MST_CORRUPT, "the gzip data ends, and other bytes follow");
    blob_free(&z);
    blob_add(&b, "z", 1);
    expect(b.data, b.size, MST_CORRUPT, "1 bytes too many after byte 32");
    blob_gzip(&z, b.data, b.size);
    expect(z.data, z.size, MST_CORRUPT, "follow byte 32 of the decompressed data");
    blob_free(&b);
    blob_free(&z);
}

static void every_changed_byte_of_gzip_is_found_or_harmless(void **state) {
    (void)state;
    blob b = {0}, z = {0};
    uint32_t dim[2] = {50, 40};
    blob_idx_u8(&b, 2, dim, 7);
    blob_gzip(&z, b.data, b.size);
    for (size_t i = 0; i < z.size; i++) {
        mst_tensor *tensor;
        z.data[i] ^= 0x10;
        /* the time, the flags and the system in the header may be anything */
        if (mst_idx_parse("a.gz", z.data, z.size, &tensor) == MST_OK)
            assert_memory_equal(mst_tensor_data(tensor), b.data + 12, b.size - 12);
        else
            assert_int_equal(mst_error()->code, MST_CORRUPT);
        mst_tensor_release(tensor);
        z.data[i] ^= 0x10;
    }
    z.data[z.size - 1] ^= 1; /* the length */
    expect(z.data, z.size, MST_CORRUPT, "check sum or length");
    z.data[z.size - 1] ^= 1;
    z.data[z.size - 8] ^= 1; /* the CRC */
    expect(z.data, z.size, MST_CORRUPT, "check sum or length");
    blob_free(&b);
    blob_free(&z);
}

static void wrong_headers_are_named(void **state) {
    (void)state;
    expect("\x89PNG....", 8, MST_CORRUPT, "begins with 89 50 4e 47");
    expect("\0\0\x07\1\0\0\0\1x", 9, MST_CORRUPT, "type 0x07 at byte 2");
    expect("\0\0\x09\1\0\0\0\1x", 9, MST_UNIMPLEMENTED, "i8");
    expect("\0\0\x0b\1\0\0\0\1xx", 10, MST_UNIMPLEMENTED, "i16");
    expect("\0\0\x08\0x", 5, MST_CORRUPT, "0 dimensions at byte 3");
    expect("\0\0\x08\x09x", 5, MST_CORRUPT, "9 dimensions at byte 3");
    expect("\0\0\x08\2\0\0\0\0\0\0\0\1", 12, MST_CORRUPT, "dimension 0 at byte 4 is 0");
}

static void dimensions_that_overflow_are_an_error_and_take_no_memory(void **state) {
    (void)state;
    static const uint32_t huge[5] = {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff};
    for (int ndim = 1; ndim <= 5; ndim++) {
        blob b = {0}, z = {0};
        blob_idx(&b, 8, ndim, huge);
        blob_little(&b, 1, 8);
        blob_gzip(&z, b.data, b.size);
        expect(b.data, b.size, MST_CORRUPT, ndim > 1 ? "larger than any file" : "truncated");
        expect(z.data, z.size, MST_CORRUPT, ndim > 1 ? "larger than any file" : "truncated");
        blob_free(&b);
        blob_free(&z);
    }
}

static void what_is_not_a_readable_file_is_named(void **state) {
    (void)state;
    mst_tensor *tensor;
    EXPECT_ERROR(mst_idx_read(folder_path("none"), &tensor), MST_NOT_FOUND, "none': no such file");
    EXPECT_ERROR(mst_idx_read(folder_path(""), &tensor), MST_INVALID, "is a folder");
    assert_int_equal(mkfifo(folder_path("pipe"), 0600), 0);
    EXPECT_ERROR(mst_idx_read(folder_path("pipe"), &tensor), MST_INVALID, "not a regular file");
    EXPECT_ERROR(mst_idx_read(folder_write("empty", "", 0), &tensor), MST_CORRUPT, "empty': is empty");
    const char *secret = folder_write("secret", "\0\0\x08\1\0\0\0\1x", 9);
    assert_int_equal(chmod(secret, 0), 0);
    bool root = geteuid() == 0;
    if (root) assert_int_equal(seteuid(65534), 0);
    mst_status status = mst_idx_read(secret, &tensor);
    if (root) assert_int_equal(seteuid(0), 0);
    EXPECT_ERROR(status, MST_IO, "secret': permission denied");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(plain_file_is_read_as_stored),
        TEST_IN_FOLDER(gzip_file_is_read_as_stored),
        cmocka_unit_test(concatenated_gzip_members_are_one_file),
        cmocka_unit_test(members_may_end_anywhere_around_a_chunk_of_the_reader),
        cmocka_unit_test(other_element_types_come_in_the_order_of_this_machine),
        cmocka_unit_test(every_truncation_is_an_error),
        cmocka_unit_test(truncation_within_gzip_names_the_byte_of_the_decompressed_data),
        cmocka_unit_test(trailing_bytes_are_an_error),
        cmocka_unit_test(every_changed_byte_of_gzip_is_found_or_harmless),
        cmocka_unit_test(wrong_headers_are_named),
        cmocka_unit_test(dimensions_that_overflow_are_an_error_and_take_no_memory),
        TEST_IN_FOLDER(what_is_not_a_readable_file_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
