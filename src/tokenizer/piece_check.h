/** Checks SentencePiece models before their library opens them, because the library does not check all parts of a
 *  file. */
#ifndef MUSTER_TOKENIZER_PIECE_CHECK_H
#define MUSTER_TOKENIZER_PIECE_CHECK_H

#include <stddef.h>

#include "muster/status.h"

/** MST_CORRUPT if the SIZE bytes at MODEL are not a message of the form of a model, or if the library would read
 *  outside its table of characters. */
MST_CHECKED mst_status mst_piece_check(const void *model, size_t size);

#endif
