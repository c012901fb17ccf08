/* NumPy's .npz and .npy files: every dtype, order and version is read, and truncated, changed or unsupported files are
 * errors. */

/* cmocka needs these four first */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/npz.h"
#include "support/archive.h"
#include "support/expect.h"
#include "support/folder.h"

/* numpy.savez_compressed(x=numpy.arange(2, dtype='f4'), y=numpy.array([7, 300], dtype='>i4')) by NumPy 2.4.6 */
static const char by_numpy[] =
    "504b03042d000000080000002100f3055321ffffffffffffffff05001400782e6e707901001000880000000000000049000000000000009bec"
    "17ea"
    "1b10c9c850c650ad9e925a9c5ca46ea5a06e9366a2aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91a463a9a3a"
    "0ab5"
    "0a14002e063068b00700504b03042d0000000800000021002e6cc554ffffffffffffffff05001400792e6e7079010010008800000000000000"
    "4c00"
    "0000000000009bec17ea1b10c9c850c650ad9e925a9c5ca46ea5a06e9769a2aea3a09e965f54529498179f5f94920a12774bcc294e058a1767"
    "2416"
    "a402f91a463a9a3a0ab50a14002e060606760606461d00504b01022d032d000000080000002100f30553214900000088000000050000000000"
    "0000"
    "00000000800100000000782e6e7079504b01022d032d0000000800000021002e6cc5544c000000880000000500000000000000000000008001"
    "8000"
    "0000792e6e7079504b0506000000000200020066000000030100000000";

static blob from_hex(const char *hex) {
    blob b = {0};
    for (; *hex; hex += 2) {
        char digits[3] = {hex[0], hex[1], 0};
        blob_little(&b, strtoul(digits, NULL, 16), 1);
    }
    return b;
}

static void archive_of_numpy_is_read(void **state) {
    (void)state;
    blob b = from_hex(by_numpy);
    mst_npz *npz;
    mst_tensor *x, *y;
    EXPECT_OK(mst_npz_open(folder_write("a.npz", b.data, b.size), &npz));
    assert_int_equal(mst_npz_num_arrays(npz), 2);
    assert_string_equal(mst_npz_name(npz, 1), "y");
    assert_true(mst_npz_has(npz, "x"));
    assert_false(mst_npz_has(npz, "x.npy"));
    EXPECT_OK(mst_npz_read(npz, "x", &x));
    EXPECT_OK(mst_npz_read(npz, "y", &y));
    assert_int_equal(mst_tensor_dtype(x), MST_F32);
    assert_int_equal(mst_tensor_dtype(y), MST_I32);
    assert_true(mst_shape_equal(mst_tensor_shape(x), MST_SHAPE(2)));
    assert_true(mst_tensor_get(x, 0) == 0 && mst_tensor_get(x, 1) == 1);
    assert_true(mst_tensor_get(y, 0) == 7 && mst_tensor_get(y, 1) == 300);
    mst_tensor_release(x);
    mst_tensor_release(y);
    mst_npz_close(npz);
    blob_free(&b);
}

/* One archive with one array "a". */
static void make(zip_maker *zip, int version, const char *text, const void *data, size_t size, int method) {
    blob npy = {0};
    *zip = (zip_maker){0};
    blob_npy(&npy, version, text, data, size);
    zip_add(zip, "a.npy", &npy, method);
    zip_end(zip);
    blob_free(&npy);
}

static mst_status read_a(const blob *file, mst_tensor **out) {
    mst_npz *npz;
    *out = NULL;
    MST_TRY(mst_npz_parse("a.npz", file->data, file->size, &npz));
    mst_status status = mst_npz_read(npz, "a", out);
    mst_npz_close(npz);
    return status;
}

static void every_dtype_order_version_and_method_is_read(void **state) {
    (void)state;
    static const struct {
        const char *descr;
        mst_dtype dtype;
        int size;
        uint64_t bits[2];
        double value[2];
    } cases[] = {{"f4", MST_F32, 4, {0x3fc00000, 0xc0000000}, {1.5, -2}},
                 {"f8", MST_F64, 8, {0x3ff8000000000000, 0xc000000000000000}, {1.5, -2}},
                 {"i4", MST_I32, 4, {7, 0xfffffffe}, {7, -2}},
                 {"i8", MST_I64, 8, {7, 0xfffffffffffffffe}, {7, -2}},
                 {"u1", MST_U8, 1, {7, 254}, {7, 254}},
                 {"b1", MST_BOOL, 1, {0, 2}, {0, 1}}};
    for (int i = 0; i < 6 * 2 * 3 * 2; i++) {
        int c = i / 12, big = i / 6 % 2, version = i / 2 % 3 + 1, method = i % 2 * 8;
        zip_maker zip;
        blob data = {0};
        mst_tensor *tensor;
        char text[128];
        for (int j = 0; j < 2; j++) (big ? blob_big : blob_little)(&data, cases[c].bits[j], cases[c].size);
        snprintf(text, sizeof text, "{'descr': '%s%s', 'fortran_order': False, 'shape': (1, 2), }   \n",
                 cases[c].size == 1 ? "|" : (big ? ">" : "<"), cases[c].descr);
        make(&zip, version, text, data.data, data.size, method);
        EXPECT_OK(read_a(&zip.file, &tensor));
        assert_int_equal(mst_tensor_dtype(tensor), cases[c].dtype);
        assert_true(mst_shape_equal(mst_tensor_shape(tensor), MST_SHAPE(1, 2)));
        for (int j = 0; j < 2; j++) assert_true(mst_tensor_get(tensor, j) == cases[c].value[j]);
        mst_tensor_release(tensor);
        zip_free(&zip);
        blob_free(&data);
    }
}

static void expect(const char *text, size_t bytes, mst_status code, const char *message) {
    static const uint8_t zeros[64];
    zip_maker zip;
    mst_tensor *tensor;
    make(&zip, 1, text, zeros, bytes, 0);
    EXPECT_ERROR(read_a(&zip.file, &tensor), code, message);
    assert_null(tensor);
    assert_non_null(strstr(mst_error()->message, "a.npz"));
    zip_free(&zip);
}

static void headers_in_any_style_are_read(void **state) {
    (void)state;
    static const char *const texts[] = {
        "{\"shape\":(2L,),\"fortran_order\":False,\"descr\":\"|u1\"}",
        "{ 'fortran_order' : True , 'descr' : '|u1' , 'shape' : ( 2 , ) , }\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        zip_maker zip;
        mst_tensor *tensor;
        make(&zip, 1, texts[i], "\1\2", 2, 8);
        EXPECT_OK(read_a(&zip.file, &tensor));
        assert_true(mst_shape_equal(mst_tensor_shape(tensor), MST_SHAPE(2)));
        mst_tensor_release(tensor);
        zip_free(&zip);
    }
}

static void scalars_and_empty_arrays_are_read(void **state) {
    (void)state;
    zip_maker zip;
    mst_tensor *tensor;
    make(&zip, 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (), }", "\5", 1, 0);
    EXPECT_OK(read_a(&zip.file, &tensor));
    assert_int_equal(mst_tensor_shape(tensor).ndim, 0);
    assert_true(mst_tensor_get(tensor, 0) == 5);
    mst_tensor_release(tensor);
    zip_free(&zip);
    make(&zip, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3), }", "", 0, 8);
    EXPECT_OK(read_a(&zip.file, &tensor));
    assert_int_equal(mst_tensor_count(tensor), 0);
    mst_tensor_release(tensor);
    zip_free(&zip);
}

static void unsupported_arrays_say_what_to_convert_to(void **state) {
    (void)state;
    static const char *const types[] = {"'<i2'", "'|i1'", "'<u2'",  "'<f2'",         "'<u8'",
                                        "'<c8'", "'|O'",  "'<U12'", "[('x', '<f4')]"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        char text[128];
        snprintf(text, sizeof text, "{'descr': %s, 'fortran_order': False, 'shape': (2,), }", types[i]);
        expect(text, 4, MST_UNIMPLEMENTED, "convert them with numpy's astype");
    }
    expect("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 2), }", 4, MST_UNIMPLEMENTED, "ascontiguousarray");
    expect("{'descr': '|u1', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }", 1, MST_UNIMPLEMENTED,
           "more than 8 dimensions");
}

static void broken_headers_are_named(void **state) {
    (void)state;
    static const char *const texts[] = {"",
                                        "[]",
                                        "{",
                                        "{}",
                                        "{'descr'",
                                        "{'descr': '|u1', 'fortran_order': False}",
                                        "{'descr': '|u1', 'fortran_order': Maybe, 'shape': (2,)}",
                                        "{'descr': '|u1', 'fortran_order': False, 'shape': (2 3)}",
                                        "{'descr': '|u1', 'fortran_order': False, 'shape': (-2,)}",
                                        "{'descr': '|u1', 'fortran_order': False, 'shape': (2",
                                        "{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': (2,)}",
                                        "{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999,)}",
                                        "{'descr': '|u1', 'fortran_order': False, 'shape': (2,) 'x'}",
                                        "{'descr: |u1"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) expect(texts[i], 2, MST_CORRUPT, "NPY header");
    static const char *const sizes[] = {"(3,)", "(1,)", "(4294967296, 4294967296)", "(9223372036854775807, 2)"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char text[160];
        snprintf(text, sizeof text, "{'descr': '|u1', 'fortran_order': False, 'shape': %s, }", sizes[i]);
        expect(text, 2, MST_CORRUPT, "does not take the 2 bytes that are there");
    }
}

/* The directory at the end of the archive says that the array has no bytes. */
static void array_that_is_longer_than_the_directory_says_is_refused(void **state) {
    (void)state;
    const double one = 1;
    zip_maker zip;
    mst_tensor *tensor;
    make(&zip, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", &one, sizeof one, 8);
    for (size_t i = 0; i + 28 < zip.file.size; i++)
        if (memcmp(zip.file.data + i, "PK\1\2", 4) == 0) memset(zip.file.data + i + 24, 0, 4);
    EXPECT_ERROR(read_a(&zip.file, &tensor), MST_CORRUPT, "does not take the 0 bytes that are there");
    zip_free(&zip);
}

/* "a.npy" and "a" are both array a. */
static void two_arrays_of_one_name_are_refused(void **state) {
    static const char *const names[] = {"a.npy", "a", "./a.npy", "././a"};
    (void)state;
    const double one = 1;
    for (int i = 0; i < 4; i++) {
        zip_maker zip = {.num_entries = 0};
        blob npy = {0};
        mst_tensor *tensor;
        blob_npy(&npy, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", &one, sizeof one);
        zip_add(&zip, "a.npy", &npy, 0);
        zip_add(&zip, "b.npy", &npy, 0);
        zip_add(&zip, names[i], &npy, 8);
        zip_end(&zip);
        EXPECT_ERROR(read_a(&zip.file, &tensor), MST_CORRUPT,
                     "'a.npz': the zip archive has two entries of the name 'a");
        zip_free(&zip);
        blob_free(&npy);
    }
}

/* Names for the same bytes: so a small file could be unpacked to any size. */
static void more_than_the_bytes_can_hold_is_refused(void **state) {
    (void)state;
    enum { NAMES = 3000, BYTES = 100000 };
    blob npy = {0};
    zip_maker zip = {.num_entries = 0};
    mst_npz *npz;
    char *zeros = calloc(1, BYTES), name[16];
    blob_npy(&npy, 1, "{'descr': '|u1', 'fortran_order': False, 'shape': (100000,), }", zeros, BYTES);
    zip_add(&zip, "x.npy", &npy, 8);
    blob one = {0};
    blob_add(&one, zip.directory.data, zip.directory.size);
    for (int i = 1; i < NAMES; i++) { /* where the first one is */
        snprintf(name, sizeof name, "%05d", i);
        memcpy(one.data + 46, name, 5);
        blob_add(&zip.directory, one.data, one.size);
        zip.num_entries++;
    }
    zip_end(&zip);
    EXPECT_ERROR(mst_npz_parse("a.npz", zip.file.data, zip.file.size, &npz), MST_CORRUPT,
                 "'a.npz': its entries hold more than");
    assert_null(npz);
    zip_free(&zip);
    blob_free(&npy);
    blob_free(&one);
    free(zeros);
}

static void missing_array_says_which_there_are(void **state) {
    (void)state;
    blob b = from_hex(by_numpy);
    mst_npz *npz;
    mst_tensor *tensor;
    EXPECT_OK(mst_npz_parse("a.npz", b.data, b.size, &npz));
    EXPECT_ERROR(mst_npz_read(npz, "z", &tensor), MST_NOT_FOUND, "has no array 'z': it has x, y");
    mst_npz_close(npz);
    blob_free(&b);
}

static const char plain_header[] = "{'descr': '|u1', 'fortran_order': False, 'shape': (40,), }";

static void every_truncation_and_every_change_is_found_or_harmless(void **state) {
    (void)state;
    uint8_t data[40];
    for (int i = 0; i < 40; i++) data[i] = (uint8_t)(i * 7);
    for (int method = 0; method <= 8; method += 8) {
        zip_maker zip;
        mst_tensor *tensor;
        make(&zip, 1, plain_header, data, sizeof data, method);
        for (size_t i = 0; i < zip.file.size; i++) {
            /* a copy of the exact size, so that reading past it shows */
            blob cut = {0};
            blob_add(&cut, zip.file.data, i);
            EXPECT_ERROR(read_a(&cut, &tensor), MST_CORRUPT, "a.npz");
            blob_free(&cut);
        }
        for (size_t i = 0; i < zip.file.size * 8; i++) {
            zip.file.data[i / 8] ^= (uint8_t)(1 << i % 8);
            if (read_a(&zip.file, &tensor) == MST_OK) assert_memory_equal(mst_tensor_data(tensor), data, sizeof data);
            mst_tensor_release(tensor);
            zip.file.data[i / 8] ^= (uint8_t)(1 << i % 8);
        }
        zip_free(&zip);
    }
}

static void damaged_data_fails_its_check_sum(void **state) {
    (void)state;
    uint8_t data[40] = {0};
    zip_maker zip;
    mst_tensor *tensor;
    make(&zip, 1, plain_header, data, sizeof data, 0);
    zip.file.data[35 + 10 + strlen(plain_header) + 20] ^= 1;
    EXPECT_ERROR(read_a(&zip.file, &tensor), MST_CORRUPT, "'a.npz': entry 'a': the check sum does not match the data");
    zip_free(&zip);
}

static void encrypted_and_otherwise_compressed_entries_are_refused(void **state) {
    (void)state;
    uint8_t data[40] = {0};
    zip_maker zip;
    mst_tensor *tensor;
    make(&zip, 1, plain_header, data, sizeof data, 0);
    size_t directory = zip.file.size - 22 - zip.directory.size;
    zip.file.data[directory + 8] = 1;
    EXPECT_ERROR(read_a(&zip.file, &tensor), MST_UNIMPLEMENTED, "encrypted");
    zip.file.data[directory + 8] = 0;
    zip.file.data[directory + 10] = 14;
    EXPECT_ERROR(read_a(&zip.file, &tensor), MST_UNIMPLEMENTED, "compression method 14");
    zip_free(&zip);
}

static void zip64_records_are_read(void **state) {
    (void)state;
    uint8_t data[40];
    for (int i = 0; i < 40; i++) data[i] = (uint8_t)i;
    zip_maker zip;
    blob file = {0};
    mst_tensor *tensor;
    make(&zip, 1, plain_header, data, sizeof data, 0);
    size_t start = zip.file.size - 22 - zip.directory.size;
    uint64_t size = zip.file.data[start + 24];
    blob_add(&file, zip.file.data, start);
    /* the entry again with its sizes and offset in the extra field */
    blob_add(&file, zip.directory.data, 20);
    blob_little(&file, 0xffffffffffffffff, 8);
    blob_add(&file, zip.directory.data + 28, 2);
    blob_little(&file, 4 + 28, 2);
    blob_add(&file, zip.directory.data + 32, 10);
    blob_little(&file, 0xffffffff, 4);
    blob_add(&file, zip.directory.data + 46, 5);
    blob_little(&file, 0xcafe, 2); /* another extra field first */
    blob_little(&file, 0, 2);
    blob_little(&file, 1, 2);
    blob_little(&file, 24, 2);
    blob_little(&file, size, 8);
    blob_little(&file, size, 8);
    blob_little(&file, 0, 8);
    size_t end64 = file.size;
    blob_little(&file, 0x06064b50, 4);
    blob_little(&file, 44, 8);
    blob_little(&file, 0, 12); /* versions, disks */
    blob_little(&file, 1, 8);
    blob_little(&file, 1, 8);
    blob_little(&file, end64 - start, 8);
    blob_little(&file, start, 8);
    blob_little(&file, 0x07064b50, 4);
    blob_little(&file, 0, 4);
    blob_little(&file, end64, 8);
    blob_little(&file, 1, 4);
    blob_little(&file, 0x06054b50, 4);
    blob_little(&file, 0, 4);
    blob_little(&file, 0xffffffffffffffff, 8);
    blob_little(&file, 0xffffffff, 4);
    blob_little(&file, 0, 2);
    EXPECT_OK(read_a(&file, &tensor));
    assert_memory_equal(mst_tensor_data(tensor), data, sizeof data);
    mst_tensor_release(tensor);
    zip_free(&zip);
    blob_free(&file);
}

static void archive_comments_are_passed_over(void **state) {
    (void)state;
    uint8_t data[40] = {3};
    zip_maker zip;
    mst_tensor *tensor;
    make(&zip, 1, plain_header, data, sizeof data, 8);
    zip.file.data[zip.file.size - 2] = 30;
    blob_add(&zip.file, "PK\5\6 is what the end begins with", 30);
    EXPECT_OK(read_a(&zip.file, &tensor));
    mst_tensor_release(tensor);
    zip_free(&zip);
}

static void what_is_not_an_archive_is_named(void **state) {
    (void)state;
    mst_npz *npz;
    EXPECT_ERROR(mst_npz_open(folder_path("none.npz"), &npz), MST_NOT_FOUND, "none.npz': no such file");
    assert_null(npz);
    EXPECT_ERROR(mst_npz_open(folder_path(""), &npz), MST_INVALID, "is a folder");
    EXPECT_ERROR(mst_npz_open(folder_write("a", "", 0), &npz), MST_CORRUPT, "not a zip archive");
    EXPECT_ERROR(mst_npz_open(folder_write("b", "hello, this is no archive at all", 32), &npz), MST_CORRUPT,
                 "not a zip archive");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(archive_of_numpy_is_read),
        cmocka_unit_test(two_arrays_of_one_name_are_refused),
        cmocka_unit_test(every_dtype_order_version_and_method_is_read),
        cmocka_unit_test(headers_in_any_style_are_read),
        cmocka_unit_test(scalars_and_empty_arrays_are_read),
        cmocka_unit_test(unsupported_arrays_say_what_to_convert_to),
        cmocka_unit_test(broken_headers_are_named),
        cmocka_unit_test(array_that_is_longer_than_the_directory_says_is_refused),
        cmocka_unit_test(more_than_the_bytes_can_hold_is_refused),
        cmocka_unit_test(missing_array_says_which_there_are),
        cmocka_unit_test(every_truncation_and_every_change_is_found_or_harmless),
        cmocka_unit_test(damaged_data_fails_its_check_sum),
        cmocka_unit_test(encrypted_and_otherwise_compressed_entries_are_refused),
        cmocka_unit_test(zip64_records_are_read),
        cmocka_unit_test(archive_comments_are_passed_over),
        TEST_IN_FOLDER(what_is_not_an_archive_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
