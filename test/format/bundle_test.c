/* TensorFlow's checkpoints: bytes worked out by hand, writing and reading again, and damaged files. */
#include <stdio.h>
#include <unistd.h>

#include "format/bundle.h"
#include "format/bundle.pb-c.h"
#include "format/checksum.h"
#include "format/leveldb_table.h"
#include "support/folder.h"
#include "support/test.h"

/* global_step = 5, i64, in one data file of eight bytes. */
static const uint8_t worked[] = {
    0x00, 0x00, 0x06, 0x08, 0x01, 0x1a, 0x02, 0x08, 0x01, 0x00, 0x0b, 0x0b, 0x67, 0x6c, 0x6f, 0x62, 0x61, 0x6c, 0x5f,
    0x73, 0x74, 0x65, 0x70, 0x08, 0x09, 0x12, 0x00, 0x28, 0x08, 0x35, 0xea, 0xb2, 0x04, 0x3e, 0x00, 0x00, 0x00, 0x00,
    0x01, 0x00, 0x00, 0x00, 0x00, 0x55, 0x54, 0x87, 0x37, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0xc0,
    0xf2, 0xa1, 0xb0, 0x00, 0x01, 0x02, 0x68, 0x00, 0x2a, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x46,
    0x85, 0x31, 0xf5, 0x2f, 0x08, 0x3c, 0x0e, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb};
static const int64_t five = 5;

static void worked_example_is_read(void **state) {
    (void)state;
    mst_bundle *bundle;
    mst_tensor *step;
    EXPECT_OK(mst_bundle_parse("worked", worked, sizeof worked, &five, sizeof five, &bundle));
    assert_int_equal(mst_bundle_count(bundle), 1);
    assert_int_equal(mst_bundle_find(bundle, "global_step"), 0);
    assert_int_equal(mst_bundle_find(bundle, "global"), -1);
    EXPECT_OK(mst_bundle_read(bundle, 0, &step));
    assert_int_equal(mst_tensor_dtype(step), MST_I64);
    assert_int_equal(mst_tensor_shape(step).ndim, 0);
    assert_true(mst_tensor_get(step, 0) == 5);
    mst_tensor_release(step);
    mst_bundle_close(bundle);
}

static mst_tensor *counting(mst_dtype dtype, mst_shape shape, int first) {
    mst_tensor *tensor;
    EXPECT_OK(mst_tensor_create(dtype, shape, &tensor));
    for (int64_t i = 0; i < mst_tensor_count(tensor); i++) mst_tensor_set(tensor, i, (double)(first + i));
    return tensor;
}

static void worked_example_is_written(void **state) {
    (void)state;
    mst_bundle_writer *writer;
    mst_tensor *step = counting(MST_I64, MST_SCALAR, 5);
    void *index;
    size_t size;
    const char *prefix = folder_path("ckpt");
    EXPECT_OK(mst_bundle_writer_create(prefix, &writer));
    EXPECT_OK(mst_bundle_writer_add(writer, "global_step", step));
    EXPECT_OK(mst_bundle_writer_finish(writer));
    EXPECT_OK(mst_file_read(folder_path("ckpt.index"), 4096, &index, &size));
    /* but for the separator, which may be any key up to the next block's: TensorFlow shortens it to "h" */
    assert_int_equal(size, sizeof worked + 10);
    assert_memory_equal(index, worked, 60);
    free(index);
    EXPECT_ERROR(mst_bundle_writer_create(prefix, &writer), MST_EXISTS, "there is such a checkpoint already");
    assert_null(writer);
    mst_tensor_release(step);
}

enum { MANY = 3000 };

/* Names of many lengths, more than one block of the index. */
static const char *many_name(int i, char name[200]) {
    snprintf(name, 200, "scope%d/%0*d/weights", i % 7, 20 + i % 100, i);
    return name;
}

static void remove_bundle(const char *prefix) {
    mst_folder folder;
    const char *name;
    EXPECT_OK(mst_folder_open_of(prefix, &folder, &name));
    EXPECT_OK(mst_bundle_remove(&folder, name));
    mst_folder_close(&folder);
}

static void what_is_written_is_read(void **state) {
    (void)state;
    static const mst_dtype dtypes[] = {MST_F32, MST_F64, MST_I32, MST_I64, MST_U8, MST_BOOL, MST_BF16};
    char name[200], *text;
    size_t size;
    mst_bundle_writer *writer;
    mst_bundle *bundle;
    const char *prefix = folder_path("ckpt");
    EXPECT_OK(mst_bundle_writer_create(prefix, &writer));
    for (int i = 0; i < MANY; i++) {
        mst_tensor *tensor = counting(dtypes[i % 7], MST_SHAPE(i % 5, 3), i % 50);
        EXPECT_OK(mst_bundle_writer_add(writer, many_name(i, name), tensor));
        mst_tensor_release(tensor);
    }
    EXPECT_OK(mst_bundle_writer_add_string(writer, "text", "hi\0there", 8));
    EXPECT_OK(mst_bundle_writer_finish(writer));
    EXPECT_OK(mst_bundle_open(prefix, &bundle));
    assert_int_equal(mst_bundle_count(bundle), MANY + 1);
    for (int i = 0; i < MANY; i++) {
        mst_tensor *tensor, *wanted = counting(dtypes[i % 7], MST_SHAPE(i % 5, 3), i % 50);
        EXPECT_OK(mst_bundle_read(bundle, mst_bundle_find(bundle, many_name(i, name)), &tensor));
        assert_int_equal(mst_tensor_dtype(tensor), dtypes[i % 7]);
        assert_true(mst_shape_equal(mst_tensor_shape(tensor), mst_tensor_shape(wanted)));
        assert_memory_equal(mst_tensor_data(tensor), mst_tensor_data(wanted), mst_tensor_bytes(wanted));
        mst_tensor_release(tensor);
        mst_tensor_release(wanted);
    }
    EXPECT_OK(mst_bundle_read_string(bundle, mst_bundle_find(bundle, "text"), 0, &text, &size));
    assert_int_equal(size, 8);
    assert_memory_equal(text, "hi\0there", 9);
    free(text);
    EXPECT_ERROR(mst_bundle_read_string(bundle, 0, 0, &text, &size), MST_INVALID, "does not hold strings");
    mst_bundle_close(bundle);
    remove_bundle(prefix);
    assert_int_not_equal(access(folder_path("ckpt.index"), F_OK), 0);
    assert_int_not_equal(access(folder_path("ckpt.data-00000-of-00001"), F_OK), 0);
}

static void string_has_tensorflows_bytes_and_sum(void **state) {
    (void)state;
    static const uint8_t wanted[] = {0x02, 0xd8, 0xd8, 0x10, 0x73, 0x68, 0x69};
    mst_bundle_writer *writer;
    mst_bundle *bundle;
    void *data;
    size_t size;
    EXPECT_OK(mst_bundle_writer_create(folder_path("ckpt"), &writer));
    EXPECT_OK(mst_bundle_writer_add_string(writer, "text", "hi", 2));
    EXPECT_OK(mst_bundle_writer_finish(writer));
    EXPECT_OK(mst_file_read(folder_path("ckpt.data-00000-of-00001"), 4096, &data, &size));
    assert_int_equal(size, sizeof wanted);
    assert_memory_equal(data, wanted, size);
    free(data);
    EXPECT_OK(mst_bundle_open(folder_path("ckpt"), &bundle));
    assert_int_equal(mst_bundle_at(bundle, 0)->crc, 0x154deb09);
    mst_bundle_close(bundle);
}

static void same_name_twice_is_an_error(void **state) {
    (void)state;
    mst_bundle_writer *writer;
    mst_tensor *tensor = counting(MST_F32, MST_SHAPE(2), 0);
    EXPECT_OK(mst_bundle_writer_create(folder_path("ckpt"), &writer));
    EXPECT_OK(mst_bundle_writer_add(writer, "w", tensor));
    EXPECT_OK(mst_bundle_writer_add(writer, "w", tensor));
    EXPECT_ERROR(mst_bundle_writer_finish(writer), MST_EXISTS, "'w'");
    assert_int_not_equal(access(folder_path("ckpt.index"), F_OK), 0);
    mst_tensor_release(tensor);
}

/* ---- damage ---- */

/* Reads all of a bundle; the first error. */
static mst_status read_all(const void *index, size_t index_size, const void *data, size_t data_size) {
    mst_bundle *bundle;
    MST_TRY(mst_bundle_parse("damaged", index, index_size, data, data_size, &bundle));
    mst_status status = MST_OK;
    for (int64_t i = 0; i < mst_bundle_count(bundle) && !status; i++) {
        mst_tensor *tensor;
        status = mst_bundle_read(bundle, i, &tensor);
        mst_tensor_release(tensor);
    }
    mst_bundle_close(bundle);
    return status;
}

static void every_flipped_bit_is_found(void **state) {
    (void)state;
    uint8_t index[sizeof worked], data[8];
    for (size_t bit = 0; bit < 8 * sizeof index; bit++) {
        memcpy(index, worked, sizeof index);
        index[bit / 8] ^= (uint8_t)(1 << bit % 8);
        const size_t byte = bit / 8;
        /* the block without entries and its handle, which nobody reads; a longer form of a number; zeros */
        const bool unused = (byte >= 47 && byte < 60) || byte == 79 || byte == 80 || bit == 8 * 82 + 7;
        const bool padding = byte >= 83 && byte < 119;
        const mst_status status = read_all(index, sizeof index, &five, sizeof five);
        if (unused || padding) continue;
        if (status == MST_OK) fail_msg("bit %zu of the index is flipped, and nobody sees it", bit);
    }
    for (size_t bit = 0; bit < 64; bit++) {
        memcpy(data, &five, sizeof data);
        data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(read_all(worked, sizeof worked, data, sizeof data), MST_CORRUPT);
    }
}

static void file_that_is_cut_off_is_found(void **state) {
    (void)state;
    for (size_t size = 0; size < sizeof worked; size++)
        assert_int_equal(read_all(worked, size, &five, sizeof five), MST_CORRUPT);
    for (size_t size = 0; size < 8; size++)
        EXPECT_ERROR(read_all(worked, sizeof worked, &five, size), MST_CORRUPT, "cut off");
}

/* A table with the entry KEY: VALUE after a header of one shard. */
static mst_table_writer table_of(int32_t num_shards, const char *key, Muster__BundleEntry *entry) {
    mst_table_writer table = {.data = NULL};
    uint8_t bytes[512];
    Muster__BundleHeader header = MUSTER__BUNDLE_HEADER__INIT;
    header.num_shards = num_shards;
    EXPECT_OK(mst_table_add(&table, "", 0, bytes, muster__bundle_header__pack(&header, bytes)));
    if (entry) EXPECT_OK(mst_table_add(&table, key, strlen(key), bytes, muster__bundle_entry__pack(entry, bytes)));
    EXPECT_OK(mst_table_finish(&table));
    return table;
}

static void impossible_numbers_are_named(void **state) {
    (void)state;
    static const struct {
        int64_t offset, size, dim;
        int32_t shard;
        const char *message;
    } cases[] = {{0, 8, 1, 0, NULL},
                 {0, 8, 1, 1, "the place"},
                 {0, 8, 1, -1, "the place"},
                 {-8, 8, 1, 0, "the place"},
                 {0, -8, 1, 0, "the place"},
                 {1, 8, 1, 0, "cut off"},
                 {INT64_MAX, 8, 1, 0, "cut off"},
                 {0, 16, 1, 0, "the number of bytes"},
                 {0, 8, INT64_MAX, 0, "the shape"},
                 {0, 8, -1, 0, "the shape"},
                 {0, INT64_MAX - 7, INT64_MAX / 8, 0, "the shape"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        Muster__TensorShapeProto__Dim dim = MUSTER__TENSOR_SHAPE_PROTO__DIM__INIT, *dims = &dim;
        Muster__TensorShapeProto shape = MUSTER__TENSOR_SHAPE_PROTO__INIT;
        Muster__BundleEntry entry = MUSTER__BUNDLE_ENTRY__INIT;
        dim.size = cases[i].dim;
        shape.n_dim = 1;
        shape.dim = &dims;
        entry.dtype = 9;
        entry.shape = &shape;
        entry.shard_id = cases[i].shard;
        entry.offset = cases[i].offset;
        entry.size = cases[i].size;
        entry.crc32c = mst_crc32c_mask(mst_crc32c(0, &five, sizeof five));
        mst_table_writer table = table_of(1, "w", &entry);
        if (cases[i].message)
            EXPECT_ERROR(read_all(table.data, (size_t)table.size, &five, 8), MST_CORRUPT, cases[i].message);
        else
            EXPECT_OK(read_all(table.data, (size_t)table.size, &five, 8));
        mst_table_writer_free(&table);
    }
    mst_table_writer none = table_of(0, NULL, NULL), many = table_of(3, NULL, NULL);
    EXPECT_ERROR(read_all(none.data, (size_t)none.size, &five, 8), MST_CORRUPT, "0 data files");
    EXPECT_ERROR(read_all(many.data, (size_t)many.size, &five, 8), MST_NOT_FOUND, "one data file");
    mst_table_writer_free(&none);
    mst_table_writer_free(&many);
}

static void compressed_block_says_what_to_do(void **state) {
    (void)state;
    uint8_t index[sizeof worked];
    memcpy(index, worked, sizeof index);
    index[42] = 1; /* the type of the first block, whose sum comes after it */
    const uint32_t sum = mst_crc32c_mask(mst_crc32c(0, index, 43));
    memcpy(index + 43, &sum, 4);
    EXPECT_ERROR(read_all(index, sizeof index, &five, 8), MST_UNIMPLEMENTED, "snappy");
}

static void missing_file_is_named(void **state) {
    (void)state;
    mst_bundle *bundle;
    EXPECT_ERROR(mst_bundle_open(folder_path("none"), &bundle), MST_NOT_FOUND, "none.index");
    folder_write("half.index", worked, sizeof worked);
    EXPECT_ERROR(mst_bundle_open(folder_path("half"), &bundle), MST_NOT_FOUND, "half.data-00000-of-00001");
    assert_null(bundle);
}

static void several_data_files_are_read(void **state) {
    (void)state;
    mst_bundle *bundle;
    mst_tensor *value;
    Muster__BundleEntry entry = MUSTER__BUNDLE_ENTRY__INIT;
    Muster__TensorShapeProto shape = MUSTER__TENSOR_SHAPE_PROTO__INIT;
    entry.dtype = 9;
    entry.shape = &shape;
    entry.shard_id = 2;
    entry.size = 8;
    entry.crc32c = mst_crc32c_mask(mst_crc32c(0, &five, sizeof five));
    mst_table_writer table = table_of(3, "w", &entry);
    folder_write("c.index", table.data, (size_t)table.size);
    folder_write("c.data-00000-of-00003", "", 0);
    folder_write("c.data-00001-of-00003", "x", 1);
    folder_write("c.data-00002-of-00003", &five, 8);
    EXPECT_OK(mst_bundle_open(folder_path("c"), &bundle));
    EXPECT_OK(mst_bundle_read(bundle, 0, &value));
    assert_true(mst_tensor_get(value, 0) == 5);
    mst_tensor_release(value);
    mst_bundle_close(bundle);
    remove_bundle(folder_path("c"));
    assert_int_not_equal(access(folder_path("c.data-00002-of-00003"), F_OK), 0);
    mst_table_writer_free(&table);
}

/* ---- partitioned variables ---- */

enum { PARTITIONED = 100000 };

/* The key of slice I, one element long, of a vector: 0, the name with its end, the number of dimensions, the start and
 * the length; numbers as TensorFlow orders them (lib/strings/ordered_code.h). */
static size_t slice_key(const char *name, int i, char key[32]) {
    const size_t size = strlen(name);
    const uint8_t rest[] = {0, 1, 1, 1, (uint8_t)(0x80 + i), 0x80 + 1};
    key[0] = 0;
    memcpy(key + 1, name, size);
    memcpy(key + 1 + size, rest, sizeof rest);
    return 1 + size + sizeof rest;
}

static void add_entry(mst_table_writer *table, const char *key, size_t size, int64_t count, int64_t offset,
                      const float *data, bool sliced) {
    uint8_t bytes[256];
    Muster__BundleEntry entry = MUSTER__BUNDLE_ENTRY__INIT;
    Muster__TensorShapeProto shape = MUSTER__TENSOR_SHAPE_PROTO__INIT;
    Muster__TensorShapeProto__Dim dim = MUSTER__TENSOR_SHAPE_PROTO__DIM__INIT, *dims = &dim;
    Muster__TensorSlice__Extent extent[2] = {MUSTER__TENSOR_SLICE__EXTENT__INIT, MUSTER__TENSOR_SLICE__EXTENT__INIT};
    Muster__TensorSlice slice[2] = {MUSTER__TENSOR_SLICE__INIT, MUSTER__TENSOR_SLICE__INIT}, *slices[2];
    Muster__TensorSlice__Extent *extents[2];
    dim.size = count;
    shape.n_dim = 1;
    shape.dim = &dims;
    entry.dtype = 1;
    entry.shape = &shape;
    for (int i = 0; i < 2; i++) {
        extent[i].start = i;
        extent[i].has_length_case = MUSTER__TENSOR_SLICE__EXTENT__HAS_LENGTH_LENGTH;
        extent[i].length = 1;
        extents[i] = &extent[i];
        slice[i].n_extent = 1;
        slice[i].extent = &extents[i];
        slices[i] = &slice[i];
    }
    entry.n_slices = sliced ? 2 : 0;
    entry.slices = slices;
    if (!sliced) {
        entry.offset = offset * (int64_t)sizeof *data;
        entry.size = sizeof *data;
        entry.crc32c = mst_crc32c_mask(mst_crc32c(0, data + offset, sizeof *data));
    }
    EXPECT_OK(mst_table_add(table, key, size, bytes, muster__bundle_entry__pack(&entry, bytes)));
}

/* So many that a search of all entries for the slices of each would take many minutes. */
static void slices_of_many_partitioned_variables_are_found(void **state) {
    (void)state;
    mst_bundle *bundle;
    mst_table_writer table = {.data = NULL};
    uint8_t bytes[64];
    char name[16], key[32];
    float *data = malloc(2 * PARTITIONED * sizeof *data);
    Muster__BundleHeader header = MUSTER__BUNDLE_HEADER__INIT;
    header.num_shards = 1;
    for (int i = 0; i < 2 * PARTITIONED; i++) data[i] = (float)i;
    EXPECT_OK(mst_table_add(&table, "", 0, bytes, muster__bundle_header__pack(&header, bytes)));
    for (int i = 0; i < 2 * PARTITIONED; i++) {
        snprintf(name, sizeof name, "v%06d", i / 2);
        add_entry(&table, key, slice_key(name, i % 2, key), 1, i, data, false);
    }
    for (int i = 0; i < PARTITIONED; i++) {
        snprintf(name, sizeof name, "v%06d", i);
        add_entry(&table, name, strlen(name), 2, 0, data, true);
    }
    EXPECT_OK(mst_table_finish(&table));
    EXPECT_OK(mst_bundle_parse("many", table.data, (size_t)table.size, data, 2 * PARTITIONED * sizeof *data, &bundle));
    for (int i = 0; i < PARTITIONED; i++) {
        mst_tensor *value;
        snprintf(name, sizeof name, "v%06d", i);
        const int64_t at = mst_bundle_find(bundle, name);
        assert_true(at >= 0);
        assert_int_equal(mst_bundle_num_slices(bundle, at), 2);
        EXPECT_OK(mst_bundle_read(bundle, at, &value));
        assert_true(mst_tensor_get(value, 0) == 2 * i && mst_tensor_get(value, 1) == 2 * i + 1);
        mst_tensor_release(value);
    }
    mst_bundle_close(bundle);
    mst_table_writer_free(&table);
    free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_example_is_read),
        TEST_IN_FOLDER(worked_example_is_written),
        TEST_IN_FOLDER(what_is_written_is_read),
        TEST_IN_FOLDER(string_has_tensorflows_bytes_and_sum),
        TEST_IN_FOLDER(same_name_twice_is_an_error),
        cmocka_unit_test(every_flipped_bit_is_found),
        cmocka_unit_test(file_that_is_cut_off_is_found),
        cmocka_unit_test(impossible_numbers_are_named),
        cmocka_unit_test(compressed_block_says_what_to_do),
        TEST_IN_FOLDER(missing_file_is_named),
        TEST_IN_FOLDER(several_data_files_are_read),
        cmocka_unit_test(slices_of_many_partitioned_variables_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
