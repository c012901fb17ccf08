/** A tokenizer as JSON text, which is stored in a saved model. It contains the whole files of the tokenizer, so that
 *  the files on the disk are not needed:
 *
 *      {"files": {"vocab.json": "eyIhIjogMCwg...", "merges.txt": "I3ZlcnNpb24..."}}
 *
 *  Files are in base64 (RFC 4648). */
#ifndef MUSTER_TOKENIZER_TOKENIZER_TEXT_H
#define MUSTER_TOKENIZER_TOKENIZER_TEXT_H

#include <jansson.h>

#include "muster/tokenizer.h"

/** The tokenizer as a JSON object, a new reference; NULL if memory runs out. */
json_t *mst_tokenizer_to_json(const mst_tokenizer *tokenizer);
/** Makes a tokenizer of such an object. MST_INVALID if JSON is not one; other errors are those of
 *  mst_tokenizer_open. */
MST_CHECKED mst_status mst_tokenizer_from_json(const json_t *json, mst_tokenizer **out);
/** Whether two tokenizers have the same files. */
bool mst_tokenizer_equal(const mst_tokenizer *a, const mst_tokenizer *b);

#endif
