/** Writes arguments as text that a POSIX shell reads back as the same arguments. */
#ifndef MUSTER_CLI_LAUNCH_SHELL_WORDS_H
#define MUSTER_CLI_LAUNCH_SHELL_WORDS_H

#include <stdio.h>

/** Writes TEXT as one word, in quotes if needed. */
void shell_word_write(FILE *file, const char *text);
/** Writes WORDS (ended by NULL), with a space before each. */
void shell_words_write(FILE *file, const char *const *words);

#endif
