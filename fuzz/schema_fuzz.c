/* clang -fsanitize=fuzzer,address,undefined: schemas, which are JSON, and those of texts. What is read is written, and
 * that is read as the same. */
#include <stdlib.h>
#include <string.h>

#include "data/schema.h"
#include "data/text/text_schema.h"
#include "memory.h"

static char *written(const mst_schema *schema) {
    char *text;
    if (mst_schema_write(schema->column, schema->num_columns, schema->num_labels, &text)) __builtin_trap();
    return text;
}

static char *written_text(const char *base, const mst_text_options *options, const mst_vocabulary *vocabulary,
                          const mst_tokenizer *tokenizer) {
    char *text;
    if (mst_text_schema_write(base, options, vocabulary, tokenizer, &text)) __builtin_trap();
    return text;
}

/* TEXT is a schema that can be read. */
static void read_texts(const char *text) {
    mst_text_options options = {.component = 0}, again = {.component = 0};
    mst_vocabulary vocabulary = {.num_entries = 0}, other = {.num_entries = 0};
    mst_tokenizer *tokenizer = NULL, *same = NULL;
    if (mst_text_schema_read(text, &options, &vocabulary, &tokenizer) == MST_OK) {
        if (!mst_text_schema_is(text)) __builtin_trap();
        char *once = written_text(text, &options, &vocabulary, tokenizer);
        const bool whole = tokenizer || vocabulary.num_names > MST_TOKEN_FIRST;
        if (whole && mst_text_schema_read(once, &again, &other, &same)) __builtin_trap();
        char *twice = whole ? written_text(once, &again, &other, same) : strdup(once);
        if (strcmp(once, twice) != 0) __builtin_trap();
        free(once);
        free(twice);
    }
    mst_vocabulary_free(&vocabulary);
    mst_vocabulary_free(&other);
    mst_tokenizer_close(tokenizer);
    mst_tokenizer_close(same);
}

static void read_input(const uint8_t *data, size_t size) {
    mst_schema schema, again;
    char *text = strndup((const char *)data, size);
    if (mst_schema_read(text, &schema) == MST_OK) {
        char *once = written(&schema);
        if (mst_schema_read(once, &again)) __builtin_trap();
        char *twice = written(&again);
        if (strcmp(once, twice) != 0) __builtin_trap();
        mst_schema_free(&again);
        read_texts(text);
        free(once);
        free(twice);
    }
    mst_schema_free(&schema);
    free(text);
}

FUZZ(read_input, 256, 512 << 10)
