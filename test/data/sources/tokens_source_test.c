/* Tokens in files: their three forms, examples and the tokens after them, and what is wrong in a file. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "support/folder.h"
#include "support/test.h"

/* Row ROW of DATA must be the tokens from FIRST on, with a step of 1. */
static void expect_row(mst_dataset *data, int64_t row, int64_t positions, int64_t first) {
    mst_dataset *batches;
    mst_iterator *iterator;
    const mst_batch *batch = NULL;
    EXPECT_OK(mst_dataset_batch(data, 1, false, &batches));
    EXPECT_OK(mst_iterator_create(batches, 0, &iterator));
    for (int64_t i = 0; i <= row; i++) EXPECT_OK(mst_iterator_next(iterator, &batch));
    assert_non_null(batch);
    for (int component = 0; component < 2; component++) {
        mst_tensor *got;
        EXPECT_OK(mst_batch_tensor(batch, component, &got));
        assert_true(mst_tensor_dtype(got) == MST_I32 && mst_tensor_count(got) == positions);
        for (int64_t i = 0; i < positions; i++) assert_true(mst_tensor_get(got, i) == (double)(first + component + i));
        mst_tensor_release(got);
    }
    mst_iterator_destroy(iterator);
    mst_dataset_release(batches);
}

enum { TOKENS = 11, POSITIONS = 3 };

/* 11 tokens give 3 examples of 3: the last two tokens are left out, but for the one after the last example. */
static void expect_tokens(const char *path, int64_t first, int64_t vocabulary) {
    mst_dataset *data;
    EXPECT_OK(mst_dataset_from_tokens(path, &(mst_tokens_options){.positions = POSITIONS}, &data));
    assert_int_equal(mst_dataset_num_rows(data), 3);
    assert_int_equal(mst_dataset_num_classes(data, 0), vocabulary);
    assert_int_equal(mst_dataset_num_classes(data, 1), vocabulary);
    expect_row(data, 0, POSITIONS, first);
    expect_row(data, 2, POSITIONS, first + 2 * POSITIONS);
    mst_dataset_release(data);
}

static void little(unsigned char *out, int size, uint64_t first) {
    for (int i = 0; i < TOKENS; i++)
        for (int k = 0; k < size; k++) out[i * size + k] = (unsigned char)((first + (uint64_t)i) >> 8 * k);
}

static const char *npy(const char *name, const char *descr, const char *shape, const void *elements, size_t size) {
    unsigned char file[512] = "\x93NUMPY\x01";
    char *text = (char *)file + 10;
    snprintf(text, 110, "{'descr': '%s', 'fortran_order': False, 'shape': (%s,), }", descr, shape);
    memset(text + strlen(text), ' ', 118 - strlen(text));
    text[117] = '\n';
    file[8] = 118;
    memcpy(file + 128, elements, size);
    return folder_write(name, file, 128 + size);
}

static void files_of_integers_and_of_bytes(void **state) {
    unsigned char bytes[8 * TOKENS];
    (void)state;
    expect_tokens(folder_write("t.txt", "abcdefghijk", TOKENS), 'a', 256);
    little(bytes, 2, 65000);
    expect_tokens(folder_write("t.u16", bytes, sizeof(uint16_t) * TOKENS), 65000, 65011);
    expect_tokens(npy("u2.npy", "<u2", "11", bytes, sizeof(uint16_t) * TOKENS), 65000, 65011);
    little(bytes, 4, 100000);
    expect_tokens(folder_write("t.u32", bytes, sizeof(uint32_t) * TOKENS), 100000, 100011);
    expect_tokens(npy("u4.npy", "<u4", "11", bytes, sizeof(uint32_t) * TOKENS), 100000, 100011);
    expect_tokens(npy("i4.npy", "<i4", "11", bytes, sizeof(int32_t) * TOKENS), 100000, 100011);
    little(bytes, 8, 7);
    expect_tokens(npy("i8.npy", "<i8", "11", bytes, sizeof bytes), 7, 18);
}

static void the_vocabulary_may_be_larger(void **state) {
    mst_dataset *data;
    (void)state;
    EXPECT_OK(mst_dataset_from_tokens(folder_write("t.txt", "abcdef", 6),
                                      &(mst_tokens_options){.positions = 5, .vocabulary = 256}, &data));
    assert_int_equal(mst_dataset_num_rows(data), 1);
    assert_int_equal(mst_dataset_num_classes(data, 0), 256);
    assert_string_equal(mst_dataset_class_name(data, 0, 255), "255");
    mst_dataset_release(data);
}

static void expect_refused(const char *path, int64_t positions, mst_status code, const char *why) {
    mst_dataset *data;
    EXPECT_ERROR(mst_dataset_from_tokens(path, &(mst_tokens_options){.positions = positions}, &data), code, why);
    assert_null(data);
}

static void what_is_wrong_is_named(void **state) {
    unsigned char bytes[4 * TOKENS];
    (void)state;
    expect_refused(folder_path("none.u16"), 3, MST_NOT_FOUND, "none.u16': no such file");
    expect_refused(folder_write("empty.u16", "", 0), 3, MST_INVALID, "empty.u16': is empty");
    expect_refused(folder_write("odd.u16", "abc", 3), 1, MST_CORRUPT, "no whole number of tokens of 2 bytes");
    expect_refused(folder_write("few.txt", "abc", 3), 3, MST_INVALID, "has 3 tokens: examples of 3 need at least 4");
    expect_refused(folder_path("few.txt"), -1, MST_INVALID, "positions -1");
    memset(bytes, 0xff, sizeof bytes);
    expect_refused(folder_write("big.u32", bytes, sizeof bytes), 3, MST_INVALID, "token 0 is 4294967295");
    expect_refused(npy("low.npy", "<i4", "11", bytes, sizeof bytes), 3, MST_INVALID, "token 0 is -1");
    expect_refused(npy("short.npy", "<i4", "12", bytes, sizeof bytes), 3, MST_CORRUPT, "its header says 12 elements");
    expect_refused(npy("flat.npy", "<i4", "11, 1", bytes, sizeof bytes), 3, MST_INVALID, "an array of one dimension");
    expect_refused(npy("f4.npy", "<f4", "11", bytes, sizeof bytes), 3, MST_INVALID, "of u1, u2, u4, i4 or i8");
    expect_refused(folder_write("cut.npy", "\x93NUMPY\x01\x00\xff\xff", 10), 3, MST_CORRUPT, "is cut off");
}

/* With a vocabulary that is given the file is not read before: a token that is too large is an error of its row. */
static void a_token_above_the_vocabulary_is_an_error_of_the_row(void **state) {
    mst_dataset *data, *batches;
    mst_iterator *iterator;
    const mst_batch *batch;
    mst_tensor *got;
    (void)state;
    EXPECT_OK(mst_dataset_from_tokens(folder_write("t.txt", "aaaz", 4),
                                      &(mst_tokens_options){.positions = 3, .vocabulary = 'z'}, &data));
    EXPECT_OK(mst_dataset_batch(data, 1, false, &batches));
    EXPECT_OK(mst_iterator_create(batches, 0, &iterator));
    EXPECT_OK(mst_iterator_next(iterator, &batch));
    EXPECT_OK(mst_batch_tensor(batch, 0, &got));
    mst_tensor_release(got);
    EXPECT_ERROR(mst_batch_tensor(batch, 1, &got), MST_INVALID, "t.txt': token 3 is 122, must be 0 to 121");
    mst_iterator_destroy(iterator);
    mst_dataset_release(batches);
    mst_dataset_release(data);
}

static void folders_have_parts(void **state) {
    mst_dataset *data;
    char spec[600];
    (void)state;
    assert_int_equal(mkdir(folder_path("parts"), 0700), 0);
    folder_write("parts/train.txt", "abcdefgh", 8);
    folder_write("parts/val.txt", "efghijkl", 8);
    snprintf(spec, sizeof spec, "tokens:%s", folder_path("parts"));
    EXPECT_OK(mst_dataset_open_with(spec, "test", &(mst_data_options){.sequence_length = 4}, &data));
    expect_row(data, 0, 4, 'e');
    mst_dataset_release(data);
    snprintf(spec, sizeof spec, "tokens:%s", folder_path("parts/train.txt"));
    EXPECT_ERROR(mst_dataset_open_with(spec, "test", &(mst_data_options){.sequence_length = 4}, &data), MST_NOT_FOUND,
                 "a file is the train part");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(files_of_integers_and_of_bytes),
        TEST_IN_FOLDER(the_vocabulary_may_be_larger),
        TEST_IN_FOLDER(what_is_wrong_is_named),
        TEST_IN_FOLDER(a_token_above_the_vocabulary_is_an_error_of_the_row),
        TEST_IN_FOLDER(folders_have_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
