#include "cli/launch/shell_words.h"

#include <string.h>

/* '=' and '~' are not among them: NAME=value and ~ mean something at the beginning of a word. */
static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:+@%";

void shell_word_write(FILE *file, const char *text) {
    if (*text && !text[strspn(text, plain)]) {
        fputs(text, file);
        return;
    }
    /* between single quotes every character stands for itself, but for the quote */
    fputc('\'', file);
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", file);
        else
            fputc(*text, file);
    fputc('\'', file);
}

void shell_words_write(FILE *file, const char *const *words) {
    for (; *words; words++) {
        fputc(' ', file);
        shell_word_write(file, *words);
    }
}
