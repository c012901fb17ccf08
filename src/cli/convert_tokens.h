/** `muster convert` of text to the ids of a tokenizer: lines:book.txt to tokens:book.u16. */
#ifndef MUSTER_CLI_CONVERT_TOKENS_H
#define MUSTER_CLI_CONVERT_TOKENS_H

#include <stdbool.h>

/** Whether TO is tokens:FILE. */
bool convert_tokens_is(const char *to);
/** Writes the ids of FROM, lines:FILE or texts:PATH, to TO, tokens:FILE. TOKENIZER may be NULL, which is an error.
 *  Prints errors, and returns an exit status. */
int convert_tokens(const char *from, const char *to, const char *tokenizer, bool overwrite);

#endif
