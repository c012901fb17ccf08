/* SentencePiece models: ids, text, special tokens, and models that are refused. Whole ones are compared with
 * SentencePiece itself in parity/tokenizer_test.py. */
#include <stdio.h>

#include "module/module.h"
#include "muster/tokenizer.h"
#include "support/folder.h"
#include "support/test.h"
#include "tokenizer/piece_check.h"

enum { MODEL_SIZE = 4096, TRIE_WORDS = 256 };

/* A message that is being written. */
typedef struct message {
    uint8_t bytes[MODEL_SIZE];
    size_t size;
} message;

static void put(message *m, const void *data, size_t size) {
    assert_true(m->size + size <= sizeof m->bytes);
    memcpy(m->bytes + m->size, data, size);
    m->size += size;
}

static void put_byte(message *m, unsigned byte) {
    put(m, &(uint8_t){(uint8_t)byte}, 1);
}

/* A field with bytes; SIZE is below 2^14. */
static void put_field(message *m, unsigned number, const void *data, size_t size) {
    put_byte(m, number << 3 | 2);
    if (size >= 128) put_byte(m, 128 | (size & 127));
    put_byte(m, (unsigned)(size < 128 ? size : size >> 7));
    put(m, data, size);
}

static void put_number(message *m, unsigned number, unsigned value) {
    put_byte(m, number << 3);
    put_byte(m, value);
}

enum { NORMAL = 1, UNKNOWN, CONTROL };

static void put_piece(message *m, const char *text, float score, unsigned type) {
    message piece = {.size = 0};
    put_field(&piece, 1, text, strlen(text));
    put_byte(&piece, 2 << 3 | 5);
    put(&piece, &score, sizeof score);
    put_number(&piece, 3, type);
    put_field(m, 1, piece.bytes, piece.size);
}

/* A model of single pieces whose scores add up: unigram. TABLE of characters may be empty. */
static message make_model(const void *table, size_t size) {
    static const char *const pieces[] = {"\u2581", "t", "h", "e", "\u2581the", "th", "\u2581t", "\u00e9"};
    message m = {.size = 0}, trainer = {.size = 0}, normalizer = {.size = 0};
    put_piece(&m, "<unk>", 0, UNKNOWN);
    put_piece(&m, "<s>", 0, CONTROL);
    put_piece(&m, "</s>", 0, CONTROL);
    for (int i = 0; i < 8; i++) put_piece(&m, pieces[i], (float)-(i + 1), NORMAL);
    put_number(&trainer, 3, 1);
    put_field(&m, 2, trainer.bytes, trainer.size);
    put_field(&normalizer, 1, "identity", 8);
    put_field(&normalizer, 2, table, size);
    put_field(&m, 3, normalizer.bytes, normalizer.size);
    return m;
}

static const char *write_model(const message *m) {
    return folder_write("tokenizer.model", m->bytes, m->size);
}

static void expect_ids(const mst_tokenizer *t, const char *text, bool special, const int32_t *expected, int64_t n) {
    mst_token_ids ids = {0};
    EXPECT_OK(mst_tokenizer_encode(t, text, strlen(text), &(mst_encode_options){.add_special = special}, &ids));
    assert_int_equal(ids.count, n);
    assert_memory_equal(ids.id, expected, (size_t)n * sizeof *expected);
    free(ids.id);
}

static void pieces_of_the_best_score_are_taken_and_become_text_again(void **state) {
    (void)state;
    const message m = make_model("", 0);
    mst_tokenizer *t;
    char *text;
    size_t size;
    for (int i = 0; i < 2; i++) {
        EXPECT_OK(mst_tokenizer_open(i ? folder_path("") : write_model(&m), &t));
        assert_int_equal(mst_tokenizer_num_ids(t), 11);
        expect_ids(t, "the the", false, (const int32_t[]){7, 7}, 2);
        expect_ids(t, "teh", true, (const int32_t[]){1, 3, 4, 6, 5}, 5);
        expect_ids(t, "tx", false, (const int32_t[]){3, 4, 0}, 3);
        const int32_t ids[] = {1, 7, 3, 10, 2};
        EXPECT_OK(mst_tokenizer_decode(t, ids, 5, NULL, &text, &size));
        assert_string_equal(text, "the \u00e9");
        free(text);
        assert_int_equal(mst_tokenizer_special(t, MST_SPECIAL_BEGIN), 1);
        assert_int_equal(mst_tokenizer_special(t, MST_SPECIAL_END), 2);
        assert_int_equal(mst_tokenizer_special(t, MST_SPECIAL_PADDING), -1);
        assert_int_equal(mst_tokenizer_special(t, MST_SPECIAL_UNKNOWN), 0);
        assert_string_equal(mst_tokenizer_token(t, 7), "\u2581the");
        assert_int_equal(mst_tokenizer_find(t, "</s>"), 2);
        assert_int_equal(mst_tokenizer_find(t, "nothing"), -1);
        mst_tokenizer_close(t);
    }
}

static void the_configuration_says_which_special_tokens_are_added(void **state) {
    (void)state;
    const message m = make_model("", 0);
    mst_tokenizer *t;
    write_model(&m);
    folder_write_text("tokenizer_config.json", "{\"add_bos_token\": false, \"add_eos_token\": true}");
    EXPECT_OK(mst_tokenizer_open(folder_path(""), &t));
    expect_ids(t, "the", true, (const int32_t[]){7, 2}, 2);
    mst_tokenizer_close(t);
    folder_write_text("added_tokens.json", "{}");
    EXPECT_ERROR(mst_tokenizer_open(folder_path(""), &t), MST_UNIMPLEMENTED,
                 "has added_tokens.json, which is taken only");
}

/* A table of characters whose trie has one block, in which "a" is replaced by the text TEXT. */
static message make_table(uint32_t text, uint32_t root) {
    uint32_t word[TRIE_WORDS];
    message m = {.size = 0};
    for (int i = 0; i < TRIE_WORDS; i++) word[i] = 1u << 31;
    word[0] = root;
    word['a' ^ 1] = 'a' | 1u << 8 | ('a' ^ 1 ^ 2) << 10; /* the children of the root begin at 1, those of "a" at 2 */
    word[2] = 1u << 31 | text;
    put(&m, &(uint32_t){sizeof word}, 4);
    put(&m, word, sizeof word);
    put(&m, "e", 2);
    return m;
}

static void a_table_of_characters_that_leads_outside_of_itself_is_refused(void **state) {
    (void)state;
    mst_tokenizer *t;
    message table = make_table(0, 1 << 10);
    message m = make_model(table.bytes, table.size);
    EXPECT_OK(mst_tokenizer_open(write_model(&m), &t));
    expect_ids(t, "tha", false, (const int32_t[]){7}, 1);
    mst_tokenizer_close(t);
    const message bad[] = {make_table(2, 1 << 10), make_table(0, TRIE_WORDS << 10), make_table(0, 3u << 9)};
    for (int i = 0; i < 3; i++) {
        m = make_model(bad[i].bytes, bad[i].size);
        EXPECT_ERROR(mst_tokenizer_open(write_model(&m), &t), MST_CORRUPT,
                     "is damaged, or this is no SentencePiece model");
    }
    table.bytes[table.size - 1] = 'x'; /* a text without its end */
    m = make_model(table.bytes, table.size);
    EXPECT_ERROR(mst_tokenizer_open(write_model(&m), &t), MST_CORRUPT, "is damaged");
}

static void damaged_models_are_refused_or_work(void **state) {
    (void)state;
    const message whole = make_model("", 0);
    mst_tokenizer *t;
    EXPECT_ERROR(mst_tokenizer_open(folder_write_text("empty.model", ""), &t), MST_CORRUPT, "has no pieces");
    EXPECT_ERROR(mst_piece_check("\x0a\x02\x0a\x00", 4), MST_CORRUPT, "the part at byte 0");
    EXPECT_OK(mst_piece_check("\x0a\x03\x0a\x01x", 5));
    for (size_t i = 0; i < 2 * whole.size; i++) {
        message m = whole;
        if (i < whole.size)
            m.size = i;
        else
            m.bytes[i - whole.size] ^= 0x55;
        const mst_status status = mst_tokenizer_open(write_model(&m), &t);
        assert_true(status == MST_OK || status == MST_CORRUPT);
        if (!status) mst_tokenizer_close(t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST_IN_FOLDER(pieces_of_the_best_score_are_taken_and_become_text_again),
        TEST_IN_FOLDER(the_configuration_says_which_special_tokens_are_added),
        TEST_IN_FOLDER(a_table_of_characters_that_leads_outside_of_itself_is_refused),
        TEST_IN_FOLDER(damaged_models_are_refused_or_work),
    };
    const bool built = mst_module_is_here("sentencepiece");
    if (!built) print_message("skipped: this build has no module sentencepiece\n");
    return built ? cmocka_run_group_tests(tests, NULL, NULL) : 0;
}
