/* Texts as numbers: tokens and their numbers by the rules of Keras' TextVectorization (compared with it in
 * parity/tokens_test.py), other texts by the vocabulary that a schema has, and errors that name the row. */
#include "module/module.h"
#include "muster/data.h"
#include "support/folder.h"
#include "support/test.h"

enum { MOST = 64 };

static mst_dataset *dataset_of(const char *const *text, int64_t n) {
    mst_tensor *component[2];
    mst_dataset *dataset;
    EXPECT_OK(mst_tensor_create(MST_STRING, MST_SHAPE(n), &component[0]));
    EXPECT_OK(mst_tensor_create(MST_F32, MST_SHAPE(n, 2), &component[1]));
    for (int64_t i = 0; i < n; i++) {
        EXPECT_OK(mst_tensor_set_string(component[0], i, mst_string_of(text[i])));
        for (int64_t j = 0; j < 2; j++) mst_tensor_set(component[1], 2 * i + j, (double)(10 * i + j));
    }
    EXPECT_OK(mst_dataset_from_tensors(component, 2, &dataset));
    for (int i = 0; i < 2; i++) mst_tensor_release(component[i]);
    return dataset;
}

/* DATASET is released. */
static mst_dataset *vectorized(mst_dataset *dataset, mst_text_options options) {
    mst_dataset *numbers;
    EXPECT_OK(mst_dataset_vectorize_text(dataset, &options, &numbers));
    mst_dataset_release(dataset);
    return numbers;
}

static void expect_numbers(mst_dataset *dataset, const int32_t *expected, int64_t rows, int64_t length) {
    mst_dataset *batches;
    mst_iterator *it;
    const mst_batch *batch;
    int32_t number[MOST];
    assert_int_equal(mst_dataset_spec(dataset, 0).dtype, MST_I32);
    assert_int_equal(mst_dataset_spec(dataset, 0).shape.dim[0], length);
    EXPECT_OK(mst_dataset_batch(dataset, rows, false, &batches));
    EXPECT_OK(mst_iterator_create(batches, 0, &it));
    EXPECT_OK(mst_iterator_next(it, &batch));
    assert_int_equal(mst_batch_size(batch), rows);
    EXPECT_OK(mst_batch_copy(batch, 0, 0, rows, number));
    assert_memory_equal(number, expected, (size_t)(rows * length) * sizeof *number);
    mst_iterator_destroy(it);
    mst_dataset_release(batches);
}

static void expect_names(const mst_dataset *dataset, const char *const *expected, int64_t n) {
    assert_int_equal(mst_dataset_num_classes(dataset, 0), n);
    for (int64_t i = 0; i < n; i++) assert_string_equal(mst_dataset_class_name(dataset, 0, i), expected[i]);
}

static const char *const cats[] = {"The cat, the CAT!\n", "", "a cat's hat\t— the É"};

static void the_most_frequent_token_is_2_and_of_equals_the_last_comes_first(void **state) {
    (void)state;
    mst_dataset *numbers = vectorized(dataset_of(cats, 3), (mst_text_options){.sequence_length = 6});
    const char *const names[] = {"", "[UNK]", "the", "cat", "—", "É", "hat", "cats", "a"};
    const int32_t expected[] = {2, 3, 2, 3, 0, 0, 0, 0, 0, 0, 0, 0, 8, 7, 6, 4, 2, 5};
    expect_names(numbers, names, 9);
    expect_numbers(numbers, expected, 3, 6);
    mst_dataset_release(numbers);
}

static void the_other_components_stay_beside_them(void **state) {
    (void)state;
    float value[6];
    mst_iterator *it;
    const mst_batch *batch;
    mst_dataset *numbers = mst_data_batch(mst_data_vectorize_text(dataset_of(cats, 3), .max_tokens = 4), 3, false);
    EXPECT_OK(mst_dataset_check(numbers));
    EXPECT_OK(mst_iterator_create(numbers, 0, &it));
    EXPECT_OK(mst_iterator_next(it, &batch));
    EXPECT_OK(mst_batch_copy(batch, 1, 0, 3, value));
    const float expected[] = {0, 1, 10, 11, 20, 21};
    assert_memory_equal(value, expected, sizeof expected);
    mst_iterator_destroy(it);
    mst_dataset_release(numbers);
}

static void tokens_beyond_max_tokens_are_unknown(void **state) {
    (void)state;
    mst_dataset *numbers = vectorized(dataset_of(cats, 3), (mst_text_options){.max_tokens = 3, .sequence_length = 2});
    const char *const names[] = {"", "[UNK]", "the"};
    const int32_t expected[] = {2, 1, 0, 0, 1, 1};
    expect_names(numbers, names, 3);
    expect_numbers(numbers, expected, 3, 2);
    mst_dataset_release(numbers);
}

static void texts_are_padded_and_cut_in_front_where_so_chosen(void **state) {
    (void)state;
    const char *const text[] = {"d c b a", "a"};
    mst_dataset *numbers = vectorized(
        dataset_of(text, 2), (mst_text_options){.sequence_length = 3, .pad_front = true, .truncate_front = true});
    const char *const names[] = {"", "[UNK]", "a", "d", "c", "b"};
    expect_names(numbers, names, 6);
    const int32_t expected[] = {4, 5, 2, 0, 0, 2};
    expect_numbers(numbers, expected, 2, 3);
    mst_dataset_release(numbers);
}

static void characters_and_case_stay_where_so_chosen(void **state) {
    (void)state;
    const char *const text[] = {"Aé A", "é!"};
    const mst_text_options options = {.standardize = MST_TEXT_AS_IT_IS, .split = MST_TEXT_SPLIT_CHARACTER};
    mst_dataset *numbers = vectorized(dataset_of(text, 2), options);
    const char *const names[] = {"", "[UNK]", "é", "A", "!", " "};
    const int32_t expected[] = {3, 2, 5, 3, 2, 4, 0, 0};
    expect_names(numbers, names, 6);
    expect_numbers(numbers, expected, 2, 4);
    mst_dataset_release(numbers);
}

static void other_texts_take_the_vocabulary_of_a_schema(void **state) {
    (void)state;
    const char *const text[] = {"a new CAT", "the"};
    const int32_t expected[] = {0, 8, 1, 3, 0, 0, 0, 2};
    mst_dataset *first = vectorized(dataset_of(cats, 3), (mst_text_options){.sequence_length = 4, .pad_front = true});
    mst_dataset *other = vectorized(dataset_of(text, 2), (mst_text_options){.schema = mst_dataset_schema(first)});
    expect_numbers(other, expected, 2, 4);
    assert_string_equal(mst_dataset_schema(other), mst_dataset_schema(first));
    mst_dataset_release(other);
    mst_dataset_release(first);
}

static void expect_error(mst_dataset *dataset, mst_text_options options, const char *part) {
    mst_dataset *numbers;
    EXPECT_ERROR(mst_dataset_vectorize_text(dataset, &options, &numbers), MST_INVALID, part);
    assert_null(numbers);
}

/* "the" is one token; other characters than those of the vocabulary are unknown. */
static const char tiny[] =
    "{\"model\":{\"type\":\"BPE\",\"unk_token\":\"<unk>\",\"vocab\":{\"t\":1,\"h\":2,\"e\":3,\"he\":4,\"the\":5,\"<unk>"
    "\":6,"
    "\"</s>\":9},\"merges\":[\"h e\",\"t he\"]},\"pre_tokenizer\":{\"type\":\"ByteLevel\",\"add_prefix_space\":false},"
    "\"decoder\":{\"type\":\"ByteLevel\"},\"added_tokens\":[{\"id\":9,\"content\":\"</s>\",\"special\":true}%s]}";

static const char *write_tokenizer(const char *name, const char *more) {
    char text[1024];
    snprintf(text, sizeof text, tiny, more);
    return folder_write_text(name, text);
}

static void a_tokenizer_gives_its_own_ids_and_the_schema_keeps_it(void **state) {
    (void)state;
    const char *const texts[] = {"the", "tehxthe", ""}, *const names[] = {"",    "t",     "h", "e", "he",
                                                                          "the", "<unk>", "",  "",  "</s>"};
    if (!mst_module_is_here("pcre2")) skip();
    const char *path = write_tokenizer("a.json", "");
    mst_dataset *numbers =
        vectorized(dataset_of(texts, 3), (mst_text_options){.tokenizer = path, .sequence_length = 4});
    expect_names(numbers, names, 10);
    expect_numbers(numbers, (const int32_t[]){5, 9, 9, 9, 1, 3, 2, 6, 9, 9, 9, 9}, 3, 4);
    const char *schema = mst_dataset_schema(numbers);
    mst_dataset *same = vectorized(dataset_of(texts, 1), (mst_text_options){.schema = schema, .tokenizer = path});
    expect_numbers(same, (const int32_t[]){5, 9, 9, 9}, 1, 4);
    mst_dataset_release(same);
    EXPECT_OK(remove(path) ? MST_IO : MST_OK);
    same = vectorized(dataset_of(texts + 1, 1), (mst_text_options){.schema = schema, .sequence_length = 9});
    expect_numbers(same, (const int32_t[]){1, 3, 2, 6}, 1, 4);
    mst_dataset_release(same);
    mst_dataset *data = dataset_of(texts, 3);
    const char *other = write_tokenizer("b.json", ",{\"id\":10,\"content\":\"x\"}");
    expect_error(data, (mst_text_options){.schema = schema, .tokenizer = other}, "is not that of the training");
    expect_error(data, (mst_text_options){.max_tokens = 5, .tokenizer = other}, "has as many as it has");
    expect_error(
        data,
        (mst_text_options){.schema = "{\"text\":{\"sequence_length\":4,\"tokenizer\":{\"files\":{\"a\":\"b\"}}}}"},
        "its tokenizer's file 'a' is damaged");
    mst_dataset_release(data);
    mst_dataset_release(numbers);
}

static void texts_of_ids_are_padded_in_front_where_so_chosen(void **state) {
    (void)state;
    const char *const texts[] = {"the", "tehe"};
    if (!mst_module_is_here("pcre2")) skip();
    mst_dataset *numbers =
        vectorized(dataset_of(texts, 2),
                   (mst_text_options){.tokenizer = write_tokenizer("a.json", ",{\"id\":10,\"content\":\"<pad>\"}"),
                                      .sequence_length = 2,
                                      .pad_front = true,
                                      .truncate_front = true});
    expect_numbers(numbers, (const int32_t[]){10, 5, 3, 4}, 2, 2);
    mst_dataset_release(numbers);
}

static void what_is_wrong_is_told_with_the_row(void **state) {
    (void)state;
    const char *const latin1[] = {"fine", "caf\xe9"}, *const overlong[] = {"\xc0\xaf"}, *const cut[] = {"\xe4\xb8"},
                      *const surrogate[] = {"\xed\xa0\x80"}, *const empty[] = {"", " !"};
    mst_dataset *data = dataset_of(latin1, 2);
    expect_error(data, (mst_text_options){0}, "text of row 1: byte 3, 0xe9, is not UTF-8");
    expect_error(data, (mst_text_options){.component = 1}, "component 1 is f32");
    expect_error(data, (mst_text_options){.component = 2}, "component 2, the dataset has 0 to 1");
    expect_error(data, (mst_text_options){.max_tokens = 2}, "max_tokens is 2");
    expect_error(data, (mst_text_options){.sequence_length = -1}, "sequence_length is -1");
    expect_error(data, (mst_text_options){.schema = "{}"}, "it is not of texts");
    expect_error(data, (mst_text_options){.schema = "no"}, "it is no JSON");
    mst_dataset_release(data);
    const char *const *wrong[] = {overlong, cut, surrogate};
    for (int i = 0; i < 3; i++) {
        data = dataset_of(wrong[i], 1);
        expect_error(data, (mst_text_options){0}, "text of row 0: byte 0");
        mst_dataset_release(data);
    }
    data = dataset_of(empty, 2);
    expect_error(data, (mst_text_options){0}, "the texts have no tokens");
    mst_dataset_release(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_most_frequent_token_is_2_and_of_equals_the_last_comes_first),
        cmocka_unit_test(the_other_components_stay_beside_them),
        cmocka_unit_test(tokens_beyond_max_tokens_are_unknown),
        cmocka_unit_test(texts_are_padded_and_cut_in_front_where_so_chosen),
        cmocka_unit_test(characters_and_case_stay_where_so_chosen),
        cmocka_unit_test(other_texts_take_the_vocabulary_of_a_schema),
        TEST_IN_FOLDER(a_tokenizer_gives_its_own_ids_and_the_schema_keeps_it),
        TEST_IN_FOLDER(texts_of_ids_are_padded_in_front_where_so_chosen),
        cmocka_unit_test(what_is_wrong_is_told_with_the_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
