/** Tokens as text on standard output, as soon as they come. */
#ifndef MUSTER_CLI_GENERATE_TEXT_STREAM_H
#define MUSTER_CLI_GENERATE_TEXT_STREAM_H

#include "muster/tokenizer.h"

typedef struct text_stream {
    const mst_tokenizer *tokenizer; /**< NULL: tokens are bytes */
    mst_token_ids ids;              /**< all so far */
    char *kept;                     /**< [num_kept], text that is not written yet */
    size_t num_kept;
    bool has_begun; /**< something was written */
    bool is_terminal;
} text_stream;

/** Adds PROMPT, whose text is written with the first token after it. */
MST_CHECKED mst_status text_stream_begin(text_stream *s, const mst_token_ids *prompt);
/** Adds a token. Bytes that are the beginning of a character are kept until it is whole. On a terminal, control
 *  characters other than tabs and line ends become '?'. */
MST_CHECKED mst_status text_stream_add(text_stream *s, int32_t token);
/** Writes what is kept, and ends the line, if anything was written. */
void text_stream_end(text_stream *s);
/** Makes the text of the tokens OUT that stand after PROMPT; the caller frees it. */
MST_CHECKED mst_status text_stream_text(const text_stream *s, const mst_token_ids *prompt, const mst_token_ids *out,
                                        char **text);
void text_stream_free(text_stream *s);

#endif
