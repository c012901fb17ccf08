/* Byte-level BPE: words, merges by rank, added tokens, text of ids, and files that are refused. Whole vocabularies are
 * compared with Hugging Face's in parity/tokenizer_test.py. */
#include "muster/tokenizer.h"

#include <stdio.h>

#include "module/module.h"
#include "support/folder.h"
#include "support/test.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/pattern.h"

enum { TEXT_SIZE = 16384, FIRST_MERGED = 256 };

/* ---- files ---- */

/* Merges beyond the bytes, whose tokens have the ids from 256 on. "ab" is of a lower rank than "bc". */
static const char *const merges[][2] = {{"h", "e"},  {"\u0120", "t"},     {"\u0120t", "he"}, {"a", "b"},
                                        {"b", "c"},  {"ab", "ab"},        {"abab", "abab"},  {"1", "2"},
                                        {"12", "3"}, {"\u00c3", "\u00a9"}};
enum { NUM_MERGES = sizeof merges / sizeof *merges, END_OF_TEXT = FIRST_MERGED + NUM_MERGES, MASK, LATE };

/* Appends VOCAB as JSON: a token for each byte, those of the merges, and <|endoftext|>. */
static void print_vocab(char *to) {
    strcpy(to, "{");
    for (int i = 0; i < 256; i++) {
        const uint8_t byte = (uint8_t)i;
        char text[MST_BYTE_LEVEL_MOST];
        const size_t n = mst_byte_level_write(&byte, 1, text);
        sprintf(to + strlen(to), "\"%s%.*s\":%d,", byte == '"' || byte == '\\' ? "\\" : "", (int)n, text, i);
    }
    for (int i = 0; i < NUM_MERGES; i++)
        sprintf(to + strlen(to), "\"%s%s\":%d,", merges[i][0], merges[i][1], FIRST_MERGED + i);
    sprintf(to + strlen(to), "\"<|endoftext|>\":%d}", END_OF_TEXT);
}

static void print_merges(char *to, const char *form, const char *between) {
    *to = '\0';
    for (int i = 0; i < NUM_MERGES; i++) {
        if (i) strcat(to, between);
        sprintf(to + strlen(to), form, merges[i][0], merges[i][1]);
    }
}

static const char gpt2[] = "{\"type\":\"ByteLevel\",\"add_prefix_space\":false}";
static const char model_rest[] = "\"type\":\"BPE\",\"dropout\":null,\"continuing_subword_prefix\":\"\"";

/* Writes tokenizer.json: MODEL are members of the model, PRE is the pre-tokenizer, REST are members of the file. */
static const char *write_json(const char *model, const char *pre, const char *rest) {
    static char text[3 * TEXT_SIZE], vocab[TEXT_SIZE], pairs[TEXT_SIZE];
    print_vocab(vocab);
    print_merges(pairs, "\"%s %s\"", ",");
    snprintf(text, sizeof text,
             "{\"version\":\"1.0\",\"truncation\":null,\"normalizer\":null,\"model\":{%s,\"vocab\":%s,\"merges\":[%s]},"
             "\"pre_tokenizer\":%s,\"decoder\":{\"type\":\"ByteLevel\"},%s}",
             model, vocab, pairs, pre, rest);
    return folder_write_text("tokenizer.json", text);
}

static const char added_tokens[] =
    "\"added_tokens\":[{\"id\":266,\"content\":\"<|endoftext|>\",\"special\":true,\"normalized\":false},"
    "{\"id\":267,\"content\":\"<|end\",\"special\":true,\"normalized\":false,\"lstrip\":true,\"rstrip\":true},"
    "{\"id\":268,\"content\":\"[late]\",\"special\":false}]";

static mst_tokenizer *opened(const char *path) {
    mst_tokenizer *tokenizer;
    EXPECT_OK(mst_tokenizer_open(path, &tokenizer));
    return tokenizer;
}

/* ---- checks ---- */

static void expect_ids(const mst_tokenizer *t, const char *text, mst_encode_options options, const int32_t *expected,
                       int64_t n) {
    mst_token_ids ids = {0};
    EXPECT_OK(mst_tokenizer_encode(t, text, strlen(text), &options, &ids));
    assert_int_equal(ids.count, n);
    if (n) assert_memory_equal(ids.id, expected, (size_t)n * sizeof *expected);
    free(ids.id);
}

#define EXPECT_IDS(t, text, options, ...) \
    expect_ids(t, text, options, (const int32_t[]){__VA_ARGS__}, (int64_t)(sizeof((int32_t[]){__VA_ARGS__}) / 4))

static const mst_encode_options as_it_is;

static void expect_text(const mst_tokenizer *t, const int32_t *ids, int64_t n, mst_decode_options options,
                        const char *expected) {
    char *text;
    size_t size;
    EXPECT_OK(mst_tokenizer_decode(t, ids, n, &options, &text, &size));
    assert_int_equal(size, strlen(expected));
    assert_string_equal(text, expected);
    free(text);
}

#define EXPECT_TEXT(t, expected, options, ...) \
    expect_text(t, (const int32_t[]){__VA_ARGS__}, (int64_t)(sizeof((int32_t[]){__VA_ARGS__}) / 4), options, expected)

/* ---- bytes ---- */

static void every_byte_has_a_character_that_is_none_of_white_space(void **state) {
    (void)state;
    uint8_t bytes[256];
    char text[512], back[512];
    size_t n;
    for (int i = 0; i < 256; i++) bytes[i] = (uint8_t)i;
    const size_t size = mst_byte_level_write(bytes, 256, text);
    assert_true(mst_byte_level_read(text, size, back, &n));
    assert_int_equal(n, 256);
    assert_memory_equal(back, bytes, 256);
    assert_int_equal(mst_byte_level_write((const uint8_t *)" \n\xad", 3, text), 6);
    assert_memory_equal(text, "\u0120\u010a\u0143", 6); /* those of GPT-2's vocabulary */
    assert_false(mst_byte_level_read(" ", 1, back, &n));
    assert_false(mst_byte_level_read("\u0144", 2, back, &n));
    assert_false(mst_byte_level_read("\u20ac", 3, back, &n));
}

/* ---- encoding ---- */

static void the_merge_of_the_lowest_rank_is_first_and_of_equals_the_leftmost(void **state) {
    (void)state;
    mst_tokenizer *t = opened(write_json(model_rest, gpt2, added_tokens));
    EXPECT_IDS(t, "the the", as_it_is, 't', 256, 258);
    EXPECT_IDS(t, "abc", as_it_is, 259, 'c');
    EXPECT_IDS(t, "bbc", as_it_is, 'b', 260);
    EXPECT_IDS(t, "ababab", as_it_is, 261, 259);
    EXPECT_IDS(t, "\u00e9", as_it_is, 265);
    expect_ids(t, "", as_it_is, NULL, 0);
    assert_int_equal(mst_tokenizer_num_ids(t), 269);
    assert_string_equal(mst_tokenizer_token(t, 258), "\u0120the");
    assert_int_equal(mst_tokenizer_find(t, "\u0120the"), 258);
    assert_null(mst_tokenizer_token(t, 269));
    assert_null(mst_tokenizer_token(t, -1));
    assert_int_equal(mst_tokenizer_find(t, " the"), -1);
    mst_tokenizer_close(t);
}

static void white_space_before_a_word_leaves_it_one_space(void **state) {
    (void)state;
    mst_tokenizer *t = opened(write_json(model_rest, gpt2, added_tokens));
    EXPECT_IDS(t, "  the", as_it_is, ' ', 258);
    EXPECT_IDS(t, "the \n", as_it_is, 't', 256, ' ', '\n');
    EXPECT_IDS(t, "a12b", as_it_is, 'a', 263, 'b');
    EXPECT_IDS(t, "\u180ethe", as_it_is, 0xe1, 0xa0, 0x8e, 't', 256); /* which is no white space in Unicode */
    mst_tokenizer_close(t);
    t = opened(write_json(model_rest, "{\"type\":\"ByteLevel\",\"add_prefix_space\":true}", added_tokens));
    EXPECT_IDS(t, "the", as_it_is, 258);
    EXPECT_IDS(t, "<|endoftext|>the", as_it_is, END_OF_TEXT, 258);
    mst_tokenizer_close(t);
}

static void patterns_of_a_split_cut_the_text_into_words(void **state) {
    (void)state;
    static const char split[] =
        "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":\"%s\"},"
        "\"behavior\":\"%s\",\"invert\":%s},{\"type\":\"ByteLevel\",\"add_prefix_space\":false,\"use_regex\":false}]}";
    char pre[512];
    snprintf(pre, sizeof pre, split, "\\\\p{N}{1,2}", "Isolated", "false");
    mst_tokenizer *t = opened(write_json(model_rest, pre, added_tokens));
    EXPECT_IDS(t, "ab123ab", as_it_is, 259, 263, '3', 259);
    mst_tokenizer_close(t);
    snprintf(pre, sizeof pre, split, "[ab]+", "Removed", "true");
    t = opened(write_json(model_rest, pre, added_tokens));
    EXPECT_IDS(t, "x ab, abab", as_it_is, 259, 261);
    mst_tokenizer_close(t);
    snprintf(pre, sizeof pre, split, "x*", "Isolated", "false");
    t = opened(write_json(model_rest, pre, added_tokens));
    EXPECT_IDS(t, "abxxab", as_it_is, 'a', 'b', 'x', 'x', 'a', 'b'); /* an empty match cuts too */
    mst_tokenizer_close(t);
}

static void a_word_that_is_a_token_needs_no_merges(void **state) {
    (void)state;
    char model[256];
    snprintf(model, sizeof model, "%s,\"ignore_merges\":%s", model_rest, "true");
    mst_tokenizer *t = opened(write_json(model, gpt2, "\"added_tokens\":[]"));
    EXPECT_IDS(t, "bc", as_it_is, 260);
    EXPECT_IDS(t, "abab", as_it_is, 261);
    mst_tokenizer_close(t);
}

static void the_longest_added_token_is_found_before_words(void **state) {
    (void)state;
    const mst_encode_options plain = {.plain = true};
    mst_tokenizer *t = opened(write_json(model_rest, gpt2, added_tokens));
    EXPECT_IDS(t, "a<|endoftext|>b", as_it_is, 'a', END_OF_TEXT, 'b');
    EXPECT_IDS(t, "a \u00a0<|end \u2003b", as_it_is, 'a', MASK, 'b'); /* which takes the white space on both sides */
    EXPECT_IDS(t, "[late", as_it_is, '[', 'l', 'a', 't', 'e');
    EXPECT_IDS(t, "[late]", plain, LATE);
    EXPECT_IDS(t, "<|end", plain, '<', '|', 'e', 'n', 'd');
    mst_tokenizer_close(t);
}

static void tokens_of_the_template_are_put_around_a_text(void **state) {
    (void)state;
    char rest[2048];
    snprintf(rest, sizeof rest,
             "%s,\"post_processor\":{\"type\":\"Sequence\",\"processors\":[{\"type\":\"ByteLevel\"},{\"type\":"
             "\"TemplateProcessing\",\"single\":[{\"SpecialToken\":{\"id\":\"<|endoftext|>\",\"type_id\":0}},"
             "{\"Sequence\":{\"id\":\"A\",\"type_id\":0}},{\"SpecialToken\":{\"id\":\"<|end\",\"type_id\":0}}],"
             "\"pair\":[],\"special_tokens\":{\"<|endoftext|>\":{\"id\":\"<|endoftext|>\",\"ids\":[266]},"
             "\"<|end\":{\"ids\":[267]}}}]}",
             added_tokens);
    mst_tokenizer *t = opened(write_json(model_rest, gpt2, rest));
    EXPECT_IDS(t, "ab", (mst_encode_options){.add_special = true}, END_OF_TEXT, 259, MASK);
    EXPECT_IDS(t, "ab", as_it_is, 259);
    mst_tokenizer_close(t);
}

/* If a merge looked through the word, this would take hours. */
static void time_of_a_long_word_is_not_its_square(void **state) {
    (void)state;
    enum { SIZE = 1 << 18 };
    char *text = malloc(SIZE);
    mst_token_ids ids = {0};
    mst_tokenizer *t = opened(write_json(model_rest, gpt2, added_tokens));
    for (int i = 0; i < SIZE; i++) text[i] = "ab"[i & 1];
    EXPECT_OK(mst_tokenizer_encode(t, text, SIZE, NULL, &ids));
    assert_int_equal(ids.count, SIZE / 8);
    for (int64_t i = 0; i < ids.count; i++) assert_int_equal(ids.id[i], 262);
    ids.count = 0;
    memset(text, ' ', SIZE - 1); /* the last one goes with the word */
    EXPECT_OK(mst_tokenizer_encode(t, text, SIZE, NULL, &ids));
    assert_int_equal(ids.count, SIZE);
    mst_tokenizer_close(t);
    free(ids.id);
    free(text);
}

static void text_that_is_not_utf8_is_an_error_that_names_the_byte(void **state) {
    (void)state;
    mst_token_ids ids = {0};
    mst_tokenizer *t = opened(write_json(model_rest, gpt2, added_tokens));
    EXPECT_ERROR(mst_tokenizer_encode(t, "ab\xff", 3, NULL, &ids), MST_INVALID,
                 "byte 2 of the text, 0xff, is not UTF-8");
    EXPECT_ERROR(mst_tokenizer_encode(t, "\xed\xa0\x80", 3, NULL, &ids), MST_INVALID, "byte 0 of the text");
    assert_int_equal(ids.count, 0);
    EXPECT_OK(mst_tokenizer_encode(t, "\0", 1, NULL, &ids));
    assert_int_equal(ids.id[0], 0);
    free(ids.id);
    mst_tokenizer_close(t);
}

static void a_byte_without_a_token_is_unknown_or_an_error(void **state) {
    (void)state;
    static const char form[] =
        "{\"model\":{\"type\":\"BPE\",%s\"vocab\":{\"a\":0,\"<unk>\":1},\"merges\":[]},\"pre_tokenizer\":{\"type\":"
        "\"ByteLevel\",\"add_prefix_space\":false},\"decoder\":{\"type\":\"ByteLevel\"}}";
    char text[512];
    mst_token_ids ids = {0};
    snprintf(text, sizeof text, form, "");
    mst_tokenizer *t = opened(folder_write_text("none.json", text));
    EXPECT_ERROR(mst_tokenizer_encode(t, "ab", 2, NULL, &ids), MST_INVALID, "has no token for the byte 0x62");
    assert_int_equal(ids.count, 0);
    mst_tokenizer_close(t);
    free(ids.id);
    snprintf(text, sizeof text, form, "\"unk_token\":\"<unk>\",");
    t = opened(folder_write_text("unknown.json", text));
    EXPECT_IDS(t, "abba", as_it_is, 0, 1, 1, 0);
    assert_int_equal(mst_tokenizer_special(t, MST_SPECIAL_UNKNOWN), 1);
    mst_tokenizer_close(t);
}

/* ---- decoding ---- */

static void ids_become_text_without_special_tokens(void **state) {
    (void)state;
    char *text;
    size_t size;
    const mst_decode_options plain = {0}, all = {.keep_special = true}, raw = {.raw_bytes = true};
    mst_tokenizer *t = opened(write_json(model_rest, gpt2, added_tokens));
    EXPECT_TEXT(t, "a the[late]", plain, 'a', 258, END_OF_TEXT, LATE);
    EXPECT_TEXT(t, "a<|endoftext|>", all, 'a', END_OF_TEXT);
    EXPECT_TEXT(t,
                "\u00e9\xef\xbf\xbd"
                "a\xef\xbf\xbd",
                plain, 0xc3, 0xa9, 0xe2, 0x82, 'a', 0xf0);
    EXPECT_TEXT(t, "\xe2\x82", raw, 0xe2, 0x82);
    EXPECT_TEXT(t, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", plain, 0xed, 0xa0, 0x80); /* each: half of a UTF-16 pair */
    const int32_t wrong[] = {'a', 269};
    EXPECT_ERROR(mst_tokenizer_decode(t, wrong, 2, NULL, &text, &size), MST_INVALID, "no token of id 269");
    assert_null(text);
    EXPECT_OK(mst_tokenizer_decode(t, NULL, 0, NULL, &text, &size));
    assert_string_equal(text, "");
    free(text);
    mst_tokenizer_close(t);
}

/* ---- vocab.json, folders ---- */

static void vocab_with_merges_is_gpt2s(void **state) {
    (void)state;
    static char text[TEXT_SIZE], lines[TEXT_SIZE];
    print_vocab(text);
    strcpy(lines, "#version: 0.2\n");
    print_merges(lines + strlen(lines), "%s %s", "\r\n");
    folder_write_text("vocab.json", text);
    folder_write_text("merges.txt", lines);
    for (int i = 0; i < 2; i++) {
        mst_tokenizer *t = opened(folder_path(i ? "vocab.json" : ""));
        EXPECT_IDS(t, "the the<|endoftext|>", as_it_is, 't', 256, 258, END_OF_TEXT);
        assert_int_equal(mst_tokenizer_special(t, MST_SPECIAL_BEGIN), END_OF_TEXT);
        assert_int_equal(mst_tokenizer_special(t, MST_SPECIAL_END), END_OF_TEXT);
        assert_int_equal(mst_tokenizer_special(t, MST_SPECIAL_PADDING), -1);
        mst_tokenizer_close(t);
    }
    mst_tokenizer *t;
    folder_write_text("merges.txt", "#version: 0.2\nh e\nh x\n");
    EXPECT_ERROR(mst_tokenizer_open(folder_path(""), &t), MST_CORRUPT, "merges.txt: line 3: the vocabulary lacks 'hx'");
    folder_write_text("merges.txt", "h e e\n");
    EXPECT_ERROR(mst_tokenizer_open(folder_path(""), &t), MST_CORRUPT, "merges.txt: line 1 is no pair of tokens");
    assert_null(t);
}

static void the_configuration_of_a_folder_names_special_tokens(void **state) {
    (void)state;
    mst_tokenizer *t;
    write_json(model_rest, gpt2, added_tokens);
    folder_write_text("tokenizer_config.json",
                      "{\"bos_token\":{\"content\":\"<|end\"},\"eos_token\":null,\"pad_token\":\"a\"}");
    t = opened(folder_path(""));
    assert_int_equal(mst_tokenizer_special(t, MST_SPECIAL_BEGIN), MASK);
    assert_int_equal(mst_tokenizer_special(t, MST_SPECIAL_END), -1);
    assert_int_equal(mst_tokenizer_special(t, MST_SPECIAL_PADDING), 'a');
    mst_tokenizer_close(t);
    folder_write_text("tokenizer_config.json", "{\"bos_token\":\"<s>\"}");
    EXPECT_ERROR(mst_tokenizer_open(folder_path(""), &t), MST_CORRUPT, "bos_token '<s>' is not in the vocabulary");
}

/* ---- errors ---- */

static void what_is_not_taken_is_an_error_that_names_the_part(void **state) {
    (void)state;
    static const struct {
        const char *model, *pre, *rest, *message;
    } cases[] = {
        {"\"type\":\"Unigram\"", gpt2, "\"padding\":null", "model.type is \"Unigram\""},
        {"\"dropout\":0.1", gpt2, "\"padding\":null", "model.dropout is 0.1"},
        {"\"byte_fallback\":true", gpt2, "\"padding\":null", "model.byte_fallback is true"},
        {"\"end_of_word_suffix\":\"</w>\"", gpt2, "\"padding\":null", "model.end_of_word_suffix is \"</w>\""},
        {"\"new_option\":1", gpt2, "\"padding\":null", "model.new_option is 1"},
        {"\"unk_token\":\"nowhere\"", gpt2, "\"padding\":null", "model.unk_token is \"nowhere\""},
        {model_rest, "{\"type\":\"Whitespace\"}", "\"padding\":null", "pre_tokenizer.type is \"Whitespace\""},
        {model_rest, "null", "\"padding\":null", "pre_tokenizer has no ByteLevel"},
        {model_rest, "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"ByteLevel\"},{\"type\":\"Digits\"}]}",
         "\"padding\":null", "pre_tokenizer.pretokenizers[1] stands behind a ByteLevel"},
        {model_rest,
         "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":\"\\\\w+\"},"
         "\"behavior\":"
         "\"Isolated\"}]}",
         "\"padding\":null", "the pattern has '\\w' before byte 2"},
        {model_rest,
         "{\"type\":\"Sequence\",\"pretokenizers\":[{\"type\":\"Split\",\"pattern\":{\"Regex\":\"(\"},\"behavior\":"
         "\"Isolated\"}]}",
         "\"padding\":null", "the pattern is wrong at byte 1"},
        {model_rest, gpt2, "\"padding\":{\"pad_id\":0}", "padding is {\"pad_id\":0}"},
        {model_rest, gpt2, "\"added_tokens\":[{\"id\":1,\"content\":\"x\",\"single_word\":true}]",
         "added_tokens[0].single_word is true"},
        {model_rest, gpt2, "\"added_tokens\":[{\"id\":300000,\"content\":\"x\"}]", "id 300000 is too large"},
        {model_rest, gpt2, "\"added_tokens\":[{\"id\":97,\"content\":\"xx\"}]", "id 97 has two tokens, 'a' and 'xx'"},
        {model_rest, gpt2, "\"added_tokens\":[{\"id\":300,\"content\":\"a\"}]",
         "the token 'a' has two ids, 97 and 300"},
        {model_rest, gpt2, "\"added_tokens\":[{\"id\":-1,\"content\":\"a\"}]",
         "added_tokens[0] is no token with its id"},
        {model_rest, gpt2, "\"post_processor\":{\"type\":\"BertProcessing\"}",
         "post_processor.type is \"BertProcessing\""},
        {model_rest, gpt2, "\"version\":\"1.0\"", "is no JSON: line 1: duplicate object key"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mst_tokenizer *t;
        const char *path = write_json(cases[i].model, cases[i].pre, cases[i].rest);
        const mst_status status = mst_tokenizer_open(path, &t);
        assert_true(status == MST_CORRUPT || status == MST_UNIMPLEMENTED || status == MST_INVALID);
        EXPECT_ERROR(status, status, cases[i].message);
        EXPECT_ERROR(status, status, "/tokenizer.json': ");
        assert_null(t);
    }
}

static void a_path_without_a_tokenizer_says_what_is_due(void **state) {
    (void)state;
    mst_tokenizer *t;
    EXPECT_ERROR(mst_tokenizer_open(folder_path(""), &t), MST_NOT_FOUND, "has no tokenizer: neither tokenizer.json");
    EXPECT_ERROR(mst_tokenizer_open(folder_path("absent.json"), &t), MST_NOT_FOUND, "absent.json");
    EXPECT_ERROR(mst_tokenizer_open(folder_write_text("a.txt", "x"), &t), MST_INVALID,
                 "folder with one of these is due");
    EXPECT_ERROR(mst_tokenizer_open(folder_write_text("a.json", "[]"), &t), MST_CORRUPT, "is no object");
}

static void patterns_keep_what_both_notations_understand(void **state) {
    (void)state;
    static const char *const cases[][2] = {{"\\s+(?!\\S)", "\\p{White_Space}+(?!\\P{White_Space})"},
                                           {"[^\\s\\p{L}]?\\p{L}++", "[^\\p{White_Space}\\p{L}]?\\p{L}++"},
                                           {"(?i:'s)|\\d{1,3}|\\.", "(?i:'s)|\\p{Nd}{1,3}|\\."},
                                           {"\\p{N}{1,3}+", NULL},
                                           {"[a&&b]", NULL},
                                           {"[[a]b]", NULL},
                                           {"^a", NULL},
                                           {"a$", NULL},
                                           {"\\h", NULL},
                                           {"(?<n>a)", NULL},
                                           {"[]a]", NULL},
                                           {"\\", NULL}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text;
        const mst_status status = mst_pattern_translate(cases[i][0], strlen(cases[i][0]), &text);
        assert_int_equal(status, cases[i][1] ? MST_OK : MST_UNIMPLEMENTED);
        if (status) continue;
        assert_string_equal(text, cases[i][1]);
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_has_a_character_that_is_none_of_white_space),
        TEST_IN_FOLDER(the_merge_of_the_lowest_rank_is_first_and_of_equals_the_leftmost),
        TEST_IN_FOLDER(white_space_before_a_word_leaves_it_one_space),
        TEST_IN_FOLDER(patterns_of_a_split_cut_the_text_into_words),
        TEST_IN_FOLDER(a_word_that_is_a_token_needs_no_merges),
        TEST_IN_FOLDER(the_longest_added_token_is_found_before_words),
        TEST_IN_FOLDER(tokens_of_the_template_are_put_around_a_text),
        TEST_IN_FOLDER(time_of_a_long_word_is_not_its_square),
        TEST_IN_FOLDER(text_that_is_not_utf8_is_an_error_that_names_the_byte),
        TEST_IN_FOLDER(a_byte_without_a_token_is_unknown_or_an_error),
        TEST_IN_FOLDER(ids_become_text_without_special_tokens),
        TEST_IN_FOLDER(vocab_with_merges_is_gpt2s),
        TEST_IN_FOLDER(the_configuration_of_a_folder_names_special_tokens),
        TEST_IN_FOLDER(what_is_not_taken_is_an_error_that_names_the_part),
        TEST_IN_FOLDER(a_path_without_a_tokenizer_says_what_is_due),
        cmocka_unit_test(patterns_keep_what_both_notations_understand),
    };
    const bool built = mst_module_is_here("pcre2");
    if (!built) print_message("skipped: this build has no module pcre2\n");
    return built ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
