/** Checks of SentencePiece models, whose library trusts some of what is in a file. */
#ifndef MUSTER_TOKENIZER_PIECE_CHECK_H
#define MUSTER_TOKENIZER_PIECE_CHECK_H

#include <stddef.h>

#include "muster/status.h"

/** MST_CORRUPT if the SIZE bytes at MODEL are no message of the form of a model, or its table of characters would have
 *  the library read outside of it. */
MST_CHECKED mst_status mst_piece_check(const void *model, size_t size);

#endif
