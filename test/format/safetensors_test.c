/* safetensors and NPZ as model files: writing and reading again, and damaged files. */
#include <stdio.h>
#include <unistd.h>

#include "format/npz.h"
#include "format/safetensors.h"
#include "support/folder.h"
#include "support/test.h"

enum { NUM_TENSORS = 7 };
static const mst_dtype dtypes[NUM_TENSORS] = {MST_U8, MST_F32, MST_BOOL, MST_F64, MST_I64, MST_I32, MST_BF16};

static void make(mst_named_tensor tensors[NUM_TENSORS]) {
    static const char *const names[NUM_TENSORS] = {"u8", "layer1/weights", "mask", "f64", "global_step", "i32", "half"};
    for (int i = 0; i < NUM_TENSORS; i++) {
        mst_tensor *tensor;
        EXPECT_OK(mst_tensor_create(dtypes[i], i == 4 ? MST_SCALAR : MST_SHAPE(i, 3), &tensor));
        for (int64_t k = 0; k < mst_tensor_count(tensor); k++) mst_tensor_set(tensor, k, (double)(k + i));
        tensors[i] = (mst_named_tensor){names[i], tensor};
    }
}

static void release(mst_named_tensor tensors[NUM_TENSORS]) {
    for (int i = 0; i < NUM_TENSORS; i++) mst_tensor_release((mst_tensor *)(uintptr_t)tensors[i].tensor);
}

static void expect_same(const mst_tensor *got, const mst_tensor *wanted) {
    assert_int_equal(mst_tensor_dtype(got), mst_tensor_dtype(wanted));
    assert_true(mst_shape_equal(mst_tensor_shape(got), mst_tensor_shape(wanted)));
    assert_memory_equal(mst_tensor_data(got), mst_tensor_data(wanted), mst_tensor_bytes(wanted));
}

static void safetensors_are_read_as_they_were_written(void **state) {
    (void)state;
    mst_named_tensor tensors[NUM_TENSORS];
    mst_safetensors *file;
    make(tensors);
    const char *path = folder_path("x.safetensors");
    EXPECT_OK(mst_safetensors_write(path, tensors, NUM_TENSORS, "{\"a\": 1}"));
    EXPECT_OK(mst_safetensors_open(path, &file));
    assert_int_equal(mst_safetensors_count(file), NUM_TENSORS);
    assert_string_equal(mst_safetensors_metadata(file, "muster"), "{\"a\": 1}");
    assert_null(mst_safetensors_metadata(file, "other"));
    int found = 0;
    for (int i = 0; i < NUM_TENSORS; i++)
        for (int k = 0; k < NUM_TENSORS; k++) {
            mst_tensor *tensor;
            if (strcmp(mst_safetensors_name(file, i), tensors[k].name) != 0) continue;
            EXPECT_OK(mst_safetensors_read(file, i, &tensor));
            expect_same(tensor, tensors[k].tensor);
            mst_tensor_release(tensor);
            found++;
        }
    assert_int_equal(found, NUM_TENSORS);
    mst_safetensors_close(file);
    release(tensors);
}

static void npz_is_read_as_it_was_written(void **state) {
    (void)state;
    mst_named_tensor tensors[NUM_TENSORS];
    mst_npz *npz;
    make(tensors);
    EXPECT_OK(mst_npz_write(folder_path("x.npz"), tensors, NUM_TENSORS - 1));
    EXPECT_OK(mst_npz_open(folder_path("x.npz"), &npz));
    assert_int_equal(mst_npz_num_arrays(npz), NUM_TENSORS - 1);
    for (int i = 0; i < NUM_TENSORS - 1; i++) {
        mst_tensor *tensor;
        assert_string_equal(mst_npz_name(npz, i), tensors[i].name);
        EXPECT_OK(mst_npz_read(npz, tensors[i].name, &tensor));
        expect_same(tensor, tensors[i].tensor);
        mst_tensor_release(tensor);
    }
    mst_npz_close(npz);
    EXPECT_ERROR(mst_npz_write(folder_path("y.npz"), tensors, NUM_TENSORS), MST_UNIMPLEMENTED, "write safetensors");
    assert_int_not_equal(access(folder_path("y.npz"), F_OK), 0);
    release(tensors);
}

/* ---- damage ---- */

/* A file of HEADER and SIZE zero bytes of data. */
static mst_status parse(const char *header, size_t size) {
    char bytes[2048] = {0};
    const uint64_t length = strlen(header);
    mst_safetensors *file;
    memcpy(bytes, &length, sizeof length);
    snprintf(bytes + sizeof length, sizeof bytes - sizeof length, "%s", header);
    MST_TRY(mst_safetensors_parse("x", bytes, sizeof length + length + size, &file));
    mst_status status = MST_OK;
    for (int64_t i = 0; i < mst_safetensors_count(file) && !status; i++) {
        mst_tensor *tensor;
        status = mst_safetensors_read(file, i, &tensor);
        mst_tensor_release(tensor);
    }
    mst_safetensors_close(file);
    return status;
}

#define W(offsets) "{\"w\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":" offsets "}}"

static void impossible_header_is_named(void **state) {
    (void)state;
    static const struct {
        const char *header;
        size_t size;
        mst_status code;
        const char *message;
    } cases[] = {
        {W("[0,8]") "   ", 8, MST_OK, NULL},
        {"{}", 0, MST_OK, NULL},
        {"[]", 0, MST_CORRUPT, "no JSON object"},
        {"{", 0, MST_CORRUPT, "no JSON"},
        {W("[0,8]"), 7, MST_CORRUPT, "8 bytes, 7 are there"},
        {W("[0,8]"), 9, MST_CORRUPT, "8 bytes, 9 are there"},
        {W("[0,9]"), 9, MST_CORRUPT, "the number of bytes of 'w'"},
        {W("[8,0]"), 8, MST_CORRUPT, "the offsets of 'w'"},
        {W("[1,9]"), 9, MST_CORRUPT, "the place of 'w'"},
        {W("[-8,0]"), 8, MST_CORRUPT, "the offsets of 'w'"},
        {W("[0,8.0]"), 8, MST_CORRUPT, "the offsets of 'w'"},
        {W("[0]"), 8, MST_CORRUPT, "the offsets of 'w'"},
        {"{\"w\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904,4],\"data_offsets\":[0,0]}}", 0, MST_CORRUPT,
         "the number of bytes"},
        {"{\"w\":{\"dtype\":\"F32\",\"shape\":[-2],\"data_offsets\":[0,8]}}", 8, MST_CORRUPT, "the shape"},
        {"{\"w\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,2],\"data_offsets\":[0,8]}}", 8, MST_CORRUPT,
         "the shape"},
        {"{\"w\":{\"dtype\":\"X\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8, MST_CORRUPT, "the dtype of 'w'"},
        {"{\"w\":{\"dtype\":\"F16\",\"shape\":[4],\"data_offsets\":[0,8]}}", 8, MST_UNIMPLEMENTED, "dtype F16"},
        {"{\"w\":3}", 0, MST_CORRUPT, "the dtype of 'w'"},
        {"{\"w\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0,8]},"
         "\"v\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0,8]}}",
         8, MST_CORRUPT, "the place"},
        {"{\"w\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[0,8]},"
         "\"w\":{\"dtype\":\"U8\",\"shape\":[8],\"data_offsets\":[8,16]}}",
         16, MST_CORRUPT, "no JSON"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].message)
            EXPECT_ERROR(parse(cases[i].header, cases[i].size), cases[i].code, cases[i].message);
        else
            EXPECT_OK(parse(cases[i].header, cases[i].size));
    }
}

static void size_of_the_header_is_not_trusted(void **state) {
    (void)state;
    static const uint64_t sizes[] = {1, 1u << 20, 100000001, UINT64_MAX, UINT64_MAX - 7};
    mst_safetensors *file;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        assert_int_equal(mst_safetensors_parse("x", &sizes[i], 8, &file), MST_CORRUPT);
    for (size_t size = 0; size < 8; size++)
        EXPECT_ERROR(mst_safetensors_parse("x", sizes, size, &file), MST_CORRUPT, "the size of the header");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(safetensors_are_read_as_they_were_written),
        TEST_IN_FOLDER(npz_is_read_as_it_was_written),
        cmocka_unit_test(impossible_header_is_named),
        cmocka_unit_test(size_of_the_header_is_not_trusted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
