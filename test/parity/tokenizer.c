/* What tokenizer_test.py asks of Muster: the ids of texts, and the text of these ids.
 *
 *      parity_tokenizer PATH [special]
 *
 * Standard input has texts, each after its number of bytes; standard output has for each text the number of its ids,
 * these, the number of bytes of their text, and that. Numbers have 32 bits. With "special", ids have the tokens
 * around a text, and their text has special tokens. A text that is refused has -1 ids, and its message in place of
 * the text. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "muster/tokenizer.h"

static void write_all(const void *data, size_t size) {
    if (fwrite(data, 1, size, stdout) != size) exit(1);
}

static void answer_text(const int32_t *ids, int32_t n, const char *text, size_t size) {
    const int32_t length = (int32_t)size;
    write_all(&n, sizeof n);
    if (n > 0) write_all(ids, (size_t)n * sizeof *ids);
    write_all(&length, sizeof length);
    write_all(text, size);
}

static void answer(const mst_tokenizer *tokenizer, const char *text, size_t size, bool special) {
    mst_token_ids ids = {0};
    char *back = NULL;
    mst_status status =
        mst_tokenizer_encode(tokenizer, text, size, &(mst_encode_options){.add_special = special}, &ids);
    if (!status)
        status = mst_tokenizer_decode(tokenizer, ids.id, ids.count, &(mst_decode_options){.keep_special = special},
                                      &back, &size);
    if (status)
        answer_text(NULL, -1, mst_error()->message, strlen(mst_error()->message));
    else
        answer_text(ids.id, (int32_t)ids.count, back, size);
    free(back);
    free(ids.id);
}

int main(int argc, char **argv) {
    mst_tokenizer *tokenizer;
    int32_t size;
    if (argc < 2 || mst_tokenizer_open(argv[1], &tokenizer)) {
        fprintf(stderr, "%s\n", argc < 2 ? "usage: parity_tokenizer PATH [special]" : mst_error()->message);
        return 1;
    }
    while (fread(&size, sizeof size, 1, stdin) == 1) {
        char *text = malloc((size_t)size + 1);
        if (!text || fread(text, 1, (size_t)size, stdin) != (size_t)size) return 1;
        answer(tokenizer, text, (size_t)size, argc > 2);
        free(text);
    }
    mst_tokenizer_close(tokenizer);
    return 0;
}
