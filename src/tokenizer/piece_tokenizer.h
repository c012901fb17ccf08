/** The tokenizer of a SentencePiece model. */
#ifndef MUSTER_TOKENIZER_PIECE_TOKENIZER_H
#define MUSTER_TOKENIZER_PIECE_TOKENIZER_H

#include "tokenizer/tokenizer.h"

/** Makes a tokenizer of the model in FILE, with its special tokens. */
MST_CHECKED mst_status mst_piece_tokenizer_create(const mst_tokenizer_file *file, mst_tokenizer **out);

#endif
