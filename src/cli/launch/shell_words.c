#include "cli/launch/shell_words.h"

#include <string.h>

/* Characters that need no quotes. '=' and '~' are missing, since NAME=value and ~ have a meaning at the beginning of a
 * word. */
static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:+@%";

void shell_word_write(FILE *file, const char *text) {
    if (*text && !text[strspn(text, plain)]) {
        fputs(text, file);
        return;
    }
    /* between single quotes, every character except the single quote stands for itself */
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
