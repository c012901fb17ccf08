/* clang -fsanitize=fuzzer,address,undefined: tokenizers of byte-level BPE, and texts. The input is tokenizer.json; or
 * vocab.json, and after a zero byte merges.txt. Then, after a zero byte, may come a text. */
#include "memory.h"
#include "tokenizer/tokenizer.h"

#include <string.h>

/* The next part of the input, which ends with a zero byte, as a file of FILES. */
static void take_file(mst_tokenizer_files *files, const char *name, const uint8_t **data, size_t *size) {
    const uint8_t *end = *size ? memchr(*data, 0, *size) : NULL;
    const size_t n = end ? (size_t)(end - *data) : *size;
    char *copy = malloc(n + 1);
    if (n) memcpy(copy, *data, n);
    copy[n] = '\0';
    files->file[files->num_files++] = (mst_tokenizer_file){name, copy, n};
    *data += n + (end != NULL);
    *size -= n + (end != NULL);
}

static void encode(const mst_tokenizer *t, const char *text, size_t size, mst_encode_options options) {
    mst_token_ids ids = {0};
    if (mst_tokenizer_encode(t, text, size, &options, &ids) == MST_OK) {
        char *back;
        size_t length;
        if (mst_tokenizer_decode(t, ids.id, ids.count, NULL, &back, &length)) __builtin_trap();
        for (int64_t i = 0; i < ids.count; i++)
            if (!mst_tokenizer_token(t, ids.id[i])) __builtin_trap();
        free(back);
    }
    free(ids.id);
}

static void read_input(const uint8_t *data, size_t size) {
    static const char fixed[] = "It's  12345 \u00e9\u00e8\n\n <|endoftext|>x";
    mst_tokenizer *t;
    if (!size) return;
    mst_tokenizer_files files = {.path = strdup("input")};
    const bool is_whole = memmem(data, size, "\"model\"", 7) != NULL;
    take_file(&files, is_whole ? mst_tokenizer_json_name : mst_tokenizer_vocab_name, &data, &size);
    if (!is_whole) take_file(&files, mst_tokenizer_merges_name, &data, &size);
    if (mst_tokenizer_make(&files, &t)) {
        if (t) __builtin_trap();
        return;
    }
    encode(t, fixed, sizeof fixed - 1, (mst_encode_options){.add_special = true});
    encode(t, (const char *)data, size, (mst_encode_options){.plain = true});
    mst_tokenizer_close(t);
}

FUZZ(read_input, 400, 1 << 20)
