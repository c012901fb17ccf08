/** Lists of ids. */
#ifndef MUSTER_TOKENIZER_TOKEN_IDS_H
#define MUSTER_TOKENIZER_TOKEN_IDS_H

#include "muster/tokenizer.h"

/** Appends the N elements of ID, which must not point into the list. */
MST_API MST_CHECKED mst_status mst_token_ids_append(mst_token_ids *ids, const int32_t *id, int64_t n);
/** Appends the ids of the file PATH, which has at most 1 GiB. It is encoded as one text with its line ends, without its
 *  byte order mark. *SIZE becomes the number of bytes that were encoded. */
MST_API MST_CHECKED mst_status mst_token_ids_of_file(const mst_tokenizer *tokenizer, const char *path,
                                                     mst_token_ids *ids, int64_t *size);

#endif
